// The verdict: who won or that it is too close to call, everything that weakens it, the doubt drawn, and each
// judge's ballots. What the audience said, what went wrong and what it cost stand beside it. Later verdicts
// never replace the first.

import { html } from '../../vendor/preact.js';
import { figure, many } from '../lib/numbers.js';
import { partiesOf } from '../lib/parties.js';
import { Ballots, Cites } from './judge_ballots.js';
import { Doubt } from './verdict_chart.js';
import { Prose } from './prose.js';
import { Swing } from './audience_swing.js';

const BY = {
  hand: 'decided by a person',
  audience: 'decided by the audience',
  concession: 'one side gave way',
  stalemate: 'the debate went in circles',
};

/** `away`: the speeches stand on another page. */
export function Verdict({ room, id, away = false }) {
  const [first, ...later] = room.keys('verdicts').value.map((key) => room.at('verdicts', key).value);
  if (!first) return null;
  const about = room.at('about').value;
  const to = (turn) => `${away ? `/debate/${id}` : ''}#turn-${turn}`;
  return html`<section class="verdict" aria-labelledby="verdict-title">
    <p class="overline">Verdict · ${judgedBy(first)}</p>
    <${Decision} verdict=${first} about=${about} room=${room} to=${to} titled="verdict-title" />
    ${later.length > 0 && html`<${Later} first=${first} later=${later} about=${about} room=${room} to=${to} />`}
    <div class="beside">
      <${Swing} room=${room} />
      <${Mishaps} room=${room} about=${about} to=${to} />
      <${Costs} room=${room} />
    </div>
  </section>`;
}

function judgedBy(verdict) {
  if (verdict.by !== 'judges') return BY[verdict.by] ?? '';
  const count = verdict.opinions.length || verdict.judges.length;
  const both = verdict.ballots.some((ballot) => ballot.order > 0);
  return `${many(count, 'judge')}${both ? ', both orders' : ''}`;
}

function Decision({ verdict, about, room, to, titled }) {
  const winner = partiesOf(about).get(verdict.winner);
  return html`
    <h2 id=${titled} class="headline" data-seat style=${winner?.style ?? ''} tabindex="-1">
      <bdi>${verdict.headline}</bdi>
    </h2>
    ${verdict.marginWords && html`<p class="margin">${margin(verdict)}</p>`}
    ${verdict.doubts.length > 0 && html`<ul class="doubts" aria-label="What weakens it">${verdict.doubts.map(
      (doubt) => html`<li key=${doubt} dir="auto">${doubt}</li>`,
    )}</ul>`}
    <${Doubt} verdict=${verdict} about=${about} />
    ${!verdict.opinions.length && verdict.reasoning && html`<${Prose} class="reason" text=${verdict.reasoning} />`}
    ${!verdict.opinions.length && html`<${Cites} cites=${verdict.cites} room=${room} to=${to} />`}
    <${Ballots} verdict=${verdict} about=${about} room=${room} to=${to} />
  `;
}

/** Points are never told alone: how many ballots stand behind the winner is said with them. */
function margin(verdict) {
  const several = verdict.ballots.length > 1;
  const share = `; ${Math.round(verdict.agreement * 100)} % of the ballots name the winner`;
  const agreed = several && verdict.outcome === 'win' ? share : '';
  const words = verdict.marginWords[0].toUpperCase() + verdict.marginWords.slice(1);
  return html`<bdi>${words}</bdi>${several ? ' on average' : ''}${agreed}.`;
}

const namesOf = (verdict) => verdict.opinions.map((opinion) => opinion.name).join(', ');

function Later({ first, later, about, room, to }) {
  const row = (verdict, place) => html`<tr key=${place}>
    <th scope="row">${place === 0 ? 'First, which counts' : `Again${later.length > 1 ? `, ${place}` : ''}`}</th>
    <td>${namesOf(verdict) || judgedBy(verdict)}</td>
    <td><bdi>${verdict.headline}</bdi></td><td><bdi>${verdict.marginWords || '–'}</bdi></td><td>${verdict.flips}</td>
  </tr>`;
  return html`<section class="later" aria-labelledby="later-title">
    <h3 id="later-title">Judged again</h3>
    <div class="scroll" tabindex="0"><table>
      <caption class="visually-hidden">Every verdict on this debate</caption>
      <thead><tr>${['Verdict', 'Judges', 'Result', 'Margin', 'Changed their mind'].map(
        (head) => html`<th scope="col" key=${head}>${head}</th>`,
      )}</tr></thead>
      <tbody>${[first, ...later].map(row)}</tbody>
    </table></div>
    ${later.map((verdict, place) => html`<details key=${place} class="again">
      <summary><bdi>${verdict.headline}</bdi> <span class="soft">${namesOf(verdict)}</span></summary>
      <${Decision} verdict=${verdict} about=${about} room=${room} to=${to} titled=${`verdict-title-${place + 1}`} />
    </details>`)}
  </section>`;
}

function Mishaps({ room, about, to }) {
  const found = Object.entries(room.at('mishaps').value ?? {});
  const parties = new Map(about.seats.map((seat) => [seat.id, seat.name]));
  return html`<section class="mishaps" aria-labelledby="mishaps-title">
    <h3 id="mishaps-title">Accidents</h3>
    ${found.length === 0
      ? html`<p class="soft">None. No refusal, nothing cut off, nobody left their side.</p>`
      : html`<ul>${found.flatMap(([seat, kinds]) => kinds.map((one) => html`<li key=${`${seat}${one.kind}`}>
          <bdi>${parties.get(seat)}</bdi> ${one.text}${' '}
          <span class="turns">${one.turns.map(
            (turn) => html`<a key=${turn} href=${to(turn)} aria-label=${`speech ${turn}`}>${turn}</a>`,
          )}</span>
        </li>`))}</ul>`}
  </section>`;
}

function Costs({ room }) {
  const money = room.at('money').value;
  return html`<section class="costs" aria-labelledby="costs-title">
    <h3 id="costs-title">What it cost</h3>
    <p>${money.bill}</p>
    <div class="scroll" tabindex="0"><table>
      <caption class="visually-hidden">Cost and tokens by model</caption>
      <thead><tr>
        <th scope="col">Model</th><th scope="col" class="number">Cost</th>
        <th scope="col" class="number">Tokens in</th><th scope="col" class="number">out</th>
      </tr></thead>
      <tbody>${money.models.map((model) => html`<tr key=${model.model}>
        <th scope="row"><bdi>${model.model}</bdi> <span class="soft">${many(model.calls, 'call')}</span></th>
        <td class="number">${model.cost}</td>
        <td class="number">${figure(model.input)}</td>
        <td class="number">${figure(model.output)}</td>
      </tr>`)}</tbody>
    </table></div>
  </section>`;
}
