// The reasoning of the speakers: beside a speech, and in a dialog that shows all sides round by round.

import { html, useComputed, useEffect, useRef, useState } from '../../vendor/preact.js';
import { reasoning, wide } from '../lib/preferences.js';
import { seatStyle } from '../lib/seats.js';
import { share } from '../lib/speech_parts.js';
import { Dialog } from '../lib/ui.js';
import { Growing, Prose } from './prose.js';

/** Longer reasoning is limited to the height of the speech. */
const LONG = 900;

export const inMargin = () => wide.value && reasoning.value === 'shown';

/** `turn`: the signal of the speech; `index`: the index of the part; `live`: more may come. */
export function Margin({ turn, index, live, opponents }) {
  const [unfolded, setUnfolded] = useState(false);
  const box = useRef();
  const text = useThoughts(turn, index);
  const long = useComputed(() => text.value.length > LONG);
  useEffect(() => (live ? text.subscribe(() => requestAnimationFrame(() => toEnd(box.current))) : undefined), [live]);
  const kind = unfolded ? 'whole' : long.value && !live ? 'long' : '';
  return html`<div class="marginalia ${kind}" role="note" aria-label="Thoughts of the speaker">
    <p class="mark"><${Label} ...${{ turn, index, live, opponents }} /></p>
    <div class="thoughts" ref=${box} tabindex=${long.value && !unfolded ? 0 : undefined}>
      <${Growing} text=${text} live=${live} />
    </div>
    ${long.value &&
    !live &&
    html`<button type="button" class="quiet" aria-expanded=${unfolded} onClick=${() => setUnfolded(!unfolded)}>
      ${unfolded ? 'Less' : 'All of it'}
    </button>`}
  </div>`;
}

/** `open`: shown unfolded at its position in the speech. */
export function Folded({ turn, index, live, opponents, open = false }) {
  const text = useThoughts(turn, index);
  return html`<details class="folded" open=${open}>
    <summary><${Label} ...${{ turn, index, live, opponents }} /></summary>
    <div class="thoughts"><${Growing} text=${text} live=${live} /></div>
  </details>`;
}

const useThoughts = (turn, index) => useComputed(() => share(turn.value, index, 'thoughts'));

function Label({ turn, index, live, opponents }) {
  const silent = useComputed(() => !share(turn.value, index, 'words')).value;
  return html`${live && silent ? 'Thinking' : 'Thoughts'} <span>· hidden from the ${opponents}</span>`;
}

function toEnd(box) {
  if (box && !box.contains(document.activeElement)) box.scrollTop = box.scrollHeight;
}

export function ReasoningDialog({ debate, onClose }) {
  const { seats } = debate.at('about').value;
  const turns = debate.keys('turns').value.map((key) => debate.at('turns', key).value).filter((turn) => !turn.struck);
  const rounds = Map.groupBy(turns, (turn) => turn.round);
  return html`<${Dialog} title=${'Reasoning, side by side'} class="minds" onClose=${onClose}>
    <p class="soft">What each side thought before it spoke, hidden from the others.</p>
    <div class="scroll" tabindex="0"><table style=${`--seats:${seats.length}`}>
      <caption class="visually-hidden">The reasoning of each side, by round</caption>
      <thead><tr><th scope="col"><span class="visually-hidden">Round</span></th>${seats.map(
        (seat) => html`<th scope="col" key=${seat.id} class="hue" data-seat style=${seatStyle(seat.color)}>
          <bdi>${seat.name}</bdi>
        </th>`,
      )}</tr></thead>
      <tbody>${[...rounds].map(([round, own]) => html`<tr key=${round}>
        <th scope="row">${round}</th>
        ${seats.map((seat) => html`<td key=${seat.id} data-seat style=${seatStyle(seat.color)}>
          ${own.filter((turn) => turn.seat === seat.id).map(thought)}
        </td>`)}
      </tr>`)}</tbody>
    </table></div>
  <//>`;
}

const thought = (turn) => html`<${Thought} key=${turn.number} turn=${turn} />`;

function Thought({ turn }) {
  return html`<section class="thought">
    <h3>${turn.title}</h3>
    ${turn.reasoning ? html`<${Prose} text=${turn.reasoning} />` : html`<p class="soft">No reasoning was shown.</p>`}
    ${turn.text && html`<details><summary>The speech</summary><${Prose} class="said" text=${turn.text} /></details>`}
  </section>`;
}
