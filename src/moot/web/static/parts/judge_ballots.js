// What each judge said: both orders side by side, the speeches on which it rests, and behind a fold the points,
// which are a diagnosis and decide nothing.

import { html } from '../../vendor/preact.js';
import { inPoints, many } from '../lib/numbers.js';
import { partiesOf } from '../lib/parties.js';
import { Prose } from './prose.js';
import { orderName } from './ranking_chart.js';

/** `to(turn)` is the address of a speech. */
export function Ballots({ verdict, about, room, to }) {
  const parties = partiesOf(about);
  const recused = verdict === room.at('verdicts', '0').value ? about.judges.filter((judge) => judge.recused) : [];
  return html`<div class="opinions">
    ${verdict.opinions.map(
      (opinion) => html`<${Opinion} key=${opinion.judge} ...${{ opinion, verdict, parties, room, to }} />`,
    )}
    ${recused.map(
      (judge) => html`<article class="opinion absent" key=${judge.id}>
        <header><h3><bdi>${judge.name}</bdi></h3><p class="soft">stepped aside: <bdi>${judge.recused}</bdi></p></header>
      </article>`,
    )}
  </div>`;
}

function Opinion({ opinion, verdict, parties, room, to }) {
  const papers = verdict.ballots.filter((ballot) => ballot.judge === opinion.judge);
  return html`<article class="opinion ${opinion.flipped ? 'flipped' : ''} ${papers.length ? '' : 'absent'}">
    <header>
      <h3><bdi>${opinion.name}</bdi></h3>
      <span class="soft small"><bdi>${opinion.who}</bdi></span>
      <p class="decision"><bdi>${opinion.decision}</bdi></p>
      ${opinion.spoiled > 0 && html`<p class="soft small">
        ${many(opinion.spoiled, 'ballot')} could not be read,
        and ${opinion.spoiled === 1 ? 'counts' : 'count'} for nobody.
      </p>`}
    </header>
    <div class="papers">${papers.map(
      (paper) => html`<${Paper} key=${paper.order} alone=${papers.length === 1} weights=${verdict.weights}
        ...${{ paper, parties, room, to }} />`,
    )}</div>
  </article>`;
}

function Paper({ paper, alone, parties, weights, room, to }) {
  const winner = parties.get(paper.winner);
  return html`<section class="paper" data-seat style=${winner?.style ?? ''}>
    <h4>
      <span class="soft">${alone ? 'Ballot' : orderName(paper.order)}</span>
      <span class="hue"><bdi>${winner?.name ?? 'a tie'}</bdi></span>
    </h4>
    <${Prose} text=${paper.reasoning} />
    <${Cites} cites=${paper.cites} room=${room} to=${to} />
    <${Diagnosis} paper=${paper} parties=${parties} weights=${weights} />
  </section>`;
}

/** Links to the speeches on which something rests. */
export function Cites({ cites, room, to, label = 'Rests on' }) {
  const found = (cites ?? []).map((number) => [number, room.at('turns', String(number)).value]);
  const known = found.filter(([, turn]) => turn);
  if (!known.length) return null;
  const seats = new Map(room.at('about').value.seats.map((seat) => [seat.id, seat.name]));
  return html`<p class="cites"><span class="soft">${label}</span> ${known.map(
    ([number, turn]) => html`<a key=${number} href=${to(number)}><bdi>${seats.get(turn.seat)}</bdi>, ${turn.title}</a>`,
  )}</p>`;
}

function Diagnosis({ paper, parties, weights }) {
  const scored = Object.entries(paper.scores);
  const criteria = Object.entries(paper.criteria ?? {});
  const rubric = Object.entries(paper.rubric ?? {});
  if (!scored.length && !criteria.length && !rubric.length) return null;
  return html`<details class="diagnosis">
    <summary>Points and remarks, which decide nothing</summary>
    ${scored.length > 0 && html`<dl class="marks">${scored.map(
      ([id, mark]) => html`<div key=${id} data-seat style=${parties.get(id)?.style}>
        <dt><bdi>${parties.get(id)?.name}</bdi> <span class="numbers">${inPoints(mark.score)} of 100</span></dt>
        ${mark.strengths.map((text, place) => html`<dd key=${`+${place}`} class="plus" dir="auto">${text}</dd>`)}
        ${mark.weaknesses.map((text, place) => html`<dd key=${`-${place}`} class="minus" dir="auto">${text}</dd>`)}
      </div>`,
    )}</dl>`}
    ${rubric.length > 0 && html`<${Rubric} rubric=${rubric} parties=${parties} weights=${weights} />`}
    ${criteria.length > 0 && html`<dl class="criteria">${criteria.map(
      ([name, text]) => html`<div key=${name}><dt dir="auto">${name}</dt><dd dir="auto">${text}</dd></div>`,
    )}</dl>`}
  </details>`;
}

function Rubric({ rubric, parties, weights }) {
  const ids = Object.keys(rubric[0][1]);
  const weight = (name) => (weights?.[name] ?? 1) !== 1 && html` <span class="soft">× ${weights[name]}</span>`;
  return html`<div class="scroll" tabindex="0"><table class="rubric">
    <caption>Rubric, out of ten</caption>
    <thead><tr>
      <th scope="col">Criterion</th>
      ${ids.map((id) => html`<th scope="col" key=${id}><bdi>${parties.get(id)?.name}</bdi></th>`)}
    </tr></thead>
    <tbody>${rubric.map(
      ([name, points]) => html`<tr key=${name}>
        <th scope="row"><bdi>${name}</bdi>${weight(name)}</th>
        ${ids.map((id) => html`<td key=${id}>${inPoints(points[id])}</td>`)}
      </tr>`,
    )}</tbody>
  </table></div>`;
}
