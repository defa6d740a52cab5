// Behind a debate: every call to a model in the order in which it was made. A call is opened to see what the
// model was sent and what came back. For those who conduct the debate: requests hold secret objectives.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { EMPTY_BOOK, madeFor, readAll } from '../lib/call_list.js';
import { seatStyle } from '../lib/colour.js';
import { figure } from '../lib/numbers.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Failed } from '../lib/ui.js';
import { watch } from '../lib/watch_debate.js';
import { Call } from '../parts/call_detail.js';
import { orderName } from '../parts/ranking_chart.js';

await ensureStyle('inspect');

const ASIDES = {
  notes: 'notes before the speech',
  point: 'a point of information',
  leave: 'whether to take a point',
  concession: 'whether it gives way',
  referee: 'the referee, on a concession',
};

export default function Page({ id }) {
  const [{ room, leave }] = useState(() => watch(id));
  useEffect(() => leave, []);
  const ready = room.ready.value;
  const motion = ready ? room.at('about').value.motion : '';
  useEffect(() => {
    if (motion) document.title = `Inspect · ${motion} · Moot`;
  }, [motion]);
  const trouble = room.trouble.value;
  return html`<main id="main" class="wide inspect" aria-busy=${!ready && !trouble}>
    <header class="stack">
      <p class="overline">Behind the debate</p>
      <h1 tabindex="-1" dir="auto">${motion || 'Inspect'}</h1>
      <p class="soft"><a href=${`/debate/${id}`}>Back to the speeches</a></p>
    </header>
    ${!ready && trouble && html`<${Failed} error=${trouble} />`}
    ${ready && (room.me.value?.conducts ? html`<${Book} room=${room} id=${id} />` : html`<${Closed} />`)}
  </main>`;
}

const Closed = () => html`<div class="notice"><p>What the models were sent is shown to those who conduct the debate:
  it holds secret objectives and prompts. The speeches, and the reasoning as far as it is shown, stand on the page of
  the debate.</p></div>`;

function Book({ room, id }) {
  const [book, error, again] = useBook(room, id);
  const [only, show] = useState('all');
  const about = room.at('about').value;
  const rows = [...book.calls.values()].map((call) => rowOf(call, book, room, about));
  const seats = about.seats.map((seat) => [seat.id, seat.name]);
  const kinds = [['all', 'All'], ...seats, ['judge', 'Judges'], ['aside', 'Asides']];
  const has = (kind) => kind === 'all' || rows.some((row) => row.groups.includes(kind));
  const shown = rows.filter((row) => only === 'all' || row.groups.includes(only));
  const opened = useSought(rows.length);
  return html`
    ${error && html`<${Failed} error=${error} again=${again} />`}
    <div class="row filter" hidden=${!rows.length} role="group" aria-label="Show the calls of">
      ${kinds.filter(([kind]) => has(kind)).map(
        ([kind, name]) => html`<button type="button" class="chip" key=${kind} aria-pressed=${only === kind}
          onClick=${() => show(kind)}>
          <bdi>${name}</bdi>
        </button>`,
      )}
    </div>
    <h2 class="visually-hidden">Calls</h2>
    <ol class="calls">${shown.map(
      (row) => html`<${Row} key=${row.number} row=${row} id=${id} sought=${opened === row.number} />`,
    )}</ol>
    ${!rows.length && !error && html`<p class="soft" role="status">
      ${book.after ? 'No model has been asked yet.' : 'Reading…'}
    </p>`}
  `;
}

