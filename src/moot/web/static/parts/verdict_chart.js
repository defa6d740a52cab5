// The ballots on two parties on one axis of margin: each judge is two linked dots, one for each of its two readings,
// so that a change of mind is visible; below them the total. For three parties and more see
// `ranking_chart.js`.

import { html } from '../../vendor/preact.js';
import { inPoints } from '../lib/numbers.js';
import { partiesOf } from '../lib/seats.js';
import { Points, Ranks, readingName } from './ranking_chart.js';

/** Of the axis: how far from the middle a dot with level points is drawn. */
const LEAST = 0.05;
const STEPS = [5, 10, 20, 25, 50, 100];

/** Nothing for a verdict by hand or by vote, which has no ballots. */
export function Doubt({ verdict, about }) {
  const parties = partiesOf(about);
  if (verdict.leanings.length) return html`<${Axis} verdict=${verdict} parties=${parties} ends=${about.parties} />`;
  if (about.parties.length < 3) return null;
  if (verdict.ballots.some((ballot) => ballot.ranking)) return html`<${Ranks} verdict=${verdict} parties=${parties} />`;
  if (verdict.ballots.some((ballot) => Object.keys(ballot.scores).length)) {
    return html`<${Points} verdict=${verdict} parties=${parties} />`;
  }
  return null;
}

function Axis({ verdict, parties, ends: [first, second] }) {
  const rows = verdict.leanings.map((one) => {
    const winners = winnersOf(verdict, one);
    return { ...one, winners, named: winners.map((id) => parties.get(id)?.name ?? 'nobody') };
  });
  const { step, reach } = scaleOf(rows.flatMap((row) => row.margins));
  // The first party, who argues for the motion, is on the left, as at the lecterns.
  const at = (margin) => `${50 - (margin / reach) * 47}%`;
  const ahead = (margin) => (margin > 0 ? first : second).name;
  const leadText = (margin) => (margin === 0 ? 'level' : `${inPoints(margin)} for ${ahead(margin)}`);
  // With level points a dot is a little on the side of the party that the ballot names.
  const sideOf = (id) => (id === first.id) - (id === second.id);
  const placeOf = (margin, winner) => at(margin || sideOf(winner) * reach * LEAST);
  const colour = (id) => parties.get(id)?.style ?? '';
  const panel = rows.length > 1 ? verdict.average : null;
  return html`<figure class="doubt">
    <figcaption>
      ${['first', 'second'].map((dot, order) => html`<span class="key" key=${dot}>
        <svg width="12" height="12" aria-hidden="true"><circle class=${dot} cx="6" cy="6" r="4.5" /></svg>
        ${readingName(order)}
      </span>`)}
      <span>margin in points</span>
    </figcaption>
    <div class="plot" role="img" aria-label=${inWords(rows, panel, leadText, verdict.marginWords)}>
      ${rows.map((row) => html`<${Judge} key=${row.judge} ...${{ row, placeOf, leadText, colour }} />`)}
      ${panel && html`<${Panel} panel=${panel} at=${at} leadText=${leadText} />`}
      <div class="ends">
        <span></span>
        <span class="scale">${ticks(step, reach).map(
          (tick) => html`<i key=${tick} style=${`--at:${at(tick)}`}>${tick === 0 ? 'level' : inPoints(tick)}</i>`,
        )}</span>
        <span class="end first" data-seat style=${colour(first.id)}>← <bdi>${first.name}</bdi></span>
        <span class="end second" data-seat style=${colour(second.id)}><bdi>${second.name}</bdi> →</span>
      </div>
    </div>
    <${Table} rows=${rows} parties=${parties} leadText=${leadText} panel=${panel} average=${verdict.marginWords} />
  </figure>`;
}

