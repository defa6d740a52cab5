// The lecterns, facing each other, with the order of speeches between them: who is up, who is quiet, how far
// it has gone.

import { html, useComputed } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';
import { progress, sides } from '../lib/timeline.js';
import { wide } from '../lib/viewport.js';
import { Words } from '../lib/ui.js';
import { Order } from './speech_strip.js';
import { Phase } from './status.js';

/** `onPick(number)`: somebody wants to read that speech. Children stand beside the order. */
export function Lecterns({ room, onPick, children }) {
  const { seats, order } = room.at('about').value;
  const side = sides(seats);
  const shown = useComputed(() => progress(room)).value;
  const colours = Object.fromEntries(seats.map((seat) => [seat.id, seat.color]));
  const names = Object.fromEntries(seats.map((seat) => [seat.id, seat.name]));
  const pick = onPick && ((slot) => shown.turns.has(slot) && onPick(shown.turns.get(slot)));
  const stand = (where) => html`<div class="side ${where}">
    ${seats.filter((seat) => side[seat.id] === where).map(
      (seat) => html`<${Lectern} key=${seat.id} room=${room} seat=${seat} shown=${shown} />`,
    )}
  </div>`;
  const mid = html`<div class="mid" key="mid">
    <${Order} order=${order} colours=${colours} names=${names} ...${shown} onPick=${pick} />
    ${children}
    <${Phase} room=${room} />
  </div>`;
  // Where there is room all of it stays in sight; elsewhere the line between the lecterns does.
  const [between, below] = wide.value ? [mid, null] : [null, mid];
  return html`
    <section class="lecterns" aria-label="Speakers">${stand('left')}${between}${stand('right')}</section>
    ${below}
  `;
}

function Lectern({ room, seat, shown }) {
  const { order } = room.at('about').value;
  const { next, endedAt } = room.at('now').value;
  const own = order.filter((slot) => slot.seat === seat.id);
  const given = own.filter(({ slot }) => shown.done.has(slot)).length;
  const up = own.some(({ slot }) => shown.now.has(slot));
  const soon = !up && shown.now.size === 0 && own.some(({ slot }) => slot === next);
  const heard = own.length > 0 && html`${given} of ${own.length}<span class="heard"> heard</span>`;
  const standing = up ? 'speaking' : soon ? 'speaks next' : heard;
  const side = seat.team || (seat.position === 'neutral' ? '' : seat.position);
  return html`<div class="lectern ${up ? 'up' : endedAt ? '' : 'quiet'}" data-seat style=${seatStyle(seat.color)}>
    <b><${Words}>${seat.name}</${Words}></b>
    <span class="who"><${Words}>${seat.person ? 'a person' : seat.model || 'nobody yet'}</${Words}></span>
    <span class="standing">${side}${side && standing && ' · '}${standing}</span>
  </div>`;
}
