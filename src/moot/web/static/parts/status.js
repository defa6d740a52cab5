// The status of a debate in words: the line under the strip of speeches, the connection, problems, and what
// can be done about them.

import { html } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { span, useNow } from '../lib/clock.js';
import { countWords, figure } from '../lib/numbers.js';
import { Button, Words } from '../lib/ui.js';

const PREPARING = {
  created: 'About to begin',
  initializing: 'Getting ready',
};

/** who · phase · round n of m · words of budget · clock */
export function Phase({ debate }) {
  const now = debate.at('now').value;
  const { seats } = debate.at('about').value;
  const turn = (number) => debate.at('turns', number);
  const names = now.speaking.map((number) => seats.find(({ id }) => id === turn(number).peek()?.seat)?.name ?? '');
  const phase = PREPARING[now.status] ?? now.phase;
  const why = now.pausedFor ? `: ${now.pausedFor}` : '';
  const paused = now.pausing ? 'pauses after this speech' : now.state === 'paused' && `paused${why}`;
  const [only, ...others] = now.speaking;
  const still = debate.connection.value === 'replay';
  const judged = now.endedAt && debate.keys('verdicts').value.length > 0;
  return html`<p class="phase numbers">
    <span class="saying">
      ${names.length > 0 && html`<b><${Words}>${names.join(', ')}</${Words}></b>`}
      <span>${judged ? html`<a href="#verdict">${phase}</a>` : phase}</span>
    </span>
    <span class="measure">
      ${!now.endedAt && now.rounds > 1 && now.round > 0 && html`<span>round ${now.round} of ${now.rounds}</span>`}
      ${paused && html`<span>${paused}</span>`}
      ${only && !others.length && html`<${WordsAndClock} key=${only} turn=${turn(only)} still=${still} />`}
    </span>
  </p>`;
}

