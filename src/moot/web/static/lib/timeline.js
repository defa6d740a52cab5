// A debate in the order in which it happened: rounds, speeches, remarks and points. Speeches that are given at
// the same time stand together. Pure but for the room it reads.

/**
 * [{kind: 'round' | 'turn' | 'together' | 'remark' | 'point', key, ...}]. It follows what comes and goes, and
 * never the words themselves.
 */
export function inOrder(room) {
  const { order, rounds } = room.at('about').value;
  const { waiting } = room.at('now').value;
  const all = [
    ...entries(room, 'turns', 'turn'),
    ...entries(room, 'remarks', 'remark').filter((entry) => !waiting.includes(entry.number)),
    ...entries(room, 'points', 'point'),
  ].sort((one, other) => one.seq - other.seq);
  const found = [];
  let round = null;
  for (const entry of all) {
    if (entry.kind === 'turn' && entry.it.round !== round && rounds > 1) {
      round = entry.it.round;
      found.push({ kind: 'round', key: `round/${round}`, number: round });
    }
    const group = entry.kind === 'turn' && !entry.it.struck ? order[entry.it.slot]?.group : undefined;
    const shared = group !== undefined && isShared(order, group);
    const before = shared && found.find((other) => other.kind === 'together' && other.group === group);
    if (before) before.numbers.push(entry.number);
    else if (shared) found.push({ kind: 'together', key: `together/${group}`, group, numbers: [entry.number] });
    else found.push({ kind: entry.kind, key: `${entry.kind}/${entry.number}`, number: entry.number });
  }
  return found;
}

function entries(room, section, kind) {
  return room.keys(section).value.flatMap((number) => {
    const it = room.at(section, number).peek();
    return it ? [{ kind, number, it, seq: it.seq }] : [];
  });
}

const isShared = (order, group) => order.filter((slot) => slot.group === group).length > 1;

/** Where each speech of the order stands: {done, now, skipped: sets of slots, turns: slot -> number}. */
export function progress(room) {
  const { skipped, speaking } = room.at('now').value;
  const shown = { done: new Set(), now: new Set(), skipped: new Set(skipped), turns: new Map() };
  for (const number of room.keys('turns').value) {
    const turn = room.at('turns', number).peek();
    if (!turn || turn.struck) continue;
    shown.turns.set(turn.slot, number);
    (speaking.includes(number) ? shown.now : shown.done).add(turn.slot);
  }
  return shown;
}

/** left or right of the floor, by seat: those who speak for the motion face those who speak against it. */
export function sides(seats) {
  const opposed = ['for', 'against'].every((side) => seats.some((seat) => seat.position === side));
  const half = Math.ceil(seats.length / 2);
  const isRight = ({ position }, place) => {
    if (!opposed) return place >= half;
    return position === 'against' || (position !== 'for' && place % 2 === 1);
  };
  return Object.fromEntries(seats.map((seat, place) => [seat.id, isRight(seat, place) ? 'right' : 'left']));
}
