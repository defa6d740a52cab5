// The field for the motion, which grows with its text, and motions to take instead.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { FIRST, examples, surprise } from '../lib/motions.js';
import { Wrong } from './field.js';

const LONGEST = 500;

/** `small`: a very small model speaks, and needs simple motions. */
export function MotionField({ topic, small, wrong, onChange }) {
  const field = useRef();
  useLayoutEffect(() => {
    if (CSS.supports('field-sizing', 'content')) return;
    field.current.style.height = 'auto';
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [topic]);
  // A suggested motion is replaced by typing.
  const enter = (event) => topic === FIRST && event.target.select();
  const stay = (event) => event.key === 'Enter' && !event.isComposing && event.preventDefault();
  const write = (event) => onChange(event.target.value.replace(/[\r\n]+/g, ' '));
  const take = (text) => {
    onChange(text);
    field.current.focus({ preventScroll: true });
  };
  return html`<section class="motion" aria-label="Motion">
    <label for="motion">Motion</label>
    <div class="entry-box">
      <textarea id="motion" class="field" ref=${field} rows="1" dir="auto" maxlength=${LONGEST} value=${topic}
        placeholder="Type a statement or a question with two sides" spellcheck="true"
        aria-invalid=${wrong.length > 0 || undefined} aria-describedby="motion-wrong"
        onFocus=${enter} onKeyDown=${stay} onInput=${write}></textarea>
      ${topic && html`<button type="button" class="btn plain" aria-label="Clear the motion" title="Clear"
        onClick=${() => take('')}>✕</button>`}
    </div>
    <${Wrong} id="motion-wrong" texts=${wrong} />
    <div class="tries" role="group" aria-label="Suggested motions">
      <span class="small soft">Try</span>
      ${examples(small, topic).map(
        (text) => html`<button type="button" class="chip" key=${text} onClick=${() => take(text)}>${text}</button>`,
      )}
      <button type="button" class="chip" onClick=${() => take(surprise(small, topic))}><${Dice} />Random</button>
    </div>
  </section>`;
}

const Dice = () => html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <rect x="1.5" y="1.5" width="13" height="13" rx="3" />
  <circle cx="5.2" cy="5.2" r="1" /><circle cx="8" cy="8" r="1" /><circle cx="10.8" cy="10.8" r="1" />
</svg>`;
