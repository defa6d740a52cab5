// The filters of a list of debates: text, state, format, model, and a range of days.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { useKeys } from '../lib/keyboard.js';
import { useLoaded } from '../lib/ui.js';
import { STATES } from './debate_row.js';

export const FILTERS = ['search', 'status', 'format', 'model', 'from', 'to'];
const PAUSE = 250;

/** `onChange(filters, {replace})`: typing replaces the address, choosing adds a history entry. */
export function Filters({ filters, titles, debates, onChange }) {
  const [open, setOpen] = useState(false);
  const words = useRef();
  useKeys('Finding', { '/': ['Search', () => words.current.select()] });
  const set = (name) => (event) => onChange({ ...filters, [name]: event.target.value });
  const used = FILTERS.filter((name) => name !== 'search' && filters[name]).length;
  return html`<search class="filters" data-open=${open || undefined}>
    <${Search} box=${words} filters=${filters} onChange=${onChange} />
    <button type="button" class="btn more" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      Filters${used > 0 && ` (${used})`}
    </button>
    <${Choice} name="State" any="Any state" value=${filters.status} of=${STATES} onChange=${set('status')} />
    <${Choice} name="Format" any="Any format" value=${filters.format} of=${titles} onChange=${set('format')} />
    <${Models} value=${filters.model} debates=${debates} onChange=${set('model')} />
    <${Days} filters=${filters} set=${set} />
    ${(used > 0 || filters.search) && html`<a class="btn plain clear" href="/debates">Clear</a>`}
  </search>`;
}

function Search({ box, filters, onChange }) {
  const [draft, setDraft] = useState(filters.search);
  const timer = useRef();
  // After going back or clearing the filters the address counts.
  useEffect(() => {
    clearTimeout(timer.current);
    setDraft(filters.search);
  }, [filters.search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (search) => search !== filters.search && onChange({ ...filters, search }, { replace: true });
  const type = (event) => {
    const text = event.target.value;
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(text.trim()), PAUSE);
  };
  const key = (event) => {
    if (event.key === 'Enter') send(draft.trim());
    if (event.key === 'Escape') event.target.blur();
  };
  return html`<label class="named search"><span class="visually-hidden">Search motions</span>
    <input class="field" type="search" ref=${box} value=${draft} placeholder="Search motions" dir="auto"
      maxlength="200" aria-keyshortcuts="/" onInput=${type} onKeyDown=${key} />
    ${!draft && html`<kbd aria-hidden="true">/</kbd>`}
  </label>`;
}

export function Choice({ name, any, value, of, onChange }) {
  const choices = value && !(value in of) ? { ...of, [value]: value } : of;
  return html`<label class="named"><span>${name}</span>
    <select class="field" value=${value} onChange=${onChange}>
      <option value="">${any}</option>
      ${Object.entries(choices).map(([key, title]) => html`<option key=${key} value=${key}>${title}</option>`)}
    </select>
  </label>`;
}

/** From one day to another, both included. */
export function Days({ filters: { from, to }, set }) {
  return html`
    <label class="named"><span>From</span>
      <input class="field" type="date" value=${from} max=${to || undefined} onChange=${set('from')} />
    </label>
    <label class="named"><span>To</span>
      <input class="field" type="date" value=${to} min=${from || undefined} onChange=${set('to')} />
    </label>`;
}

/** The models of the debates seen so far. */
function Models({ value, debates, onChange }) {
  const [counted] = useLoaded((signal) => get('/statistics', { signal }));
  const seen = debates.flatMap((debate) => debate.participants.map((seat) => seat.model));
  const names = new Set([...(counted?.models ?? []).map((one) => one.name), ...seen].filter(Boolean));
  const of = Object.fromEntries([...names].sort().map((name) => [name, name]));
  return html`<${Choice} name="Model" any="Any model" value=${value} of=${of} onChange=${onChange} />`;
}
