// The judge, or a panel of up to nine. A judge may be a person.

import { html } from '../../vendor/preact.js';
import { MAX_JUDGES, criteriaOf, emptyJudge } from '../lib/setup.js';
import { Named, numberIn, wrongs } from './field.js';
import { Picker, rowOf } from './model_picker.js';

/** As the server counts them: the first is `judge`, the others are `judges`. */
const fieldOf = (index) => (index === 0 ? 'judge' : `judges.${index - 1}`);

/** The judges in one line; each has its model. */
export function judgedBy(judges, server) {
  const names = judges.map((judge) => rowOf(server.models, judge.model).name);
  return names.length === 1 ? names[0] : `${names.length} judges (${[...new Set(names)].join(', ')})`;
}

/** `usual`: the models that are used where none is chosen. */
export function Judges({ judges, usual, errors, server, onChange }) {
  const put = (index) => (patch) =>
    onChange(judges.map((judge, other) => (other === index ? { ...judge, ...patch } : judge)));
  const dismiss = (index) => judges.length > 1 && (() => onChange(judges.filter((_, other) => other !== index)));
  return html`<div class="stack">
    <p class="small soft">Each model judges twice, with both labelings. The verdict shows who changed its mind.</p>
    <ul class="judges">${judges.map(
      (judge, index) => html`<${JudgeRow} key=${index} judge=${judge} index=${index} errors=${errors} server=${server}
        usual=${usual[index]} alone=${judges.length === 1} onChange=${put(index)} onDismiss=${dismiss(index)} />`,
    )}</ul>
    ${judges.length < MAX_JUDGES && html`<p>
      <button type="button" class="btn" onClick=${() => onChange([...judges, emptyJudge()])}>Add a judge</button>
    </p>`}
  </div>`;
}

function JudgeRow({ judge, index, usual, alone, errors, server, onChange, onDismiss }) {
  const at = fieldOf(index);
  const criteria = [...wrongs(errors, `${at}.evaluationCriteria`, true), ...wrongs(errors, `${at}.weights`)];
  return html`<li>
    <${Named} label="Name" dir="auto" placeholder=${alone ? 'Judge' : `Judge ${index + 1}`} value=${judge.name}
      maxlength="100" wrong=${wrongs(errors, `${at}.name`)}
      onInput=${(event) => onChange({ name: event.target.value })} />
    <${Picker} label=${`Model of judge ${index + 1}`} people value=${judge.model} usual=${usual} models=${server.models}
      wrong=${wrongs(errors, `${at}.model`, true)}
      onPick=${(model) => onChange({ model, temperature: null, maxTokens: null })} />
    <${Named} label="Criteria" dir="auto" placeholder="As in the format" value=${judge.criteria} wrong=${criteria}
      onInput=${(event) => onChange({ criteria: event.target.value })} />
    ${onDismiss && html`<button type="button" class="btn plain" aria-label=${`Remove judge ${index + 1}`} title="Remove"
      onClick=${onDismiss}>✕</button>`}
    <${Weights} judge=${judge} wrong=${(name) => wrongs(errors, `${at}.weights.${name}`)} onChange=${onChange} />
  </li>`;
}

/** The weight of each criterion, if there are several. */
function Weights({ judge, wrong, onChange }) {
  const criteria = criteriaOf(judge);
  const weigh = (name) => (event) => onChange({ weights: { ...judge.weights, [name]: numberIn(event) } });
  return criteria.length > 1 && html`<fieldset class="weights">
    <legend>Weight of each criterion</legend>
    ${criteria.map((name) => html`<${Named} key=${name} label=${html`<bdi>${name}</bdi>`} type="number" min="0"
      step="any" inputmode="decimal" placeholder="1" value=${judge.weights?.[name] ?? ''} wrong=${wrong(name)}
      onInput=${weigh(name)} />`)}
  </fieldset>`;
}
