// The ballots of each judge: both readings side by side, the speeches they refer to, and folded the points, which
// decide nothing; and the ballots while they are being written.

import { html, useComputed, useRef } from '../../vendor/preact.js';
import { inPoints, plural } from '../lib/numbers.js';
import { partiesOf } from '../lib/seats.js';
import { Growing, Prose } from './prose.js';
import { readingName } from './ranking_chart.js';

/** `to(turn)`: the address of a speech. */
export function Ballots({ verdict, about, debate, to }) {
  const parties = partiesOf(about);
  const recused = verdict === debate.at('verdicts', '0').value ? about.judges.filter((judge) => judge.recused) : [];
  return html`<div class="opinions">
    ${verdict.opinions.map(
      (opinion) => html`<${Opinion} key=${opinion.judge} ...${{ opinion, verdict, parties, debate, to }} />`,
    )}
    ${recused.map(
      (judge) => html`<article class="opinion absent" key=${judge.id}>
        <header><h3><bdi>${judge.name}</bdi></h3><p class="soft">not asked: it is <bdi>${judge.recused}</bdi></p></header>
      </article>`,
    )}
  </div>`;
}

function Opinion({ opinion, verdict, parties, debate, to }) {
  const papers = verdict.ballots.filter((ballot) => ballot.judge === opinion.judge);
  return html`<article class="opinion ${opinion.flipped ? 'flipped' : ''} ${papers.length ? '' : 'absent'}">
    <header>
      <h3><bdi>${opinion.name}</bdi></h3>
      <span class="soft small"><bdi>${opinion.who}</bdi></span>
      <p class="decision"><bdi>${opinion.decision}</bdi></p>
      ${opinion.problem && html`<p class="soft small"><bdi>${opinion.problem}</bdi></p>`}
      ${opinion.spoiled > 0 && !opinion.problem && html`<p class="soft small">
        ${plural(opinion.spoiled, 'ballot')} could not be read,
        and ${opinion.spoiled === 1 ? 'counts' : 'count'} for no side.
      </p>`}
    </header>
    <div class="papers">${papers.map(
      (paper) => html`<${Paper} key=${paper.order} alone=${papers.length === 1} weights=${verdict.weights}
        ...${{ paper, parties, debate, to }} />`,
    )}</div>
  </article>`;
}

function Paper({ paper, alone, parties, weights, debate, to }) {
  const winner = parties.get(paper.winner);
  return html`<section class="paper" data-seat style=${winner?.style ?? ''}>
    <h4>
      <span class="soft">${alone ? 'Ballot' : readingName(paper.order)}</span>
      <span class="hue"><bdi>${winner?.name ?? 'a tie'}</bdi></span>
    </h4>
    <${Prose} text=${paper.reasoning} to=${speechAddress(debate, to)} />
    <${Cites} cites=${paper.cites} debate=${debate} to=${to} />
    <${Diagnosis} paper=${paper} parties=${parties} weights=${weights} />
  </section>`;
}

/** The address of a speech that was given; undefined for any other number. */
export const speechAddress = (debate, to) => (turn) => (debate.at('turns', String(turn)).peek() ? to(turn) : undefined);

/** Links to the speeches that a ballot refers to. */
export function Cites({ cites, debate, to, label = 'Key speeches' }) {
  const cited = (cites ?? []).map((number) => [number, debate.at('turns', String(number)).value]);
  const known = cited.filter(([, turn]) => turn);
  if (!known.length) return null;
  const seats = new Map(debate.at('about').value.seats.map((seat) => [seat.id, seat.name]));
  return html`<p class="cites"><span class="soft">${label}</span> ${known.map(
    ([number, turn]) => html`<a key=${number} href=${to(number)}><bdi>${seats.get(turn.seat)}</bdi>, ${turn.title}</a>`,
  )}</p>`;
}

