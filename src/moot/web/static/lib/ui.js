// Small parts that many pages use: buttons with their keys, dialogs, toasts, copying, errors in words, sections,
// folded details, headlines and links to share.

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';

// --- messages -----------------------------------------------------------------------------------

const toasts = signal([]);
let count = 0;

/** Shows a message for a while. `action`: [label, function]; `gone` is called if it was not used. */
export function toast(text, { action, gone, seconds = 6 } = {}) {
  const one = { id: ++count, text, action };
  const leave = (used) => {
    clearTimeout(timer);
    if (!toasts.peek().includes(one)) return;
    toasts.value = toasts.peek().filter((other) => other !== one);
    if (!used) gone?.();
  };
  const timer = setTimeout(leave, seconds * 1000);
  one.act = () => {
    leave(true);
    action[1]();
  };
  toasts.value = [...toasts.peek(), one];
  return leave;
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (one) => html`<div class="toast" key=${one.id}>
        <span dir="auto">${one.text}</span>
        ${one.action && html`<button class="btn" onClick=${one.act}>${one.action[0]}</button>`}
      </div>`,
    )}
  </div>`;
}

/** For screen readers only: announced once, politely. */
const announcement = signal('');
export const announce = (text) => (announcement.value = text);
export const Announcer = () => html`<div class="visually-hidden" role="status" aria-live="polite">${announcement.value}</div>`;

export const complain = (error) => toast(error.message, { seconds: 8 });

// --- buttons and dialogs ------------------------------------------------------------------------------------

/** A button that waits for its handler, and reports its errors. `hint`: its key. */
export function Button({ hint, onClick, children, class: kind = '', ...more }) {
  const [busy, setBusy] = useState(false);
  const press = async (event) => {
    setBusy(true);
    try {
      await onClick(event);
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  const way = { onClick: press, 'aria-disabled': busy || undefined, 'aria-keyshortcuts': hint };
  return html`<button type="button" class="btn ${kind}" ...${way} ...${more}>
    ${children}${hint && html`<kbd aria-hidden="true">${hint}</kbd>`}
  </button>`;
}

/** Browsers have a clipboard on https and localhost only; elsewhere the text is selected and copied. */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement('textarea'), { value: text, className: 'visually-hidden' });
  // Text behind an open dialog cannot be selected.
  ([...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body).append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (!copied) throw new Error('This browser does not allow copying here. Select the text and copy it yourself.');
  return undefined;
}

export function Copy({ text, label = 'Copy', ...more }) {
  const copy = async () => {
    await copyText(typeof text === 'function' ? await text() : text);
    toast('Copied.', { seconds: 2 });
  };
  return html`<${Button} onClick=${copy} ...${more}>${label}<//>`;
}

/** A dialog that is open while it is rendered; afterwards the focus is restored. */
export function Dialog({ title, onClose, children, class: kind = '' }) {
  const dialog = useRef();
  // Before the next key: an Escape before the first paint must close it, too.
  useLayoutEffect(() => {
    const own = dialog.current;
    own.showModal();
    return () => own.close();
  }, []);
  // The close event comes late, even after the dialog is gone; by then a key may have opened it again. So Escape, which
  // is a cancel event, and the cross are told at once.
  const closed = () => dialog.current && onClose();
  const beside = (event) => event.target === dialog.current && onClose();
  const leave = () => onClose();
  return html`<dialog class="sheet ${kind}" ref=${dialog} aria-labelledby="sheet-title" onClose=${closed}
    onCancel=${leave} onClick=${beside}>
    <header>
      <h2 id="sheet-title">${title}</h2>
      <button type="button" class="btn plain" aria-label="Close" onClick=${leave}>✕</button>
    </header>
    ${children}
  </dialog>`;
}

/** A button with a menu that opens upwards. Children are buttons or links; the focus leaves them before they act, so
    that a dialog which one of them opens returns it to the button. */
