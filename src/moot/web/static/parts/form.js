// Small forms: submitted by their button or Ctrl+Enter, once at a time; errors of the server are shown beside the
// field.

import { html, useId, useState } from '../../vendor/preact.js';
import { seatStyle } from '../lib/seats.js';
import { complain } from '../lib/ui.js';

export function useForm(send) {
  const [errors, setErrors] = useState({});
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await send();
      setErrors({});
    } catch (error) {
      setErrors(error.errors ?? {});
      if (Object.keys(error.errors ?? {}).length === 0) complain(error);
    } finally {
      setBusy(false);
    }
  };
  const hurry = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.currentTarget.requestSubmit();
    }
  };
  return { errors, busy, props: { onSubmit: submit, onKeyDown: hurry, noValidate: true } };
}

/** The errors of a field and of the fields within it. */
export function Wrong({ errors, of }) {
  const fieldErrors = Object.entries(errors).filter(([field]) => field === of || field.startsWith(`${of}.`));
  const message = ([field, texts]) => html`<p class="wrong" role="alert" key=${field}>${texts.join('. ')}.</p>`;
  return html`${fieldErrors.map(message)}`;
}

/** A text of several lines. */
export function TextArea({ label, value, onWrite, rows = 3, ...more }) {
  const write = (event) => onWrite(event.target.value);
  return html`<label class="named">${label}
    <textarea class="field" rows=${rows} dir="auto" value=${value} onInput=${write} ...${more}></textarea>
  </label>`;
}

/** A text of one line. */
export function TextInput({ label, value, onWrite, field, class: kind = '', ...more }) {
  const write = (event) => onWrite(event.target.value);
  return html`<label class="named ${kind}">${label}
    <input class="field" dir="auto" ref=${field} value=${value} onInput=${write} ...${more} />
  </label>`;
}

/** To everyone, or to one of the seats. */
export function Addressee({ seats, to, onPick }) {
  const options = [['', 'Everyone'], ...seats.map((seat) => [seat.id, seat.name, seatStyle(seat.color)])];
  return html`<${Choice} name="to" legend="To" value=${to} onPick=${onPick} options=${options} />`;
}

export const Submit = ({ form, disabled, children }) => html`<div class="row">
  <button type="submit" class="btn main" disabled=${disabled || form.busy}>
    ${children}<kbd aria-hidden="true">${MOD} ↵</kbd>
  </button>
</div>`;

export const MOD = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** One of a few, as radio buttons that look like tabs. Options: [value, name, style of its colour]. */
export function Choice({ name, legend, options, value, onPick, class: kind = '' }) {
  const group = `${name}${useId()}`;
  return html`<fieldset class="choice ${kind}">
    <legend>${legend}</legend>
    <div>${options.map(
      ([key, text, style]) => html`<label key=${key} data-seat=${style ? '' : undefined} style=${style}>
        <input type="radio" name=${group} value=${key} checked=${value === key} onChange=${() => onPick(key)} />
        <bdi>${text}</bdi>
      </label>`,
    )}</div>
  </fieldset>`;
}
