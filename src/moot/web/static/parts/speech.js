// One speech: speaker, title, its text and tools in the order in which they came, and its issues. While it is
// streamed only the last paragraph is updated.

import { html, useComputed, useRef } from '../../vendor/preact.js';
import { figure } from '../lib/numbers.js';
import { seatStyle } from '../lib/seats.js';
import { share, stretches } from '../lib/speech_parts.js';
import { SESSION } from '../lib/timeline.js';
import { Copy, Words } from '../lib/ui.js';
import { Growing } from './prose.js';
import { Folded, Margin, inMargin } from './reasoning.js';
import { Retrying, Speed, StopButton } from './status.js';

/** What is said of a speech that does not count and was not given again. */
const STRUCK = { failed: 'failed', interrupted: 'stopped' };

/** `side`: left or right; `id`: of the debate, for links; `narrow`: it is shown beside others; `open`: reasoning that
    has no room beside the speech is unfolded. */
export function Speech({ debate, number, id, side, narrow = false, open = false }) {
  const turn = debate.at('turns', number);
  const speech = useSteady(turn).value;
  const thinks = useComputed(() => Boolean(share(turn.value, 0, 'thoughts'))).value;
  if (!speech) return null;
  const { seats } = debate.at('about').value;
  // What is in the notice of the debate's failure is not said again in the speech.
  const told = speech.state === 'failed' && debate.at('now').value.trouble?.message;
  const seat = seats.find((one) => one.id === speech.seat);
  const beside = thinks && !narrow && inMargin();
  const all = stretches(speech.parts);
  const opponents = seats.length > 2 ? 'opponents' : 'opponent';
  const isOpen = (index) => speech.state === 'live' && index === all.length - 1;
  const stretch = (index) => ({ turn, index, live: isOpen(index), opponents });
  const page = html`<div class="entry" data-side=${side} data-seat style=${seatStyle(seat?.color)}>
    <article class="speech ${speech.state}" id=${`turn-${number}`} tabindex="-1" aria-labelledby=${`speaker-${number}`}>
      <${Head} debate=${debate} turn=${turn} speech=${speech} seat=${seat} seats=${seats} id=${id} />
      ${speech.veiled && html`<p class="note">${VEILED}</p>`}
      ${!speech.veiled && all.map(({ tools }, index) => html`<${Stretch} key=${index} ...${stretch(index)} speech=${speech}
        seat=${seat} loaded=${() => hasSpoken(debate, seats, seat)} tools=${tools} aside=${index === 0 && beside} unfolded=${!narrow && inMargin()} open=${open} />`)}
      ${speech.notes.map((note) => html`<p class="note" key=${note}>${told && note.includes(told) ? 'No speech.' : note}</p>`)}
    </article>
    ${beside && html`<${Margin} ...${stretch(0)} />`}
  </div>`;
  return speech.struck ? html`<${Struck} debate=${debate} speech=${speech} seat=${seat}>${page}<//>` : page;
}

/** A speech that does not count, folded. */
function Struck({ debate, speech, seat, children }) {
  const others = debate.keys('turns').value.map((key) => debate.at('turns', key).peek());
  const again = others.some((other) => other.slot === speech.slot && other.number > speech.number);
  const fate = again ? 'discarded and given again' : STRUCK[speech.state] ?? 'discarded';
  return html`<details class="struck" data-seat style=${seatStyle(seat?.color)}>
    <summary><${Words}>${seat?.name}</${Words}> · ${speech.title} · ${fate}</summary>
    ${children}
  </details>`;
}

