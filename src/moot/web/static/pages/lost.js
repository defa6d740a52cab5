// The page for unknown addresses.

import { html } from '../../vendor/preact.js';

export default function Lost() {
  return html`<main id="main" class="wide"><div class="state-page">
    <p class="overline">404</p>
    <h1 tabindex="-1">Page not found</h1>
    <p class="soft">There is no page at <code dir="ltr">${location.pathname}</code>. Check the address. If it was a link to a
      debate, the debate may have been deleted.</p>
    <p class="row">
      <a class="btn main" href="/">Start a debate</a>
      <a class="btn" href="/debates">All debates</a>
    </p>
  </div></main>`;
}
