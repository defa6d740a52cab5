// The stage view for a projector: the motion, the speakers, and the current words, as large as possible. One scene
// at a time: the opening, a speech, the judging, the verdict.

import { html, useComputed, useEffect, useRef } from '../../vendor/preact.js';
import { span, useNow } from '../lib/clock.js';
import { countWords, plural } from '../lib/numbers.js';
import { isStill } from '../lib/preferences.js';
import { seatOf, seatStyle, spread } from '../lib/seats.js';
import { progress } from '../lib/timeline.js';
import { EarlyEnd, sizeOf } from '../lib/ui.js';
import { Growing } from './prose.js';
import { Order } from './speech_strip.js';

export function StageView({ debate }) {
  const about = debate.at('about').value;
  const shown = useComputed(() => scene(debate));
  return html`
    <header class="hall">
      <p class="overline"><${Phase} debate=${debate} /></p>
      <h1 tabindex="-1" dir="auto" class=${sizeOf(about.motion)}>${about.motion}</h1>
      <${Seats} debate=${debate} />
    </header>
    <div class="scene ${shown.value.kind}">
      ${shown.value.kind === 'speech'
        ? shown.value.turns.map((turn) => html`<${Speaking} key=${turn} debate=${debate} number=${turn} />`)
        : html`<${SCENES[shown.value.kind]} debate=${debate} />`}
    </div>
    <footer class="foot">
      <${Aside} debate=${debate} />
      <${EarlyEnd} debate=${debate} />
      <div class="measures"><${Strip} debate=${debate} /><${StageWordsAndClock} debate=${debate} /></div>
      <${VoteBar} debate=${debate} />
    </footer>
  `;
}

/** The current scene: the current speech, else the last one, until the judges have said something. */
function scene(debate) {
  const { speaking, beingJudged } = debate.at('now').value;
  if (speaking.length) return { kind: 'speech', turns: speaking };
  if (debate.keys('verdicts').value.length) return { kind: 'verdict' };
  if (beingJudged) return { kind: 'bench' };
  if (voting(debate).length) return { kind: 'division' };
  const last = debate.keys('turns').value.findLast((number) => !debate.at('turns', number).value.struck);
  return last ? { kind: 'speech', turns: [last] } : { kind: 'opening' };
}

const voting = (debate) => Object.values(debate.at('polls').value ?? {}).filter((poll) => poll?.open);

function Phase({ debate }) {
  const about = debate.at('about').value;
  const { phase, round, rounds, status, state } = debate.at('now').value;
  const over = debate.keys('verdicts').value.length > 0;
  const parts = [about.formatTitle, status === 'paused' ? 'Paused' : !over && phase].filter(Boolean);
  if (state === 'debating' && round && rounds > 1) parts.push(`Round ${round} of ${rounds}`);
  return html`<bdi>${parts.join(' · ')}</bdi>`;
}

function Seats({ debate }) {
  const { seats } = debate.at('about').value;
  const up = new Set(debate.at('now').value.speaking.map((turn) => debate.at('turns', turn).value?.seat));
  return html`<ul class="seats" aria-label="Seats">${seats.map(
    (seat) => html`<li key=${seat.id} data-seat style=${seatStyle(seat.color)}
      class=${up.size && !up.has(seat.id) ? 'quiet' : ''} aria-current=${up.has(seat.id) || undefined}>
      <b><bdi>${seat.name}</bdi></b>
      <span><bdi>${[seat.name === seat.seatName ? seat.model : seat.seatName, STANDS[seat.position]].filter(Boolean).join(' · ')}</bdi></span>
    </li>`,
  )}</ul>`;
}

