// Who wins against whom: the model of the row against the model of the column, won, lost and drawn.

import { html, useState } from '../../vendor/preact.js';
import { inWords, Whisker } from './confidence_bar.js';

const FEW = 8;
const ABOUT = 'How the model of each row did against the model of each column: won, lost, drawn';

export function Matrix({ pairs }) {
  const [all, setAll] = useState(false);
  const { met, names } = table(pairs);
  const shown = all ? names : names.slice(0, FEW);
  const head = (name, place) => html`<th scope="col" key=${name} title=${name}>
    <span aria-hidden="true">${place + 1}</span><span class="visually-hidden">${name}</span>
  </th>`;
  const line = (name, place) => html`<tr key=${name}>
    <th scope="row"><span class="soft" aria-hidden="true">${place + 1} </span><bdi>${name}</bdi></th>
    ${shown.map((other) => html`<${Cell} key=${other} ...${{ name, other }} pair=${met.get(`${name}\n${other}`)} />`)}
  </tr>`;
  return html`<div class="scroller" tabindex="0" role="region" aria-label="Who wins against whom"><table class="matrix">
      <caption class="visually-hidden">${ABOUT}</caption>
      <thead><tr><td></td>${shown.map(head)}</tr></thead>
      <tbody>${shown.map(line)}</tbody>
    </table></div>
    ${names.length > FEW && html`<p><button type="button" class="btn" onClick=${() => setAll(!all)}>
      ${all ? 'Only the busiest' : `All ${names.length} models`}
    </button></p>`}`;
}

/** Who met whom, from both sides of the table; those who debated most come first. */
function table(pairs) {
  const met = new Map();
  const played = new Map();
  for (const pair of pairs) {
    met.set(`${pair.a}\n${pair.b}`, pair);
    met.set(`${pair.b}\n${pair.a}`, turned(pair));
    for (const name of [pair.a, pair.b]) played.set(name, (played.get(name) ?? 0) + pair.debates);
  }
  const names = [...played.keys()].sort((a, b) => played.get(b) - played.get(a) || a.localeCompare(b));
  return { met, names };
}

function turned({ a, b, winsA, winsB, rateB, intervalB, ...rest }) {
  return { ...rest, a: b, b: a, winsA: winsB, winsB: winsA, rate: rateB, interval: intervalB };
}

function Cell({ name, other, pair }) {
  if (name === other) return html`<td class="self" aria-label="itself"></td>`;
  if (!pair) {
    return html`<td class="soft"><span aria-hidden="true">·</span><span class="visually-hidden">never met</span></td>`;
  }
  const counts = `${pair.winsA} won, ${pair.winsB} lost, ${pair.draws} drawn`;
  return html`<td title="${name} against ${other}: ${counts}; ${inWords(pair.rate, pair.interval)}">
    <span aria-hidden="true">
      ${pair.winsA}–${pair.winsB}${pair.draws > 0 && html`<span class="soft">–${pair.draws}</span>`}
    </span>
    <span class="visually-hidden">${counts}</span>
    <${Whisker} ...${pair} of=${pair.winsA + pair.winsB + pair.draws} small />
  </td>`;
}
