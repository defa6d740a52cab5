// The strip of speeches: one small mark for each, in the colour of its seat, filled when it is given. It is used
// for formats, debates in a list, live debates and replays.

import { html } from '../../vendor/preact.js';
import { seatStyle } from '../lib/seats.js';
import { countOf } from '../lib/timeline.js';

const SHAPES = { question: 'short', answer: 'short', continuation: 'part' };
const NONE = new Set();
const LABEL = 'Order of speeches';
const STATES = { now: 'being given', done: 'given', silent: 'no speech', skipped: 'skipped', '': 'to come' };

/**
 * `order`: [{slot, seat, round, tone, title}]; `colours`: seat -> hex; `done`: set of slots; `now`: set of
 * slots; `silent`, `skipped`: sets of slots; with `onPick(slot)` the marks are buttons: one is a tab stop, and the arrow
 * keys move between them.
 */
export function Order({ order, colours, done = NONE, now = NONE, silent = NONE, skipped = NONE, label = LABEL, names = {}, onPick }) {
  const marks = { now, done, silent, skipped };
  const state = ({ slot }) => Object.keys(marks).find((name) => marks[name].has(slot)) ?? '';
  const first = order.find(({ slot }) => now.has(slot)) ?? order.findLast(({ slot }) => done.has(slot)) ?? order[0];
  const mark = (speech, index) => {
    const is = state(speech);
    const kind = `${SHAPES[speech.tone] ?? ''} ${is}`.trim();
    const nth = order.slice(0, index + 1).filter(({ tone }) => tone !== 'continuation').length;
    const more = speech.tone === 'continuation' ? ', continued' : '';
    const text = `${nth}. ${speech.title}${more}${names[speech.seat] ? `, ${names[speech.seat]}` : ''}`;
    const gap = index > 0 && order[index - 1].round !== speech.round;
    const look = { class: kind, 'data-seat': true, style: seatStyle(colours[speech.seat]), title: text };
    const way = {
      tabindex: speech === first ? 0 : -1,
      'aria-label': `${text}: ${STATES[is]}`,
      'aria-current': is === 'now' ? 'step' : undefined,
      onClick: () => onPick(speech.slot),
    };
    return html`${gap && html`<span class="gap" key=${`gap${index}`}></span>`}${onPick
      ? html`<button type="button" key=${speech.slot} ...${look} ...${way}></button>`
      : html`<span key=${speech.slot} ...${look}></span>`}`;
  };
  const shown = onPick
    ? { role: 'group', 'aria-label': label, onKeyDown: walk }
    : { role: 'img', 'aria-label': `${label}: ${countOf(order)}` };
  return html`<div class="order" ...${shown}>${order.map(mark)}</div>`;
}

const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

function walk(event) {
  const step = STEPS[event.key];
  if (!step) return;
  const marks = [...event.currentTarget.querySelectorAll('button')];
  const index = marks.indexOf(event.target) + step;
  marks[Math.min(Math.max(index, 0), marks.length - 1)].focus();
  event.preventDefault();
}
