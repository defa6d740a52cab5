// The page for unknown addresses, and for debates that do not exist.

import { html } from '../../vendor/preact.js';
import { NotFound } from '../parts/not_found.js';

export default function Lost() {
  const manual = location.pathname.startsWith('/manual/') && html`<a class="btn" href="/manual/">The manual</a>`;
  return html`<${NotFound} title="Page not found" more=${manual}>
    There is no page at <code dir="ltr">${location.pathname}</code>. Check the address. If it was a link to a debate, the
    debate may have been deleted.
  <//>`;
}
