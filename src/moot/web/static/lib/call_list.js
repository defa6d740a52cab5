// The calls of a debate, from its log: who was asked for what, and what came of it. Pure, and read on from
// where it was left.

export const EMPTY_BOOK = { after: 0, calls: new Map(), asides: new Map() };

/** `entries` are those of `GET …/events`. */
function readOn(book, entries, next) {
  const calls = new Map(book.calls);
  const asides = new Map(book.asides);
  for (const { at, event } of entries) {
    if (event?.type === 'aside.asked') asides.set(event.aside, event);
    if (event?.type === 'call.started') calls.set(event.call, { number: event.call, at, started: event, done: null });
    const ends = event?.type === 'call.completed' || event?.type === 'call.failed';
    if (ends && calls.has(event.call)) calls.set(event.call, { ...calls.get(event.call), done: event });
  }
  return { after: next, calls, asides };
}

/** Reads the whole log behind `book`, page by page; `seen` is given every state on the way. */
export async function readAll(book, fetchPage, seen) {
  for (let known = book, more = true; more; ) {
    const page = await fetchPage(known.after);
    known = readOn(known, page.events, page.next);
    more = page.hasMore && page.events.length > 0;
    seen(known);
  }
}

/** Whom a call was made for: {kind: turn | judge | aside, seat?, judge?, turn?, aside?}. */
export function madeFor({ started }, book) {
  if (started.aside !== undefined && started.aside !== null) {
    const { kind: aside = 'aside', seat, turn, judge = started.judge } = book.asides.get(started.aside) ?? {};
    return { kind: 'aside', aside, seat, turn, judge };
  }
  if (started.judge) return { kind: 'judge', judge: started.judge, order: started.order ?? 0 };
  return { kind: 'turn', turn: started.turn };
}
