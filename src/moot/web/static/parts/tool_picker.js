// What the speakers may use: the servers that the operator has named, and what providers have themselves. A name
// that is chosen and not offered, from a link or an earlier debate, is shown too, so that it can be taken away.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { useLoaded } from '../lib/ui.js';
import { Tick, Wrong, wrongs } from './field.js';

const HOSTED = { web_search: 'Web search', code: 'Running code' };
const HOSTED_HINT = 'At the model’s provider, where it has that; never under a cost limit.';

export function Tools({ chosen, errors, onChange }) {
  const [offer] = useLoaded((signal) => get('/tools', { signal }));
  const rows = offered(offer, chosen);
  const pick = (name) => (on) => onChange(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  return rows.length > 0 && html`<fieldset class="stack offered">
    <legend>Tools for the speakers</legend>
    <div class="grid">
      ${rows.map(([name, label, hint]) => html`<${Tick} key=${name} label=${label} hint=${hint}
        checked=${chosen.includes(name)} onChange=${pick(name)} />`)}
    </div>
    <${Wrong} texts=${wrongs(errors, 'tools', true)} />
  </fieldset>`;
}

/** [name, label, hint] of each. */
function offered(offer, chosen) {
  const servers = (offer?.servers ?? []).map((server) => [server.name, server.title, hintOf(server)]);
  const hosted = (offer?.hosted ?? []).map((name) => [name, HOSTED[name] ?? name, HOSTED_HINT]);
  const known = [...servers, ...hosted];
  const others = chosen.filter((name) => !known.some(([one]) => one === name));
  return [...known, ...others.map((name) => [name, name, ''])];
}

const hintOf = (server) => server.missing ?? server.tools.map((tool) => tool.title).join(', ');
