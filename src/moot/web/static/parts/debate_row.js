// One debate in a list: its motion, the parties, its progress and its result.

import { html } from '../../vendor/preact.js';
import { When } from '../lib/clock.js';
import { seatStyle } from '../lib/seats.js';
import { Words } from '../lib/ui.js';
import { Order } from './speech_strip.js';

export const STATES = {
  initializing: 'Opening',
  awaiting_arguments: 'Waiting to start',
  debating: 'Under way',
  paused: 'Paused',
  judge_evaluating: 'Judging',
  completed: 'Finished',
  error: 'Failed',
};
/** What a debate waits for while it is under way. */
const WAITS = { vote: 'Voting is open', speaker: 'A person’s turn', judge: 'Waiting for a judge' };
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
        <span><${Sides} debate=${debate} /></span><span class="soft">${formats[debate.format] ?? debate.format}</span>
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

/** gpt-6-luna v. claude-haiku-5-5; seats of one side together. */
function Sides({ debate }) {
  const sides = Map.groupBy(debate.participants, ({ position }, index) => (SIDES.has(position) ? position : index));
  const name = (seat) => html`<${Words} class="name" data-seat style=${seatStyle(seat.color)} title=${seat.model}>
    ${seat.shown}
  <//>`;
  const together = (side) => side.map((seat, index) => html`${index > 0 && ', '}${name(seat)}`);
  const models = new Set(debate.participants.map((seat) => seat.model));
  const [only] = models;
  const alike = models.size === 1 && only && only !== 'human';
  return html`${[...sides.values()].map(
    (side, index) => html`${index > 0 && html` <i class="versus">v.</i> `}${together(side)}`,
  )}${alike && html` <span class="soft">both <bdi>${only.split('/').at(-1)}</bdi></span>`}`;
}

function Strip({ debate }) {
  if (!debate.strip.length) return null;
  const { participants: seats, given } = debate;
  const order = debate.strip.map((index, slot) => ({ slot, seat: index, title: 'speech' }));
  return html`<${Order}
    order=${order}
    colours=${seats.map((seat) => seat.color)}
    names=${seats.map((seat) => seat.shown)}
    done=${new Set(order.slice(0, given).map((speech) => speech.slot))}
    now=${new Set(debate.status === 'debating' && given < order.length ? [given] : [])}
    label="${given} given" />`;
}

function Result({ debate }) {
  if (debate.headline) {
    return html`<${Words}>${debate.headline}<//>${debate.silent > 0 && html` <span class="failed small">silent turn</span>`}`;
  }
  if (debate.status === 'error') return html`<span class="failed">${STATES.error}</span>`;
  if (!isGoing(debate)) return html`<span class="soft">No verdict</span>`;
  const round = debate.status === 'debating' && debate.currentRound;
  const waits = WAITS[debate.waitingFor];
  return html`<span class="going ${waits ? 'awaited' : debate.status}">
    ${debate.status === 'paused' ? STATES.paused : waits ?? STATES[debate.status]}${round > 0 && html`<span class="soft">, round ${round} of ${debate.maxRounds}</span>`}
  </span>`;
}
