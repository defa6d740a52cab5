// The transcript of a debate: the motion, the seats, and everything in the order in which it happened, to the
// verdict. The live page and the replay use the same.

import { html, useComputed, useRef } from '../../vendor/preact.js';
import { jump } from '../lib/follow_scroll.js';
import { useKeys } from '../lib/keyboard.js';
import { reasoning, wide } from '../lib/preferences.js';
import { seatOf, seatStyle } from '../lib/seats.js';
import { countOf, inOrder, progress, sides, wholeSpeeches } from '../lib/timeline.js';
import { EarlyEnd, Headline, Words, announce } from '../lib/ui.js';
import { Bench } from './judge_ballots.js';
import { Speech } from './speech.js';
import { Order } from './speech_strip.js';
import { BeforeFirstSpeech, Phase } from './status.js';
import { NoVerdict, Verdict } from './verdict.js';

/**
 * `onPick(number)`: a speech of the strip was picked; `bare`: without motion and seats; `without`: a speech that is
 * shown elsewhere; `rail`: shown beside the strip; `above`: shown before the speeches; `keys`: further keys. Children come after the speeches.
 */
export function Transcript({ debate, id, bare = false, onPick = jump, without = null, rail, above, keys, children }) {
  useKeys('Reading', { ...keys, t: ['Show or fold reasoning', toggle] });
  return html`
    ${!bare && html`<${Motion} debate=${debate} /><${Lecterns} debate=${debate} onPick=${onPick}>${rail}<//>`}
    ${above}
    <div class="floor">
      <${BeforeFirstSpeech} debate=${debate} />
      <${Log} debate=${debate} id=${id} without=${without} />
      <${EarlyEnd} debate=${debate} />
      ${children}
      <${Ending} debate=${debate} id=${id} />
    </div>
  `;
}

function toggle() {
  reasoning.value = reasoning.peek() === 'shown' ? 'folded' : 'shown';
  announce(reasoning.peek() === 'shown' ? 'Thoughts are shown.' : 'Thoughts are folded.');
}

function Motion({ debate }) {
  const { motion, formatTitle, order, firstWordsNote } = debate.at('about').value;
  const over = html`<${Words}>${formatTitle}<//> · ${countOf(order)}`;
  const isSo = useComputed(() => !debate.at('now').value.endedAt || isBegunByMoot(debate)).value;
  return html`<${Headline} motion=${motion} over=${over}>
    ${firstWordsNote && isSo && html`<p class="origin" dir="auto">${firstWordsNote}</p>`}
  <//>`;
}

/** Whether Moot wrote the first words of a speech that was given. */
const isBegunByMoot = (debate) => debate.keys('turns').value.some((key) => debate.at('turns', key).value.begun > 0);

/** The speeches and what was said between them. `open`: with their reasoning unfolded. */
export function Log({ debate, id, without, open }) {
  const last = useRef([]);
  // Computed anew only when an entry is added or removed, not with every word.
  const order = useComputed(() => {
    const next = inOrder(debate);
    const isSame = names(next) === names(last.current);
    return isSame ? last.current : (last.current = next);
  }).value;
  const { seats } = debate.at('about').value;
  const where = sides(seats);
  const speech = (number, more) => {
    if (number === without) return null;
    const side = where[debate.at('turns', number).peek()?.seat];
    return html`<${Speech} key=${number} debate=${debate} number=${number} id=${id} side=${side} open=${open} ...${more} />`;
  };
  return html`<section class="log" aria-label="Speeches">
    ${order[0]?.kind !== 'round' && html`<h2 class="visually-hidden">Speeches</h2>`}
    ${order.map((entry) => {
      if (entry.kind === 'round') return html`<h2 class="round" key=${entry.key}>Round ${entry.number}</h2>`;
      if (entry.kind === 'turn') return speech(entry.number, { key: entry.key });
      if (entry.kind === 'remark') return html`<${Remark} key=${entry.key} debate=${debate} number=${entry.number} />`;
      if (entry.kind === 'point') return html`<${Point} key=${entry.key} debate=${debate} number=${entry.number} />`;
      return html`<div class="together" key=${entry.key} role="group" aria-label="Given at the same time">
        ${entry.numbers.map((number) => speech(number, { narrow: true }))}
      </div>`;
    })}
  </section>`;
}

const names = (entries) => entries.map((entry) => `${entry.key}:${entry.numbers ?? ''}`).join();

/** Visitors of a server without tokens have this name: the moderator's remarks and the audience's questions. */
const ANYONE = 'anyone';

