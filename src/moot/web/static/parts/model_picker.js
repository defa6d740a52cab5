// The model picker: a text field with the matching models below. Available models come first; for the others it says
// what is missing. Any `provider/model` can be typed: providers have more models than are listed.

import { html, useEffect, useId, useMemo, useRef, useState } from '../../vendor/preact.js';
import { PERSON, labelOf } from '../lib/setup.js';
import { Wrong } from './field.js';

const SHOWN = 40;
const A_PERSON = { provider: 'human', modelId: 'human', name: 'A person', available: true, priceText: '' };
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** The row of a label; for an unlisted model, a row made from the label. */
export function rowOf(models, label) {
  if (label === PERSON) return A_PERSON;
  const at = label.indexOf('/');
  const [provider, modelId] = [label.slice(0, at), label.slice(at + 1)];
  const model = models.find((row) => row.modelId === modelId && row.provider === provider);
  return model ?? { provider, modelId, name: modelId, available: true, priceText: '' };
}

/** A description of a model, for the list. */
function about(row) {
  if (row === A_PERSON) return 'you, or someone you invite';
  const where = row.provider === 'local' ? 'on this machine' : row.provider;
  const context = row.contextTokens && `${compact.format(row.contextTokens)} context`;
  return [where, row.priceText, row.thinks && 'reasoning', context].filter(Boolean).join(' · ');
}

const lack = (row) => (row.provider === 'local' ? 'Not installed' : row.missing);

/** The rows that contain all the words, available ones first; then the typed text, if it is a label. */
function fitting(models, query, people) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row) => {
    const text = `${labelOf(row)} ${row.name} ${row.thinks ? 'thinks reasoning' : ''} ${row.priceText}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const matching = [...(people ? [A_PERSON] : []), ...models].filter(fits);
  const typed = query.trim();
  const isNew = /^[\w-]+\/[\w./:@-]+$/.test(typed) && !matching.some((row) => labelOf(row) === typed);
  return [
    ...matching.filter((row) => row.available),
    ...matching.filter((row) => !row.available),
    ...(isNew ? [{ ...rowOf([], typed), typed: true }] : []),
  ];
}

/** `value`: a label, or '' for the default model (with `empty`: for none); `onPick` receives the same. */
export function Picker({ label, value, usual, models, people = false, wrong = [], empty, aside, onPick }) {
  const id = useId();
  const [query, setQuery] = useState(null);
  const [at, setAt] = useState(0);
  const list = useRef();
  const open = query !== null;
  const matching = useMemo(() => (open ? fitting(models, query, people) : []), [models, query, people]);
  const options = matching.slice(0, SHOWN);
  const chosen = value || (empty ? '' : usual);
  const row = chosen ? rowOf(models, chosen) : null;

  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at, open]);

  const close = () => setQuery(null);
  const show = () => {
    if (open) return;
    setAt(Math.max(0, fitting(models, '', people).findIndex((one) => labelOf(one) === chosen)));
    setQuery('');
  };
  const pick = (one) => {
    const picked = labelOf(one);
    onPick(picked === usual && !empty ? '' : picked);
    close();
  };
  const move = (step) => (open ? setAt((at + step + options.length) % (options.length || 1)) : show());
  const type = (event) => {
    setQuery(event.target.value);
    setAt(0);
  };
  const clear = () => {
    if (empty && query === '') onPick('');
  };
  const press = pressing({
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => (open ? options[at] && pick(options[at]) : show()),
    Escape: close,
    Delete: empty && query === '' ? clear : null,
    Backspace: empty && query === '' ? clear : null,
  });

  return html`<div class="named picker">
    <span class="over"><label for=${id}>${label}</label>${aside}</span>
    <div class="box">
      <input id=${id} class="field" role="combobox" autocomplete="off" spellcheck="false" dir="auto"
        aria-expanded=${open} aria-controls=${`${id}-list`} aria-autocomplete="list"
        aria-invalid=${wrong.length > 0 || undefined} aria-describedby=${`${id}-about`}
        aria-activedescendant=${open && options.length ? `${id}-${at}` : undefined}
        value=${open ? query : (row?.name ?? '')} placeholder=${open ? (row?.name ?? 'Search') : empty}
        onFocus=${(event) => event.target.select()} onClick=${show} onInput=${type} onKeyDown=${press}
        onBlur=${close} />
      <svg class="arrow" viewBox="0 0 12 12" aria-hidden="true"><path d="M2 4.5 6 8l4-3.5" /></svg>
      ${open && html`<ul class="options" role="listbox" id=${`${id}-list`} aria-label=${label} ref=${list}
        onMouseDown=${(event) => event.preventDefault()}>
        ${options.map((one, index) => html`<${Option} key=${labelOf(one)} id=${`${id}-${index}`} row=${one}
          active=${index === at} chosen=${labelOf(one) === chosen} onPick=${() => pick(one)} />`)}
        <${Rest} count=${matching.length} />
      </ul>`}
    </div>
    <span class="hint" id=${`${id}-about`}>${row && html`<${About} row=${row} />`}</span>
    <${Wrong} texts=${wrong} />
  </div>`;
}

/** The keys that the picker handles; all others belong to the field. */
const pressing = (keys) => (event) => {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  act();
};

const About = ({ row }) => (row.available ? about(row) : html`<span class="lacks">${lack(row)}</span>`);

const Option = ({ id, row, active, chosen, onPick }) => html`<li id=${id} role="option" aria-selected=${active}
  class=${chosen ? 'chosen' : ''} onClick=${onPick}>
  <b dir="auto">${row.typed ? `Use ${labelOf(row)}` : row.name}</b>
  <span>${row.typed ? 'not in the list' : about(row)}</span>
  ${!row.available && html`<span class="lacks">${lack(row)}</span>`}
</li>`;

function Rest({ count }) {
  if (count && count <= SHOWN) return null;
  return html`<li class="more" role="presentation">
    ${count ? `${count - SHOWN} more; type to search` : 'No match. Any provider/model can be typed.'}
  </li>`;
}
