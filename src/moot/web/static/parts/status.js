// The status of a debate in words: the line under the strip of speeches, the connection, problems, and what
// can be done about them.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { answers, post } from '../lib/api.js';
import { seconds, span, useBeat, useNow } from '../lib/clock.js';
import { countWords, figure } from '../lib/numbers.js';
import { seatOf } from '../lib/seats.js';
import { Button, Words } from '../lib/ui.js';
import { BallotCount } from './judge_ballots.js';
import { useRole } from './role_switch.js';

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
  const small = only && seats.some(({ id, begun }) => begun && id === turn(only).peek()?.seat);
  const judged = now.endedAt && debate.keys('verdicts').value.length > 0;
  return html`<p class="phase numbers">
    <span class="saying">
      ${names.length > 0 && html`<b><${Words}>${names.join(', ')}</${Words}></b>`}
      <span>${judged ? html`<a href="#verdict">${phase}</a>` : phase}</span>
    </span>
    <span class="measure">
      ${!now.endedAt && now.rounds > 1 && now.round > 0 && html`<span>round ${now.round} of ${now.rounds}</span>`}
      ${paused && html`<span>${paused}</span>`}
      ${now.beingJudged && html`<${BallotCount} debate=${debate} />`}
      ${only && !others.length && html`<${WordsAndClock} key=${only} turn=${turn(only)} still=${still} small=${small}
        pace=${() => debate.pace.get(only)} />`}
    </span>
  </p>`;
}