export function Menu({ label, children }) {
  const [open, setOpen] = useState(false);
  const root = useRef();
  // Before the next key: an arrow may be pressed before the first paint.
  useLayoutEffect(() => {
    if (!open) return undefined;
    const leave = (event) => root.current.contains(event.target) || setOpen(false);
    document.addEventListener('pointerdown', leave);
    items()[0]?.focus();
    return () => document.removeEventListener('pointerdown', leave);
  }, [open]);
  const items = () => [...root.current.querySelectorAll(':scope > div > *')].filter((item) => item.checkVisibility());
  const focusButton = () => root.current.firstElementChild.focus();
  const close = () => {
    focusButton();
    setOpen(false);
  };
  const walk = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!open || (!step && event.key !== 'Escape')) return;
    event.preventDefault();
    if (!step) return void close();
    const elements = items();
    elements.at((elements.indexOf(document.activeElement) + step) % elements.length)?.focus();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${walk}>
    <button type="button" class="btn" aria-expanded=${open} aria-haspopup="true" onClick=${() => setOpen(!open)}>
      ${label}
    </button>
    ${open && html`<div onClickCapture=${focusButton} onClick=${() => setOpen(false)}>${children}</div>`}
  </div>`;
}

// --- loading ----------------------------------------------------------------------------------

/** Loads a value when the component is first shown: [value, error, again]. */
export function useLoaded(load, when = []) {
  const [state, set] = useState([null, null]);
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => stop.signal.aborted || set([value, null]),
      (error) => stop.signal.aborted || set(([value]) => [value, error]),
    );
    return () => stop.abort();
  }, [...when, again]);
  return [...state, () => setAgain((n) => n + 1)];
}

/** What went wrong and what to do. `error.status` is 0 where the server cannot be reached. */
export function Failed({ error, again }) {
  const [title, advice] = FAILURES[error.status] ?? [];
  return html`<div class="error-box" role="alert">
    <h2>${title ?? error.message}</h2>
    ${title && html`<p class="soft">${advice ?? error.message}</p>`}
    ${again && html`<p><button class="btn" onClick=${again}>Try again</button></p>`}
  </div>`;
}

const FAILURES = {
  0: ['The server cannot be reached', 'Check that it is running (moot serve) and that this machine is connected, then try again.'],
  401: ['A token is needed', 'Enter your access token to continue, or save one in Settings.'],
  403: ['Not allowed'],
  429: ['Too many requests'],
};

export const Empty = ({ title, children }) => html`<div class="empty stack"><h2>${title}</h2>${children}</div>`;

/** Text of users or models, in its own direction. */
export const Words = ({ children, ...more }) => html`<bdi ...${more}>${children}</bdi>`;

/** A section of a page: heading and explanation at the side, content beside them. */
export function PageSection({ id, title, says, children }) {
  return html`<section class="part" id=${id}>
    <header><h2>${title}</h2>${says && html`<p class="soft">${says}</p>`}</header>
    <div class="stack">${children}</div>
  </section>`;
}

/** Folded content. It opens when something inside needs attention, and never closes by itself. */
export function Details({ summary, needed = false, class: kind = '', children }) {
  const fold = useRef();
  useLayoutEffect(() => {
    if (needed) fold.current.open = true;
  }, [needed]);
  return html`<details class="fold ${kind}" ref=${fold}>
    <summary>${summary}</summary>
    <div class="inside">${children}</div>
  </details>`;
}

/** '', middling, long or huge. */
export function sizeOf(motion) {
  const length = [...motion].length;
  return length > 280 ? 'huge' : length > 140 ? 'long' : length > 70 ? 'middling' : '';
}

/** The motion as the headline of a page; a long one is set smaller. `over`: small text above. Children: below. */
export const Headline = ({ motion, over, children }) => html`<header class="motion ${sizeOf(motion)}">
  <p class="overline">${over}</p>
  <h1 tabindex="-1" dir="auto">${motion}</h1>
  ${children}
</header>`;

const NEAR = /^(localhost|127\.|\[::1\])/;

/** Whether this server can be reached from this machine only. */
export const isNear = () => NEAR.test(location.hostname);

/** A link to share, with a button to copy it. Children are shown beside the button. */
export const Link = ({ label, url, children }) => html`<div class="link stack">
  <label class="named"><span>${label}</span>
    <input class="field" readonly value=${url ?? ''} onFocus=${(event) => event.target.select()} />
  </label>
  <div class="row"><${Copy} text=${url} label="Copy link" class="main" disabled=${!url} />${children}</div>
</div>`;

/** Why the speeches ended before the end of the format. */
export function EarlyEnd({ debate }) {
  const { earlyEnd } = debate.at('now').value;
  return earlyEnd && html`<p class="early-end" dir="auto">${earlyEnd}</p>`;
}
