// A debate in the order in which it happened: rounds, speeches, remarks and points. Simultaneous speeches are one
// entry.

import { plural } from './numbers.js';

/** The format in which each turn is asked for. */
export const SESSION = 'turns';

/**
 * [{kind: 'round' | 'turn' | 'together' | 'remark' | 'point', key, ...}]. It changes with new entries, not with the
 * text of speeches.
 */
export function inOrder(debate) {
  const { order, rounds } = debate.at('about').value;
  const { waiting } = debate.at('now').value;
  const all = [
    ...entries(debate, 'turns', 'turn'),
    ...entries(debate, 'remarks', 'remark').filter((entry) => !waiting.includes(entry.number)),
    ...entries(debate, 'points', 'point'),
  ].sort((one, other) => one.seq - other.seq);
  const rows = [];
  let round = null;
  for (const entry of all) {
    if (entry.kind === 'turn' && entry.it.round !== round && rounds > 1) {
      round = entry.it.round;
      rows.push({ kind: 'round', key: `round/${round}`, number: round });
    }
    const group = entry.kind === 'turn' && !entry.it.struck ? order[entry.it.slot]?.group : undefined;
    const shared = group !== undefined && isShared(order, group);
    const before = shared && rows.find((other) => other.kind === 'together' && other.group === group);
    if (before) before.numbers.push(entry.number);
    else if (shared) rows.push({ kind: 'together', key: `together/${group}`, group, numbers: [entry.number] });
    else rows.push({ kind: entry.kind, key: `${entry.kind}/${entry.number}`, number: entry.number });
  }
  return rows;
}

function entries(debate, section, kind) {
  return debate.keys(section).value.flatMap((number) => {
    const it = debate.at(section, number).peek();
    return it ? [{ kind, number, it, seq: it.seq }] : [];
  });
}

const isShared = (order, group) => order.filter((slot) => slot.group === group).length > 1;

/** The progress of the speeches: {done, now, silent, skipped: sets of slots, turns: slot -> number}. */
export function progress(debate) {
  const { skipped, speaking } = debate.at('now').value;
  const shown = { done: new Set(), now: new Set(), silent: new Set(), skipped: new Set(skipped), turns: new Map() };
  for (const number of debate.keys('turns').value) {
    const turn = debate.at('turns', number).peek();
    if (!turn || turn.struck) continue;
    shown.turns.set(turn.slot, number);
    const slots = speaking.includes(number) ? shown.now : isSilent(turn) ? shown.silent : shown.done;
    slots.add(turn.slot);
  }
  return shown;
}

/** The speeches of an order; those with a break for points of information are given in parts. */
export const wholeSpeeches = (order) => order.filter((slot) => slot.tone !== 'continuation');

/** "8 speeches, 16 parts" */
export function countOf(order) {
  const whole = wholeSpeeches(order).length;
  return plural(whole, 'speech', 'speeches') + (order.length > whole ? `, ${order.length} parts` : '');
}

const isSilent = (turn) => turn.state !== 'live' && !turn.veiled && !turn.words && !turn.text;

/** left or right, by seat: speakers for the motion and speakers against it. */
export function sides(seats) {
  const opposed = ['for', 'against'].every((side) => seats.some((seat) => seat.position === side));
  const half = Math.ceil(seats.length / 2);
  const isRight = ({ position }, index) => {
    if (!opposed) return index >= half;
    return position === 'against' || (position !== 'for' && index % 2 === 1);
  };
  return Object.fromEntries(seats.map((seat, index) => [seat.id, isRight(seat, index) ? 'right' : 'left']));
}
