// What a speaker thought before and while speaking, as marginalia on their side of the page; where there is no
// margin, or somebody wants none, folded at the head of the speech.

import { html, useComputed, useEffect, useRef, useState } from '../../vendor/preact.js';
import { reasoning } from '../lib/prefs.js';
import { wide } from '../lib/screen.js';
import { Growing } from './prose.js';

/** Longer than this and it may not make the page longer than the speech does. */
const LONG = 900;

export const inMargin = () => wide.value && reasoning.value === 'shown';

/** `turn` is the signal of the speech, `told` what is steady of it. */
export function Margin({ turn, told, opponents }) {
  const [whole, showWhole] = useState(false);
  const box = useRef();
  const text = useComputed(() => turn.value?.reasoning ?? '');
  const long = useComputed(() => text.value.length > LONG);
  const live = told.state === 'live';
  useEffect(() => (live ? text.subscribe(() => requestAnimationFrame(() => toEnd(box.current))) : undefined), [live]);
  const kind = whole ? 'whole' : long.value && !live ? 'long' : '';
  return html`<div class="marginalia ${kind}" role="note" aria-label="Thoughts of the speaker">
    <p class="mark"><${Label} turn=${turn} opponents=${opponents} /></p>
    <div class="thoughts" ref=${box} tabindex=${long.value && !whole ? 0 : undefined}>
      <${Growing} text=${text} live=${live} />
    </div>
    ${long.value &&
    !live &&
    html`<button type="button" class="quiet" aria-expanded=${whole} onClick=${() => showWhole(!whole)}>
      ${whole ? 'Less' : 'All of it'}
    </button>`}
  </div>`;
}

export function Folded({ turn, told, opponents }) {
  const text = useComputed(() => turn.value?.reasoning ?? '');
  return html`<details class="folded">
    <summary><${Label} turn=${turn} opponents=${opponents} /></summary>
    <div class="thoughts"><${Growing} text=${text} live=${told.state === 'live'} /></div>
  </details>`;
}

function Label({ turn, opponents }) {
  const thinking = useComputed(() => turn.value?.state === 'live' && !turn.value.text);
  return html`${thinking.value ? 'Thinking' : 'Thoughts'} <span>· hidden from the ${opponents}</span>`;
}

function toEnd(box) {
  if (box && !box.contains(document.activeElement)) box.scrollTop = box.scrollHeight;
}
