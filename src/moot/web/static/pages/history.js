// The list of debates. The filters are in the address, so that going back works and a search can be shared. A
// deletion can be undone while its toast is shown; leaving the page carries it out.

import { html, signal, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { get, remove } from '../lib/api.js';
import { Parts } from '../lib/extensions.js';
import { useKeys } from '../lib/keyboard.js';
import { figure, plural } from '../lib/numbers.js';
import { go } from '../lib/router.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Empty, Failed, announce, complain, toast, useLoaded } from '../lib/ui.js';
import { DebateRow, isGoing } from '../parts/debate_row.js';
import { FILTERS, Filters } from '../parts/history_filters.js';

await ensureStyle('archive');

const SIZE = 20;
const AGAIN = 5000;

export default function History({ at }) {
  const queryText = at.query.toString();
  const search = useMemo(() => searchOf(at.query), [queryText]);
  const [listing, error, again] = useLoaded((signal) => get(`/debates?${search.query}`, { signal }), [queryText]);
  const [formats] = useLoaded((signal) => get('/formats', { signal }));
  const titles = Object.fromEntries((formats?.formats ?? []).map((one) => [one.name, one.title]));
  const debates = (listing?.debates ?? []).filter((debate) => !hidden.value.has(debate.id));
  useGoingOn(debates.some(isGoing), again);
  useEffect(() => {
    if (listing) announce(`${count(listing.pagination.total)} found`);
  }, [queryText, listing === null]);
  return html`<main id="main" class="wide archive">
    <header class="row">
      <h1 tabindex="-1" class="grow">Debates</h1>
      <p class="soft numbers">
        ${listing?.pagination.total > 0 && count(listing.pagination.total)}<${Parts} place="debates" />
      </p>
    </header>
    ${!(listing?.pagination.total === 0 && !queryText) && html`<${Filters} filters=${search.filters} titles=${titles} debates=${debates} onChange=${seek} />`}
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${listing && (debates.length
      ? html`<${List} debates=${debates} formats=${titles} again=${again} />`
      : html`<${Nothing} filtered=${search.filtered} />`)}
    ${listing && html`<${Pages} search=${search} page=${listing.pagination} />`}
  </main>`;
}

/** The filters in the address, and the query for the server. */
function searchOf(query) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));
  const page = Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1);
  const filled = Object.entries(filters).filter(([, value]) => value.trim());
  const parameters = new URLSearchParams([...filled, ['limit', SIZE], ['offset', (page - 1) * SIZE]]);
  return { filters, page, filtered: filled.length > 0, query: parameters.toString() };
}

function addressOf(filters, page = 1) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  if (page > 1) query.set('page', page);
  return `/debates${query.size ? `?${query}` : ''}`;
}

const seek = (filters, more) => go(addressOf(filters), more);
const count = (number) => plural(number, 'debate');

