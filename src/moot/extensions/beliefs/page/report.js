// What was believed in private while the debate was held: how likely the first party is to win after each speech,
// as each debater and the judge saw it. A debater who is sure of winning is near its own edge, so that two sure
// debaters are far apart. The table below has every number; with more than two parties there is only the table.

import { html } from '../../../vendor/preact.js';
import { partiesOf } from '../../lib/seats.js';
import { Swing } from '../../parts/votes.js';

const LINES = [[1, '100 %'], [0.5, '50 %'], [0, '0 %']];

/** `beside`: what stands in the column beside the verdict, the votes of the model audience. */
export default function Report({ debate, about, to, beside = false }) {
  if (beside) return html`<${Swing} result=${debate.at('beliefs').value?.audience} about=${about} models />`;
  return html`<${Beliefs} debate=${debate} about=${about} to=${to} />`;
}

function Beliefs({ debate, about, to }) {
  const beliefs = debate.at('beliefs').value;
  if (!beliefs?.rows?.length) return null;
  const drawn = Object.keys(beliefs.marks).length > 0;
  return html`<section class="beliefs" aria-labelledby="beliefs-title">
    <h3 id="beliefs-title">Private beliefs</h3>
    <p class="soft small">Asked privately. No speaker and no judge was told, and the verdict was not affected.</p>
    ${drawn && html`<${Chart} beliefs=${beliefs} about=${about} />`}
    <ul class="account">${beliefs.sentences.map((text) => html`<li key=${text} dir="auto">${text}</li>`)}</ul>
    ${beliefs.turning && html`<p class="small"><a href=${to(beliefs.turning)}>Read the turning point, S${beliefs.turning}</a></p>`}
    <details class="as-table">
      <summary>${drawn ? 'The same as a table' : 'As a table'}</summary>
      <div class="scroll" tabindex="0"><table>
        <caption>How likely each thought it was to win, in percent</caption>
        <thead><tr>${beliefs.heads.map((head) => html`<th scope="col" key=${head}><bdi>${head}</bdi></th>`)}</tr></thead>
        <tbody>${beliefs.rows.map(({ turn, cells: [first, ...rest] }) => html`<tr key=${turn ?? 0}>
          <th scope="row"><bdi>${first}</bdi></th>
          ${rest.map((cell, index) => html`<td key=${index}>${cell}</td>`)}
        </tr>`)}</tbody>
      </table></div>
    </details>
  </section>`;
}

function Chart({ beliefs, about }) {
  const parties = partiesOf(about);
  const first = parties.get(about.parties[0].id)?.name ?? about.parties[0].name;
  const last = Math.max(1, beliefs.rows.length - 1);
  const x = (at) => `${(Math.max(0, at) / last) * 100}%`;
  const y = (chance) => `${(1 - chance) * 100}%`;
  const entries = Object.entries(beliefs.marks);
  const style = (name) => parties.get(name)?.style ?? '';
  return html`<figure class="timeline">
    <figcaption>
      <span>How likely <bdi>${first}</bdi> is to win, as each saw it:</span>
      ${entries.map(([name]) => html`<span class="key" key=${name} data-seat style=${style(name)}>
        <svg width="14" height="14" aria-hidden="true"><${Dot} judge=${name === 'judge'} cx="7" cy="7" /></svg>
        ${name === 'judge' ? 'the judge' : html`<bdi>${parties.get(name)?.name ?? name}</bdi>`}
      </span>`)}
    </figcaption>
    <div class="plot" role="img" aria-label=${`How likely ${first} is to win, after each speech. ${beliefs.words}`}>
      <div class="levels">${LINES.map(([chance, label]) => html`<i key=${label} style=${`--at:${y(chance)}`}>${label}</i>`)}</div>
      <svg class="lines" aria-hidden="true">
        ${LINES.map(([chance]) => html`<line key=${chance} class="level" x1="0" x2="100%" y1=${y(chance)} y2=${y(chance)} />`)}
        ${entries.map(([name, marks]) => html`<g key=${name} data-seat class=${name === 'judge' ? 'judge' : 'party'} style=${style(name)}>
          ${marks.slice(1).map((mark, index) => mark.joined && html`<line key=${index}
            x1=${x(marks[index].at)} y1=${y(marks[index].chance)} x2=${x(mark.at)} y2=${y(mark.chance)} />`)}
          ${marks.map((mark, index) => html`<${Dot} key=${index} judge=${name === 'judge'} cx=${x(mark.at)} cy=${y(mark.chance)} />`)}
        </g>`)}
      </svg>
      <div class="speeches">${beliefs.rows.map(
        ({ turn }, at) => html`<i key=${at} style=${`--at:${x(at)}`}>${turn ? `S${turn}` : 'start'}</i>`,
      )}</div>
    </div>
  </figure>`;
}

/** Debaters are dots, the judge is a diamond, so that colour is not needed to tell them apart. */
const Dot = ({ judge, cx, cy }) => (judge
  ? html`<svg x=${cx} y=${cy} overflow="visible"><path d="M0 -6 L6 0 L0 6 L-6 0z" /></svg>`
  : html`<circle cx=${cx} cy=${cy} r="5" />`);
