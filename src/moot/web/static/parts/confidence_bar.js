// How sure one may be: a share as a dot, and around it the interval in which it lies 19 times in 20. The dotted
// mark is where as many would be won as lost, which draws pull to the left. A dot is filled where the whole
// interval stands on one side of that mark, and hollow where chance would do.

import { html } from '../../vendor/preact.js';

const percent = (share) => `${Math.round(share * 100)} %`;
const isKnown = (rate) => rate !== null && rate !== undefined;
const within = ({ low, high }, word) => `${Math.round(low * 100)} ${word} ${percent(high)}`;
const evenAt = (draws, debates) => (debates ? (1 - draws / debates) / 2 : 0.5);

/** Whether it differs from chance. `row`: {interval, draws, of}, `of` debates with a winner or a draw. */
export const isClear = ({ interval, draws, of }) =>
  Boolean(interval) && (interval.low > evenAt(draws, of) || interval.high < evenAt(draws, of));

/** "62 %, between 41 and 79 %" */
export function inWords(rate, interval) {
  if (!isKnown(rate)) return 'nothing decided';
  return interval ? `${percent(rate)}, between ${within(interval, 'and')}` : percent(rate);
}

/** Without `draws` and `of` there is nothing to be even with. */
export function Whisker({ rate, interval, draws, of, small = false }) {
  if (!isKnown(rate)) return null;
  const { low, high } = interval ?? { low: rate, high: rate };
  const x = (share) => `${(share * 100).toFixed(1)}%`;
  const middle = small ? 6 : 10;
  const even = of > 0 && x(evenAt(draws, of));
  const clear = !even || isClear({ interval, draws, of });
  const across = (kind, from, to) => html`<line class=${kind} x1=${from} x2=${to} y1=${middle} y2=${middle} />`;
  const upright = (kind, at, by) => html`<line class=${kind} x1=${at} x2=${at} y1=${middle - by} y2=${middle + by} />`;
  return html`<svg class="whisker" role="img" aria-label=${inWords(rate, interval)} height=${middle * 2}>
    ${even && upright('even', even, middle)}${across('ground', '0', '100%')}${across('range', x(low), x(high))}
    ${!small && [upright('range', x(low), 4), upright('range', x(high), 4)]}
    <circle class=${clear ? 'clear' : ''} cx=${x(rate)} cy=${middle} r=${small ? 3 : 5} />
  </svg>`;
}

/** Shares, one under the other on the same ground. Rows: {name, title, rate, interval, draws, of, counts}. */
export function Shares({ rows, ends = ['0 %', '100 %'], caption, counted }) {
  return html`<div class="scroller"><table class="shares">
    <caption class="visually-hidden">${caption}</caption>
    <thead><tr>
      <th scope="col"><span class="visually-hidden">Who</span></th>
      <th scope="col"><span class="ends"><span>${ends[0]}</span><span>${ends[1]}</span></span></th>
      <th scope="col" class="end">95 % interval</th>
      <th scope="col" class="end">${counted}</th>
    </tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.name}>
      <th scope="row"><bdi>${row.title ?? row.name}</bdi></th>
      <td class="drawn"><${Whisker} ...${row} /></td>
      <td class="end"><${Figure} ...${row} /></td>
      <td class="end soft">${row.counts}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function Figure({ rate, interval }) {
  if (!isKnown(rate)) return html`<span class="soft">nothing decided</span>`;
  return html`<b>${percent(rate)}</b>${interval && html` <span class="soft">${within(interval, 'to')}</span>`}`;
}
