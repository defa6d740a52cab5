// The page for unknown addresses.

import { html } from '../../vendor/preact.js';

export default function Lost() {
  return html`<main id="main" class="wide stack">
    <h1 tabindex="-1">There is nothing here</h1>
    <p class="soft">The address may be mistyped, or the debate may have been deleted.</p>
    <p class="row">
      <a class="btn main" href="/">Start a debate</a>
      <a class="btn" href="/debates">Debates held so far</a>
    </p>
  </main>`;
}
