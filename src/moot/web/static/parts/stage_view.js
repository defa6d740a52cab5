// The chamber as a hall sees it: the motion, who faces whom, and the words being spoken, as large as they can be.
// One scene at a time: the opening, a speech, the judges at work, the verdict.

import { html, useComputed, useEffect, useRef } from '../../vendor/preact.js';
import { span, useNow } from '../lib/clock.js';
import { seatStyle } from '../lib/colour.js';
import { many } from '../lib/numbers.js';
import { progress } from '../lib/timeline.js';
import { isStill } from '../lib/preferences.js';
import { count } from '../lib/word_count.js';
import { sizeOf } from './headline.js';
import { Order } from './speech_strip.js';
import { Growing } from './prose.js';
import { VoteBar } from './vote_bar.js';

export function StageView({ room }) {
  const about = room.at('about').value;
  const shown = useComputed(() => scene(room));
  return html`
    <header class="hall">
      <p class="overline"><${Phase} room=${room} /></p>
      <h1 tabindex="-1" dir="auto" class=${sizeOf(about.motion)}>${about.motion}</h1>
      <${Seats} room=${room} />
    </header>
    <div class="scene ${shown.value.kind}">
      ${shown.value.kind === 'speech'
        ? shown.value.turns.map((turn) => html`<${Speaking} key=${turn} room=${room} number=${turn} />`)
        : html`<${SCENES[shown.value.kind]} room=${room} />`}
    </div>
    <footer class="foot">
      <${Aside} room=${room} />
      <div class="measures"><${Strip} room=${room} /><${Measure} room=${room} /></div>
      <${VoteBar} room=${room} />
    </footer>
  `;
}

/** What is on: whoever speaks; else the last who did, until the judges have something to say. */
function scene(room) {
  const { speaking, beingJudged } = room.at('now').value;
  if (speaking.length) return { kind: 'speech', turns: speaking };
  if (room.keys('verdicts').value.length) return { kind: 'verdict' };
  if (beingJudged) return { kind: 'bench' };
  if (voting(room).length) return { kind: 'division' };
  const last = room.keys('turns').value.findLast((number) => !room.at('turns', number).value.struck);
  return last ? { kind: 'speech', turns: [last] } : { kind: 'opening' };
}

const voting = (room) => Object.values(room.at('polls').value ?? {}).filter((poll) => poll?.open);

const seatOf = (room, id) => room.at('about').value.seats.find((seat) => seat.id === id);

function Phase({ room }) {
  const about = room.at('about').value;
  const { phase, round, rounds, status, state } = room.at('now').value;
  const over = room.keys('verdicts').value.length > 0;
  const parts = [about.formatTitle, status === 'paused' ? 'Paused' : !over && phase].filter(Boolean);
  if (state === 'debating' && round && rounds > 1) parts.push(`Round ${round} of ${rounds}`);
  return html`<bdi>${parts.join(' · ')}</bdi>`;
}

function Seats({ room }) {
  const { seats } = room.at('about').value;
  const up = new Set(room.at('now').value.speaking.map((turn) => room.at('turns', turn).value?.seat));
  return html`<ul class="seats" aria-label="Seats">${seats.map(
    (seat) => html`<li key=${seat.id} data-seat style=${seatStyle(seat.color)}
      class=${up.size && !up.has(seat.id) ? 'quiet' : ''} aria-current=${up.has(seat.id) || undefined}>
      <b><bdi>${seat.name}</bdi></b>
      <span><bdi>${[STANDS[seat.position], seat.model].filter(Boolean).join(' · ')}</bdi></span>
    </li>`,
  )}</ul>`;
}

function Speaking({ room, number }) {
  const turn = room.at('turns', number);
  const text = useComputed(() => turn.value?.text ?? '');
  const box = useRef();
  useCalmScroll(box, text);
  const { seat, title, state, reasoning, trouble } = turn.value;
  const who = seatOf(room, seat);
  const waiting = state === 'live' && !text.value;
  return html`<article data-seat style=${seatStyle(who?.color)} class=${state === 'live' ? 'live' : ''}>
    <h2><bdi>${who?.name}</bdi> <span>${title}</span></h2>
    <div class="words" ref=${box} tabindex="-1">
      ${waiting && html`<p class="hush">${trouble?.text ?? (reasoning ? 'thinking…' : '…')}</p>`}
      <${Growing} text=${text} live=${state === 'live'} />
    </div>
  </article>`;
}

