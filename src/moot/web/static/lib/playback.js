// A recorded debate and its playback. A `Recording` gives each frame the time at which it is shown, with long
// silences cut short, and has the view of the debate at any time; a `RecordingPlayer` shows it at a speed.
//
// Views share unchanged parts, so that keeping one in two hundred costs little, and a seek applies at most so many
// frames.

import { batch, signal, useEffect } from '../../vendor/preact.js';
import { EMPTY, fold } from './apply_frame.js';
import { DebateView } from './debate_view.js';

export const SPEEDS = [1, 2, 4, 8, 16];
/** The longest silence in a replay, in ms: nobody wants to watch a model load. */
export const LONGEST_SILENCE = 2000;
/** A speech begins at least so long after what came before it, in ms: its start is a time of its own to jump to. */
const SHORTEST_STEP = 0.01;
/** How long the end is shown, in ms. */
export const TAIL = 1500;
export const EVERY = 200;

export class Recording {
  #views = [];
  #frames;
  #times;

  constructor(frames) {
    this.#frames = frames;
    this.#times = playTimes(frames);
    const { views, marks } = watched(frames, this.#times);
    this.#views = views;
    /** The positions to jump to: {kind: speech | judging | verdict, turn, seat, slot, at, end}, in order. */
    this.marks = marks;
    this.duration = frames.length ? this.#times[frames.length - 1] + TAIL : 0;
    for (const mark of marks) mark.end ??= this.duration;
  }

  get size() {
    return this.#frames.length;
  }

  /** The number of frames shown at a time. */
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
    for (let index = start * EVERY; index < count; index++) view = fold(view, this.#frames[index]);
    return view;
  }

  between(from, to) {
    return this.#frames.slice(from, to);
  }

  seq(count) {
    return count ? this.#frames[count - 1].seq : 0;
  }

  /** The current mark: the last that has begun. */
  markAt(time) {
    return this.marks.findLast((mark) => mark.at <= time) ?? null;
  }

  /** The speech whose address this time has; null before the first and in the judging. A quick speech may begin in
   * the same millisecond as the judging: then it is the speech. */
  turnAt(time) {
    const last = this.markAt(time);
    return this.marks.findLast((mark) => mark.at === last?.at && mark.turn)?.turn ?? null;
  }

  /** The target of a jump by one mark. Shortly after the start of a mark, back means the one before. */
  jump(time, step, grace = 800) {
    if (step > 0) return this.marks.find((mark) => mark.at > time)?.at ?? this.duration;
    return this.marks.findLast((mark) => mark.at < time - grace)?.at ?? 0;
  }

  startOf(turn) {
    return this.marks.find((mark) => mark.kind === 'speech' && mark.turn === turn)?.at ?? null;
  }
}

/** When each frame is shown, in ms from the start. Times that go backwards count as no time. */
export function playTimes(frames) {
  const times = new Float64Array(frames.length);
  let last = frames.length ? Date.parse(frames[0].at) : 0;
  for (let index = 1; index < frames.length; index++) {
    const at = Date.parse(frames[index].at);
    const least = frames[index].ops.some(beginsSpeech) ? SHORTEST_STEP : 0;
    times[index] = times[index - 1] + Math.min(Math.max(at - last, least), LONGEST_SILENCE);
    last = at;
  }
  return times;
}

const beginsSpeech = ([, path]) => path.length === 2 && path[0] === 'turns';

/** Applies all frames once, and keeps what is needed for jumps. */
function watched(frames, times) {
  const views = [EMPTY];
  const marks = [];
  const open = new Map();
  let view = EMPTY;
  frames.forEach((frame, index) => {
    const before = view;
    view = fold(view, frame);
    if ((index + 1) % EVERY === 0) views.push(view);
    if (before.turns !== view.turns) speeches(before, view, times[index], marks, open);
    if (view.now !== before.now) markJudging(before, view, times[index], marks);
    if (!some(before.verdicts) && some(view.verdicts)) marks.push({ kind: 'verdict', at: times[index] });
  });
  for (const mark of marks.filter((one) => one.kind === 'judging')) {
    mark.end = marks.find((one) => one.kind !== 'speech' && one.at > mark.at)?.at;
  }
  return { views, marks };
}

function speeches(before, view, at, marks, open) {
  // Text changes a speech all the time; only its start and end are marks.
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

function markJudging(before, view, at, marks) {
  const judging = (one) => Boolean(one.now?.beingJudged);
  if (judging(view) && !judging(before)) marks.push({ kind: 'judging', at });
}

const some = (list) => Boolean(list && Object.keys(list).length);

/** A time as text: 4:07. */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Frames from the form in which a file has them: [ms from the start, changes]. */
export function unpacked({ start, frames }) {
  const first = Date.parse(start);
  return frames.map(([ms, ops], index) => ({ seq: index + 1, at: new Date(first + ms).toISOString(), ops }));
}

/** From this number of frames on the view is replaced as a whole. */
const MANY = 400;
/** A page that was not painted for longer, in ms, continues where it was. */
const LONGEST_STEP = 250;
const NOBODY = { name: '', role: 'observer', conducts: false, seat: null, judge: null, many: false };
const NOTHING = { steer: false, vote: false, ask: false, seats: [], judges: [] };

export class RecordingPlayer {
  #shown = 0;
  #last = null;

  constructor(recording, speed = signal(1)) {
    this.recording = recording;
    this.debate = new DebateView();
    this.debate.me.value = { ...NOBODY, may: NOTHING };
    this.debate.connection.value = 'replay';
    this.time = signal(0);
    this.playing = signal(false);
    this.speed = speed;
    this.show(0);
  }

  get ended() {
    return this.time.value >= this.recording.duration;
  }

  play() {
    if (this.ended) this.show(0);
    this.#last = null;
    this.playing.value = true;
  }

  pause() {
    this.playing.value = false;
  }

  toggle() {
    if (this.playing.peek()) this.pause();
    else this.play();
  }

  faster(step) {
    const index = SPEEDS.indexOf(this.speed.peek()) + step;
    this.speed.value = SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)];
  }

  jump(step) {
    this.show(this.recording.jump(this.time.peek(), step));
  }

  /** Called for each frame of the screen; `now` in ms, of any clock. */
  tick(now) {
    if (!this.playing.peek()) return;
    const passed = this.#last === null ? 0 : Math.min(now - this.#last, LONGEST_STEP);
    this.#last = now;
    this.show(this.time.peek() + passed * this.speed.peek());
    if (this.ended) this.pause();
  }

  /** Shows the debate at a time. */
  show(time) {
    const { recording, debate } = this;
    const to = Math.min(Math.max(time, 0), recording.duration);
    // There is no view before the first frame.
    const count = Math.max(recording.count(to), Math.min(1, recording.size));
    const jumps = count < this.#shown || count - this.#shown > MANY || !debate.ready.peek();
    batch(() => {
      if (jumps) debate.enter(recording.view(count), recording.seq(count));
      else for (const frame of recording.between(this.#shown, count)) debate.apply(frame);
      this.time.value = to;
    });
    this.#shown = count;
  }
}

/** Advances the recording with every frame of the screen while it plays. */
export function useScreen(player) {
  useEffect(() => {
    let animation = 0;
    const next = (now) => {
      player.tick(now);
      if (player.playing.peek()) animation = requestAnimationFrame(next);
    };
    const leave = player.playing.subscribe((playing) => {
      cancelAnimationFrame(animation);
      if (playing) animation = requestAnimationFrame(next);
    });
    return () => {
      cancelAnimationFrame(animation);
      leave();
    };
  }, []);
}