function Speaking({ debate, number }) {
  const turn = debate.at('turns', number);
  const text = useComputed(() => turn.value?.text ?? '');
  const box = useRef();
  useCalmScroll(box, text);
  const { seat, title, state, reasoning, trouble } = turn.value;
  const who = seatOf(debate, seat);
  const waiting = state === 'live' && !text.value;
  return html`<article data-seat style=${seatStyle(who?.color)} class=${state === 'live' ? 'live' : ''}>
    <h2><bdi>${who?.name}</bdi> <span>${title}</span></h2>
    <div class="words" ref=${box} tabindex="-1">
      ${waiting && html`<p class="hush">${trouble?.message ?? (reasoning ? 'thinking…' : '…')}</p>`}
      <${Growing} text=${text} live=${state === 'live'} />
    </div>
  </article>`;
}

/** Keeps the last sentences in view; earlier lines scroll out slowly. */
function useCalmScroll(box, text) {
  useEffect(() => {
    let animation = 0;
    const step = () => {
      const { current: words } = box;
      if (!words) return;
      const left = () => words.scrollHeight - words.clientHeight - words.scrollTop;
      words.scrollTop += isStill() || left() > words.clientHeight ? left() : Math.ceil(left() * 0.08);
      words.classList.toggle('under-way', words.scrollTop > 0);
      animation = left() > 1 ? requestAnimationFrame(step) : 0;
    };
    const follow = () => (animation ||= requestAnimationFrame(step));
    const leave = text.subscribe(follow);
    const watcher = new ResizeObserver(follow);
    watcher.observe(box.current);
    return () => {
      leave();
      watcher.disconnect();
      cancelAnimationFrame(animation);
    };
  }, []);
}

function Opening({ debate }) {
  const { phase, trouble, state } = debate.at('now').value;
  const ready = state === 'debating' ? `${phase}…` : 'Preparing the speakers';
  return html`<p class="large">${trouble?.title ?? ready}</p>`;
}

function Division({ debate }) {
  const votes = voting(debate).reduce((sum, poll) => sum + poll.votes, 0);
  return html`<p class="large">The audience votes</p>
    <p class="under numbers">${plural(votes, 'vote')} so far</p>`;
}

function JudgesAtWork({ debate }) {
  const weighing = debate.keys('bench').value.map((key) => debate.at('bench', key).value);
  const cast = weighing.filter((one) => one.state === 'cast').length;
  return html`<p class="large">Judging</p>
    ${weighing.length > 0 && html`<p class="under numbers">${cast} of ${weighing.length} ballots cast</p>`}`;
}

function Verdict({ debate }) {
  const verdict = debate.at('verdicts', '0').value;
  const decided = verdict.outcome === 'win' && !verdict.coinFlip;
  const who = verdict.coinFlip ? null : seatOf(debate, verdict.winner);
  // Without a winner the reasons of one judge would be one-sided: the doubts are shown instead.
  const why = decided ? verdict.reasoning : verdict.doubts.join(' ') || verdict.reasoning;
  return html`<div data-seat=${Boolean(who) || undefined} style=${who && seatStyle(who.color)} class="decision">
    <p class="overline">Verdict</p>
    <p class="large"><bdi>${verdict.title}</bdi></p>
    ${verdict.sentence && html`<p class="under numbers"><bdi>${verdict.sentence}</bdi></p>`}
    ${why && html`<p class="why" dir="auto">${why}</p>`}
  </div>`;
}

const STANDS = { for: 'for', against: 'against' };
const SCENES = { opening: Opening, division: Division, bench: JudgesAtWork, verdict: Verdict };

/** Remarks and questions since the speech began. */
function Aside({ debate }) {
  const [number, remarkKey] = [debate.keys('turns').value.at(-1), debate.keys('remarks').value.at(-1)];
  const last = remarkKey && debate.at('remarks', remarkKey).value;
  if (!last || last.to || (number && last.seq < debate.at('turns', number).peek().seq)) return null;
  const kind = last.question ? 'A question' : 'A remark';
  return html`<p class="aside"><span>${kind}</span> <q dir="auto">${last.text}</q></p>`;
}

