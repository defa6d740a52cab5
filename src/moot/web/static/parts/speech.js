// One speech as a page of a book: who, what, its words, and what befell it. Only its last paragraph is touched
// while it is being given.

import { html, useComputed } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';
import { useSteady } from '../lib/steady.js';
import { Copy, Words } from '../lib/ui.js';
import { figure } from '../lib/figure.js';
import { Folded, Margin, inMargin } from './margin.js';
import { Growing } from './prose.js';

/** `side`: where its speaker stands; `id`: of the debate, for links; `narrow`: it stands beside others. */
export function Speech({ room, number, id, side, narrow = false }) {
  const turn = room.at('turns', number);
  const told = useSteady(turn).value;
  const thinks = useComputed(() => Boolean(turn.value?.reasoning)).value;
  if (!told) return null;
  const { seats } = room.at('about').value;
  const seat = seats.find((one) => one.id === told.seat);
  const beside = thinks && !narrow && inMargin();
  const thoughts = { turn, told, opponents: seats.length > 2 ? 'opponents' : 'opponent' };
  const page = html`<div class="entry" data-side=${side} data-seat style=${seatStyle(seat?.color)}>
    <article class="speech ${told.state}" id=${`turn-${number}`} tabindex="-1" aria-labelledby=${`speaker-${number}`}>
      <${Head} turn=${turn} told=${told} seat=${seat} seats=${seats} id=${id} />
      ${thinks && !beside && html`<${Folded} ...${thoughts} />`}
      ${told.tools.map((tool) => html`<${Tool} key=${tool.id} tool=${tool} />`)}
      <${Body} turn=${turn} told=${told} seat=${seat} />
      ${told.notes.map((note) => html`<p class="note" key=${note}>${note}</p>`)}
    </article>
    ${beside && html`<${Margin} ...${thoughts} />`}
  </div>`;
  return told.struck ? html`<${Struck} told=${told} seat=${seat}>${page}<//>` : page;
}

const Struck = ({ told, seat, children }) => html`<details class="struck" data-seat style=${seatStyle(seat?.color)}>
  <summary><${Words}>${seat?.name}</${Words}> · ${told.title} · struck, and given again</summary>
  ${children}
</details>`;

function Head({ turn, told, seat, seats, id }) {
  const to = seats.find((one) => one.id === told.to);
  const facts = [
    told.speaksAs,
    told.title,
    to && html`to <bdi>${to.name}</bdi>`,
    told.state !== 'live' && told.words > 0 && `${figure(told.words)} words`,
    told.cost,
    told.byHand && 'in person',
  ].filter(Boolean);
  const text = () => turn.peek().text;
  const named = (what) => `${what} speech ${told.number}`;
  const inspect = told.call !== null && id && `/debate/${id}/inspect#call-${told.call}`;
  return html`<header>
    <h3 id=${`speaker-${told.number}`}>
      <${Words}>${seat?.name}</${Words}><span class="visually-hidden">, ${told.title}</span>
    </h3>
    <p class="facts numbers">${facts.map((fact, place) => html`<span key=${place}>${fact}</span>`)}</p>
    <p class="ways">
      ${told.state !== 'live' && html`<${Copy} class="plain" text=${text} aria-label=${named('Copy')} />`}
      ${inspect && html`<a href=${inspect} aria-label=${named('Inspect')}>Inspect</a>`}
      <a href=${`#turn-${told.number}`} aria-label=${named('Link to')} class="numbers">№ ${told.number}</a>
    </p>
  </header>`;
}

function Body({ turn, told, seat }) {
  const text = useComputed(() => turn.value?.text ?? '');
  const silent = useComputed(() => !turn.value?.text).value;
  if (told.veiled) return html`<p class="note">${VEILED}</p>`;
  return html`
    ${told.trouble && html`<${Retrying} trouble=${told.trouble} />`}
    ${silent && told.state === 'live' && !told.trouble && html`<${Silence} turn=${turn} seat=${seat} told=${told} />`}
    <${Growing} text=${text} live=${told.state === 'live'} class="words" />
  `;
}

const VEILED = 'Given at the same time as your own speech: you can read it when you have given yours.';

const Retrying = ({ trouble }) => html`<p class="retrying" role="status">
  ${trouble.text} <span dir="auto">${trouble.message}</span>
</p>`;

/** Nothing is said yet. */
function Silence({ turn, told, seat }) {
  const thinks = useComputed(() => Boolean(turn.value?.reasoning)).value;
  const local = seat?.model.startsWith('local/');
  const early = local ? 'getting ready: the local model is being loaded…' : 'getting ready…';
  const text = told.byHand ? 'preparing a speech…' : thinks ? 'thinking…' : early;
  return html`<p class="silence"><i aria-hidden="true"></i>${text}</p>`;
}

/** Something looked up or worked out on the way. */
function Tool({ tool }) {
  return html`<details class="tool">
    <summary>
      <${Glass} /><b dir="auto">${tool.title || tool.name}</b>
      ${tool.server && html`<small>${tool.server}</small>`} <span dir="auto">${brief(tool.arguments)}</span>
      ${tool.atWork && html`<i>at work…</i>`} ${tool.error && html`<em>failed</em>`}
    </summary>
    <pre dir="auto">${tool.arguments}</pre>
    ${(tool.error || tool.output) && html`<pre dir="auto">${tool.error || tool.output}</pre>`}
  </details>`;
}

/** What was asked for, without the brackets. */
function brief(given) {
  try {
    const values = Object.values(JSON.parse(given));
    return values.map((value) => (typeof value === 'string' ? `“${value}”` : JSON.stringify(value))).join(', ');
  } catch {
    return given;
  }
}

const Glass = () => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
  <circle cx="7" cy="7" r="4.2" /><path d="M10.2 10.2 14 14" />
</svg>`;
