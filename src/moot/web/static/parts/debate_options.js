// What everybody may want to turn before the debate: the sides, the rounds, the heat, who decides; and its price.

import { html } from '../../vendor/preact.js';
import { HEATS } from '../lib/setup.js';
import { Wrong, wrongs } from './field.js';

const DECIDERS = [
  ['ai-judge', 'the judges'],
  ['self-terminate', 'the judges, or when one side gives way'],
  ['audience', 'the audience’s votes'],
  ['user-decides', 'you, by hand'],
];

export const Versus = ({ onSwap, onAdd }) => html`<div class="versus">
  <span aria-hidden="true">versus</span>
  <button type="button" class="btn" aria-label="Swap sides" title="Swap sides (x)" aria-keyshortcuts="x"
    onClick=${onSwap}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M4 7h11m-3-3 3 3-3 3M16 13H5m3-3-3 3 3 3" /></svg>
  </button>
  ${onAdd && html`<button type="button" class="btn" aria-label="Add a seat" title="Add a seat" onClick=${onAdd}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M10 5v10M5 10h10" /></svg>
  </button>`}
</div>`;

export function Conduct({ config, format, errors, onChange }) {
  const heat = HEATS[config.intensity - 1];
  return html`<div class="dials">
    <${Rounds} rounds=${config.maxRounds} most=${format.scripted ? format.rounds : format.maxRounds}
      wrong=${wrongs(errors, 'maxRounds')} onChange=${(maxRounds) => onChange({ maxRounds })} />
    <label class="named"><span>Heat</span>
      <input type="range" min="1" max="5" step="1" value=${config.intensity} aria-valuetext=${heat}
        onInput=${(event) => onChange({ intensity: event.target.valueAsNumber })} />
      <span class="heat" aria-hidden="true">${heat}</span>
      <${Wrong} texts=${wrongs(errors, 'intensity')} />
    </label>
    <label class="named"><span>Decided by</span>
      <select class="field" value=${config.winningCondition}
        onChange=${(event) => onChange({ winningCondition: event.target.value })}>
        ${DECIDERS.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
      </select>
      <${Wrong} texts=${wrongs(errors, 'winningCondition')} />
    </label>
  </div>`;
}

function Rounds({ rounds, most, wrong, onChange }) {
  const step = (by, label, sign, end) => html`<button type="button" class="btn" aria-label=${label} disabled=${end}
    onClick=${() => onChange(Math.min(most, Math.max(1, rounds + by)))}>${sign}</button>`;
  return html`<div class="named" role="group" aria-label="Rounds">
    <span>Rounds</span>
    <span class="stepper">
      ${step(-1, 'A round less', '−', rounds <= 1)}
      <output class="numbers" aria-live="polite">${rounds}</output>
      ${step(1, 'A round more', '+', rounds >= most)}
    </span>
    <${Wrong} texts=${wrong} />
  </div>`;
}

/** What it may come to, or what stands in the way. `onFree` takes the limit off. */
export function Price({ plan, limit, errors, onFree }) {
  const beyond = wrongs(errors, 'costLimit');
  if (beyond.length) {
    return html`<p class="price" role="status"><span class="wrong" dir="auto">${beyond.join(' ')}</span>
      ${' '}<button type="button" class="btn" onClick=${onFree}>Go without a limit</button></p>`;
  }
  if (Object.keys(errors).length) {
    return html`<p class="price" role="status"><span class="wrong">Something above needs another look.</span></p>`;
  }
  if (!plan) return html`<p class="price"></p>`;
  const stops = limit && plan.high !== 0 ? `, stops at $${limit.toFixed(2)}` : '';
  return html`<p class="price numbers">${amount(plan)}${unpriced(plan)}${stops}</p>`;
}

function amount({ low, high, lowText, highText }) {
  if (low === null) return 'Cost unknown';
  if (high === 0) return 'Free of charge';
  return lowText === highText ? `About ${lowText}` : `About ${lowText} to ${highText}`;
}

const unpriced = (plan) =>
  plan.low !== null && plan.unpriced.length > 0
    && html`<span> and an unknown amount for <bdi>${plan.unpriced.join(', ')}</bdi></span>`;
