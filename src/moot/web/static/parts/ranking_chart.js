// Ballots on three parties or more. With rankings: one column per ballot, one line per party; lines that cross
// between the two orders of a judge are a change of mind. With points only: one row per party, one dot per ballot.

import { html } from '../../vendor/preact.js';
import { inPoints } from '../lib/numbers.js';

const NTH = ['1st', '2nd', '3rd', '4th', '5th', '6th', '7th', '8th'];

export const readingName = (order) => (order === 0 ? 'first reading' : 'second reading');

/** The two dots of a judge are its two readings. */
const dot = (order) => (order === 0 ? 'first' : 'second');

export function Ranks({ verdict, parties }) {
  const ballots = verdict.ballots.filter((ballot) => ballot.ranking);
  const final = verdict.ranking ?? ballots[0].ranking;
  const name = (id) => html`<bdi>${parties.get(id).name}</bdi>`;
  const label = final.map((id, index) => `${NTH[index]} ${parties.get(id).name}`).join(', ');
  return html`<figure class="doubt ranks" style=${`--parties:${final.length}`}>
    <div class="plot" role="img" aria-label=${`${label}. Each ballot stands in the table below.`}>
      <ol class="places">${final.map((id, index) => html`<li key=${id}>${NTH[index]}</li>`)}</ol>
      <${Lines} ballots=${ballots} final=${final} parties=${parties} />
      <ol class="finals">${final.map(
        (id) => html`<li key=${id} data-seat style=${parties.get(id).style}>${name(id)}</li>`,
      )}</ol>
      <div class="columns">
        ${groups(ballots).map(
          ([judge, count]) => html`<span key=${judge} style=${`--wide:${count}`}><bdi>${judge}</bdi></span>`,
        )}
        <span style="--wide:1">all</span>
      </div>
    </div>
    <${Table} caption="Where each ballot put the parties, from best to worst"
      heads=${final.map((_, index) => NTH[index])} ballots=${ballots}
      cells=${(ballot) => ballot.ranking.map(name)} all=${final.map(name)} />
  </figure>`;
}

function Lines({ ballots, final, parties }) {
  const columns = [...ballots.map((ballot) => ballot.ranking), final];
  const x = (column) => `${((column + 0.5) / columns.length) * 100}%`;
  const y = (index) => `${((index + 0.5) / final.length) * 100}%`;
  const sameJudge = (column) => ballots[column + 1] && ballots[column].judge === ballots[column + 1].judge;
  const line = ([from, to, column]) => html`<line key=${`l${column}`} class=${sameJudge(column) ? 'link' : 'faint'}
    x1=${x(column)} x2=${x(column + 1)} y1=${y(from)} y2=${y(to)} />`;
  const spot = (index, column) => index >= 0 && html`<circle key=${column} class=${dot(ballots[column]?.order ?? 0)}
    cx=${x(column)} cy=${y(index)} r="6" />`;
  return html`<svg aria-hidden="true">${final.map((id) => {
    const way = columns.map((ranking) => ranking.indexOf(id));
    return html`<g key=${id} data-seat style=${parties.get(id).style}>${steps(way).map(line)}${way.map(spot)}</g>`;
  })}</svg>`;
}

/** [from, to, column] for neighbours that both have a rank. */
function steps(way) {
  return way.slice(1).map((to, column) => [way[column], to, column]).filter(([from, to]) => from >= 0 && to >= 0);
}

function groups(ballots) {
  const counts = new Map();
  for (const ballot of ballots) counts.set(ballot.judgeName, (counts.get(ballot.judgeName) ?? 0) + 1);
  return [...counts];
}

export function Points({ verdict, parties }) {
  const ids = Object.keys(verdict.scores);
  const ballots = verdict.ballots.filter((ballot) => Object.keys(ballot.scores).length);
  const judges = [...new Set(ballots.map((ballot) => ballot.judge))];
  const marks = ballots.flatMap((ballot) => Object.values(ballot.scores));
  const { low, high, at } = scaleOf(marks.map((mark) => mark.score));
  const scoring = (id) => ballots.filter((ballot) => ballot.scores[id]);
  const points = (ballot, id) => (ballot.scores[id] ? inPoints(ballot.scores[id].score) : '–');
  const labels = ids.map((id) => `${parties.get(id).name}: ${scoring(id).map((ballot) => points(ballot, id)).join(', ')}`);
  return html`<figure class="doubt points" style=${`--judges:${judges.length}`}>
    <figcaption>
      <span class="key">points out of 100, each ballot a dot; the two orders of a judge are linked</span>
    </figcaption>
    <div class="plot" role="img" aria-label=${`The points of every ballot. ${labels.join('. ')}.`}>
      ${ids.map((id) => html`<div class="judge" key=${id} data-seat style=${parties.get(id).style}>
        <span class="who hue"><bdi>${parties.get(id).name}</bdi></span>
        <span class="says">${inPoints(verdict.scores[id].score)} on average</span>
        <svg aria-hidden="true">${judges.map((judge, row) => {
          const own = scoring(id).filter((ballot) => ballot.judge === judge);
          const y = `${((row + 0.5) / judges.length) * 100}%`;
          const dots = own.map(({ order, scores }) => [order, scores[id].score]);
          return html`<${Pair} key=${judge} dots=${dots} at=${at} y=${y} />`;
        })}</svg>
      </div>`)}
      <div class="ends">
        <span></span>
        <span class="scale"><i style="--at:0%">${low}</i><i style="--at:100%">${high}</i></span>
      </div>
    </div>
    <${Table} caption="The points of every ballot, out of 100"
      heads=${ids.map((id) => html`<bdi>${parties.get(id).name}</bdi>`)} ballots=${ballots}
      cells=${(ballot) => ids.map((id) => points(ballot, id))} />
  </figure>`;
}

/** The first reading is drawn last; a second dot at the same position is a ring around it. */
function Pair({ dots, at, y }) {
  const [first, second] = dots;
  return html`<g>
    ${second && html`<line class="link" x1=${at(first[1])} x2=${at(second[1])} y1=${y} y2=${y} />`}
    ${dots.toReversed().map(([order, score]) => html`<circle key=${order} class=${dot(order)}
      cx=${at(score)} cy=${y} r=${order && score === first[1] ? 8 : 5} />`)}
  </g>`;
}

function scaleOf(scores) {
  const low = Math.max(0, Math.floor((Math.min(...scores) - 4) / 5) * 5);
  const high = Math.min(100, Math.ceil((Math.max(...scores) + 4) / 5) * 5);
  return { low, high, at: (score) => `${((score - low) / (high - low || 1)) * 100}%` };
}

function Table({ caption, heads, ballots, cells, all }) {
  return html`<details class="as-table">
    <summary>The same as a table</summary>
    <div class="scroll" tabindex="0"><table>
      <caption>${caption}</caption>
      <thead><tr>
        <th scope="col">Ballot</th>
        ${heads.map((head, index) => html`<th scope="col" key=${index}>${head}</th>`)}
      </tr></thead>
      <tbody>${ballots.map((ballot, index) => html`<tr key=${index}>
        <th scope="row"><bdi>${ballot.judgeName}</bdi>, ${readingName(ballot.order)}</th>
        ${cells(ballot).map((cell, column) => html`<td key=${column}>${cell}</td>`)}
      </tr>`)}</tbody>
      ${all && html`<tfoot><tr>
        <th scope="row">All together</th>${all.map((cell, column) => html`<td key=${column}>${cell}</td>`)}
      </tr></tfoot>`}
    </table></div>
  </details>`;
}
