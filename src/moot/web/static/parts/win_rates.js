// How often models win: against each other, and with the range in which the true rate lies.

import { html, useState } from '../../vendor/preact.js';

const FEW = 8;
const ABOUT = 'How the model of each row did against the model of each column: won, lost, drawn';

export function Matrix({ pairs }) {
  const [all, setAll] = useState(false);
  const { met, names } = table(pairs);
  const shown = all ? names : names.slice(0, FEW);
  const head = (name, index) => html`<th scope="col" key=${name} title=${name}>
    <span aria-hidden="true">${index + 1}</span><span class="visually-hidden">${name}</span>
  </th>`;
  const line = (name, index) => html`<tr key=${name}>
    <th scope="row"><span class="soft" aria-hidden="true">${index + 1} </span><bdi>${name}</bdi></th>
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

/** Which models met, from both sides; those with most debates first. */
function table(pairs) {
  const met = new Map();
  const played = new Map();
  for (const pair of pairs) {
    const { a, b, winsA, winsB, draws, rate, interval, rateB, intervalB } = pair;
    const of = pair.debates;
    met.set(`${a}\n${b}`, { winsA, winsB, draws, of, rate, interval });
    met.set(`${b}\n${a}`, { winsA: winsB, winsB: winsA, draws, of, rate: rateB, interval: intervalB });
    for (const name of [pair.a, pair.b]) played.set(name, (played.get(name) ?? 0) + pair.debates);
  }
  const names = [...played.keys()].sort((a, b) => played.get(b) - played.get(a) || a.localeCompare(b));
  return { met, names };
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
    <${Whisker} ...${pair} small />
  </td>`;
}

const percent = (share) => `${Math.round(share * 100)} %`;
const isKnown = (rate) => rate !== null && rate !== undefined;
const within = ({ low, high }, word) => `${Math.round(low * 100)} ${word} ${percent(high)}`;
/** Whether the interval still has a width when it is rounded. */
const hasWidth = (interval) => Boolean(interval) && percent(interval.low) !== percent(interval.high);
const EVEN = 0.5;

/** Whether it differs from chance. */
export const isClear = ({ interval }) => Boolean(interval) && (interval.low > EVEN || interval.high < EVEN);

/** "62 %, between 41 and 79 %" */
export function inWords(rate, interval) {
  if (!isKnown(rate)) return 'nothing decided';
  return hasWidth(interval) ? `${percent(rate)}, between ${within(interval, 'and')}` : percent(rate);
}

/** Without `of` there is no chance level to compare with. */
export function Whisker({ rate, interval, of, small = false }) {
  if (!isKnown(rate)) return null;
  const { low, high } = interval ?? { low: rate, high: rate };
  const x = (share) => `${(share * 100).toFixed(1)}%`;
  const middle = small ? 6 : 10;
  const even = of > 0 && x(EVEN);
  const clear = !even || isClear({ interval });
  const across = (kind, from, to) => html`<line class=${kind} x1=${from} x2=${to} y1=${middle} y2=${middle} />`;
  const upright = (kind, at, by) => html`<line class=${kind} x1=${at} x2=${at} y1=${middle - by} y2=${middle + by} />`;
  return html`<svg class="whisker" role="img" aria-label=${inWords(rate, interval)} height=${middle * 2}>
    ${even && upright('even', even, middle)}${across('ground', '0', '100%')}${across('range', x(low), x(high))}
    ${!small && [upright('range', x(low), 4), upright('range', x(high), 4)]}
    <circle class=${clear ? 'clear' : ''} cx=${x(rate)} cy=${middle} r=${small ? 3 : 5} />
  </svg>`;
}

/** Rates below each other on a common scale. Rows: {name, title, rate, interval, draws, of, counts}. */
export function Shares({ rows, ends = ['0 %', '100 %'], caption, counted, ranked = false }) {
  return html`<div class="scroller"><table class="shares">
    <caption class="visually-hidden">${caption}</caption>
    <thead><tr>
      <th scope="col"><span class="visually-hidden">Who</span></th>
      <th scope="col"><span class="ends"><span>${ends[0]}</span><span>50 %</span><span>${ends[1]}</span></span></th>
      <th scope="col" class="end">95 % interval</th>
      <th scope="col" class="end">${counted}</th>
    </tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${row.name}>
      <th scope="row">${ranked && html`<span class="rank">${index + 1}</span>`}<bdi>${row.title ?? row.name}</bdi></th>
      <td class="drawn"><${Whisker} ...${row} /></td>
      <td class="end"><${Figure} ...${row} /></td>
      <td class="end soft">${row.counts}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function Figure({ rate, interval }) {
  if (!isKnown(rate)) return html`<span class="soft">nothing decided</span>`;
  return html`<b>${percent(rate)}</b>${hasWidth(interval) && html` <span class="soft">${within(interval, 'to')}</span>`}`;
}