/** The number of words with the limit, and the clock. Both have a fixed width. */
function WordsAndClock({ turn, still }) {
  const now = useNow();
  const speech = turn.peek();
  if (!speech) return null;
  const words = countWords(speech.text);
  const clock = speech.endsAt ? new Date(speech.endsAt) - now : now - new Date(speech.startedAt);
  return html`
    <span>${figure(words)}${speech.budget ? ` of ${figure(speech.budget)}` : ''} words</span>
    ${!still && html`<span class="clock">${span(clock)}${speech.endsAt ? ' left' : ''}</span>`}
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

/** Whether the page is up to date. */
export function Connection({ debate }) {
  const line = debate.connection.value;
  const { endedAt, state, pausing, beingJudged } = debate.at('now').value;
  const quiet = endedAt && !beingJudged ? 'over' : state === 'paused' && !pausing ? 'paused' : '';
  const text = line === 'live' && quiet ? quiet : LINES[line];
  return html`<span class="connection ${line} ${quiet}" role="status"><span>${text}</span></span>`;
}

// --- problems and what can be done ------------------------------------------------------------------------

const WAYS = {
  retry: 'Retry turn',
  resume: 'Go on',
  skip: 'Skip turn',
  judge: 'Judge now',
  stop: 'Stop the debate',
};

/** What a skip refers to: the current turns, or during a pause the next speech. */
export function skipped({ speaking, state, next }) {
  if (speaking.length > 0) return speaking.map((turn) => ({ turn: Number(turn) }));
  return state === 'paused' && next !== null ? [{ speech: next + 1 }] : [undefined];
}

/** The buttons for those of these commands that are possible and permitted. */
function Ways({ debate, id, deeds, children }) {
  const { open } = debate.at('now').value;
  const may = debate.me.value?.may.steer;
  const offered = deeds.filter((deed) => may && open.includes(deed));
  const go = async (deed) => {
    const bodies = deed === 'skip' ? skipped(debate.at('now').peek()) : [undefined];
    for (const body of bodies) await post(`/debates/${id}/${deed}`, body);
  };
  if (offered.length === 0 && !children) return null;
  return html`<p class="row">
    ${children}
    ${offered.map((deed) => html`<${Button} key=${deed} onClick=${() => go(deed)}>${WAYS[deed]}<//>`)}
  </p>`;
}

/** Why the debate does not continue. */
export function FailureNotice({ debate, id }) {
  const { trouble } = debate.at('now').value;
  if (!trouble) return null;
  const seat = debate.at('about').value.seats.find((one) => one.id === trouble.seat);
  const settings = trouble.reason === 'permanent_fault';
  const more = !trouble.text.includes(trouble.message) && trouble.message;
  return html`<div class="notice bad stack" role="alert">
    <h2>${trouble.title}</h2>
    <p dir="auto">${trouble.text}</p>
    ${seat && html`<p class="small soft">
      In the seat of <${Words}>${seat.name}<//>${more && html`: <${Words}>${more}<//>`}
    </p>`}
    <${Ways} debate=${debate} id=${id} deeds=${['retry', 'resume', 'skip', 'judge', 'stop']}>
      ${settings && html`<a class="btn main" href="/settings">Check configuration</a>`}
    <//>
  </div>`;
}

/** A speaker has sent nothing for a while, or several attempts have failed. */
export function Stuck({ debate, id }) {
  const { speaking } = debate.at('now').value;
  return speaking.length > 0 && debate.connection.value === 'live' ? html`<${Silent} debate=${debate} id=${id} />` : null;
}

/** From this number of failed attempts on they are mentioned. */
const TRIES = 2;

function Silent({ debate, id }) {
  const time = useNow();
  const { speaking, quietSeconds } = debate.at('now').value;
  const person = speaking.every((turn) => debate.at('turns', turn).peek()?.byHand);
  const silence = (time - debate.heard.peek()) / 1000;
  const tries = Math.max(...speaking.map((turn) => debate.at('turns', turn).value?.trouble?.tries ?? 0));
  if (person || (silence < quietSeconds && tries < TRIES)) return null;
  const why = tries < TRIES ? `No word has come for ${Math.floor(silence)} seconds.` : `${tries} tries of this speech have failed.`;
  return html`<div class="notice stack" role="status">
    <h2>Debate seems stuck</h2>
    <p>${why} It may still go on by itself; these are ways out:</p>
    <${Ways} debate=${debate} id=${id} deeds=${['skip', 'retry', 'judge', 'stop']} />
  </div>`;
}

// --- after the last speech ---------------------------------------------------------------------------------

/** The command that a debate waits for after its speeches: decide, judge, or none. */
export function awaited({ next, speaking, endedAt, beingJudged, open }, { winningCondition, autoJudge }) {
  const deed = winningCondition === 'user-decides' ? 'decide' : autoJudge ? null : 'judge';
  const over = next === null && speaking.length === 0 && !endedAt && !beingJudged && !open.includes('close');
  return over && open.includes(deed) ? deed : null;
}

const AWAITED = {
  decide: ['It is for you to say who has won.', 'The chair says who has won.'],
  judge: ['The judges wait for your word.', 'The judges wait for the word of the chair.'],
};

export function VerdictPending({ debate }) {
  const deed = awaited(debate.at('now').value, debate.at('about').value.config);
  if (!deed) return null;
  const [own, others] = AWAITED[deed];
  return html`<div class="awaiting" role="status">
    <p>The speeches are over. ${debate.me.value?.may.steer ? own : others}</p>
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

export function BeforeFirstSpeech({ debate }) {
  const { status, phase } = debate.at('now').value;
  if (debate.keys('turns').value.length > 0) return null;
  const local = debate.at('about').value.seats.some((seat) => seat.model.startsWith('local/'));
  const early = status === 'created' || status === 'initializing';
  return html`<div class="awaiting">
    <p>${phase === 'The audience votes' ? 'First the audience votes.' : WAITING[status] ?? phase}</p>
    ${local && early && html`<p class="small">A local model is being loaded. The first time, that takes a moment.</p>`}
  </div>`;
}