function Judge({ row, placeOf, leadText, colour }) {
  const places = row.margins.map((margin, index) => placeOf(margin, row.winners[index]));
  const [one, other] = places;
  const level = row.margins.every((margin) => margin === 0);
  const dots = places.map((place, index) => html`<circle key=${index} data-seat
    style=${colour(row.winners[index])} class=${index ? 'second' : 'first'}
    cx=${place} cy="50%" r=${index === 0 ? 6 : one === other ? 10 : 6} />`);
  return html`<div class="judge ${row.flipped ? 'flipped' : ''}">
    <span class="who"><bdi>${row.judge}</bdi></span>
    <span class="says">${row.flipped ? 'changed its mind' : both(row.margins, leadText)}${level && html`:${' '}
      <bdi>${[...new Set(row.named)].join(', then ')}</bdi>`}</span>
    <svg aria-hidden="true">
      <line class="level" x1="50%" x2="50%" y1="0" y2="100%" />
      ${other !== undefined && html`<line class="link" data-seat style=${colour(row.winners[0])}
        x1=${one} x2=${other} y1="50%" y2="50%" />`}
      ${dots.toReversed()}
    </svg>
  </div>`;
}

/** 14 and 9 for Ann. */
function both([one, other], leadText) {
  if (other === undefined || other === one) return leadText(one);
  return one * other > 0 ? `${inPoints(one)} and ${leadText(other)}` : `${leadText(one)}, ${leadText(other)}`;
}

function Panel({ panel, at, leadText }) {
  return html`<div class="judge panel">
    <span class="who">All together</span>
    <span class="says">${panel.low === panel.high ? leadText(panel.low) : `${leadText(panel.low)} to ${leadText(panel.high)}`}</span>
    <svg aria-hidden="true">
      <line class="level" x1="50%" x2="50%" y1="0" y2="100%" />
      <line class="range" x1=${at(panel.low)} x2=${at(panel.high)} y1="50%" y2="50%" />
      <svg x=${at(panel.margin)} y="50%" overflow="visible"><path d="M0 -8 L7 0 L0 8 L-7 0z" /></svg>
    </svg>
  </div>`;
}

function Table({ rows, parties, leadText, panel, average }) {
  const cell = (row, index) => {
    if (row.margins[index] === undefined) return '–';
    const winner = row.winners[index];
    return html`${leadText(row.margins[index])}; names <bdi>${parties.get(winner)?.name ?? 'nobody'}</bdi>`;
  };
  return html`<details class="as-table">
    <summary>The same as a table</summary>
    <div class="scroll" tabindex="0"><table>
      <caption>The margin that each judge gave, in points, in both readings</caption>
      <thead><tr>${['Judge', 'First reading', 'Second reading', 'Changed its mind'].map(
        (head) => html`<th scope="col" key=${head}>${head}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        (row) => html`<tr key=${row.judge}>
          <th scope="row"><bdi>${row.judge}</bdi></th>
          <td>${cell(row, 0)}</td><td>${cell(row, 1)}</td><td>${row.flipped ? 'yes' : 'no'}</td>
        </tr>`,
      )}</tbody>
      ${panel && html`<tfoot><tr>
        <th scope="row">All together</th>
        <td colspan="3">${average} on average; from ${leadText(panel.low)} to ${leadText(panel.high)}</td>
      </tr></tfoot>`}
    </table></div>
  </details>`;
}

function inWords(rows, panel, leadText, average) {
  const flip = (row) => (row.flipped ? ', changed its mind' : '');
  const lead = (row) => row.margins.map((margin, index) => leadText(margin) + (margin ? '' : `, naming ${row.named[index]}`));
  const judges = rows.map((row) => `${row.judge}: ${lead(row).join(', then ')}${flip(row)}`);
  const all = panel ? `. All together ${average} on average, from ${leadText(panel.low)} to ${leadText(panel.high)}` : '';
  return `The margin of each judge in points, in both readings. ${judges.join('. ')}${all}.`;
}

/** The winner of each ballot with points, in the order of the margins. */
function winnersOf(verdict, leaning) {
  const own = verdict.ballots.filter((ballot) => ballot.judgeName === leaning.judge);
  return own.filter((ballot) => Object.keys(ballot.scores).length).map((ballot) => ballot.winner);
}

/** A little more than the largest margin, with at most two marks on each side. */
function scaleOf(margins) {
  const far = Math.max(8, ...margins.map(Math.abs));
  const step = STEPS.find((one) => one * 2 >= far) ?? 100;
  return { step, reach: Math.max(far, step * Math.ceil(far / step)) * 1.04 };
}

function ticks(step, reach) {
  const right = [step, step * 2].filter((tick) => tick <= reach);
  return [...right.map((tick) => -tick).toReversed(), 0, ...right];
}
