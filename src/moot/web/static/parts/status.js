// How things stand, in words: the line under the order of speeches, the connection, what is wrong, and the
// ways out of it.

import { html } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { span, useNow } from '../lib/clock.js';
import { Button, Words } from '../lib/ui.js';
import { figure } from '../lib/numbers.js';
import { count } from '../lib/word_count.js';

const PREPARING = {
  created: 'About to begin',
  initializing: 'Getting ready',
};

/** who · phase · round n of m · words of budget · clock */
export function Phase({ room }) {
  const now = room.at('now').value;
  const { seats } = room.at('about').value;
  const turn = (number) => room.at('turns', number);
  const names = now.speaking.map((number) => seats.find(({ id }) => id === turn(number).peek()?.seat)?.name ?? '');
  const phase = PREPARING[now.status] ?? now.phase;
  const why = now.pausedFor ? `: ${now.pausedFor}` : '';
  const paused = now.pausing ? 'pauses after this speech' : now.state === 'paused' && `paused${why}`;
  const [only, ...others] = now.speaking;
  const still = room.line.value === 'replay';
  const judged = now.endedAt && room.keys('verdicts').value.length > 0;
  return html`<p class="phase numbers">
    <span class="saying">
      ${names.length > 0 && html`<b><${Words}>${names.join(', ')}</${Words}></b>`}
      <span>${judged ? html`<a href="#verdict">${phase}</a>` : phase}</span>
    </span>
    <span class="measure">
      ${!now.endedAt && now.rounds > 1 && now.round > 0 && html`<span>round ${now.round} of ${now.rounds}</span>`}
      ${paused && html`<span>${paused}</span>`}
      ${only && !others.length && html`<${Measure} key=${only} turn=${turn(only)} still=${still} />`}
    </span>
  </p>`;
}

/** Words of the budget, and the clock. Both keep the room they need. */
function Measure({ turn, still }) {
  const now = useNow();
  const told = turn.peek();
  if (!told) return null;
  const words = count(told.text);
  const clock = told.endsAt ? new Date(told.endsAt) - now : now - new Date(told.startedAt);
  return html`
    <span>${figure(words)}${told.budget ? ` of ${figure(told.budget)}` : ''} words</span>
    ${!still && html`<span class="clock">${span(clock)}${told.endsAt ? ' left' : ''}</span>`}
  `;
}

const LINES = {
  connecting: 'Connecting…',
  lost: 'Reconnecting…',
  live: 'live',
  gone: 'gone',
  denied: 'closed',
  replay: 'replay',
};

/** Whether what is shown is what is going on. */
export function Connection({ room }) {
  const line = room.line.value;
  const { endedAt, state, pausing, beingJudged } = room.at('now').value;
  const quiet = endedAt && !beingJudged ? 'over' : state === 'paused' && !pausing ? 'paused' : '';
  const text = line === 'live' && quiet ? quiet : LINES[line];
  return html`<span class="connection ${line} ${quiet}" role="status"><span>${text}</span></span>`;
}

// --- what is wrong, and the ways out ------------------------------------------------------------------------

const WAYS = {
  retry: 'Retry turn',
  resume: 'Go on',
  skip: 'Skip turn',
  judge: 'Judge now',
  stop: 'Stop the debate',
};

/** What a skip names, as this page shows it: the turns being given, or in a pause the speech that comes next. */
export function skipped({ speaking, state, next }) {
  if (speaking.length > 0) return speaking.map((turn) => ({ turn: Number(turn) }));
  return state === 'paused' && next !== null ? [{ speech: next + 1 }] : [undefined];
}

