// The options of a new debate: rounds, intensity and who decides; then cost, time, audience, what is shown, and the
// tools that speakers may use; and the price of all this.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { dollars, plural } from '../lib/numbers.js';
import { INTENSITIES } from '../lib/setup.js';
import { useLoaded } from '../lib/ui.js';
import { Named, Tick, Wrong, numberIn, wrongs } from './field.js';

const DECIDERS = [
  ['ai-judge', 'Judges'],
  ['self-terminate', 'Judges, or a side that concedes'],
  ['audience', 'Audience votes'],
  ['user-decides', 'You'],
];

export const Versus = ({ onSwap }) => html`<div class="versus">
  <button type="button" class="btn" aria-label="Swap sides" title="Swap sides (x)" aria-keyshortcuts="x"
    onClick=${onSwap}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M4 7h11m-3-3 3 3-3 3M16 13H5m3-3-3 3 3 3" /></svg>
  </button>
</div>`;

/** Rounds, intensity, and who decides. */
export function Conduct({ config, format, errors, onChange }) {
  const { intensity } = config;
  const word = INTENSITIES[intensity - 1];
  return html`<div class="grid dials">
    <${Rounds} rounds=${config.maxRounds} most=${format.scripted ? format.rounds : format.maxRounds}
      wrong=${wrongs(errors, 'maxRounds')} onChange=${(maxRounds) => onChange({ maxRounds })} />
    <label class="named"><span>Intensity: ${intensity} of 5, ${word}</span>
      <input type="range" min="1" max="5" step="1" value=${intensity} aria-valuetext=${`${intensity} of 5, ${word}`}
        onInput=${(event) => onChange({ intensity: event.target.valueAsNumber })} />
      <${Wrong} texts=${wrongs(errors, 'intensity')} />
    </label>
    <${Named} as="select" label="Decided by" value=${config.winningCondition} wrong=${wrongs(errors, 'winningCondition')}
      onChange=${(event) => onChange({ winningCondition: event.target.value })}>
      ${DECIDERS.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
    <//>
  </div>`;
}

function Rounds({ rounds, most, wrong, onChange }) {
  const step = (by, label, sign, end) => html`<button type="button" class="btn" aria-label=${label} disabled=${end}
    onClick=${() => onChange(Math.min(most, Math.max(1, rounds + by)))}>${sign}</button>`;
  return html`<div class="named" role="group" aria-label="Rounds">
    <span>Rounds</span>
    <span class="stepper">
      ${step(-1, 'One round less', '−', rounds <= 1)}
      <output class="numbers" aria-live="polite">${rounds}</output>
      ${step(1, 'One round more', '+', rounds >= most)}
    </span>
    <${Wrong} texts=${wrong} />
  </div>`;
}

/** The names of the fields in the errors of the server, for the line beside the button. */
const FIELD_NAMES = [
  [/^topic$/, 'Motion'],
  [/^format$/, 'Format'],
  [/^participants\.(\d+)\.(?:model|standIn)/, 'Model of seat'],
  [/^participants\.(\d+)/, 'Seat'],
  [/^participants$/, 'Seats'],
  [/^judges?\b/, 'Judges'],
  [/^costLimit$/, 'Cost limit'],
  [/^warnAtCost$/, 'Cost warning'],
  [/^timeoutPerRound$/, 'Time per speech'],
  [/^personSeconds$/, 'Time for a person'],
  [/^maxRounds$/, 'Rounds'],
  [/^tools/, 'Tools'],
  [/^polls/, 'Audience votes'],
];

function fieldName(field) {
  const [pattern, name] = FIELD_NAMES.find(([one]) => one.test(field)) ?? [null, field];
  const seat = pattern?.exec(field)?.[1];
  return seat === undefined ? name : `${name} ${Number(seat) + 1}`;
}

