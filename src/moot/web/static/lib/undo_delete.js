// Deleting with a way back: what is deleted is out of sight at once, and gone when the toast is. Whoever leaves
// the page before that has meant it.

import { signal } from '../../vendor/preact.js';
import { remove } from './api.js';
import { complain, toast } from './ui.js';

/** Ids of what is out of sight. */
export const hidden = signal(new Set());
let open = null;

/** `then` is called when the server has done it, or not. */
export function removeSoon(ids, text, then) {
  settle();
  show(ids, false);
  const back = () => {
    open = null;
    show(ids, true);
  };
  const leave = toast(text, { action: ['Undo', back], gone: () => carryOut(ids, then), seconds: 8 });
  open = { leave, back };
}

/** Takes the last one back. */
export function undo() {
  const last = open;
  last?.leave(true);
  last?.back();
}

/** Does at once what is still waiting. */
export function settle() {
  open?.leave();
}

async function carryOut(ids, then) {
  open = null;
  const done = await Promise.allSettled(ids.map((id) => remove(`/debates/${id}`, { keepalive: true })));
  const kept = ids.filter((_, place) => done[place].status === 'rejected' && done[place].reason.status !== 404);
  if (kept.length) complain(done.find((one) => one.status === 'rejected').reason);
  show(kept, true);
  then?.();
}

function show(ids, seen) {
  const next = new Set(hidden.peek());
  for (const id of ids) next[seen ? 'delete' : 'add'](id);
  hidden.value = next;
}

addEventListener('pagehide', settle);
