// What is shown at an address that leads nowhere.

import { html } from '../../vendor/preact.js';

/** `code`: the status of the reply; children say what is missing. */
export function NotFound({ title, code = 404, children, more }) {
  return html`<main id="main" class="wide"><div class="state-page">
    <p class="overline">${code}</p>
    <h1 tabindex="-1">${title}</h1>
    <p class="soft">${children}</p>
    <p class="row">
      <a class="btn main" href="/">Start a debate</a>
      <a class="btn" href="/debates">All debates</a>
      ${more}
    </p>
  </div></main>`;
}

/** In place of a debate that was deleted or never was, or that the viewer may not see. */
export function NoDebate({ debate }) {
  if (debate?.connection.value === 'denied') {
    const why = debate.trouble.value?.detail || 'It needs an invitation, or a token of your own.';
    const settings = html`<a class="btn" href="/settings">Settings</a>`;
    return html`<${NotFound} title="This debate is not open to you" code="403" more=${settings}>${why}<//>`;
  }
  return html`<${NotFound} title="There is no such debate">It was deleted, or the address is wrong.<//>`;
}

/** Whether the debate cannot be shown at all. */
export const isMissing = (debate) => ['gone', 'denied'].includes(debate?.connection.value) && !debate.ready.value;
