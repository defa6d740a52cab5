// The way from the form of a debate to that of a session.

import { html } from '../../../vendor/preact.js';

export default () => html`<a class="btn" href="/sessions?new">Turn by turn</a>`;
