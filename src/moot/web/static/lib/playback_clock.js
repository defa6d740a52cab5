// Shows a film in a room: runs through its frames by a clock, at a speed, and jumps.

import { batch, signal } from '../../vendor/preact.js';
import { SPEEDS } from './playback.js';
import { Room } from './debate_view.js';

/** So many frames at once are a jump: the view is put in place whole. */
const MANY = 400;
/** A page that was not painted for long goes on where it was. */
const LONGEST_STEP = 250;
const NOBODY = { name: '', role: 'observer', conducts: false, seat: null, judge: null, many: false };
const NOTHING = { steer: false, vote: false, ask: false, seats: [], judges: [] };

export class Projector {
  #shown = 0;
  #last = null;

  constructor(film, speed = signal(1)) {
    this.film = film;
    this.room = new Room();
    this.room.me.value = { ...NOBODY, may: NOTHING };
    this.room.line.value = 'replay';
    this.time = signal(0);
    this.playing = signal(false);
    this.speed = speed;
    this.show(0);
  }

  get ended() {
    return this.time.value >= this.film.duration;
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
    const place = SPEEDS.indexOf(this.speed.peek()) + step;
    this.speed.value = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)];
  }

  jump(step) {
    this.show(this.film.jump(this.time.peek(), step));
  }

  /** On to the next frame of the screen; `now` in ms, of whatever clock. */
  tick(now) {
    if (!this.playing.peek()) return;
    const passed = this.#last === null ? 0 : Math.min(now - this.#last, LONGEST_STEP);
    this.#last = now;
    this.show(this.time.peek() + passed * this.speed.peek());
    if (this.ended) this.pause();
  }

  /** The debate as it stood at a time. */
  show(time) {
    const { film, room } = this;
    const to = Math.min(Math.max(time, 0), film.duration);
    // There is no debate before its first frame.
    const count = Math.max(film.count(to), Math.min(1, film.size));
    const jumps = count < this.#shown || count - this.#shown > MANY || !room.ready.peek();
    batch(() => {
      if (jumps) room.enter(film.view(count), film.seq(count));
      else for (const frame of film.between(this.#shown, count)) room.hear(frame);
      this.time.value = to;
    });
    this.#shown = count;
  }
}
