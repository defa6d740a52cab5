// What a speaker thought before and while speaking, as marginalia on their side of the page; where there is no
// margin, or somebody wants none, folded at the head of the speech.

import { html, useComputed, useEffect, useRef, useState } from '../../vendor/preact.js';
import { reasoning } from '../lib/preferences.js';
import { wide } from '../lib/viewport.js';
import { share } from '../lib/speech_parts.js';
import { Growing } from './prose.js';

/** Longer than this and it may not make the page longer than the speech does. */
const LONG = 900;

export const inMargin = () => wide.value && reasoning.value === 'shown';

/** `turn` is the signal of the speech, `place` that of the stretch; `live`: more of it may come. */
export function Margin({ turn, place, live, opponents }) {
  const [whole, showWhole] = useState(false);
  const box = useRef();
  const text = useThoughts(turn, place);
  const long = useComputed(() => text.value.length > LONG);
  useEffect(() => (live ? text.subscribe(() => requestAnimationFrame(() => toEnd(box.current))) : undefined), [live]);
  const kind = whole ? 'whole' : long.value && !live ? 'long' : '';
  return html`<div class="marginalia ${kind}" role="note" aria-label="Thoughts of the speaker">
    <p class="mark"><${Label} ...${{ turn, place, live, opponents }} /></p>
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

/** `open`: it stands where it was thought, for those who want to see it all. */
export function Folded({ turn, place, live, opponents, open = false }) {
  const text = useThoughts(turn, place);
  return html`<details class="folded" open=${open}>
    <summary><${Label} ...${{ turn, place, live, opponents }} /></summary>
    <div class="thoughts"><${Growing} text=${text} live=${live} /></div>
  </details>`;
}

const useThoughts = (turn, place) => useComputed(() => share(turn.value, place, 'thoughts'));

function Label({ turn, place, live, opponents }) {
  const silent = useComputed(() => !share(turn.value, place, 'words')).value;
  return html`${live && silent ? 'Thinking' : 'Thoughts'} <span>· hidden from the ${opponents}</span>`;
}

function toEnd(box) {
  if (box && !box.contains(document.activeElement)) box.scrollTop = box.scrollHeight;
}