/** Those of these deeds that are open, to somebody who may. */
function Ways({ room, id, deeds, children }) {
  const { open } = room.at('now').value;
  const may = room.me.value?.may.steer;
  const found = deeds.filter((deed) => may && open.includes(deed));
  const go = async (deed) => {
    const bodies = deed === 'skip' ? skipped(room.at('now').peek()) : [undefined];
    for (const body of bodies) await post(`/debates/${id}/${deed}`, body);
  };
  if (found.length === 0 && !children) return null;
  return html`<p class="row">
    ${children}
    ${found.map((deed) => html`<${Button} key=${deed} onClick=${() => go(deed)}>${WAYS[deed]}<//>`)}
  </p>`;
}

/** What keeps the debate from going on. */
export function Trouble({ room, id }) {
  const { trouble } = room.at('now').value;
  if (!trouble) return null;
  const seat = room.at('about').value.seats.find((one) => one.id === trouble.seat);
  const settings = trouble.reason === 'permanent_fault';
  const more = !trouble.text.includes(trouble.message) && trouble.message;
  return html`<div class="notice bad stack" role="alert">
    <h2>${trouble.title}</h2>
    <p dir="auto">${trouble.text}</p>
    ${seat && html`<p class="small soft">
      In the seat of <${Words}>${seat.name}<//>${more && html`: <${Words}>${more}<//>`}
    </p>`}
    <${Ways} room=${room} id=${id} deeds=${['retry', 'resume', 'skip', 'judge', 'stop']}>
      ${settings && html`<a class="btn main" href="/settings">Check configuration</a>`}
    <//>
  </div>`;
}

/** Somebody has the floor, and no word has come for a while, or several tries have failed. */
export function Stuck({ room, id }) {
  const { speaking } = room.at('now').value;
  return speaking.length > 0 && room.line.value === 'live' ? html`<${Silent} room=${room} id=${id} />` : null;
}

/** So many failed tries of one speech are worth a word. */
const TRIES = 2;

function Silent({ room, id }) {
  const time = useNow();
  const { speaking, quietSeconds } = room.at('now').value;
  const person = speaking.every((turn) => room.at('turns', turn).peek()?.byHand);
  const silence = (time - room.heard.peek()) / 1000;
  const tries = Math.max(...speaking.map((turn) => room.at('turns', turn).value?.trouble?.tries ?? 0));
  if (person || (silence < quietSeconds && tries < TRIES)) return null;
  const why = tries < TRIES ? `No word has come for ${Math.floor(silence)} seconds.` : `${tries} tries of this speech have failed.`;
  return html`<div class="notice stack" role="status">
    <h2>Debate seems stuck</h2>
    <p>${why} It may still go on by itself; these are ways out:</p>
    <${Ways} room=${room} id=${id} deeds=${['skip', 'retry', 'judge', 'stop']} />
  </div>`;
}

// --- behind the last speech ---------------------------------------------------------------------------------

/** The deed for which a debate waits whose speeches are over: decide, judge, or none. */
export function awaited({ next, speaking, endedAt, beingJudged, open }, { winningCondition, autoJudge }) {
  const deed = winningCondition === 'user-decides' ? 'decide' : autoJudge ? null : 'judge';
  const over = next === null && speaking.length === 0 && !endedAt && !beingJudged && !open.includes('close');
  return over && open.includes(deed) ? deed : null;
}

const AWAITED = {
  decide: ['It is for you to say who has won.', 'The chair says who has won.'],
  judge: ['The judges wait for your word.', 'The judges wait for the word of the chair.'],
};

export function Awaited({ room }) {
  const deed = awaited(room.at('now').value, room.at('about').value.config);
  if (!deed) return null;
  const [own, others] = AWAITED[deed];
  return html`<div class="awaiting" role="status">
    <p>The speeches are over. ${room.me.value?.may.steer ? own : others}</p>
  </div>`;
}

// --- before the first speech --------------------------------------------------------------------------------

const WAITING = {
  created: 'The debate is about to begin.',
  initializing: 'The speakers are getting ready…',
  awaiting_arguments: 'The speakers are ready. The chair opens the round.',
  debating: 'The first speaker goes up…',
  paused: 'Paused before the first speech.',
  error: 'No speech was given.',
  aborted: 'Called off before the first speech.',
};

export function Awaiting({ room }) {
  const { status, phase } = room.at('now').value;
  if (room.keys('turns').value.length > 0) return null;
  const local = room.at('about').value.seats.some((seat) => seat.model.startsWith('local/'));
  const early = status === 'created' || status === 'initializing';
  return html`<div class="awaiting">
    <p>${phase === 'The audience votes' ? 'First the audience votes.' : WAITING[status] ?? phase}</p>
    ${local && early && html`<p class="small">A local model is being loaded. The first time, that takes a moment.</p>`}
  </div>`;
}