function Head({ debate, turn, speech, seat, seats, id }) {
  const to = seats.find((one) => one.id === speech.to);
  const facts = [
    speech.speaksAs,
    speech.title,
    to && html`to <bdi>${to.name}</bdi>`,
    speech.state !== 'live' && speech.words > 0 && `${figure(speech.words)} words`,
    begun(speech, seat),
    speech.cost,
    speech.byHand && 'by a person',
  ].filter(Boolean);
  const text = () => turn.peek().text;
  const speed = html`<${Speed} debate=${debate} turn=${turn} speech=${speech} />`;
  const named = (what) => `${what} speech ${speech.number}`;
  // A turn of a session keeps its number, however often it was asked for.
  const place = debate.at('about').value.format === SESSION ? speech.slot + 1 : speech.number;
  const inspect = speech.call !== null && id && `/debate/${id}/inspect#call-${speech.call}`;
  return html`<header>
    <h3 id=${`speaker-${speech.number}`}>
      <${Words}>${seat?.name}</${Words}><span class="visually-hidden">, ${speech.title}</span>
    </h3>
    <p class="facts numbers">${facts.map((fact, index) => html`<span key=${index}>${fact}</span>`)}${speed}</p>
    ${speech.state === 'live' && id && html`<${StopButton} debate=${debate} id=${id} speech=${speech} />`}
    <p class="ways">
      ${speech.state !== 'live' && html`<${Copy} class="plain" text=${text} aria-label=${named('Copy')} />`}
      ${inspect && html`<a href=${inspect} aria-label=${named('Inspect')}>Inspect</a>`}
      <a href=${`#turn-${speech.number}`} aria-label=${`Link to speech № ${place}`} class="numbers">№ ${place}</a>
    </p>
  </header>`;
}

/** That Moot wrote the first words, and how many once they are known. */
function begun(speech, seat) {
  if (!(speech.begun > 0 || (speech.state === 'live' && seat?.begun && !speech.byHand))) return null;
  const words = speech.begun > 0 ? `first ${figure(speech.begun)} by Moot` : 'first words by Moot';
  return html`<span class="begun" title="The model is too small to begin: Moot writes the first words of its speeches.">
    ${words}
  </span>`;
}

/** Reasoning, text and tools. `aside`: the reasoning is shown beside the speech; `unfolded`: it is open. */
function Stretch({ turn, index, live, speech, seat, loaded, opponents, tools, aside, unfolded, open }) {
  const text = useComputed(() => share(turn.value, index, 'words'));
  const silent = useComputed(() => !text.value).value;
  const thinks = useComputed(() => Boolean(share(turn.value, index, 'thoughts'))).value;
  const awaited = index > 0 && speech.parts.some((part) => part.atWork);
  const quiet = live && silent && !speech.trouble && !awaited;
  const early = index === 0 && !thinks && quiet && getting(speech, seat, loaded);
  return html`
    ${thinks && !aside && html`<${Folded} ...${{ turn, index, live, opponents }} open=${open || (index > 0 && unfolded)} />`}
    ${live && speech.trouble && html`<${Retrying} trouble=${speech.trouble} />`}
    ${quiet && html`<p class="silence"><i aria-hidden="true"></i>${early || 'thinking…'}</p>`}
    ${(live || !silent) && html`<${Growing} text=${text} live=${live} class="words" />`}
    ${tools.map((tool) => html`<${Tool} key=${tool.id} tool=${tool} />`)}
  `;
}

const VEILED = 'Given at the same time as your own speech: you can read it when you have given yours.';

/** Whether the model of this seat has given a speech, so that it need not be loaded. */
function hasSpoken(debate, seats, seat) {
  const own = new Set(seats.filter((one) => one.model === seat.model).map((one) => one.id));
  return debate.keys('turns').peek().some((key) => {
    const turn = debate.at('turns', key).peek();
    return own.has(turn?.seat) && turn.state !== 'live' && turn.words > 0;
  });
}

/** There is no text yet. `loaded()`: whether a local model has spoken before. */
function getting(speech, seat, loaded) {
  if (speech.byHand) return 'writing…';
  return seat?.model.startsWith('local/') && !loaded() ? 'loading the local model…' : 'waiting for the first token…';
}

/** A tool call of the speech. */
function Tool({ tool }) {
  return html`<details class="tool">
    <summary>
      <${Glass} /><b dir="auto">${tool.title || tool.name}</b>
      ${tool.server && html`<small>${tool.server}</small>`} <span dir="auto">${brief(tool.arguments)}</span>
      ${tool.atWork && html`<i>running…</i>`} ${tool.error && html`<em>failed</em>`}
    </summary>
    <pre dir="auto">${tool.arguments}</pre>
    ${(tool.error || tool.output) && html`<pre dir="auto">${tool.error || tool.output}</pre>`}
  </details>`;
}

/** The arguments of a call, without JSON brackets. */
function brief(args) {
  try {
    const values = Object.values(JSON.parse(args));
    return values.map((value) => (typeof value === 'string' ? `“${value}”` : JSON.stringify(value))).join(', ');
  } catch {
    return args;
  }
}

const Glass = () => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  <circle cx="7" cy="7" r="4.2" /><path d="M10.2 10.2 14 14" />
</svg>`;

const GROWING = new Set(['text', 'reasoning']);

function useSteady(source) {
  const last = useRef();
  return useComputed(() => {
    const next = source.value;
    if (!isSame(last.current, next)) last.current = next;
    return last.current;
  });
}

function isSame(one, other) {
  if (!one || !other) return one === other;
  for (const key in other) if (one[key] !== other[key] && !GROWING.has(key)) return false;
  return true;
}
