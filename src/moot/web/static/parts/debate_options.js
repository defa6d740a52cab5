// The options of a new debate: rounds, intensity and who decides; then cost, time, audience, what is shown, and the
// tools that speakers may use; and the price of all this.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { dollars, plural } from '../lib/numbers.js';
import { useLoaded } from '../lib/ui.js';
import { Named, Tick, Wrong, numberIn, wrongs } from './field.js';

/** The settings that have controls of their own, in `Conduct`. */
const CONDUCT = ['maxRounds', 'intensity', 'winningCondition'];

export const Versus = ({ onSwap }) => html`<div class="versus">
  <button type="button" class="btn" aria-label="Swap sides" title="Swap sides (x)" aria-keyshortcuts="x"
    onClick=${onSwap}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M4 7h11m-3-3 3 3-3 3M16 13H5m3-3-3 3 3 3" /></svg>
  </button>
</div>`;

/** Rounds, intensity, and who decides. */
export function Conduct({ config, settings, format, errors, onChange }) {
  const { intensity } = config;
  const [force, decided] = ['intensity', 'winningCondition'].map((name) => settings.find((one) => one.name === name));
  const word = force.choices[intensity - 1].label;
  return html`<div class="grid dials">
    <${Rounds} rounds=${config.maxRounds} most=${format.scripted ? format.rounds : format.maxRounds}
      wrong=${wrongs(errors, 'maxRounds')} onChange=${(maxRounds) => onChange({ maxRounds })} />
    <label class="named"><span>Intensity: ${intensity} of 5, ${word}</span>
      <input type="range" min=${force.minimum} max=${force.maximum} step="1" value=${intensity} aria-valuetext=${`${intensity} of 5, ${word}`}
        onInput=${(event) => onChange({ intensity: event.target.valueAsNumber })} />
      <${Wrong} texts=${wrongs(errors, 'intensity')} />
    </label>
    <${Named} as="select" label=${decided.label} value=${config.winningCondition} wrong=${wrongs(errors, 'winningCondition')}
      onChange=${(event) => onChange({ winningCondition: event.target.value })}>
      <${Choices} of=${decided} />
    <//>
  </div>`;
}

const Choices = ({ of }) => of.choices.map(({ value, label }) => html`<option value=${value}>${label}</option>`);

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
  [/^tools/, 'Tools'],
];

function fieldName(field, settings) {
  const [pattern, name] = FIELD_NAMES.find(([one]) => one.test(field)) ?? [null, labelOf(field, settings)];
  const seat = pattern?.exec(field)?.[1];
  return seat === undefined ? name : `${name} ${Number(seat) + 1}`;
}

/** The label of a setting without its unit. */
function labelOf(field, settings) {
  const setting = settings.find((one) => one.name === field.split('.')[0]);
  return setting?.label.replace(/ \(.*\)$/, '') ?? field;
}

/** The estimated cost, or what is wrong with the setup. `onFree` removes the cost limit. */
export function Price({ plan, errors, settings, onFree }) {
  const beyond = wrongs(errors, 'costLimit');
  if (beyond.length) {
    return html`<p class="price" role="status"><span class="wrong" dir="auto">Cost limit: ${beyond.join(' ')}</span>
      ${' '}<button type="button" class="btn" onClick=${onFree}>Remove the limit</button></p>`;
  }
  const fields = Object.keys(errors);
  if (fields.length) {
    const names = [...new Set(fields.map((field) => fieldName(field, settings)))].join(', ');
    return html`<p class="price" role="status"><span class="wrong">Please correct: ${names}.</span></p>`;
  }
  if (!plan) return html`<p class="price"></p>`;
  return html`<p class="price numbers" dir="auto">${plan.text}</p>`;
}

/** Whether an error belongs to the folded options. */
export const isOption = (field, settings) =>
  ['judge', 'judges', ...settings.map((one) => one.name)].includes(field.split('.')[0]);

