// What the models of a setup need before they can be used, and what to do about it; and the offer to install a
// better local model in place of the small one.

import { html } from '../../vendor/preact.js';
import { storedSignal } from '../lib/preferences.js';
import { Installing, here, installs, operates } from './model_install.js';
import { labelOf, rowOf } from './model_picker.js';

const declined = storedSignal('declined', []);

/** The models of a setup that are not available, each once. */
export function missing(setup, server) {
  const seated = setup.seats.flatMap((seat) => [seat.model || server.usual, seat.standIn]);
  const judging = setup.judges.map((judge) => judge.model || server.usual);
  const labels = new Set([...seated, ...judging].filter(Boolean));
  return [...labels].map((label) => rowOf(server.models, label)).filter((row) => !row.available);
}

export function Readiness({ setup, server, onUse }) {
  const lacking = missing(setup, server);
  if (lacking.length) return lacking.map((row) => html`<${MissingModel} key=${labelOf(row)} row=${row} />`);
  return html`<${BetterModelOffer} setup=${setup} server=${server} onUse=${onUse} />`;
}

function MissingModel({ row }) {
  if (row.provider !== 'local') {
    return html`<div class="notice" role="status"><p><b dir="auto">${row.name}</b> is not ready: ${row.missing}
      ${' '}Then start the server again, or choose another model. <a href="/settings">What works here</a></p></div>`;
  }
  return html`<div class="notice" role="status">
    <p><b dir="auto">${row.name}</b> is not on this machine yet. It is fetched once; then it needs no network.</p>
    ${installs.value[row.modelId] && operates.value
      ? html`<${Installing} name=${row.modelId} main />`
      : html`<p>Whoever runs this server installs it with <code>${row.missing}</code>.</p>`}
  </div>`;
}

/** Offers a larger model to users whose default is a very small one. */
function BetterModelOffer({ setup, server, onUse }) {
  const all = Object.values(installs.value);
  const small = all.find((one) => server.usual === `local/${one.name}` && one.small);
  const best = all.find((one) => !one.small);
  if (!small || !best || declined.value.includes(best.name)) return null;
  const label = `local/${best.name}`;
  if ([...setup.seats, ...setup.judges].some((one) => one.model === label)) return null;
  const ready = here.value.has(best.name);
  if (!ready && !operates.value) return null;
  return html`<div class="better small soft">
    <span>${small.title} is small and quick, and argues like it. <b>${best.title}</b> argues better.</span>
    ${ready
      ? html`<button type="button" class="btn" onClick=${() => onUse(label)}>Use it</button>`
      : html`<${Installing} name=${best.name} label="Install it" onDone=${() => onUse(label)} />`}
    <button type="button" class="btn plain" aria-label="Do not offer this again"
      onClick=${() => (declined.value = [...declined.value, best.name])}>✕</button>
  </div>`;
}