/** The calls of the log, read on whenever a speech or a ballot has come. */
function useBook(room, id) {
  const [book, set] = useState(EMPTY_BOOK);
  const [error, fail] = useState(null);
  const [tries, again] = useState(0);
  const known = useRef(book);
  // Whatever a call comes to, it has cost tokens.
  const heard = `${room.at('now').value.status} ${room.at('money').value.tokens}`;
  useEffect(() => {
    const stop = new AbortController();
    const fetchPage = (after) => get(`/debates/${id}/events?after=${after}&limit=1000`, { signal: stop.signal });
    const seen = (next) => {
      known.current = next;
      set(next);
    };
    readAll(known.current, fetchPage, seen).then(() => fail(null), (trouble) => stop.signal.aborted || fail(trouble));
    return () => stop.abort();
  }, [heard, tries]);
  return [book, error, () => again(tries + 1)];
}

/** The call that the address asks for. */
function useSought(ready) {
  const [sought, seek] = useState(hashed);
  useEffect(() => {
    const heed = () => seek(hashed());
    addEventListener('hashchange', heed);
    return () => removeEventListener('hashchange', heed);
  }, []);
  useEffect(() => {
    if (ready && sought) document.getElementById(`call-${sought}`)?.scrollIntoView({ block: 'start' });
  }, [ready > 0, sought]);
  return sought;
}

const hashed = () => Number(/^#call-(\d+)$/.exec(location.hash)?.[1]) || null;

function rowOf(call, book, room, about) {
  const made = madeFor(call, book);
  const turn = made.turn ? room.at('turns', String(made.turn)).value : null;
  const seat = about.seats.find((one) => one.id === (made.seat ?? turn?.seat));
  const { started, done } = call;
  const judge = made.judge && (judgeName(room, made.judge) ?? made.judge);
  const what = {
    turn: () => turn?.title ?? `speech ${made.turn}`,
    judge: () => `ballot, ${orderName(made.order)}`,
    aside: () => ASIDES[made.aside] ?? made.aside.replaceAll('_', ' '),
  }[made.kind]();
  const usage = done?.usage;
  return {
    number: call.number,
    who: made.kind === 'turn' || !judge ? (seat?.name ?? '') : judge,
    style: seat && !(made.kind === 'judge') ? seatStyle(seat.color) : '',
    what: `${what}${started.repair ? ', sent back' : ''}`,
    groups: [made.kind, ...(seat && made.kind !== 'judge' ? [seat.id] : [])],
    model: started.model,
    attempt: started.attempt,
    failed: done?.type === 'call.failed' ? done.kind : null,
    figures: [
      usage && `${figure(usage.input ?? 0)} in, ${figure(usage.output ?? 0)} out`,
      done?.cost !== undefined && done?.cost !== null && `$${done.cost}`,
      done && `${figure(done.latency_ms ?? 0)} ms`,
    ].filter(Boolean),
    finish: done ? (done.finish ?? '') : 'under way',
  };
}

function judgeName(room, id) {
  const later = room.keys('verdicts').value.flatMap((key) => room.at('verdicts', key).value.judges);
  return [...room.at('about').value.judges, ...later].find((judge) => judge.id === id)?.name;
}

function Row({ row, id, sought }) {
  const [open, set] = useState(sought);
  useEffect(() => {
    if (sought) set(true);
  }, [sought]);
  return html`<li id=${`call-${row.number}`} class=${row.failed ? 'failed' : ''} data-seat style=${row.style}>
    <details open=${open} onToggle=${(event) => event.target === event.currentTarget && set(event.target.open)}>
      <summary>
        <span class="number numbers">${row.number}</span>
        <span class="made">
          <b><bdi>${row.who}</bdi></b> ${row.what}${row.attempt > 1 && `, attempt ${row.attempt}`}
        </span>
        <span class="soft model"><bdi>${row.model}</bdi></span>
        <span class="soft numbers figures">${row.figures.join(' · ')}</span>
        <span class="finish ${row.failed ? 'wrong' : 'soft'}">
          ${row.failed ? row.failed.replaceAll('_', ' ') : row.finish}
        </span>
      </summary>
      ${open && html`
        <p class="small"><a href=${`#call-${row.number}`} class="soft">Link to this call</a></p>
        <${Call} id=${id} number=${row.number} />
      `}
    </details>
  </li>`;
}