/** Every other setting, drawn by its kind. `smallest`: the smallest cost limit for this setup, if the server has sent
    it. */
export function Rules({ config, settings, format, errors, smallest, onChange }) {
  const rows = settings.filter(({ name, needs }) => !CONDUCT.includes(name) && (!needs || format[needs]));
  const of = (...kinds) => rows.filter(({ kind }) => kinds.includes(kind));
  const draw = (one) => html`<${Setting} key=${one.name} of=${one} config=${config} errors=${errors}
    hint=${one.name === 'costLimit' && smallest > 0 ? `At least ${dollars(smallest)} for this setup.` : one.hint}
    onChange=${onChange} />`;
  return html`<div class="stack rules">
    ${of('text').map(draw)}
    <div class="grid">${of('number', 'choice').map(draw)}</div>
    <div class="grid">${of('switch', 'polls').sort(byPlace).map(draw)}</div>
    <${Tools} chosen=${config.tools} errors=${errors} onChange=${(tools) => onChange({ tools })} />
  </div>`;
}

const byPlace = (one, other) => one.place - other.place;

function Setting({ of, config, errors, hint, onChange }) {
  const { name, label, kind, placeholder } = of;
  const set = (value) => onChange({ [name]: value });
  const shared = { label, hint, value: config[name] ?? '', wrong: wrongs(errors, name) };
  if (kind === 'polls') return html`<${Votes} of=${of} config=${config} errors=${errors} onChange=${onChange} />`;
  if (kind === 'switch') {
    return html`<${Tick} label=${label} hint=${hint} checked=${config[name] !== of.negated}
      onChange=${(on) => set(on !== of.negated)} />`;
  }
  if (kind === 'choice') {
    return html`<${Named} as="select" ...${shared} onChange=${(event) => set(event.target.value)}>
      <${Choices} of=${of} />
    <//>`;
  }
  if (kind === 'text') {
    return html`<${Named} ...${shared} dir="auto" placeholder=${placeholder}
      onInput=${(event) => set(event.target.value)} />`;
  }
  return html`<${NumberField} ...${shared} min=${Math.floor(of.minimum ?? 0)} max=${of.maximum ?? undefined}
    step=${of.step || undefined} placeholder=${placeholder || of.default} onNumber=${set} />`;
}

const NumberField = ({ onNumber, ...more }) => html`<${Named} type="number" inputmode="decimal" ...${more}
  onInput=${(event) => onNumber(numberIn(event))} />`;

function Votes({ of, config, errors, onChange }) {
  const votes = config.audience || config.winningCondition === 'audience';
  return html`<${Tick} label=${of.label} hint=${of.hint} checked=${config.audience}
      onChange=${(audience) => onChange({ audience })} />
    ${votes && html`<${Tick} label="Vote before the first speech too" hint="Shows how many changed their mind."
      checked=${config.voteBefore} onChange=${(voteBefore) => onChange({ voteBefore })} />`}
    ${votes && html`<${NumberField} label="Time for a vote (seconds)" min=${5} placeholder="Unlimited"
      value=${config.voteSeconds ?? ''} wrong=${wrongs(errors, 'polls.seconds')}
      onNumber=${(voteSeconds) => onChange({ voteSeconds })} />`}`;
}

/** The options in one line, shown while they are folded. `judges`: their names. */
export function inShort(config, settings, judges) {
  const judged = config.winningCondition === 'ai-judge' || config.winningCondition === 'self-terminate';
  const changed = ({ name, kind, default: usual }) => (kind === 'polls' ? config.audience : config[name] !== usual);
  return [
    judged ? `judged by ${judges}` : DECIDED[config.winningCondition],
    plural(config.maxRounds, 'round'),
    config.costLimit && `cost limit ${dollars(config.costLimit)}`,
    ...settings.filter((one) => one.brief && changed(one)).sort(byPlace).map((one) => one.brief),
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
