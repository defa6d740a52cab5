// The verdict: the winner or that it is too close to call, what weakens it, the chart of the ballots, and each
// judge's ballots; beside it the votes of the audience, issues and costs. Later verdicts never replace the first.

import { html } from '../../vendor/preact.js';
import { Parts } from '../lib/extensions.js';
import { figure, plural } from '../lib/numbers.js';
import { partiesOf } from '../lib/seats.js';
import { Ballots, Cites, speechAddress } from './judge_ballots.js';
import { Prose } from './prose.js';
import { Reports } from './report.js';
import { Ways } from './status.js';
import { Doubt } from './verdict_chart.js';
import { Swing } from './votes.js';

const BY = {
  hand: 'decided by a person',
  audience: 'decided by the audience',
  concession: 'one side gave way',
  stalemate: 'the debate went in circles',
};

/** `away`: the speeches are on another page. */
export function Verdict({ debate, id, away = false }) {
  const [first, ...later] = debate.keys('verdicts').value.map((key) => debate.at('verdicts', key).value);
  if (!first) return null;
  const about = debate.at('about').value;
  const to = (turn) => `${away ? `/debate/${id}` : ''}#turn-${turn}`;
  return html`<section class="verdict" aria-labelledby="verdict-title">
    <p class="overline">Verdict · ${judgedBy(first)}</p>
    <${Decision} verdict=${first} about=${about} debate=${debate} to=${to} titled="verdict-title" />
    ${later.length > 0 && html`<${Later} first=${first} later=${later} about=${about} debate=${debate} to=${to} />`}
    <${Reports} debate=${debate} about=${about} to=${to} />
    <${Parts} place="report" debate=${debate} about=${about} to=${to} />
    <div class="beside">
      <${Swing} result=${debate.at('polls').value?.result} about=${about} />
      <${Parts} place="report" beside debate=${debate} about=${about} to=${to} />
      <${Mishaps} debate=${debate} about=${about} to=${to} />
      <${Costs} debate=${debate} />
    </div>
  </section>`;
}

/** In place of a verdict: why there is none, and what can be done. */
export function NoVerdict({ debate, id, away = false }) {
  const { earlyEnd, ending, remedy, phase, endedAt, trouble } = debate.at('now').value;
  const to = (turn) => `${away ? `/debate/${id}` : ''}#turn-${turn}`;
  const over = Boolean(endedAt || trouble);
  // Below the speeches, where the line above says it, it is not said again.
  const why = trouble?.text || (away || !earlyEnd) && ending;
  return html`<section class="verdict none" aria-labelledby="verdict-title">
    <p class="overline">Verdict · none${over ? '' : ' yet'}</p>
    <h2 id="verdict-title" class="headline" tabindex="-1">${over ? 'No verdict' : 'Still under way'}</h2>
    ${(why || !over) && html`<p class="margin" dir="auto">${over ? why : `${phase}.`}</p>`}
    ${over && remedy && html`<p class="remedy">${remedy}</p>`}
    <${Ways} debate=${debate} id=${id} commands=${['retry', 'judge', 'skip']}>
      ${away && html`<a class="btn" href=${`/debate/${id}`}>${over ? 'Read the speeches' : 'Watch the debate'}</a>`}
    <//>
    ${over && html`<${Reports} debate=${debate} about=${debate.at('about').value} to=${to} />`}
    ${over && html`<${Parts} place="report" debate=${debate} about=${debate.at('about').value} to=${to} />`}
    ${over && html`<div class="beside">
      <${Mishaps} debate=${debate} about=${debate.at('about').value} to=${to} />
      <${Costs} debate=${debate} />
    </div>`}
  </section>`;
}

function judgedBy(verdict) {
  if (verdict.by !== 'judges') return BY[verdict.by] ?? '';
  const count = verdict.opinions.length || verdict.judges.length;
  return `${plural(count, 'judge')}${verdict.readings ? `, ${verdict.readings}` : ''}`;
}