function Diagnosis({ paper, parties, weights }) {
  const scored = Object.entries(paper.scores);
  const criteria = Object.entries(paper.criteria ?? {});
  const rubric = Object.entries(paper.rubric ?? {});
  if (!scored.length && !criteria.length && !rubric.length) return null;
  const comments = scored.map(([, mark]) => [...mark.strengths, '–', ...mark.weaknesses].join('\n'));
  const alike = comments.length > 1 && comments[0].length > 1 && new Set(comments).size === 1;
  return html`<details class="diagnosis">
    <summary>Scores and comments (advisory)</summary>
    ${alike && html`<p class="soft">The same comments for every side: they tell nothing apart.</p>`}
    ${scored.length > 0 && html`<dl class="marks">${scored.map(
      ([id, mark]) => html`<div key=${id} data-seat style=${parties.get(id)?.style}>
        <dt><bdi>${parties.get(id)?.name}</bdi> <span class="numbers">${inPoints(mark.score)} of 100</span></dt>
        ${!alike && mark.strengths.map((text, index) => html`<dd key=${`+${index}`} class="plus" dir="auto">${text}</dd>`)}
        ${!alike && mark.weaknesses.map((text, index) => html`<dd key=${`-${index}`} class="minus" dir="auto">${text}</dd>`)}
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

const STATE = { waiting: 'not begun', writing: 'writing', spoiled: 'could not be read', waived: 'no money left for it', missing: 'none came' };

export function Bench({ debate }) {
  const own = ballotKeys(debate);
  if (!own.length) return null;
  const judges = Map.groupBy(own, (key) => debate.at('bench', key).value.judge);
  const bySide = debate.at('about').value.config.reading === 'by-side';
  const swapped = bySide ? 'the labels and the order of the sides' : 'the labels';
  return html`<section class="bench" aria-labelledby="bench-title">
    <h2 id="bench-title">Judging… <${BallotCount} debate=${debate} /></h2>
    <p class="soft">Each model judges twice, the second time with ${swapped} swapped.</p>
    ${[...judges].map(([judge, papers]) => html`<${Judge} key=${judge} keys=${papers} debate=${debate} />`)}
  </section>`;
}

/** The ballots of the latest judging. */
function ballotKeys(debate) {
  const keys = debate.keys('bench').value;
  const ballotAt = (key) => debate.at('bench', key).value;
  const last = Math.max(0, ...keys.map((key) => ballotAt(key)?.judging ?? 0));
  return keys.filter((key) => ballotAt(key)?.judging === last);
}

const OPEN = new Set(['waiting', 'writing']);

/** "ballot 1 of 2": of the one that is being written; nothing once all are cast. */
export function BallotCount({ debate }) {
  const [done, total] = useComputed(() => {
    const states = ballotKeys(debate).map((key) => debate.at('bench', key).value.state);
    return [states.filter((state) => !OPEN.has(state)).length, states.length].join();
  }).value.split(',').map(Number);
  return done < total ? html`<span class="soft numbers">ballot ${done + 1} of ${total}</span>` : null;
}

// A replay may go back to before the judging: then a ballot is removed before the component that shows it.

function Judge({ keys, debate }) {
  const { name, model } = debate.at('bench', keys[0]).value ?? {};
  return html`<article class="opinion">
    <header><h3><bdi>${name}</bdi></h3><span class="soft small"><bdi>${model}</bdi></span></header>
    <div class="papers">${keys.map(
      (key) => html`<${LivePaper} key=${key} name=${key} alone=${keys.length === 1} debate=${debate} />`,
    )}</div>
  </article>`;
}

function LivePaper({ name, alone, debate }) {
  const one = debate.at('bench', name);
  const state = useComputed(() => one.value?.state).value;
  const thinks = useComputed(() => Boolean(!one.value?.text && one.value?.reasoning)).value;
  const attempt = useComputed(() => one.value?.attempt).value;
  // The text stays when the ballot is cast or written again, so that the page does not jump.
  const last = useRef('');
  const text = useComputed(() => (last.current = one.value?.text || last.current));
  const { order, winner, person } = one.peek() ?? {};
  const problem = useComputed(() => one.value?.problem).value;
  const party = state === 'cast' ? partiesOf(debate.at('about').value).get(winner) : null;
  const told = problem ? 'none came' : STATE[state];
  const word = person && state === 'waiting' ? 'awaited' : thinks && state === 'writing' ? 'thinking…' : told;
  return html`<section class="paper ${state}" data-seat style=${party?.style ?? ''}>
    <h4>
      <span class="soft">${alone ? 'Ballot' : readingName(order)}</span>
      ${state === 'cast'
        ? html`<span class="hue"><bdi>${party?.name ?? 'a tie'}</bdi></span>`
        : html`<span class="soft">${word}${attempt > 1 && state === 'writing' ? `, attempt ${attempt}` : ''}</span>`}
    </h4>
    ${problem && html`<p class="soft small"><bdi>${problem}</bdi></p>`}
    ${(state === 'writing' || (state === 'cast' && last.current)) && html`<${Growing} text=${text}
      live=${state === 'writing'} />`}
  </section>`;
}