function author({ by, question }, me) {
  if (!by) return '';
  if (by !== ANYONE) return me?.name === by ? ' from you' : html` from <bdi>${by}</bdi>`;
  if (question) return ' from the audience';
  return me?.name === by && me.may.steer ? ' from you' : ' from the moderator';
}

/** A remark or question to the speakers. */
function Remark({ debate, number }) {
  const remark = debate.at('remarks', number).value;
  if (!remark) return null;
  const to = seatOf(debate, remark.to);
  const audience = to ? html` to <bdi>${to.name}</bdi>` : ' to all';
  return html`<div class="remark" id=${`remark-${number}`}>
    <p>${remark.question ? 'A question' : 'A remark'}${author(remark, debate.me.value)}${audience}</p>
    <blockquote dir="auto">${remark.text}</blockquote>
  </div>`;
}

/** A point of information. */
function Point({ debate, number }) {
  const point = debate.at('points', number).value;
  if (!point) return null;
  const seat = seatOf(debate, point.seat);
  return html`<div class="remark point" data-seat style=${seatStyle(seat?.color)}>
    <p><bdi>${seat?.name}</bdi> offered a point of information${point.accepted ? '' : ', which was not taken'}</p>
    ${point.text && html`<blockquote dir="auto">${point.text}</blockquote>`}
  </div>`;
}

function Ending({ debate, id }) {
  const { beingJudged, ending, endedAt, trouble } = debate.at('now').value;
  const judged = debate.keys('verdicts').value.length > 0;
  return html`
    ${beingJudged && html`<${Bench} debate=${debate} id=${id} />`}
    ${judged && html`<div class="ending" id="verdict"><${Verdict} debate=${debate} id=${id} /></div>`}
    ${endedAt && !judged && !trouble && !beingJudged && ending && html`<div class="ending" id="verdict">
      <${NoVerdict} debate=${debate} id=${id} />
    </div>`}
  `;
}

/** `onPick(number)`: a speech was picked. Children are shown beside the strip. */
function Lecterns({ debate, onPick, children }) {
  const { seats, order } = debate.at('about').value;
  const side = sides(seats);
  const shown = useComputed(() => progress(debate)).value;
  const colours = Object.fromEntries(seats.map((seat) => [seat.id, seat.color]));
  const names = Object.fromEntries(seats.map((seat) => [seat.id, seat.name]));
  const pick = onPick && ((slot) => shown.turns.has(slot) && onPick(shown.turns.get(slot)));
  const stand = (where) => html`<div class="side ${where}">
    ${seats.filter((seat) => side[seat.id] === where).map(
      (seat) => html`<${Lectern} key=${seat.id} debate=${debate} seat=${seat} shown=${shown} />`,
    )}
  </div>`;
  const mid = html`<div class="mid" key="mid">
    <${Order} order=${order} colours=${colours} names=${names} ...${shown} onPick=${pick} />
    ${children}
    <${Phase} debate=${debate} />
  </div>`;
  // In wide windows all of it stays in view, in narrow ones the status line only.
  const [between, below] = wide.value ? [mid, null] : [null, mid];
  return html`
    <section class="lecterns" aria-label="Speakers">${stand('left')}${between}${stand('right')}</section>
    ${below}
  `;
}

function Lectern({ debate, seat, shown }) {
  const { order } = debate.at('about').value;
  const { next, endedAt } = debate.at('now').value;
  const own = wholeSpeeches(order).filter((slot) => slot.seat === seat.id);
  const spoken = own.filter(({ slot }) => shown.done.has(slot)).length;
  const all = order.filter((slot) => slot.seat === seat.id);
  const up = all.some(({ slot }) => shown.now.has(slot));
  const soon = !up && shown.now.size === 0 && all.some(({ slot }) => slot === next);
  const silent = own.filter(({ slot }) => shown.silent.has(slot)).length;
  const heardCount = own.length > 0 && html`${spoken} of ${own.length}<span class="heard"> heard</span>${silent > 0 &&
  html`, <span class="warned">${silent} silent</span>`}`;
  const standing = up ? 'speaking' : soon ? 'speaks next' : heardCount;
  const side = seat.team || (seat.position === 'neutral' ? '' : seat.position);
  // A seat shows its model first; its own name is second, or the model where several seats share it.
  const second = seat.person ? 'a person' : seat.name === seat.seatName ? seat.model || 'no model yet' : seat.seatName;
  return html`<div class="lectern ${up ? 'up' : endedAt ? '' : 'quiet'}" data-seat style=${seatStyle(seat.color)}>
    <b><${Words}>${seat.name}</${Words}></b>
    <span class="who" title=${seat.model}><${Words}>${second}</${Words}></span>
    <span class="standing">${side}${side && standing && ' · '}${standing}</span>
  </div>`;
}
