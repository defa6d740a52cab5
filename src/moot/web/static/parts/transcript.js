// The reading part of a debate: its motion, the lecterns, and what was said, in the order in which it happened,
// to the verdict. The live page and the replay show the same.

import { html, useComputed, useRef } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';
import { jump } from '../lib/follow_scroll.js';
import { useKeys } from '../lib/keyboard.js';
import { inOrder, sides } from '../lib/timeline.js';
import { reasoning } from '../lib/preferences.js';
import { Words, announce } from '../lib/ui.js';
import { Bench } from './judging_live.js';
import { Headline } from './headline.js';
import { Lecterns } from './lecterns.js';
import { Speech } from './speech.js';
import { Awaiting } from './status.js';
import { Verdict } from './verdict.js';

/**
 * `onPick(number)`: a speech of the strip was picked; `bare`: without motion and lecterns; `without`: a speech
 * that stands elsewhere; `rail`: what stands beside the order; `keys`: more of them. Children come after the speeches.
 */
export function Floor({ room, id, bare = false, onPick = jump, without = null, rail, keys, children }) {
  useKeys('Reading', { ...keys, t: ['Thoughts beside the speeches, or folded', toggle] });
  return html`
    ${!bare && html`<${Motion} room=${room} /><${Lecterns} room=${room} onPick=${onPick}>${rail}<//>`}
    <div class="floor">
      <${Awaiting} room=${room} />
      <${Log} room=${room} id=${id} without=${without} />
      ${children}
      <${Ending} room=${room} id=${id} />
    </div>
  `;
}

function toggle() {
  reasoning.value = reasoning.peek() === 'shown' ? 'folded' : 'shown';
  announce(reasoning.peek() === 'shown' ? 'Thoughts are shown.' : 'Thoughts are folded.');
}

function Motion({ room }) {
  const { motion, formatTitle } = room.at('about').value;
  return html`<${Headline} motion=${motion} over=${html`<${Words}>${formatTitle}<//>`} />`;
}

function Log({ room, id, without }) {
  const last = useRef([]);
  // Told anew only when something came or went: words come far more often.
  const order = useComputed(() => {
    const next = inOrder(room);
    const isSame = names(next) === names(last.current);
    return isSame ? last.current : (last.current = next);
  }).value;
  const { seats } = room.at('about').value;
  const where = sides(seats);
  const speech = (number, more) => {
    if (number === without) return null;
    const side = where[room.at('turns', number).peek()?.seat];
    return html`<${Speech} key=${number} room=${room} number=${number} id=${id} side=${side} ...${more} />`;
  };
  return html`<section class="log" aria-label="Speeches">
    ${order[0]?.kind !== 'round' && html`<h2 class="visually-hidden">Speeches</h2>`}
    ${order.map((entry) => {
      if (entry.kind === 'round') return html`<h2 class="round" key=${entry.key}>Round ${entry.number}</h2>`;
      if (entry.kind === 'turn') return speech(entry.number, { key: entry.key });
      if (entry.kind === 'remark') return html`<${Remark} key=${entry.key} room=${room} number=${entry.number} />`;
      if (entry.kind === 'point') return html`<${Point} key=${entry.key} room=${room} number=${entry.number} />`;
      return html`<div class="together" key=${entry.key} role="group" aria-label="Given at the same time">
        ${entry.numbers.map((number) => speech(number, { narrow: true }))}
      </div>`;
    })}
  </section>`;
}

const names = (entries) => entries.map((entry) => `${entry.key}:${entry.numbers ?? ''}`).join();

const seatOf = (room, id) => room.at('about').value.seats.find((seat) => seat.id === id);

/** Something said to the speakers from outside. */
function Remark({ room, number }) {
  const remark = room.at('remarks', number).value;
  if (!remark) return null;
  const to = seatOf(room, remark.to);
  const heard = to ? html` to <bdi>${to.name}</bdi>` : ', heard by all';
  return html`<div class="remark" id=${`remark-${number}`}>
    <p>${remark.question ? 'A question' : 'A remark'}${remark.by && html` from <bdi>${remark.by}</bdi>`}${heard}</p>
    <blockquote dir="auto">${remark.text}</blockquote>
  </div>`;
}

/** Somebody rose in another's speech. */
function Point({ room, number }) {
  const point = room.at('points', number).value;
  if (!point) return null;
  const seat = seatOf(room, point.seat);
  return html`<div class="remark point" data-seat style=${seatStyle(seat?.color)}>
    <p><bdi>${seat?.name}</bdi> rose on a point of information${point.accepted ? '' : '. It was not taken.'}</p>
    ${point.text && html`<blockquote dir="auto">${point.text}</blockquote>`}
  </div>`;
}

function Ending({ room, id }) {
  const { beingJudged, ending, endedAt, trouble } = room.at('now').value;
  const judged = room.keys('verdicts').value.length > 0;
  return html`
    ${beingJudged && html`<${Bench} room=${room} id=${id} />`}
    ${judged && html`<div class="ending" id="verdict"><${Verdict} room=${room} id=${id} /></div>`}
    ${endedAt && !judged && !trouble && !beingJudged && ending && html`<p class="remark ending">${ending}</p>`}
  `;
}