/** Figures of extensions in words. */
export function Facts({ debate }) {
  const { facts } = debate.at('now').value;
  if (!facts) return null;
  return html`<dl class="facts">${facts.map(({ label, text }) => html`<div key=${label}><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** So often the words of a speech are counted while it grows: with every word it would cost more and more. */
const COUNTED_MS = 250;

/** The number of words with the limit, the speed, and the clock. A `small` model does not keep to the number exactly. */
function WordsAndClock({ turn, still, small, pace }) {
  useBeat(COUNTED_MS);
  const now = useNow();
  const speech = turn.peek();
  if (!speech) return null;
  const words = countWords(speech.text);
  const clock = speech.endsAt ? new Date(speech.endsAt) - now : now - new Date(speech.startedAt);
  const speed = !still && speedOf(pace());
  return html`
    <span>${figure(words)}${speech.budget ? ` of ${small ? 'about ' : ''}${figure(speech.budget)}` : ''} words</span>
    ${speed && html`<span class="speed" title="Estimated from the text so far">${speed} tokens/s</span>`}
    ${!still && html`<span class="clock">${span(clock)} ${speech.endsAt ? 'left' : 'elapsed'}</span>`}
  `;
}

/** A token is about four characters; over less than a second a speed says nothing. */
function speedOf(pace) {
  const time = pace ? pace.last - pace.first : 0;
  return time >= 1000 ? Math.round((pace.characters / 4 / time) * 1000) : null;
}

/** Time to the first token, and the speed: of a live speech as measured here, of a finished one by the server. */
export function Speed({ debate, turn, speech }) {
  useBeat(speech.state === 'live' && speech.firstTokenMs === null ? COUNTED_MS : 60_000);
  const first = debate.pace.get(String(speech.number))?.first;
  const measured = first && speech.firstTokenMs === null ? first - Date.parse(turn.peek().startedAt) : null;
  const wait = speech.firstTokenMs ?? measured;
  if (speech.byHand || wait === null) return null;
  const speed = speech.tokensPerSecond;
  return html`<span title="Time from the request to the first token">first token ${seconds(Math.max(0, wait))}</span>
    ${speed && html`<span>${figure(Math.round(speed))} tokens/s</span>`}`;
}

const LINES = {
  connecting: 'Connecting…',
  lost: 'Reconnecting…',
  live: 'live',
  gone: 'gone',
  denied: 'closed',
  replay: 'replay',
};

const QUIET = { failed: 'failed', over: 'finished', paused: 'paused' };

/** Whether the page is up to date. */
export function Connection({ debate }) {
  const line = debate.connection.value;
  const { endedAt, state, pausing, beingJudged } = debate.at('now').value;
  const failed = state === 'error' && !beingJudged;
  const quiet = failed ? 'failed' : endedAt && !beingJudged ? 'over' : state === 'paused' && !pausing ? 'paused' : '';
  const text = line === 'live' && quiet ? QUIET[quiet] : LINES[line];
  return html`<span class="connection ${line} ${quiet}" role="status"><span>${text}</span></span>`;
}

/** Stops the speech that is being streamed; what was said is kept. Only for those who moderate. */
export function StopButton({ debate, id, speech }) {
  const { open } = debate.at('now').value;
  if (!debate.me.value?.may.steer || useRole(id).role !== 'moderator' || !open.includes('cut') || speech.byHand) return null;
  const stop = () => post(`/debates/${id}/pause`, { now: true }, { once: true });
  return html`<${Button} class="stop" title="Stop this speech and pause; what was said is kept" onClick=${stop}>
    <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="1.5" /></svg>Stop speech
  <//>`;
}

// --- problems and what can be done ------------------------------------------------------------------------

const WAYS = {
  retry: 'Retry turn',
  resume: 'Resume',
  skip: 'Skip turn',
  judge: 'Judge now',
  stop: 'End the debate',
};

/** What a skip refers to: the current turns, or during a pause the next speech. */
export function skipped({ speaking, state, next }) {
  if (speaking.length > 0) return speaking.map((turn) => ({ turn: Number(turn) }));
  return state === 'paused' && next !== null ? [{ speech: next + 1 }] : [undefined];
}

/** The buttons for those of these commands that are possible and permitted; none for those who watch. */
export function Ways({ debate, id, commands, children }) {
  const { open } = debate.at('now').value;
  const may = debate.me.value?.may.steer && useRole(id).role !== 'observer';
  const offered = commands.filter((command) => may && open.includes(command));
  const go = async (command) => {
    const bodies = command === 'skip' ? skipped(debate.at('now').peek()) : [undefined];
    for (const body of bodies) await post(`/debates/${id}/${command}`, body);
  };
  if (offered.length === 0 && !children) return null;
  return html`<p class="row">
    ${children}
    ${offered.map((command) => html`<${Button} key=${command} onClick=${() => go(command)}>${WAYS[command]}<//>`)}
  </p>`;
}

/** Why the debate does not continue. */
export function FailureNotice({ debate, id }) {
  const { trouble } = debate.at('now').value;
  if (!trouble) return null;
  const seat = seatOf(debate, trouble.seat);
  const settings = trouble.reason === 'permanent_fault' || trouble.reason === 'all_failed';
  return html`<div class="notice bad stack" role="alert">
    <h2>${trouble.title}${seat && trouble.reason === 'permanent_fault' && html`: <${Words}>${seat.name}<//>`}</h2>
    <p dir="auto">${trouble.text} ${trouble.remedy}</p>
    ${trouble.provider && html`<${Reachable} provider=${trouble.provider} />`}
    <${Ways} debate=${debate} id=${id} commands=${['retry', 'resume', 'skip', 'judge', 'stop']}>
      ${settings && html`<a class="btn main" href="/settings">Open Settings</a>`}
    <//>
  </div>`;
}

const ASKED_MS = 5000;

/** Whether a provider answers now; asked again every few seconds. Nothing is shown for one without an address. */
export function Reachable({ provider }) {
  const [state, set] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    const look = () => document.hidden || answers(provider, stop.signal).then(set, () => {});
    look();
    const timer = setInterval(look, ASKED_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [provider]);
  if (state === null) return null;
  return html`<p class="reach small ${state ? 'up' : 'down'}" role="status">
    <bdi>${provider}</bdi> ${state ? 'answers now' : 'does not answer now'}
  </p>`;
}

/** The call that failed is tried again in so many seconds. */
export function Retrying({ trouble }) {
  const now = useNow();
  const left = trouble.retryAt ? Math.ceil((Date.parse(trouble.retryAt) - now) / 1000) : 0;
  return html`<div class="retrying">
    <p dir="auto">${trouble.message}</p>
    <p class="numbers" role="timer">${trouble.text} ${left > 0 ? html`in <b>${span(left * 1000)}</b>` : 'now…'}</p>
    ${trouble.tries > 1 && html`<${Reachable} provider=${trouble.provider} />`}
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
  const silence = (time - debate.progressAt.peek()) / 1000;
  const tries = Math.max(...speaking.map((turn) => debate.at('turns', turn).value?.trouble?.tries ?? 0));
  if (person || (silence < quietSeconds && tries < TRIES)) return null;
  const why = tries < TRIES ? `No text has arrived for ${Math.floor(silence)} seconds.` : `${tries} attempts at this speech have failed.`;
  return html`<div class="notice stack" role="status">
    <h2>The debate seems stuck</h2>
    <p>${why} It may still continue by itself. You can also:</p>
    <${Ways} debate=${debate} id=${id} commands=${['skip', 'retry', 'judge', 'stop']} />
  </div>`;
}

// --- after the last speech ---------------------------------------------------------------------------------

/** The command that a debate waits for after its speeches: decide, judge, or none. */
export function awaited({ next, speaking, endedAt, beingJudged, open }, { winningCondition, autoJudge }) {
  const command = winningCondition === 'user-decides' ? 'decide' : autoJudge ? null : 'judge';
  const over = next === null && speaking.length === 0 && !endedAt && !beingJudged && !open.includes('close');
  return over && open.includes(command) ? command : null;
}

const AWAITED = {
  decide: ['Declare the winner.', 'The moderator declares the winner.'],
  judge: ['Start the judging with “Judge now”.', 'The moderator starts the judging.'],
};

export function VerdictPending({ debate, id }) {
  const command = awaited(debate.at('now').value, debate.at('about').value.config);
  if (!command) return null;
  const [own, others] = AWAITED[command];
  const moderates = debate.me.value?.may.steer && useRole(id).role === 'moderator';
  return html`<div class="awaiting" role="status">
    <p>The speeches are over. ${moderates ? own : others}</p>
  </div>`;
}

// --- before the first speech --------------------------------------------------------------------------------

const WAITING = {
  created: 'The debate is about to begin.',
  initializing: 'Preparing the speakers…',
  awaiting_arguments: 'Ready. The moderator starts the round.',
  debating: 'The first speech is about to begin…',
  paused: 'Paused before the first speech.',
  error: 'No speech was given.',
  aborted: 'Aborted before the first speech.',
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
