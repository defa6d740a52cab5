// A part of a page: its heading and a word about it at the side, what it is about beside them.

import { html } from '../../vendor/preact.js';

export function Part({ title, says, children }) {
  return html`<section class="part">
    <header><h2>${title}</h2>${says && html`<p class="soft">${says}</p>`}</header>
    <div class="stack">${children}</div>
  </section>`;
}
