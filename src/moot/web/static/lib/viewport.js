// Whether the page has room for a margin.

import { signal } from '../../vendor/preact.js';

const query = matchMedia('(min-width: 70rem)');
export const wide = signal(query.matches);
query.addEventListener('change', () => (wide.value = query.matches));