function Decision({ verdict, about, debate, to, titled }) {
  const winner = verdict.coinFlip ? null : partiesOf(about).get(verdict.winner);
  return html`
    <h2 id=${titled} class="headline" data-seat style=${winner?.style ?? ''} tabindex="-1">
      <bdi>${verdict.title}</bdi>
    </h2>
    ${verdict.sentence && html`<p class="margin"><bdi>${verdict.sentence}</bdi></p>`}
    ${verdict.doubts.length > 0 && html`<ul class="doubts" aria-label="What weakens it">${verdict.doubts.map(
      (doubt) => html`<li key=${doubt} dir="auto">${doubt}</li>`,
    )}</ul>`}
    <${Doubt} verdict=${verdict} about=${about} />
    ${!verdict.opinions.length && verdict.reasoning && html`<${Prose} class="reason" text=${verdict.reasoning}
      to=${speechAddress(debate, to)} />`}
    ${!verdict.opinions.length && html`<${Cites} cites=${verdict.cites} debate=${debate} to=${to} />`}
    <${Ballots} verdict=${verdict} about=${about} debate=${debate} to=${to} />
  `;
}

const namesOf = (verdict) => verdict.opinions.map((opinion) => opinion.name).join(', ');

function Later({ first, later, about, debate, to }) {
  const row = (verdict, index) => html`<tr key=${index}>
    <th scope="row">${index === 0 ? 'First, which counts' : `Again${later.length > 1 ? `, ${index}` : ''}`}</th>
    <td>${namesOf(verdict) || judgedBy(verdict)}</td>
    <td><bdi>${verdict.title}</bdi></td><td><bdi>${verdict.marginWords || '–'}</bdi></td><td>${verdict.flips}</td>
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
    ${later.map((verdict, index) => html`<details key=${index} class="again">
      <summary><bdi>${verdict.title}</bdi> <span class="soft">${namesOf(verdict)}</span></summary>
      <${Decision} verdict=${verdict} about=${about} debate=${debate} to=${to} titled=${`verdict-title-${index + 1}`} />
    </details>`)}
  </section>`;
}

const isCutOff = (note) => note.startsWith('Cut ');

function Mishaps({ debate, about, to }) {
  const mishaps = Object.entries(debate.at('mishaps').value ?? {});
  const parties = new Map(about.seats.map((seat) => [seat.id, seat.name]));
  const turns = debate.keys('turns').value.map((key) => debate.at('turns', key).value);
  // A speech that reached its limit of tokens and was trimmed to its last whole sentence is no issue, but was truncated.
  const trimmed = turns.filter((turn) => turn.flags.includes('truncated') && !turn.notes.some(isCutOff));
  const cut = turns.some((turn) => turn.flags.includes('truncated') || turn.flags.includes('interrupted'));
  const nothing = cut ? '' : ' nothing truncated,';
  const { earlyEnd } = debate.at('now').value;
  return html`<section class="mishaps" aria-labelledby="mishaps-title">
    <h3 id="mishaps-title">Issues</h3>
    ${mishaps.length === 0 && !earlyEnd
      ? html`<p class="soft">None that changed the debate: no refusal, no silent turn,${nothing} no one switched sides.</p>`
      : html`<ul>${earlyEnd && html`<li dir="auto">${earlyEnd}</li>`}${mishaps.flatMap(([seat, kinds]) => kinds.map((one) => html`<li key=${`${seat}${one.kind}`}>
          <bdi>${parties.get(seat)}</bdi> ${one.text}${' '}
          <span class="turns">${one.turns.map(
            (turn) => html`<a key=${turn} href=${to(turn)} aria-label=${`speech ${turn}`}>${turn}</a>`,
          )}</span>
        </li>`))}</ul>`}
    ${trimmed.length > 0 && html`<p class="soft">
      ${plural(trimmed.length, 'speech', 'speeches')} reached the token limit and${' '}
      ${trimmed.length === 1 ? 'ends' : 'end'} with the last whole sentence.
    </p>`}
  </section>`;
}

function Costs({ debate }) {
  const money = debate.at('money').value;
  return html`<section class="costs" aria-labelledby="costs-title">
    <h3 id="costs-title">Cost</h3>
    <p>${money.bill}</p>
    <div class="scroll" tabindex="0"><table>
      <caption class="visually-hidden">Cost and tokens by model</caption>
      <thead><tr>
        <th scope="col">Model</th><th scope="col" class="number">Cost</th>
        <th scope="col" class="number">Tokens in</th><th scope="col" class="number">out</th>
      </tr></thead>
      <tbody>${money.models.map((model) => html`<tr key=${model.model}>
        <th scope="row"><bdi>${model.model}</bdi> <span class="soft">${plural(model.calls, 'call')}</span></th>
        <td class="number">${model.cost}</td>
        <td class="number">${figure(model.input)}</td>
        <td class="number">${figure(model.output)}</td>
      </tr>`)}</tbody>
    </table></div>
  </section>`;
}
