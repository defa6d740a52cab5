// Small parts that many pages use: buttons with their keys, dialogs, toasts, copying, errors in words.

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';

// --- saying something -----------------------------------------------------------------------------------

const toasts = signal([]);
let count = 0;

/** Says something for a while. `action` is [label, function]; `gone` is called when it leaves unused. */
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

/** For screen readers: said once, politely, and seen by nobody. */
export const said = signal('');
export const announce = (text) => (said.value = text);
export const Announcer = () => html`<div class="visually-hidden" role="status" aria-live="polite">${said.value}</div>`;

export const complain = (error) => toast(error.message, { seconds: 8 });

// --- doing something ------------------------------------------------------------------------------------

/** A button that waits for what it does, and says what went wrong. `hint` is its key. */
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

/** Browsers have a clipboard for https and for this machine; elsewhere the words are selected and copied. */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement('textarea'), { value: text, className: 'visually-hidden' });
  // What is behind an open dialog cannot be selected.
  ([...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body).append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (!copied) throw new Error('This browser lets nothing be copied here.');
  return undefined;
}

export function Copy({ text, label = 'Copy', ...more }) {
  const copy = async () => {
    await copyText(typeof text === 'function' ? await text() : text);
    toast('Copied.', { seconds: 2 });
  };
  return html`<${Button} onClick=${copy} ...${more}>${label}<//>`;
}

/** A dialog that is open while it is there; the focus goes back to where it was before. */
export function Sheet({ title, onClose, children, class: kind = '' }) {
  const dialog = useRef();
  // Before the next key: an Escape that is pressed before the first paint must close it, too.
  useLayoutEffect(() => {
    const own = dialog.current;
    own.showModal();
    return () => own.close();
  }, []);
  // It tells late that it was closed, even when it is no longer there.
  const closed = () => dialog.current && onClose();
  const beside = (event) => event.target === dialog.current && onClose();
  const close = () => dialog.current.close();
  return html`<dialog class="sheet ${kind}" ref=${dialog} aria-labelledby="sheet-title" onClose=${closed}
    onClick=${beside}>
    <header>
      <h2 id="sheet-title">${title}</h2>
      <button type="button" class="btn plain" aria-label="Close" onClick=${close}>✕</button>
    </header>
    ${children}
  </dialog>`;
}

/** A button with more behind it, opening upwards. Children are buttons or links; the focus leaves them before they
    act, so that a dialog which one of them opens gives it back to the button. */
export function Menu({ label, children }) {
  const [open, setOpen] = useState(false);
  const root = useRef();
  // At once: whoever opens it may press an arrow before it is painted.
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
    const found = items();
    found.at((found.indexOf(document.activeElement) + step) % found.length)?.focus();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${walk}>
    <button type="button" class="btn" aria-expanded=${open} aria-haspopup="true" onClick=${() => setOpen(!open)}>
      ${label}
    </button>
    ${open && html`<div onClickCapture=${focusButton} onClick=${() => setOpen(false)}>${children}</div>`}
  </div>`;
}

// --- asking the server ----------------------------------------------------------------------------------

/** Loads something when it is first shown: [value, error, again]. */
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

export function Failed({ error, again }) {
  return html`<div class="notice bad" role="alert">
    <p>${error.message}</p>
    ${again && html`<p><button class="btn" onClick=${again}>Try again</button></p>`}
  </div>`;
}

export const Empty = ({ title, children }) => html`<div class="empty stack"><h2>${title}</h2>${children}</div>`;

/** Somebody's words, whichever way they run. */
export const Words = ({ children, ...more }) => html`<bdi ...${more}>${children}</bdi>`;
