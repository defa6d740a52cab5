// What stands between a setup and a good debate: models that cannot be used yet, and one model that would argue
// against itself. Each notice says what to do about it.

import { html } from '../../vendor/preact.js';
import { soleModel } from '../lib/default_models.js';
import { labelOf } from '../lib/setup.js';
import { Installing, installs, operates } from './model_install.js';
import { rowOf } from './model_picker.js';

/** The models of a setup that are not available, each once. Every seat and judge has its model. */
export function missing(setup, server) {
  const labels = [...setup.seats.flatMap((seat) => [seat.model, seat.standIn]), ...setup.judges.map((one) => one.model)];
  return [...new Set(labels.filter(Boolean))].map((label) => rowOf(server.models, label)).filter((row) => !row.available);
}

export function Readiness({ setup, server }) {
  const lacking = missing(setup, server);
  const sole = soleModel(setup);
  return html`
    ${lacking.map((row) => html`<${MissingModel} key=${labelOf(row)} row=${row} />`)}
    ${sole && html`<${SoleModel} sole=${sole} server=${server} later=${lacking.length > 0} />`}`;
}

function MissingModel({ row }) {
  if (row.provider !== 'local') {
    return html`<div class="notice" role="status">
      <p><b dir="auto">${row.name}</b> cannot be used yet. ${row.missing}</p>
      <a class="btn" href="/settings#providers">Open settings</a>
    </div>`;
  }
  const offered = installs.value[row.modelId];
  return html`<div class="notice" role="status">
    <p><b dir="auto">${row.name}</b> is not installed. It is downloaded once, then runs on this machine without a key.</p>
    ${offered && operates.value
      ? html`<${Installing} name=${row.modelId} main />`
      : html`<p>Ask the operator of this server to run <code>${row.missing}</code>.</p>`}
  </div>`;
}

/** One model for all seats: it argues against itself. `later`: something else must be done first. */
function SoleModel({ sole, server, later }) {
  const row = rowOf(server.models, sole.model);
  return html`<div class=${later ? 'sole later small soft' : 'notice sole'} role="status">
    <p>
      <b><bdi>${row.name}</bdi> argues against itself${sole.judges && ' and judges itself'}.</b>${' '}
      ${sole.judges && 'Read the verdict with care. '}For a real contest, add a second model:
    </p>
    <p class="ways">
      <a href="/settings#providers">Add an API key</a>
      <a href="/settings#local-servers">Connect Ollama</a>
      <a href="/settings#local-models">Install a ${row.small ? 'larger' : 'local'} model</a>
    </p>
  </div>`;
}