function Strip({ debate }) {
  const { order, seats } = debate.at('about').value;
  const colours = Object.fromEntries(seats.map((seat) => [seat.id, seat.color]));
  const shown = useComputed(() => progress(debate)).value;
  return html`<${Order} order=${order} colours=${colours} ...${shown} />`;
}

/** The number of words and the clock of the speech: updated once a second, not with every word. */
function StageWordsAndClock({ debate }) {
  const now = useNow();
  const [number] = debate.at('now').value.speaking;
  if (!number) return null;
  const turn = debate.at('turns', number).peek();
  const words = countWords(turn.text);
  const about = debate.at('about').value.seats.some(({ id, begun }) => begun && id === turn.seat) ? 'about ' : '';
  const time = turn.endsAt ? Date.parse(turn.endsAt) - now : now - Date.parse(turn.startedAt);
  return html`<p class="measure numbers">
    ${words > 0 && html`<span>${words}${turn.budget ? ` of ${about}${turn.budget}` : ''} words</span>`}
    <span class="time" role="timer">${span(time)}</span>
  </p>`;
}

const POLLS = ['before', 'after', 'final'];
const SIDES = { for: 'For', against: 'Against', undecided: 'Undecided' };

function VoteBar({ debate }) {
  const polls = debate.at('polls').value ?? {};
  if (!polls.choices) return null;
  if (!polls.result) return html`<${Sealed} polls=${polls} />`;
  return html`<${Counted} debate=${debate} result=${polls.result} />`;
}

function Sealed({ polls }) {
  const held = Object.values(polls).filter((poll) => poll?.poll);
  if (!held.length) return null;
  return html`<ul class="votes" aria-label="Votes">${held.map(
    (poll) => html`<li key=${poll.poll} class=${poll.open ? 'open' : ''}>
      <b>${named(poll.poll)}</b> <span class="numbers">${plural(poll.votes, 'vote')}</span>
      ${poll.open && html`<span class="soft"> · voting is open <${Left} ends=${poll.endsAt} /></span>`}
    </li>`,
  )}</ul>`;
}

function Left({ ends }) {
  const now = useNow();
  return ends && html`<span class="numbers">${span(Date.parse(ends) - now)}</span>`;
}

function Counted({ debate, result }) {
  const { seats } = debate.at('about').value;
  const counted = result.polls.filter((poll) => poll.byChoice && poll.votes > 0);
  const names = Object.fromEntries((result.changes ?? []).map(({ choice, label }) => [choice, label]));
  const seat = (choice) => seats.find((one) => one.id === choice || one.position === choice);
  const label = (choice) => SIDES[choice] ?? names[choice] ?? seat(choice)?.name ?? choice;
  if (!counted.length) return result.headline && html`<p class="votes"><bdi>${result.headline}</bdi></p>`;
  return html`<figure class="tally">
    <figcaption><bdi>${result.headline}</bdi></figcaption>
    ${counted.map((poll) => {
      const parts = spread(result.choices).filter((choice) => poll.byChoice[choice]);
      const words = parts.map((choice) => `${label(choice)} ${poll.byChoice[choice]}`).join(', ');
      return html`<div key=${poll.poll} class="division" role="img" aria-label=${`${named(poll.poll)}: ${words}`}>
        ${counted.length > 1 && html`<span class="when">${named(poll.poll)}</span>`}
        <div class="parts">${parts.map((choice) => {
          const of = seat(choice);
          const style = `flex-grow:${poll.byChoice[choice]};${of ? seatStyle(of.color) : ''}`;
          return html`<span key=${choice} data-seat=${Boolean(of) || undefined} style=${style}>
            <bdi>${label(choice)}</bdi> ${poll.byChoice[choice]}
          </span>`;
        })}</div>
      </div>`;
    })}
  </figure>`;
}

const named = (poll) => (POLLS.includes(poll) ? poll[0].toUpperCase() + poll.slice(1) : poll);
