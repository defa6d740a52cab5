// The inspection page: every call to a model, in order, with its request and reply. For owners and moderators only:
// requests contain secret objectives. The list of calls is computed from the log, and continued as it grows.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { seconds } from '../lib/clock.js';
import { exactDollars, figure } from '../lib/numbers.js';
import { seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Failed } from '../lib/ui.js';
import { watch } from '../lib/watch_debate.js';
import { Call } from '../parts/call_detail.js';
import { NoDebate, isMissing } from '../parts/not_found.js';
import { readingName } from '../parts/ranking_chart.js';

await ensureStyle('inspect');

const ASIDES = {
  notes: 'notes before the speech',
  point: 'a point of information',
  leave: 'whether to take a point',
  concession: 'whether it gives way',
  referee: 'the referee, on a concession',
};

export default function Page({ id }) {
  const [{ debate, leave }] = useState(() => watch(id));
  useEffect(() => leave, []);
  const ready = debate.ready.value;
  const motion = ready ? debate.at('about').value.motion : '';
  useEffect(() => {
    if (motion) document.title = `Inspect · ${motion} · Moot`;
  }, [motion]);
  const trouble = debate.trouble.value;
  if (isMissing(debate)) return html`<${NoDebate} debate=${debate} />`;
  return html`<main id="main" class="wide inspect" aria-busy=${!ready && !trouble}>
    <header class="stack">
      <p class="overline">Behind the debate</p>
      <h1 tabindex="-1" dir="auto">${motion || 'Inspect'}</h1>
      <p class="soft"><a href=${`/debate/${id}`}>Back to the speeches</a></p>
    </header>
    ${!ready && trouble && html`<${Failed} error=${trouble} />`}
    ${ready && (debate.me.value?.conducts ? html`<${Book} debate=${debate} id=${id} />` : html`<${Closed} />`)}
  </main>`;
}

const Closed = () => html`<div class="notice"><p>What the models were sent is shown to those who conduct the debate:
  it holds secret objectives and prompts. The speeches, and the reasoning as far as it is shown, stand on the page of
  the debate.</p></div>`;

function Book({ debate, id }) {
  const [book, error, again] = useBook(debate, id);
  const [only, show] = useState('all');
  const about = debate.at('about').value;
  const rows = [...book.calls.values()].map((call) => rowOf(call, book, debate, about));
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

/** The calls of the log; it is read on after every speech and ballot. */
function useBook(debate, id) {
  const [book, set] = useState(EMPTY_BOOK);
  const [error, fail] = useState(null);
  const [tries, again] = useState(0);
  const known = useRef(book);
  // Every call uses tokens, whatever its result.
  const progress = `${debate.at('now').value.status} ${debate.at('money').value.tokens}`;
  useEffect(() => {
    const stop = new AbortController();
    const fetchPage = (after) => get(`/debates/${id}/events?after=${after}&limit=1000`, { signal: stop.signal });
    const seen = (next) => {
      known.current = next;
      set(next);
    };
    readAll(known.current, fetchPage, seen).then(() => fail(null), (trouble) => stop.signal.aborted || fail(trouble));
    return () => stop.abort();
  }, [progress, tries]);
  return [book, error, () => again(tries + 1)];
}

/** The call in the address. */
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

function rowOf(call, book, debate, about) {
  const purpose = purposeOf(call, book);
  const turn = purpose.turn ? debate.at('turns', String(purpose.turn)).value : null;
  const seat = about.seats.find((one) => one.id === (purpose.seat ?? turn?.seat));
  const { started, done } = call;
  const judge = purpose.judge && (judgeName(debate, purpose.judge) ?? purpose.judge);
  const what = {
    turn: () => turn?.title ?? `speech ${purpose.turn}`,
    judge: () => `ballot, ${readingName(purpose.order)}`,
    aside: () => ASIDES[purpose.aside] ?? purpose.aside.replaceAll('_', ' '),
  }[purpose.kind]();
  const usage = done?.usage;
  return {
    number: call.number,
    who: purpose.kind === 'turn' || !judge ? (seat?.name ?? '') : judge,
    style: seat && !(purpose.kind === 'judge') ? seatStyle(seat.color) : '',
    what: `${what}${started.repair ? ', sent back' : ''}`,
    groups: [purpose.kind, ...(seat && purpose.kind !== 'judge' ? [seat.id] : [])],
    model: started.model,
    attempt: started.attempt,
    failed: done?.type === 'call.failed' ? done.kind : null,
    figures: [
      usage && `${figure(usage.input ?? 0)} in, ${figure(usage.output ?? 0)} out`,
      done?.cost !== undefined && done?.cost !== null && exactDollars(done.cost),
      done && seconds(done.latency_ms ?? 0),
    ].filter(Boolean),
    finish: done ? (done.finish ?? '') : 'under way',
  };
}

function judgeName(debate, id) {
  const later = debate.keys('verdicts').value.flatMap((key) => debate.at('verdicts', key).value.judges);
  return [...debate.at('about').value.judges, ...later].find((judge) => judge.id === id)?.name;
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

const EMPTY_BOOK = { after: 0, calls: new Map(), asides: new Map() };

/** `entries`: from `GET …/events`. */
function readOn(book, entries, next) {
  const calls = new Map(book.calls);
  const asides = new Map(book.asides);
  for (const { at, event } of entries) {
    if (event?.type === 'aside.asked') asides.set(event.aside, event);
    if (event?.type === 'call.started') calls.set(event.call, { number: event.call, at, started: event, done: null });
    const ends = event?.type === 'call.completed' || event?.type === 'call.failed';
    if (ends && calls.has(event.call)) calls.set(event.call, { ...calls.get(event.call), done: event });
  }
  return { after: next, calls, asides };
}

/** Reads the log after `book`, page by page; `seen` is called with every result. */
async function readAll(book, fetchPage, seen) {
  for (let known = book, more = true; more; ) {
    const page = await fetchPage(known.after);
    known = readOn(known, page.events, page.next);
    more = page.hasMore && page.events.length > 0;
    seen(known);
  }
}

/** What a call was made for: {kind: turn | judge | aside, seat?, judge?, turn?, aside?}. */
function purposeOf({ started }, book) {
  if (started.aside !== undefined && started.aside !== null) {
    const { kind: aside = 'aside', seat, turn, judge = started.judge } = book.asides.get(started.aside) ?? {};
    return { kind: 'aside', aside, seat, turn, judge };
  }
  if (started.judge) return { kind: 'judge', judge: started.judge, order: started.order ?? 0 };
  return { kind: 'turn', turn: started.turn };
}
