// The editor of a person who has a seat in a debate: the text, the time and the number of words; and points of
// information, offered to and by the other side. The text is stored on the server as a draft, and in this tab until
// it has arrived there; when the time is up, the draft becomes the speech.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { get, post, put } from '../lib/api.js';
import { isFree } from '../lib/keep_focus.js';
import { useKeys } from '../lib/keyboard.js';
import { callOff, callUp, permission, permit } from '../lib/notifications.js';
import { countWords } from '../lib/numbers.js';
import { storedSignal } from '../lib/preferences.js';
import { seatOf, seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, announce, complain } from '../lib/ui.js';
import { TextInput, MOD, Wrong, useForm } from './form.js';
import { choose } from './role_switch.js';

await ensureStyle('controls');

const LONGEST = 20_000;
const shows = storedSignal('typing', false);

export function SpeechEditor({ debate, id, seat }) {
  const seatState = debate.at('place').value;
  const seatInfo = seatOf(debate, seat);
  const may = debate.me.value?.may.seats.includes(seat);
  if (!may || !seatInfo || seatState?.seat !== seat) return null;
  const { open } = debate.at('now').value;
  const path = `/debates/${id}/seats/${seat}`;
  const at = { debate, id, seat, path, seatState, seatInfo, open };
  if (!seatInfo.person) return open.includes(`take:${seat}`) ? html`<${Empty} ...${at} />` : null;
  if (seatState.title === null && !seatState.point) return null;
  const up = seatState.turn !== null;
  const style = seatStyle(seatInfo.color);
  return html`<section class="desk" data-seat style=${style} data-turn=${up} aria-labelledby="desk-title">
    <${Writing} key=${seat} ...${at} />
    <${Point} ...${at} />
    <${Foot} ...${at} />
  </section>`;
}

function Empty({ path, seatInfo }) {
  const take = () => post(`${path}/take`, {}, { once: true });
  return html`<section class="desk row" data-seat style=${seatStyle(seatInfo.color)} aria-label="Your seat">
    <span class="grow">A model speaks as <bdi>${seatInfo.seatName}</bdi>.</span>
    <${Button} class="main" onClick=${take}>Take the seat<//>
  </section>`;
}

function Writing({ debate, path, seat, seatState, open, seatInfo }) {
  const draft = useDraft(path, seatState);
  const field = useRef();
  const up = seatState.turn !== null;
  const ready = open.includes(`say:${seat}`) && draft.text.trim() !== '';
  useCall(up, seatState.title, debate.at('about').peek().motion, field);
  useKeys('At your desk', { d: ['Write', () => field.current.focus()] });
  const speak = async () => {
    if (!ready) return;
    try {
      await draft.say();
      announce('You have spoken.');
    } catch (error) {
      complain(error);
    }
  };
  const hurry = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      speak();
    }
  };
  const words = draft.text === seatState.draft ? seatState.words : countWords(draft.text);
  return html`
    <header class="row">
      <h2 id="desk-title" class="grow">
        ${up ? 'You have the floor' : 'Your next speech'}<span class="soft"> · ${seatState.title}</span>
      </h2>
      ${up && html`<${Clock} path=${path} endsAt=${seatState.endsAt} />`}
    </header>
    <textarea class="field" ref=${field} dir="auto" rows="9" maxlength=${LONGEST} value=${draft.text}
      aria-label="Your speech as ${seatInfo.seatName}" placeholder=${up ? 'Speak…' : AHEAD}
      onInput=${(event) => draft.write(event.target.value)} onKeyDown=${hurry}></textarea>
    <div class="row under">
      <${Count} words=${words} budget=${seatState.budget} />
      <span class="soft small kept">${draft.settled ? draft.text && 'Draft kept' : 'Keeping the draft…'}</span>
      <label class="small grow">
        <input type="checkbox" checked=${shows.value} onChange=${turnShowing} /> Show it as I type
      </label>
      <button type="button" class="btn main" disabled=${!ready} onClick=${speak}>
        Speak<kbd aria-hidden="true">${MOD} ↵</kbd>
      </button>
    </div>
  `;
}

const AHEAD = 'Write ahead, if you like. It waits here until it is your turn.';
const turnShowing = (event) => (shows.value = event.target.checked);

const Count = ({ words, budget }) => html`<span class="numbers small ${budget && words > budget ? 'over' : 'soft'}">
  ${budget ? `${words} of ${budget} words` : `${words} words`}
</span>`;

