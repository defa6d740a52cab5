// How the debate is conducted, beyond what everybody chooses: money, time, the audience, what is shown.

import { html } from '../../vendor/preact.js';
import { Named, Tick, numberIn, wrongs } from './field.js';
import { Tools } from './tool_picker.js';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const OPENERS = [['', 'as the format has it'], ['for', 'those for'], ['against', 'those against']];
const FIELDS = new Set([
  'objective', 'costLimit', 'warnAtCost', 'timeoutPerRound', 'personSeconds', 'effort', 'opens', 'showReasoning',
  'polls', 'blind', 'prep', 'autoProgress', 'autoJudge', 'recuse', 'tools',
]);

/** Whether something wrong is to be put right here. */
export const isRule = (place) => FIELDS.has(place.split('.')[0]);

/** `smallest` is the smallest cost limit that this setup can have, where the server has told it. */
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

/** The rules in a line, for the closed fold. */
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
