// Who can win, by id: a seat for itself, or the seats of a side together under the id of their first; and how
// what people choose among is laid out.

import { seatStyle } from './colour.js';

/** Map of id -> {id, name, style}, in the order of the parties; other seats follow by their own names. */
export function partiesOf(about) {
  const seats = new Map(about.seats.map((seat) => [seat.id, seat]));
  const found = new Map();
  for (const { id, name } of about.parties) found.set(id, { id, name, style: seatStyle(seats.get(id)?.color) });
  for (const seat of about.seats) {
    if (!found.has(seat.id)) found.set(seat.id, { id: seat.id, name: seat.name, style: seatStyle(seat.color) });
  }
  return found;
}

/** The choices of a vote as they are drawn: undecided stands in between, for it is what the others fight for. */
export const spread = ([first, ...others]) => [first, others.at(-1), ...others.slice(0, -1)];