/** The text, and how much of it is stored on the server. */
function useDraft(path, seatState) {
  const shelf = `moot.draft.${path}`;
  const [text, setText] = useState(() => sessionStorage.getItem(shelf) ?? seatState.draft);
  const [sent, setSent] = useState(seatState.draft);
  const own = useRef({ turn: seatState.turn, words: new Set(), timer: null, sending: null }).current;
  const keep = async (words) => {
    own.words.add(words);
    await put(`${path}/draft`, { text: words, ...(shows.peek() && { live: true }) });
    setSent(words);
    if (sessionStorage.getItem(shelf) === words) sessionStorage.removeItem(shelf);
  };
  // The draft of a finished speech is gone, and another tab may have written a newer one. But our own text comes
  // back late, when more has been typed: then it is ignored.
  useEffect(() => {
    const over = own.turn !== null && own.turn !== seatState.turn;
    own.turn = seatState.turn;
    if (over) sessionStorage.removeItem(shelf);
    if (!over && (own.words.has(seatState.draft) || text !== sent)) return;
    own.words.clear();
    setText(seatState.draft);
    setSent(seatState.draft);
  }, [seatState.turn, seatState.draft]);
  useEffect(() => {
    if (text === sent) return undefined;
    own.timer = setTimeout(() => (own.sending = keep(text).catch(complain)), shows.peek() ? 250 : 500);
    return () => clearTimeout(own.timer);
  }, [text, sent]);
  const write = (words) => {
    sessionStorage.setItem(shelf, words);
    setText(words);
  };
  // A draft that arrived after the speech would become that of the next one.
  const say = async () => {
    clearTimeout(own.timer);
    await own.sending;
    await post(`${path}/speech`, { text }, { once: true });
  };
  return { text, settled: text === sent, write, say };
}

/** Notifies the person once for each of their speeches. */
function useCall(up, title, motion, field) {
  useEffect(() => {
    if (!up) return undefined;
    callUp(title, motion);
    if (isFree()) field.current?.focus({ preventScroll: true });
    return callOff;
  }, [up]);
}

/** The remaining time, by the server's clock: that of this machine may be wrong. */
function Clock({ path, endsAt }) {
  const [left, setLeft] = useState(null);
  useEffect(() => {
    let timer = null;
    const stop = new AbortController();
    const run = ({ secondsLeft }) => {
      if (secondsLeft === null) return setLeft(null);
      const end = performance.now() + secondsLeft * 1000;
      const tick = () => setLeft(Math.max(0, Math.floor((end - performance.now()) / 1000)));
      timer = setInterval(tick, 250);
      return tick();
    };
    get(path, { signal: stop.signal }).then(run, () => setLeft(null));
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [path, endsAt]);
  useEffect(() => {
    if (left === 60 || left === 15) announce(`${left} seconds left.`);
  }, [left]);
  if (endsAt === null) return html`<span class="clock soft">The clock stands still</span>`;
  return html`<time class="clock numbers" role="timer" aria-live="off" data-short=${left !== null && left <= 30}>
    ${left === null ? '–:––' : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`}
  </time>`;
}

function Foot({ debate, id, path, seat, seatState, open }) {
  const leave = async () => {
    await post(`${path}/leave`, {}, { once: true });
    if (debate.me.peek().may.steer) choose(id, 'moderator');
  };
  const asks = permission.value === 'default' && seatState.turn === null;
  const free = open.includes(`leave:${seat}`);
  if (!asks && !free) return null;
  return html`<footer class="row">
    ${asks && html`<${Button} class="plain small" onClick=${permit}>Tell me when it is my turn<//>`}
    <span class="grow"></span>
    ${free && html`<${Button} class="plain small" onClick=${leave}>Leave the seat<//>`}
  </footer>`;
}

function Point({ debate, path, seat, seatState, open }) {
  if (seatState.point && open.includes(`answer:${seat}`)) return html`<${AnswerPoint} ...${{ debate, path, seatState }} />`;
  return open.includes(`point:${seat}`) ? html`<${OfferPoint} path=${path} />` : null;
}

function AnswerPoint({ debate, path, seatState }) {
  const by = seatOf(debate, seatState.point.participantId);
  const answer = (accept) => post(`${path}/answer`, { accept }, { once: true });
  useEffect(() => announce(`${by?.name} offers a point of information: ${seatState.point.text}`), []);
  useKeys('Point of information', {
    y: ['Take the point', () => answer(true).catch(complain)],
    n: ['Decline the point', () => answer(false).catch(complain)],
  });
  return html`<div class="point stack" role="group" aria-label="Point of information">
    <p><b data-seat style=${seatStyle(by?.color)}><bdi>${by?.name}</bdi></b> rises on a point of information:</p>
    <blockquote dir="auto">${seatState.point.text}</blockquote>
    <div class="row">
      <${Button} class="main" hint="y" onClick=${() => answer(true)}>Take it<//>
      <${Button} hint="n" onClick=${() => answer(false)}>No, thank you<//>
    </div>
  </div>`;
}

function OfferPoint({ path }) {
  const [text, setText] = useState('');
  const field = useRef();
  useKeys('Point of information', { p: ['Offer a point', () => field.current.focus()] });
  const form = useForm(async () => {
    await post(`${path}/points`, { text }, { once: true });
    setText('');
    announce('Your point is put to the speaker at the break.');
  });
  return html`<form class="point row" ...${form.props}>
    <${TextInput} label="Point of information" class="grow" field=${field} value=${text} onWrite=${setText}
      maxlength="500" />
    <button type="submit" class="btn" disabled=${form.busy || !text.trim()}>
      Offer it<kbd aria-hidden="true">p</kbd>
    </button>
    <${Wrong} errors=${form.errors} of="text" />
  </form>`;
}
