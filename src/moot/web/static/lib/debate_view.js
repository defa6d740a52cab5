// One debate as the page knows it: its view behind signals, so that a word repaints only its paragraph. Ask for a
// section with `at('now')`, for one entry of a list with `at('turns', '7')`, and for the list itself with
// `keys('turns')`.

import { batch, signal } from '../../vendor/preact.js';
import { EMPTY, fold } from './apply_frame.js';

const LISTS = new Set(['turns', 'remarks', 'points', 'bench', 'verdicts']);

const WORDS = new Set(['text', 'reasoning']);

function isProgress([verb, [section, key, member], value]) {
  if (verb === 'add' || section === undefined) return true;
  if (section === 'now') return key === undefined || key === 'status' || key === 'speaking';
  if (section !== 'turns') return false;
  return member === undefined || member === 'parts' || (WORDS.has(member) && value !== '');
}

export class DebateView {
  #view = EMPTY;
  #signals = new Map();
  #lists = new Map();

  seq = 0;
  me = signal(null);
  ready = signal(false);
  /** connecting, live, lost, gone, denied */
  connection = signal('connecting');
  trouble = signal(null);
  /** When text last came, or a speech began. A failed call that is repeated does not count. */
  progressAt = signal(Date.now());
  /** Of speeches that are streamed: {first, last, characters}, by number. Times are those of the server. */
  pace = new Map();

  get view() {
    return this.#view;
  }

  at(section, key) {
    const name = key === undefined ? section : `${section}/${key}`;
    if (!this.#signals.has(name)) this.#signals.set(name, signal(this.#look(section, key)));
    return this.#signals.get(name);
  }

  keys(section) {
    if (!this.#lists.has(section)) this.#lists.set(section, signal(Object.keys(this.#view[section] ?? EMPTY)));
    return this.#lists.get(section);
  }

  enter(view, seq) {
    this.#view = view;
    this.seq = seq;
    batch(() => {
      this.#refresh();
      this.ready.value = true;
    });
  }

  apply(frame) {
    this.#view = fold(this.#view, frame);
    this.seq = frame.seq;
    batch(() => {
      for (const op of frame.ops) {
        this.#touch(op[1]);
        this.#measure(op, frame.at);
      }
      if (frame.ops.some(isProgress)) this.progressAt.value = Date.now();
    });
  }

  #measure([verb, [section, number, member], text], at) {
    if (verb !== 'add' || section !== 'turns' || !WORDS.has(member)) return;
    const time = Date.parse(at);
    const own = this.pace.get(number) ?? { first: time, last: time, characters: 0 };
    // The first text came at once: how long it took is not known.
    if (time > own.first) own.characters += text.length;
    own.last = time;
    this.pace.set(number, own);
  }

  #look(section, key) {
    return key === undefined ? this.#view[section] : this.#view[section]?.[key];
  }

  #touch([section, key]) {
    if (section === undefined) return this.#refresh();
    if (!LISTS.has(section)) return this.#set(section);
    if (key === undefined) return this.#refresh(section);
    this.#set(`${section}/${key}`);
    const list = this.#lists.get(section);
    if (list && !list.peek().includes(key)) list.value = Object.keys(this.#view[section]);
  }

  #set(name) {
    const known = this.#signals.get(name);
    if (known) known.value = this.#look(...name.split('/'));
  }

  #refresh(only) {
    for (const name of this.#signals.keys()) if (!only || name.split('/')[0] === only) this.#set(name);
    for (const [section, list] of this.#lists) {
      if (!only || section === only) list.value = Object.keys(this.#view[section] ?? EMPTY);
    }
  }
}