/** The estimated cost, or what is wrong with the setup. `onFree` removes the cost limit. */
export function Price({ plan, errors, onFree }) {
  const beyond = wrongs(errors, 'costLimit');
  if (beyond.length) {
    return html`<p class="price" role="status"><span class="wrong" dir="auto">Cost limit: ${beyond.join(' ')}</span>
      ${' '}<button type="button" class="btn" onClick=${onFree}>Remove the limit</button></p>`;
  }
  const fields = Object.keys(errors);
  if (fields.length) {
    const names = [...new Set(fields.map(fieldName))].join(', ');
    return html`<p class="price" role="status"><span class="wrong">Please correct: ${names}.</span></p>`;
  }
  if (!plan) return html`<p class="price"></p>`;
  return html`<p class="price numbers" dir="auto">${plan.text}</p>`;
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const OPENERS = [['', 'As in the format'], ['for', 'The side for'], ['against', 'The side against']];
const READINGS = [['chronological', 'By time'], ['by-side', 'By side, swapped in the second reading']];
const FOLDED = new Set([
  'objective', 'costLimit', 'warnAtCost', 'timeoutPerRound', 'personSeconds', 'effort', 'opens', 'showReasoning',
  'polls', 'blind', 'prep', 'beliefs', 'modelAudience', 'reading', 'autoProgress', 'autoJudge', 'recuse', 'tools', 'maxRounds', 'intensity',
  'winningCondition', 'judge', 'judges',
]);

/** Whether an error belongs to the folded options. */
export const isOption = (field) => FOLDED.has(field.split('.')[0]);

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
    <${Named} label="Objective of the debate" dir="auto" value=${config.objective}
      placeholder="Optional. All speakers and judges are told it." wrong=${wrongs(errors, 'objective')}
      onInput=${(event) => onChange({ objective: event.target.value })} />
    <div class="grid">
      ${number('costLimit', 'Cost limit (USD)', {
        min: 0, step: 'any', placeholder: 'No limit', hint: smallest > 0 && `At least ${dollars(smallest)} for this setup.`,
      })}
      ${number('warnAtCost', 'Warn at cost (USD)', { min: 0, step: 'any', placeholder: 'No warning' })}
      ${number('timeoutPerRound', 'Time per speech (seconds)', { min: 30, max: 300, step: 10, placeholder: 120 })}
      ${number('personSeconds', 'Time for a person (seconds)', { min: 10, max: 3600, step: 10, placeholder: 300 })}
      ${select('effort', 'Reasoning effort', [['', 'Model default'], ...EFFORTS.map((one) => [one, one])])}
      ${format.eitherFirst && select('opens', 'Who opens', OPENERS)}
      ${select('reading', 'Judges read the speeches', READINGS)}
    </div>
    <div class="grid">
      ${tick('showReasoning', 'Show reasoning', 'The audience sees what models think. Opponents and judges never do.')}
      ${tick('audience', 'Audience votes', 'Everyone who watches can vote.')}
      ${votes && tick('voteBefore', 'Vote before the first speech too', 'Shows how many changed their mind.')}
      ${votes && number('voteSeconds', 'Time for a vote (seconds)', { min: 5, placeholder: 'Unlimited' }, 'polls.seconds')}
      ${tick('blind', 'Blind openings', 'Opening speeches are written at the same time, so that none answers another.')}
      ${format.prepWords > 0 && tick('prep', 'Preparation', 'Each speaker writes private notes before a speech.')}
      ${tick('beliefs', 'Ask for private beliefs', 'Speakers and a judge say after each speech who they think will win. It costs about three more short calls a speech.')}
      ${tick('modelAudience', 'Model audience', 'Eight model personas vote before and after the speeches. Counted apart from people.')}
      ${wait('autoProgress', 'Start each round by hand', 'Every round waits for you.')}
      ${wait('autoJudge', 'Start the judging by hand', 'After the last round the judges wait for you.')}
      ${tick('recuse', 'Exclude judges from a debater’s model family', 'Only if another judge is left.')}
    </div>
    <${Tools} chosen=${config.tools} errors=${errors} onChange=${(tools) => onChange({ tools })} />
  </div>`;
}

/** The options in one line, shown while they are folded. `judges`: their names. */
export function inShort(config, judges) {
  const judged = config.winningCondition === 'ai-judge' || config.winningCondition === 'self-terminate';
  return [
    judged ? `judged by ${judges}` : DECIDED[config.winningCondition],
    plural(config.maxRounds, 'round'),
    config.costLimit && `cost limit ${dollars(config.costLimit)}`,
    !config.showReasoning && 'reasoning hidden',
    config.audience && 'audience votes',
    config.blind && 'blind openings',
    config.prep && 'preparation',
    config.beliefs && 'private beliefs',
    config.modelAudience && 'model audience',
    config.reading === 'by-side' && 'judges read by side',
    !config.autoProgress && 'rounds started by hand',
    config.tools.length > 0 && `tools: ${config.tools.join(' ')}`,
  ].filter(Boolean).join(' · ');
}

const DECIDED = { audience: 'decided by the audience', 'user-decides': 'decided by you' };

const HOSTED = { web_search: 'Web search', code: 'Code execution' };
const HOSTED_HINT = 'Runs at the provider, for models that support it. Not possible with a cost limit.';

function Tools({ chosen, errors, onChange }) {
  const [offer] = useLoaded((signal) => get('/tools', { signal }));
  const rows = offered(offer, chosen);
  const pick = (name) => (on) => onChange(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  return rows.length > 0 && html`<fieldset class="stack offered">
    <legend>Tools for speakers</legend>
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