/** Loads the list again every few seconds while a debate is running and the page is visible. */
function useGoingOn(going, again) {
  const latest = useRef();
  latest.current = again;
  useEffect(() => {
    if (!going) return undefined;
    const look = () => document.hidden || latest.current();
    const timer = setInterval(look, AGAIN);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [going]);
}

function List({ debates, formats, again }) {
  const [picked, setPicked] = useState(new Set());
  const list = useRef();
  const chosen = debates.filter((debate) => picked.has(debate.id));
  const pick = (id) => id && setPicked(picked.symmetricDifference(new Set([id])));
  const drop = (some) => {
    if (!some.length) return;
    const text = some.length === 1 ? `Deleted “${short(some[0].topic)}”` : `Deleted ${count(some.length)}`;
    const next = neighbour(list.current, some);
    removeSoon(some.map((debate) => debate.id), text, again);
    setPicked(new Set());
    if (next) requestAnimationFrame(() => row(list.current, next)?.focus());
  };
  const here = () => document.activeElement?.closest?.('.debate')?.dataset.id;
  const isHere = ({ id }) => id === here();
  const all = () => setPicked(new Set(debates.map((debate) => debate.id)));
  const none = () => setPicked(new Set());
  useKeys('Debates', {
    j: ['Next debate', () => move(list.current, 1)],
    k: ['Debate before', () => move(list.current, -1)],
    x: ['Select this one', () => pick(here())],
    d: ['Delete what is selected, or this one', () => drop(chosen.length ? chosen : debates.filter(isHere))],
    u: ['Undo', undo],
    Escape: ['Select nothing', none],
  });
  return html`<ol class="debates" ref=${list}>
      ${debates.map((debate) => html`<${DebateRow} key=${debate.id} debate=${debate} formats=${formats}
        picked=${picked.has(debate.id)} onPick=${pick} onDelete=${drop} />`)}
    </ol>
    ${chosen.length > 0 && html`<div class="bar" role="toolbar" aria-label="What is selected">
      <span class="numbers">${chosen.length} selected</span>
      <${Button} class="bad" hint="d" onClick=${() => drop(chosen)}>Delete<//>
      <${Button} onClick=${all}>Select all here<//>
      <${Button} class="plain" onClick=${none}>Select nothing<//>
    </div>`}`;
}

const short = (text) => (text.length > 60 ? `${[...text].slice(0, 58).join('')}…` : text);
const links = (list) => [...(list?.querySelectorAll('h2 a') ?? [])];
const row = (list, id) => links(list).find((link) => link.closest('.debate').dataset.id === id);

/** To the next or previous row; to the first if none has the focus. */
function move(list, by) {
  const all = links(list);
  const now = all.findIndex((link) => link.closest('.debate').contains(document.activeElement));
  all[now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + by))]?.focus();
}

/** The row that gets the focus when some are removed: the one after them, else before. */
function neighbour(list, some) {
  const gone = new Set(some.map((debate) => debate.id));
  const ids = links(list).map((link) => link.closest('.debate').dataset.id);
  const last = ids.findLastIndex((id) => gone.has(id));
  return ids.slice(last + 1).find((id) => !gone.has(id)) ?? ids.slice(0, last).findLast((id) => !gone.has(id));
}

function Nothing({ filtered }) {
  if (!filtered) {
    return html`<${Empty} title="Nothing has been debated yet">
      <p class="soft">Every debate is kept here from its first word: to watch again, to export, to compare.</p>
      <p><a class="btn main" href="/">Start the first one</a></p>
    <//>`;
  }
  return html`<${Empty} title="No debate fits all of that">
    <p class="soft">Try fewer words, another state, or a longer stretch of time.</p>
    <p><a class="btn main" href="/debates">Clear the filters</a></p>
  <//>`;
}

function Pages({ search, page }) {
  if (page.total <= page.limit) return null;
  const first = page.offset + 1;
  const last = Math.min(page.total, page.offset + page.limit);
  return html`<nav class="pages row" aria-label="Pages">
    ${page.offset > 0 && html`<a class="btn" rel="prev" href=${addressOf(search.filters, search.page - 1)}>Newer</a>`}
    <span class="grow soft numbers">${first} to ${last} of ${figure(page.total)}</span>
    ${page.hasMore && html`<a class="btn" rel="next" href=${addressOf(search.filters, search.page + 1)}>Older</a>`}
  </nav>`;
}

/** Ids of hidden debates. */
const hidden = signal(new Set());
let open = null;

/** `then` is called when the server has answered. */
function removeSoon(ids, text, then) {
  settle();
  show(ids, false);
  const back = () => {
    open = null;
    show(ids, true);
  };
  const leave = toast(text, { action: ['Undo', back], gone: () => carryOut(ids, then), seconds: 8 });
  open = { leave, back };
}

/** Undoes the last deletion. */
function undo() {
  const last = open;
  last?.leave(true);
  last?.back();
}

/** Carries out the waiting deletion at once. */
function settle() {
  open?.leave();
}

async function carryOut(ids, then) {
  open = null;
  const done = await Promise.allSettled(ids.map((id) => remove(`/debates/${id}`, { keepalive: true })));
  const remaining = ids.filter((_, index) => done[index].status === 'rejected' && done[index].reason.status !== 404);
  if (remaining.length) complain(done.find((one) => one.status === 'rejected').reason);
  show(remaining, true);
  then?.();
}

function show(ids, seen) {
  const next = new Set(hidden.peek());
  for (const id of ids) next[seen ? 'delete' : 'add'](id);
  hidden.value = next;
}

addEventListener('pagehide', settle);
