// The ballot of a person on the panel: the winner, the reasons, and the speeches they refer to. Points are
// optional.

import { html, useState } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { announce } from '../lib/ui.js';
import { Choice, TextArea, Submit, Wrong, useForm } from './form.js';
import { sides } from './moderator_dialogs.js';

await ensureStyle('controls');

export function BallotForm({ debate, id }) {
  const { open } = debate.at('now').value;
  const judges = (debate.me.value?.may.judges ?? []).filter((judge) => open.includes(`ballot:${judge}`));
  return html`${judges.map((judge) => html`<${Ballot} key=${judge} ...${{ debate, id, judge }} />`)}`;
}

function Ballot({ debate, id, judge }) {
  const about = debate.at('about').value;
  const [winner, setWinner] = useState('');
  const [behind, setBehind] = useState([]);
  const [reasoning, setReasoning] = useState('');
  const [cites, setCites] = useState([]);
  const [points, setPoints] = useState({});
  const ranks = about.result === 'ranking' && about.parties.length > 2 && winner && winner !== 'draw';
  const form = useForm(async () => {
    const ranking = ranks ? ranked(about.parties, winner, behind) : [];
    const body = { judge, winner, reasoning, cites, scores: scored(points), ...(ranking.length && { ranking }) };
    await post(`/debates/${id}/ballots`, body, { once: true });
    announce('Your ballot is cast.');
  });
  const name = about.judges.find((one) => one.id === judge)?.name;
  return html`<section class="ballot" aria-labelledby=${`ballot-${judge}`}>
    <h2 id=${`ballot-${judge}`}>Your ballot${name && html`<span class="soft"> · <bdi>${name}</bdi></span>`}</h2>
    <form class="stack" ...${form.props}>
      <${Choice} name="winner" legend="Who has won?" value=${winner} onPick=${setWinner} options=${sides(about)} />
      <${Wrong} errors=${form.errors} of="winner" />
      ${ranks && html`<${Behind} ...${{ parties: about.parties, winner, behind, setBehind }} />`}
      <${Wrong} errors=${form.errors} of="ranking" />
      <${TextArea} label="Your reason" value=${reasoning} onWrite=${setReasoning} rows="5" maxlength="6000" />
      <${Wrong} errors=${form.errors} of="reasoning" />
      <${Cites} ...${{ debate, cites, setCites }} />
      <${Wrong} errors=${form.errors} of="cites" />
      <${Points} ...${{ about, points, setPoints }} />
      <${Wrong} errors=${form.errors} of="scores" />
      <${Submit} form=${form} disabled=${!winner || !reasoning.trim()}>Cast the ballot<//>
    </form>
  </section>`;
}

const PLACES = ['Second', 'Third', 'Fourth'];

/** For formats with a ranking: the places after the winner. The party that is left is last. */
function Behind({ parties, winner, behind, setBehind }) {
  const others = parties.filter((party) => party.id !== winner);
  const put = (index, id) => setBehind(others.slice(1).map((_, at) => (at === index ? id : without(behind[at], id))));
  return html`<div class="row behind">${others.slice(1).map((_, index) => html`<label class="named" key=${index}>
    ${PLACES[index]}
    <select class="field" value=${without(behind[index], winner)} onChange=${(event) => put(index, event.target.value)}>
      <option value="">–</option>
      ${others.map((party) => html`<option key=${party.id} value=${party.id}>${party.name}</option>`)}
    </select>
  </label>`)}</div>`;
}

const without = (id, taken) => (id === undefined || id === taken ? '' : id);

/** All parties, the best first; empty if only the winner was chosen. */
function ranked(parties, winner, behind) {
  const placed = behind.filter((id) => id && id !== winner);
  const left = parties.filter(({ id }) => id !== winner && !placed.includes(id));
  return placed.length ? [winner, ...placed, ...(left.length === 1 ? [left[0].id] : [])] : [];
}

function Cites({ debate, cites, setCites }) {
  const { seats, parties } = debate.at('about').value;
  const debating = new Set(parties.flatMap((party) => party.seats));
  const turns = debate.keys('turns').value.map((number) => debate.at('turns', number).value);
  const speeches = turns.filter((turn) => turn.state === 'completed' && !turn.struck && debating.has(turn.seat));
  const pick = (number, is) => setCites(is ? [...cites, number] : cites.filter((other) => other !== number));
  return html`<fieldset class="cites">
    <legend>The speeches it rests on</legend>
    <ul class="plain">${speeches.map((turn) => {
      const seat = seats.find((one) => one.id === turn.seat);
      const has = cites.includes(turn.number);
      return html`<${Cite} key=${turn.number} ...${{ turn, seat, has }} onPick=${(is) => pick(turn.number, is)} />`;
    })}</ul>
  </fieldset>`;
}

const Cite = ({ turn, seat, has, onPick }) => html`<li data-seat style=${seatStyle(seat.color)}>
  <label>
    <input type="checkbox" checked=${has} onChange=${(event) => onPick(event.target.checked)} />
    <span class="numbers">${turn.number}</span> <b><bdi>${seat.name}</bdi></b> <span class="soft">${turn.title}</span>
  </label>
  <a class="small soft" href=${`#turn-${turn.number}`} aria-label="Read speech ${turn.number}">read</a>
</li>`;

function Points({ about, points, setPoints }) {
  return html`<details>
    <summary>Points, if you like</summary>
    <div class="row points">${about.parties.map(
      (party) => html`<label class="named" key=${party.id}><bdi>${party.name}</bdi>
        <input class="field numbers" type="number" min="0" max="100" inputmode="decimal" value=${points[party.id] ?? ''}
          onInput=${(e) => setPoints({ ...points, [party.id]: e.target.value })} />
      </label>`,
    )}</div>
  </details>`;
}

function scored(points) {
  const scored = Object.entries(points).filter(([, score]) => score !== '');
  return Object.fromEntries(scored.map(([party, score]) => [party, { score: Number(score) }]));
}
