// Ratings as dots with their intervals on one scale, and the matrix of who won how often against whom.

import { html } from '../../../vendor/preact.js';
import { figure } from '../../lib/numbers.js';
import { shortName } from './progress.js';

const MEAN = 1500;
const MARGIN = 20;
const MIDDLE = 10;
const MOST = 20;

const isKnown = (value) => value !== null && value !== undefined;
const percent = (share) => `${Math.round(share * 100)} %`;

export function Leaderboard({ models }) {
  const scale = scaleOf(models);
  return html`<div class="scroller" tabindex="0" role="region" aria-label="Leaderboard"><table class="board">
    <caption class="visually-hidden">Ratings of the models with their 95 % intervals, best first</caption>
    <thead><tr>
      <th scope="col" class="end">Rank</th><th scope="col">Model</th>
      <th scope="col" class="drawn"><${Ticks} scale=${scale} /><span class="visually-hidden">Drawn</span></th>
      <th scope="col" class="end">Rating</th><th scope="col" class="end">95 % interval</th>
      <th scope="col" class="end">Rank range</th><th scope="col" class="end">Won</th>
      <th scope="col" class="end">Debates</th>
    </tr></thead>
    <tbody>${models.map((one) => html`<tr key=${one.model}>
      <td class="end soft place">${one.rank}</td>
      <th scope="row"><bdi title=${one.model}>${shortName(one.model)}</bdi></th>
      <td class="drawn"><${Rating} ...${one} scale=${scale} /></td>
      <td class="end rating"><b>${Math.round(one.rating)}</b></td>
      <td class="end soft between">${inInterval(one)}</td>
      <td class="end soft range">${one.bestRank === one.worstRank ? one.bestRank : `${one.bestRank} to ${one.worstRank}`}</td>
      <td class="end soft won">${percent(one.winShare)}</td>
      <td class="end soft debates">${figure(one.debates)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

/** The ratings at both edges, a function from a rating to its place, and the round numbers in between. */
function scaleOf(models) {
  const ends = models.flatMap((one) => [one.rating, one.low, one.high]).filter(isKnown);
  const low = Math.min(...ends) - MARGIN;
  const high = Math.max(...ends) + MARGIN;
  const step = [50, 100, 200, 500, 1000].find((size) => (high - low) / size <= 6) ?? 2000;
  const first = Math.ceil(low / step) * step;
  const ticks = Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, index) => first + index * step);
  return { low, high, ticks, at: (value) => `${(((value - low) / (high - low)) * 100).toFixed(1)}%` };
}

const Ticks = ({ scale }) => html`<span class="ticks" aria-hidden="true">
  ${scale.ticks.map((value) => html`<span key=${value} style=${`--at:${scale.at(value)}`}>${value}</span>`)}
</span>`;

/** An end of the interval that the data does not limit has no cap. */
function Rating({ rating, low, high, scale }) {
  const from = scale.at(low ?? scale.low);
  const to = scale.at(high ?? scale.high);
  const across = (kind, start, end) => html`<line class=${kind} x1=${start} x2=${end} y1=${MIDDLE} y2=${MIDDLE} />`;
  const upright = (kind, x, by) => html`<line class=${kind} x1=${x} x2=${x} y1=${MIDDLE - by} y2=${MIDDLE + by} />`;
  const label = `${Math.round(rating)}, ${inInterval({ low, high })}`;
  return html`<svg class="whisker" role="img" aria-label=${label} height=${MIDDLE * 2}>
    ${scale.low < MEAN && MEAN < scale.high && upright('even', scale.at(MEAN), MIDDLE)}
    ${across('ground', '0', '100%')}${across('range', from, to)}
    ${isKnown(low) && upright('range', from, 4)}${isKnown(high) && upright('range', to, 4)}
    <circle class="clear" cx=${scale.at(rating)} cy=${MIDDLE} r="5" />
  </svg>`;
}

function inInterval({ low, high }) {
  if (!isKnown(low) && !isKnown(high)) return 'no interval';
  if (!isKnown(high)) return `≥ ${Math.round(low)}`;
  return isKnown(low) ? `${Math.round(low)} to ${Math.round(high)}` : `≤ ${Math.round(high)}`;
}

/** `models` in the order of rows and columns; `matchups`: [{first, second, share, debates}]. */
export function MatchupMatrix({ models, matchups }) {
  const met = new Map();
  for (const { first, second, share, debates } of matchups) {
    met.set(`${first}\n${second}`, { share, debates });
    met.set(`${second}\n${first}`, { share: 1 - share, debates });
  }
  const shown = models.slice(0, MOST);
  const head = (model, index) => html`<th scope="col" key=${model} title=${model}>
    <span aria-hidden="true">${index + 1}</span><span class="visually-hidden">${shortName(model)}</span>
  </th>`;
  return html`<div class="scroller" tabindex="0" role="region" aria-label="Matchups"><table class="matrix matchups">
      <caption class="visually-hidden">How often the model of each row won against the model of each column</caption>
      <thead><tr><td></td>${shown.map(head)}</tr></thead>
      <tbody>${shown.map((model, index) => html`<tr key=${model}>
        <th scope="row"><span class="soft" aria-hidden="true">${index + 1} </span><bdi title=${model}>${shortName(model)}</bdi></th>
        ${shown.map((other) => html`<${Cell} key=${other} itself=${model === other} pair=${met.get(`${model}\n${other}`)} />`)}
      </tr>`)}</tbody>
    </table></div>
    ${models.length > MOST && html`<p class="soft small">The first ${MOST} of ${models.length} models.</p>`}`;
}

function Cell({ itself, pair }) {
  if (itself) return html`<td class="self" aria-label="itself"></td>`;
  if (!pair) {
    return html`<td class="soft"><span aria-hidden="true">·</span><span class="visually-hidden">never met</span></td>`;
  }
  const debates = `${pair.debates} ${pair.debates === 1 ? 'debate' : 'debates'}`;
  return html`<td class="share s${Math.round(pair.share * 10)}" title=${debates}>
    ${Math.round(pair.share * 100)}<span class="visually-hidden"> % in ${debates}</span>
  </td>`;
}
