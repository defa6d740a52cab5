// The options of a new debate: sides, rounds, intensity, who decides and the price; then money, time, audience, what
// is shown, and the tools that speakers may use.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { HEATS } from '../lib/setup.js';
import { useLoaded } from '../lib/ui.js';
import { Named, Tick, Wrong, numberIn, wrongs } from './field.js';

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

/** The estimated cost, or why there is none. `onFree` removes the cost limit. */
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

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const OPENERS = [['', 'as the format has it'], ['for', 'those for'], ['against', 'those against']];
const FIELDS = new Set([
  'objective', 'costLimit', 'warnAtCost', 'timeoutPerRound', 'personSeconds', 'effort', 'opens', 'showReasoning',
  'polls', 'blind', 'prep', 'autoProgress', 'autoJudge', 'recuse', 'tools',
]);

/** Whether an error belongs to these fields. */
export const isRule = (field) => FIELDS.has(field.split('.')[0]);

/** `smallest`: the smallest cost limit for this setup, if the server has sent it. */
export function Rules({ config, format, errors, smallest, onChange }) {
  const number = (name, label, more, at = name) => html`<${Named} label=${label} type="number" inputmode="decimal"
    value=${config[name] ?? ''} wrong=${wrongs(errors, at)}
    onInput=${(event) => onChange({ [name]: numberIn(event) })} ...${more} />`;
  const tick = (name, label, hint) => html`<${Tick} label=${label} hint=${hint} checked=${config[name]}
    onChange=${(on) => onChange({ [name]: on })} />`;
  const wait = (name, label, hint) => html`<${Tick} label=${label} hint=${hint} checked=${!config[name]}
    onChange=${(on) => onChange({ [name]: !on })} />`;
  const select = (name, label, options) => html`<${Named} as="select" label=${label} value=${config[name]}
    wrong=${wrongs(errors, name)} onChange=${(event) => onChange({ [name]: event.target.value })}>
    ${options.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
  <//>`;
  const votes = config.audience || config.winningCondition === 'audience';
  return html`<div class="stack rules">
    <${Named} label="What the debate is to settle" dir="auto" value=${config.objective}
      placeholder="told to everybody; may be left empty" wrong=${wrongs(errors, 'objective')}
      onInput=${(event) => onChange({ objective: event.target.value })} />
    <div class="grid">
      ${number('costLimit', 'Stops at, in dollars', {
        min: 0, step: 'any', placeholder: 'no limit', hint: smallest > 0 && `At least $${smallest.toFixed(2)} for this setup.`,
      })}
      ${number('warnAtCost', 'Warns at, in dollars', { min: 0, step: 'any', placeholder: 'no warning' })}
      ${number('timeoutPerRound', 'Seconds for a speech', { min: 30, max: 300, step: 10, placeholder: 120 })}
      ${number('personSeconds', 'Seconds for a person', { min: 10, max: 3600, step: 10, placeholder: 300 })}
      ${select('effort', 'How hard they think', [['', 'as they are used to'], ...EFFORTS.map((one) => [one, one])])}
      ${format.eitherFirst && select('opens', 'Who opens', OPENERS)}
    </div>
    <div class="grid">
      ${tick('showReasoning', 'Show reasoning', 'What models think aloud is seen by all but their opponents.')}
      ${tick('audience', 'The audience votes', 'Whoever watches may vote.')}
      ${votes && tick('voteBefore', 'Also before the first speech', 'Then the change of mind counts.')}
      ${votes && number('voteSeconds', 'Seconds for a vote', { min: 5, placeholder: 'no end' }, 'polls.seconds')}
      ${tick('blind', 'Blind openings', 'Given at the same time, so that nobody answers or copies.')}
      ${format.prepWords > 0 && tick('prep', 'Time for notes', 'Private notes before the speeches.')}
      ${wait('autoProgress', 'Wait before each round', 'Each round waits until you ask for it.')}
      ${wait('autoJudge', 'Wait before the judging', 'After the last round the judges wait until you ask them.')}
      ${tick('recuse', 'Partial judges step aside', 'One of a debater’s own family is left out if there is another.')}
    </div>
    <${Tools} chosen=${config.tools} errors=${errors} onChange=${(tools) => onChange({ tools })} />
  </div>`;
}

/** The rules in one line, shown while they are folded. */
export function inShort(config) {
  return [
    `${config.timeoutPerRound ?? 120} s a speech`,
    config.showReasoning ? 'reasoning shown' : 'reasoning hidden',
    config.audience && 'the audience votes',
    config.blind && 'blind openings',
    config.prep && 'time for notes',
    !config.autoProgress && 'waits before each round',
    config.tools.length > 0 && `tools: ${config.tools.join(' ')}`,
  ].filter(Boolean).join(', ');
}

const HOSTED = { web_search: 'Web search', code: 'Running code' };
const HOSTED_HINT = 'At the model’s provider, where it has that; never under a cost limit.';

function Tools({ chosen, errors, onChange }) {
  const [offer] = useLoaded((signal) => get('/tools', { signal }));
  const rows = offered(offer, chosen);
  const pick = (name) => (on) => onChange(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  return rows.length > 0 && html`<fieldset class="stack offered">
    <legend>Tools for the speakers</legend>
    <div class="grid">
      ${rows.map(([name, label, hint]) => html`<${Tick} key=${name} label=${label} hint=${hint}
        checked=${chosen.includes(name)} onChange=${pick(name)} />`)}
    </div>
    <${Wrong} texts=${wrongs(errors, 'tools', true)} />
  </fieldset>`;
}

/** [name, label, hint] of each tool. A chosen name that is not offered is listed too, so that it can be removed. */
function offered(offer, chosen) {
  const servers = (offer?.servers ?? []).map((server) => [server.name, server.title, hintOf(server)]);
  const hosted = (offer?.hosted ?? []).map((name) => [name, HOSTED[name] ?? name, HOSTED_HINT]);
  const known = [...servers, ...hosted];
  const others = chosen.filter((name) => !known.some(([one]) => one === name));
  return [...known, ...others.map((name) => [name, name, ''])];
}

const hintOf = (server) => server.missing ?? server.tools.map((tool) => tool.title).join(', ');
