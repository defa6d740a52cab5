// A debate as a film. Frames come with the times at which they happened; here they get the times at which
// they are shown, with long silences cut short, and the debate can be looked at as it stood at any of them.
//
// Views share what they have in common, so that keeping one in every two hundred costs little, and a seek
// anywhere folds at most so many frames. Pure: no clock, no page.

import { EMPTY, fold } from './apply_frame.js';

export const SPEEDS = [1, 2, 4, 8, 16];
/** Nobody wants to watch a model load: so long is the longest silence, in ms of play time. */
export const LONGEST_SILENCE = 2000;
/** How long the end is shown before it is over. */
export const TAIL = 1500;
export const EVERY = 200;

export class Film {
  #views = [];
  #frames;
  #times;

  constructor(frames) {
    this.#frames = frames;
    this.#times = playTimes(frames);
    const { views, marks } = watched(frames, this.#times);
    this.#views = views;
    /** What one can jump to: {kind: speech | judging | verdict, turn, seat, slot, at, end}, in order. */
    this.marks = marks;
    this.duration = frames.length ? this.#times[frames.length - 1] + TAIL : 0;
    for (const mark of marks) mark.end ??= this.duration;
  }

  get size() {
    return this.#frames.length;
  }

  /** How many frames have been shown at a time. */
  count(time) {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The debate after the first `count` frames. */
  view(count) {
    const start = Math.min(Math.floor(count / EVERY), this.#views.length - 1);
    let view = this.#views[start] ?? EMPTY;
    for (let place = start * EVERY; place < count; place++) view = fold(view, this.#frames[place]);
    return view;
  }

  between(from, to) {
    return this.#frames.slice(from, to);
  }

  seq(count) {
    return count ? this.#frames[count - 1].seq : 0;
  }

  /** The mark that is being shown: the last that has begun. */
  markAt(time) {
    return this.marks.findLast((mark) => mark.at <= time) ?? null;
  }

  /** Where a jump of one mark back or on leads. Back within the first moments of a mark is to the one before. */
  jump(time, step, grace = 800) {
    if (step > 0) return this.marks.find((mark) => mark.at > time)?.at ?? this.duration;
    return this.marks.findLast((mark) => mark.at < time - grace)?.at ?? 0;
  }

  startOf(turn) {
    return this.marks.find((mark) => mark.kind === 'speech' && mark.turn === turn)?.at ?? null;
  }
}

/** When each frame is shown, in ms from the start. Clocks that run backwards stand still. */
export function playTimes(frames) {
  const times = new Float64Array(frames.length);
  let last = frames.length ? Date.parse(frames[0].at) : 0;
  for (let place = 1; place < frames.length; place++) {
    const at = Date.parse(frames[place].at);
    times[place] = times[place - 1] + Math.min(Math.max(at - last, 0), LONGEST_SILENCE);
    last = at;
  }
  return times;
}

/** Watches it once from start to end, and remembers what one needs in order to jump. */
function watched(frames, times) {
  const views = [EMPTY];
  const marks = [];
  const open = new Map();
  let view = EMPTY;
  frames.forEach((frame, place) => {
    const before = view;
    view = fold(view, frame);
    if ((place + 1) % EVERY === 0) views.push(view);
    if (before.turns !== view.turns) speeches(before, view, times[place], marks, open);
    if (view.now !== before.now) bench(before, view, times[place], marks);
    if (!some(before.verdicts) && some(view.verdicts)) marks.push({ kind: 'verdict', at: times[place] });
  });
  for (const mark of marks.filter((one) => one.kind === 'judging')) {
    mark.end = marks.find((one) => one.kind !== 'speech' && one.at > mark.at)?.at;
  }
  return { views, marks };
}

function speeches(before, view, at, marks, open) {
  // Words change a speech all the time; only when one comes or ends there is something to note.
  for (const [turn, mark] of open) {
    if (view.turns[turn]?.state === 'live') continue;
    mark.end = at;
    open.delete(turn);
  }
  for (const turn of Object.keys(view.turns)) {
    if (before.turns?.[turn]) continue;
    const { seat, slot, title, state } = view.turns[turn];
    const mark = { kind: 'speech', turn, seat, slot, title, at };
    marks.push(mark);
    if (state === 'live') open.set(turn, mark);
    else mark.end = at;
  }
}

function bench(before, view, at, marks) {
  const judging = (one) => Boolean(one.now?.beingJudged);
  if (judging(view) && !judging(before)) marks.push({ kind: 'judging', at });
}

const some = (list) => Boolean(list && Object.keys(list).length);

/** A time as one says it: 4:07. */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Frames as a file keeps them, [ms from the start, changes], as frames. */
export function unpacked({ start, frames }) {
  const first = Date.parse(start);
  return frames.map(([ms, ops], place) => ({ seq: place + 1, at: new Date(first + ms).toISOString(), ops }));
}
