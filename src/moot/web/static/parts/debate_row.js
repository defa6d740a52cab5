// One debate in a list: its motion, the parties, its progress and its result.

import { html } from '../../vendor/preact.js';
import { When } from '../lib/clock.js';
import { seatStyle } from '../lib/seats.js';
import { Words } from '../lib/ui.js';
import { Order } from './speech_strip.js';

export const STATES = {
  initializing: 'Opening',
  awaiting_arguments: 'Waiting for a person',
  debating: 'Under way',
  paused: 'Paused',
  judge_evaluating: 'Judging',
  completed: 'Over',
  error: 'Failed',
};
const OVER = new Set(['completed', 'error']);
const SIDES = new Set(['for', 'against']);

/** Whether the debate may still change, so that the list must be loaded again. */
export const isGoing = (debate) => !OVER.has(debate.status);

export function DebateRow({ debate, formats, picked, onPick, onDelete }) {
  const address = `/debate/${debate.id}${debate.outcome ? '/verdict' : ''}`;
  const motion = `motion-${debate.id}`;
  return html`<li class="debate" data-id=${debate.id}>
    <input type="checkbox" checked=${picked} aria-label="Select" aria-describedby=${motion}
      onChange=${() => onPick(debate.id)} />
    <div class="what">
      <h2 id=${motion}><a href=${address} dir="auto">${debate.topic}</a></h2>
      <p class="who">
        <span class="soft">${formats[debate.format] ?? debate.format}</span><span><${Sides} debate=${debate} /></span>
      </p>
      <${Strip} debate=${debate} />
    </div>
    <div class="came">
      <p class="result"><${Result} debate=${debate} /></p>
      <p class="soft small numbers">
        <${When} at=${debate.completedAt ?? debate.createdAt} />${debate.totalCostText && ` · ${debate.totalCostText}`}
      </p>
    </div>
    <button type="button" class="btn plain remove" aria-label="Delete" aria-describedby=${motion} title="Delete"
      onClick=${() => onDelete([debate])}><${Bin} /></button>
  </li>`;
}

const Bin = () => html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
  <path fill="none" stroke="currentColor" d="M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4" />
</svg>`;

/** Ada v. Ben; seats of one side together. */
function Sides({ debate }) {
  const sides = Map.groupBy(debate.participants, ({ position }, index) => (SIDES.has(position) ? position : index));
  const name = (seat) => html`<${Words} class="name" data-seat style=${seatStyle(seat.color)} title=${seat.model}>
    ${seat.name}
  <//>`;
  const together = (side) => side.map((seat, index) => html`${index > 0 && ', '}${name(seat)}`);
  return [...sides.values()].map(
    (side, index) => html`${index > 0 && html` <i class="versus">v.</i> `}${together(side)}`,
  );
}

function Strip({ debate }) {
  if (!debate.strip.length) return null;
  const { participants: seats, given } = debate;
  const order = debate.strip.map((index, slot) => ({ slot, seat: index, title: 'speech' }));
  return html`<${Order}
    order=${order}
    colours=${seats.map((seat) => seat.color)}
    names=${seats.map((seat) => seat.name)}
    done=${new Set(order.slice(0, given).map((speech) => speech.slot))}
    now=${new Set(debate.status === 'debating' && given < order.length ? [given] : [])}
    label="${given} given" />`;
}

function Result({ debate }) {
  if (debate.headline) return html`<${Words}>${debate.headline}<//>`;
  if (debate.status === 'error') return html`<span class="soft">${STATES.error}</span>`;
  if (!isGoing(debate)) return html`<span class="soft">No verdict</span>`;
  const round = debate.status === 'debating' && debate.currentRound;
  return html`<span class="going ${debate.status}">
    ${STATES[debate.status]}${round > 0 && html`<span class="soft">, round ${round} of ${debate.maxRounds}</span>`}
  </span>`;
}
