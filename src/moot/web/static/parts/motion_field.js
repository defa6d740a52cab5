// The field for the motion, which grows with its text, and some suggestions.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { EXAMPLES, FIRST, surprise } from '../lib/motions.js';
import { Wrong } from './field.js';

const LONGEST = 500;

export function MotionField({ topic, wrong, onChange }) {
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
  return html`<section class="motion" aria-label="The motion">
    <label class="overline" for="motion">The motion</label>
    <textarea id="motion" ref=${field} rows="1" dir="auto" maxlength=${LONGEST} value=${topic}
      placeholder="What shall they argue about?" class=${topic.length > 140 ? 'long' : ''} spellcheck="true"
      aria-invalid=${wrong.length > 0 || undefined} aria-describedby="motion-wrong"
      onFocus=${enter} onKeyDown=${stay} onInput=${write}></textarea>
    <${Wrong} id="motion-wrong" texts=${wrong} />
    <div class="tries" role="group" aria-label="Motions to take">
      ${EXAMPLES.map(
        (text) => html`<button type="button" class="chip" key=${text} onClick=${() => take(text)}>${text}</button>`,
      )}
      <button type="button" class="chip lucky" onClick=${() => take(surprise(topic))}><${Dice} />Surprise me</button>
    </div>
  </section>`;
}

const Dice = () => html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <rect x="1.5" y="1.5" width="13" height="13" rx="3" />
  <circle cx="5.2" cy="5.2" r="1" /><circle cx="8" cy="8" r="1" /><circle cx="10.8" cy="10.8" r="1" />
</svg>`;
