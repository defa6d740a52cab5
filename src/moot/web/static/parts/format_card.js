// The format of a new debate with its strip of speeches, and a dialog to choose another.

import { html, useState } from '../../vendor/preact.js';
import { plural } from '../lib/numbers.js';
import { SEAT_COLOURS } from '../lib/setup.js';
import { Dialog } from '../lib/ui.js';
import { Wrong } from './field.js';
import { Order } from './speech_strip.js';

/** `describe(format)`: what a format does in this setup; `rounds(format)`: how many it has there; `order`: the speeches that the server planned for these seats;
    pale while it is not `current`. */
export function FormatCard({ format, formats, describe, rounds, order = [], current, colours, names, wrong, onPick }) {
  const [choosing, choose] = useState(false);
  const pick = (picked) => {
    choose(false);
    onPick(picked);
  };
  return html`<section class="format" aria-labelledby="format-title">
    <div class="title">
      <h3 id="format-title"><span>Format</span> <bdi>${format.title}</bdi></h3>
      <button type="button" class="btn" onClick=${() => choose(true)}>Change format</button>
    </div>
    <p class="soft small" dir="auto">${describe(format)}</p>
    <div class="laid" data-pale=${current ? undefined : ''}>
      <${Drawn} order=${order} colours=${colours} names=${names} />
      <p class="small soft numbers">${counted(order)}</p>
    </div>
    <${Wrong} texts=${wrong} />
    ${choosing && html`<${Dialog} title="Choose a format" class="formats" onClose=${() => choose(false)}>
      <div role="group" aria-label="Formats">${formats.map(
        (one) => html`<${Choice} key=${one.name} format=${one} summary=${describe(one)} chosen=${one === format}
          order=${one === format && order.length ? order : shortened(one, rounds(one))} onPick=${() => pick(one)} />`,
      )}</div>
    <//>`}
  </section>`;
}

const Drawn = ({ order, ...more }) => html`<${Order} order=${order.map((speech, slot) => ({ ...speech, slot }))}
  done=${new Set(order.keys())} ...${more} />`;

function counted(order) {
  if (!order.length) return '';
  const words = order.reduce((sum, speech) => sum + speech.words, 0);
  const rounds = order.at(-1).round;
  // A speech with a break for points of information has two parts, each with a mark of its own.
  const whole = order.filter((speech) => speech.tone !== 'continuation').length;
  const parts = whole < order.length ? ` (${order.length} parts)` : '';
  return `${plural(whole, 'speech', 'speeches')}${parts} in ${plural(rounds, 'round')}, about ${plural(words, 'word')}`;
}

/** The speeches of a format in so many rounds: the last round stays the last, those before it are left out or repeated. */
function shortened({ order, rounds: usual, scripted }, rounds) {
  if (scripted || rounds === usual || usual < 2) return order;
  const at = (round) => (round === rounds && rounds > 1 ? usual : Math.min(round, usual - 1));
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
  return numbers.flatMap((round) => order.filter((speech) => speech.round === at(round)).map((speech) => ({ ...speech, round })));
}

const Choice = ({ format, summary, chosen, order, onPick }) => html`<button type="button" class="choice" aria-pressed=${chosen}
  onClick=${onPick}>
  <b dir="auto">${format.title}</b>
  <span class="small soft" dir="auto">${summary}</span>
  <${Drawn} order=${order} colours=${SEAT_COLOURS} label=${`Speeches of ${format.title}`} />
</button>`;
