// A form field with its label and the errors that the server reported for it.

import { html, useId } from '../../vendor/preact.js';

/** The errors of a field; with `deep`, also of the fields within it. */
export function wrongs(errors, field, deep = false) {
  return Object.entries(errors ?? {})
    .filter(([at]) => at === field || (deep && at.startsWith(`${field}.`)))
    .flatMap(([, texts]) => texts);
}

export const Wrong = ({ id, texts }) =>
  texts.length > 0 && html`<span class="wrong" id=${id} dir="auto">${texts.join(' ')}</span>`;

/** `as`: input, textarea or select; further properties are passed to it. */
export function Named({ label, hint, wrong = [], as: Tag = 'input', children, class: kind = '', ...more }) {
  const id = useId();
  const described = [hint && `${id}-hint`, wrong.length > 0 && `${id}-wrong`].filter(Boolean).join(' ') || undefined;
  return html`<label class="named ${kind}">
    <span>${label}</span>
    <${Tag} class="field" aria-invalid=${wrong.length > 0 || undefined} aria-describedby=${described} ...${more}>
      ${children}
    <//>
    ${hint && html`<span class="hint" id=${`${id}-hint`}>${hint}</span>`}
    <${Wrong} id=${`${id}-wrong`} texts=${wrong} />
  </label>`;
}

export function Tick({ label, hint, checked, onChange }) {
  return html`<label class="tick">
    <input type="checkbox" checked=${checked} onChange=${(event) => onChange(event.target.checked)} />
    <span>${label}${hint && html`<small>${hint}</small>`}</span>
  </label>`;
}

/** The number in a field, or null if it is empty. */
export const numberIn = (event) => (event.target.value.trim() === '' ? null : event.target.valueAsNumber);
