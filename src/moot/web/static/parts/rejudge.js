// The dialog to judge a debate that is over, for the first time or again: other models, and a cost limit. The first
// verdict is not changed.

import { html, useState } from '../../vendor/preact.js';
import { get, post } from '../lib/api.js';
import { Button, Failed, Dialog, toast, useLoaded } from '../lib/ui.js';

const MOST = 9;
const SHOWN = 40;

const wasJudged = (debate) => debate.keys('verdicts').value.some((key) => debate.at('verdicts', key).value.by === 'judges');

/** A debate that nobody has judged, such as one that was stopped, is not judged again. */
export const judgeLabel = (debate) => (wasJudged(debate) ? 'Judge again' : 'Judge');

export function Rejudge({ debate, id, onClose }) {
  const [loaded, error, again] = useLoaded((signal) => get('/models', { signal }));
  const [chosen, choose] = useState([]);
  const [sought, seek] = useState('');
  const [limit, setLimit] = useState('');
  const [trouble, setTrouble] = useState(null);
  const usable = (loaded?.models ?? []).filter((model) => model.available);
  const shown = usable.filter((model) => labelOf(model).toLowerCase().includes(sought.toLowerCase()));
  const toggle = (label) => choose(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label]);
  const judged = debate.keys('verdicts').value.length > 0;
  const before = debate.at('about').value.judges.map((judge) => judge.name).join(', ');

  const ask = async () => {
    const chosenModels = usable.filter((model) => chosen.includes(keyOf(model)));
    const judges = chosenModels.map((model) => choiceOf(model, chosenModels));
    const body = { judges, ...(limit !== '' && { costLimit: Number(limit) }) };
    try {
      await post(`/debates/${id}/rejudge`, body, { once: true });
    } catch (refusal) {
      setTrouble(refusal);
      return;
    }
    toast(judged ? 'It is judged again; the first verdict stays what it was.' : 'Judging has begun.');
    onClose();
  };

  return html`<${Dialog} title=${judgeLabel(debate)} class="rejudge" onClose=${onClose}>
    <div class="stack">
      ${judged && html`<p class="soft">The verdicts will stand side by side; the first stays what it was.</p>`}
      ${error && html`<${Failed} error=${error} again=${again} />`}
      <label class="named">Find a model
        <input class="field" type="search" value=${sought} onInput=${(event) => seek(event.target.value)} />
      </label>
      <fieldset class="models"><legend>Judges to ask${chosen.length > 0 && `: ${chosen.length}`}</legend>
        ${shown.slice(0, SHOWN).map((model) => html`<label key=${keyOf(model)}>
          <input type="checkbox" checked=${chosen.includes(keyOf(model))} onChange=${() => toggle(keyOf(model))}
            disabled=${chosen.length >= MOST && !chosen.includes(keyOf(model))} />
          <span class="grow"><bdi>${model.name}</bdi> <span class="soft small">${model.provider}</span></span>
          <span class="soft small numbers">${model.priceText}</span>
        </label>`)}
        ${!loaded && !error && html`<p class="soft" role="status">Looking for models…</p>`}
        ${loaded && !shown.length && html`<p class="soft">
          ${usable.length ? 'No model that is ready is called so.' : 'No model is ready: see Settings.'}
        </p>`}
      </fieldset>
      <p class="soft small">${chosen.length
        ? 'Each reads it twice, with both labelings.'
        : html`With none chosen, the debate’s own judges are asked: <bdi>${before}</bdi>.`}</p>
      <label class="named">At most, in US dollars
        <input class="field" type="number" inputmode="decimal" min="0.01" step="0.01" placeholder="no further limit"
          value=${limit} onInput=${(event) => setLimit(event.target.value)} />
      </label>
      ${trouble && html`<div class="wrong" role="alert">
        <p>${trouble.message}</p>
        ${Object.entries(trouble.errors).map(
          ([field, texts]) => html`<p key=${field}>${field}: ${texts.join('; ')}</p>`,
        )}
      </div>`}
      <div class="row"><${Button} class="main" onClick=${ask}>${judgeLabel(debate)}<//></div>
    </div>
  <//>`;
}

const keyOf = (model) => `${model.provider}/${model.modelId}`;
const labelOf = (model) => `${model.name} ${keyOf(model)}`;

/** Judges are identified by name, so two models of the same name get their full names. */
function choiceOf(model, models) {
  const alike = models.filter((other) => other.name === model.name);
  const name = (alike.length > 1 ? keyOf(model) : model.name).slice(0, 50);
  return { name, model: { provider: model.provider, modelId: model.modelId } };
}
