// The role in which the user sees a debate: watching, moderating, or at one of its seats. It can be chosen as far as
// the user has the rights, and is stored for each debate. At a seat the server sends no more than that person may
// see.

import { effect, html, signal, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { isFree } from '../lib/keep_focus.js';
import { Button, Menu, announce } from '../lib/ui.js';

const SOON = 3000;
const UNCHOSEN = Object.freeze({ role: null, seat: null });
const choices = new Map();

/** {role, seat, setRole(role, seat)}; role: observer, moderator, participant, or null until it is known. */
export function useRole(id) {
  const { role, seat } = chosen(id).value;
  return { role, seat, setRole: (...given) => choose(id, ...given) };
}

let switched = -Infinity;

export function choose(id, role, seat = null) {
  const now = chosen(id);
  if (now.peek().role !== null) switched = performance.now();
  if (now.peek().role !== role || now.peek().seat !== seat) now.value = { role, seat };
}

function chosen(id) {
  if (!choices.has(id)) choices.set(id, remembered(id));
  return choices.get(id);
}

/** An invitation is valid in its tab only, and so is its role. */
function remembered(id) {
  const invited = sessionStorage.getItem(`moot.invited.${id}`);
  const shelf = invited ? sessionStorage : localStorage;
  const key = `moot.role.${id}`;
  let start = null;
  try {
    start = JSON.parse(shelf.getItem(key));
  } catch {
    // Written by another program; it is overwritten.
  }
  const now = signal(start?.role ? { role: start.role, seat: start.seat ?? null } : UNCHOSEN);
  effect(() => now.value.role && shelf.setItem(key, JSON.stringify(now.value)));
  return now;
}

/** The default role: that of the invitation; without one, the only seat of a person, or moderator. */
export function natural(me, seats = []) {
  if (me.role === 'participant') return ['participant', me.seat];
  if (!me.may.steer) return ['observer'];
  const ownSeats = seats.filter((seat) => seat.person && me.may.seats.includes(seat.id));
  return ownSeats.length === 1 ? ['participant', ownSeats[0].id] : ['moderator'];
}

/** The seats that the user can take now. */
function seatsFor(debate) {
  const may = debate.me.value?.may.seats ?? [];
  const { open } = debate.at('now').value;
  const ownSeats = debate.at('about').value.seats.filter((one) => may.includes(one.id));
  return ownSeats.filter((one) => one.person || open.includes(`take:${one.id}`));
}

/** A user who was invited to one seat has nothing to choose. */
export const canSwitch = (debate) => Boolean(debate.me.value?.may.steer);

const NAMES = { observer: 'Watching', moderator: 'Moderating' };

/** The switch between the roles. */
export function RoleSwitch({ debate, id, role, seat, setRole }) {
  const { seats } = debate.at('about').value;
  const { open } = debate.at('now').value;
  const free = seatsFor(debate);
  const root = useRef();
  // With another seat the page is rendered anew: the focus is restored.
  useLayoutEffect(() => {
    const lost = performance.now() - switched < SOON && isFree();
    if (lost) root.current?.querySelector('button').focus();
  }, []);
  if (!canSwitch(debate)) return null;
  const sit = async (one) => {
    if (!one.person) await post(`/debates/${id}/seats/${one.id}/take`, {}, { once: true });
    setRole('participant', one.id);
    announce(`You sit as ${one.seatName}.`);
  };
  const rise = async () => {
    await post(`/debates/${id}/seats/${seat}/leave`, {}, { once: true });
    setRole('moderator');
  };
  const item = (is, onClick) => ({ class: 'item', 'aria-pressed': is, onClick });
  const sits = (one) => role === 'participant' && seat === one.id;
  const name = seats.find((one) => one.id === seat)?.name;
  const label = html`<${Figure} /><span class="visually-hidden">Role:</span>
    <span class="role">${role === 'participant' ? html`<bdi>${name}</bdi>` : NAMES[role]}</span>`;
  return html`<div ref=${root}><${Menu} label=${label}>
    <${Button} ...${item(role === 'observer', () => setRole('observer'))}>Watch<//>
    <${Button} ...${item(role === 'moderator', () => setRole('moderator'))}>Moderate<//>
    ${free.map(
      (one) => html`<${Button} key=${one.id} ...${item(sits(one), () => sit(one))}>
        <span>Sit as <bdi>${one.seatName}</bdi></span>
      <//>`,
    )}
    ${seat && open.includes(`leave:${seat}`) && html`<${Button} class="item" onClick=${rise}>Leave the seat<//>`}
  <//></div>`;
}

const Figure = () => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  <circle cx="8" cy="5" r="2.6" /><path d="M2.8 14c.5-3 2.4-4.5 5.2-4.5s4.7 1.5 5.2 4.5" />
</svg>`;