/** The last sentences stay in view; the lines before them leave slowly. */
function useCalmScroll(box, text) {
  useEffect(() => {
    let asked = 0;
    const step = () => {
      const { current: words } = box;
      if (!words) return;
      const left = () => words.scrollHeight - words.clientHeight - words.scrollTop;
      words.scrollTop += isStill() || left() > words.clientHeight ? left() : Math.ceil(left() * 0.08);
      words.classList.toggle('under-way', words.scrollTop > 0);
      asked = left() > 1 ? requestAnimationFrame(step) : 0;
    };
    const follow = () => (asked ||= requestAnimationFrame(step));
    const leave = text.subscribe(follow);
    const watcher = new ResizeObserver(follow);
    watcher.observe(box.current);
    return () => {
      leave();
      watcher.disconnect();
      cancelAnimationFrame(asked);
    };
  }, []);
}

function Opening({ room }) {
  const { phase, trouble, state } = room.at('now').value;
  const ready = state === 'debating' ? `${phase}…` : 'The speakers are getting ready';
  return html`<p class="large">${trouble?.title ?? ready}</p>`;
}

function Division({ room }) {
  const votes = voting(room).reduce((sum, poll) => sum + poll.votes, 0);
  return html`<p class="large">The audience votes</p>
    <p class="under numbers">${many(votes, 'vote')} so far</p>`;
}

function Bench({ room }) {
  const weighing = room.keys('bench').value.map((key) => room.at('bench', key).value);
  const cast = weighing.filter((one) => one.state === 'cast').length;
  return html`<p class="large">The judges are weighing it</p>
    ${weighing.length > 0 && html`<p class="under numbers">${cast} of ${weighing.length} ballots cast</p>`}`;
}

function Verdict({ room }) {
  const verdict = room.at('verdicts', '0').value;
  const who = seatOf(room, verdict.winner);
  // Where nobody has won, the reasons of one judge would tell half of it; what is doubtful is the whole.
  const why = verdict.outcome === 'win' ? verdict.reasoning : verdict.doubts.join(' ') || verdict.reasoning;
  return html`<div data-seat=${Boolean(who) || undefined} style=${who && seatStyle(who.color)} class="decision">
    <p class="overline">Verdict</p>
    <p class="large"><bdi>${verdict.headline}</bdi></p>
    ${verdict.marginWords && html`<p class="under numbers"><bdi>${verdict.marginWords}</bdi></p>`}
    ${why && html`<p class="why" dir="auto">${why}</p>`}
  </div>`;
}

const STANDS = { for: 'for', against: 'against' };
const SCENES = { opening: Opening, division: Division, bench: Bench, verdict: Verdict };

/** What was said from the floor since the speech began. */
function Aside({ room }) {
  const [number, said] = [room.keys('turns').value.at(-1), room.keys('remarks').value.at(-1)];
  const last = said && room.at('remarks', said).value;
  if (!last || last.to || (number && last.seq < room.at('turns', number).peek().seq)) return null;
  const kind = last.question ? 'A question' : 'A remark';
  return html`<p class="aside"><span>${kind}</span> <q dir="auto">${last.text}</q></p>`;
}

function Strip({ room }) {
  const { order, seats } = room.at('about').value;
  const colours = Object.fromEntries(seats.map((seat) => [seat.id, seat.color]));
  const shown = useComputed(() => progress(room)).value;
  return html`<${Order} order=${order} colours=${colours} ...${shown} />`;
}

/** Words of the budget, and the clock of the speech: read once a second, and not with every word. */
function Measure({ room }) {
  const now = useNow();
  const [number] = room.at('now').value.speaking;
  if (!number) return null;
  const turn = room.at('turns', number).peek();
  const words = count(turn.text);
  const time = turn.endsAt ? Date.parse(turn.endsAt) - now : now - Date.parse(turn.startedAt);
  return html`<p class="measure numbers">
    ${words > 0 && html`<span>${words}${turn.budget ? ` of ${turn.budget}` : ''} words</span>`}
    <span class="time" role="timer">${span(time)}</span>
  </p>`;
}
