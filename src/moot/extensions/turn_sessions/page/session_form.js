// Turn by turn: two models answer each other for ten turns, and each turn is asked for. The form that starts a session,
// and the button for its next turn.

import { html, useState } from '../../../vendor/preact.js';
import { get, outside } from '../../lib/api.js';
import { go } from '../../lib/router.js';
import { SESSION } from '../../lib/timeline.js';
import { Button, Failed, useLoaded } from '../../lib/ui.js';

const INTENSITIES = [1, 2, 3, 4, 5];
/** How an earlier attempt at the turn ended. */
const TRIED = { failed: ': it failed', interrupted: ': it was stopped' };
const roleOf = (turn) => (turn % 2 ? 'AFFIRMATIVE' : 'NEGATIVE');
const keyOf = (model) => `${model.provider}/${model.modelId}`;

export function SessionForm() {
  const [models, error] = useModels();
  const [trouble, setTrouble] = useState(null);
  const begin = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    try {
      const session = await ask({ topic: given.topic.trim(), modelId: given.model, intensity: Number(given.intensity), turn: 1 });
      go(`/debate/${session.sessionId}`);
    } catch (problem) {
      setTrouble(problem);
    }
  };
  return html`<form class="card session stack" onSubmit=${begin}>
    <p class="soft">Two models answer each other for ten turns. Each turn starts when you ask for it.</p>
    <label class="named">Motion<input class="field" name="topic" required maxlength="500" dir="auto" /></label>
    <div class="row">
      <label class="named grow">Model for the motion<${Models} name="model" models=${models} /></label>
      <label class="named">Intensity
        <select class="field" name="intensity" defaultValue="3">
          ${INTENSITIES.map((one) => html`<option key=${one} value=${one} selected=${one === 3}>${one} of 5</option>`)}
        </select>
      </label>
    </div>
    ${(error || trouble) && html`<${Failed} error=${error ?? trouble} />`}
    <p><button class="btn main" disabled=${!models.length}>Ask for the first turn</button></p>
  </form>`;
}

/** Below the last speech of a session: asks for the next turn, or again for one that failed or was stopped. */
export function NextTurn({ debate, id }) {
  const { order, seats, format, motion, config } = debate.at('about').value;
  const { speaking, next, endedAt } = debate.at('now').value;
  const [models] = useModels();
  const [chosen, choose] = useState('');
  if (format !== SESSION || !debate.me.value?.may.steer || endedAt || next === null || speaking.length > 0) return null;
  const seat = seats.find((one) => one.id === order[next].seat);
  const turn = next + 1;
  const tried = debate.keys('turns').value.map((key) => debate.at('turns', key).value).findLast((one) => one.slot === next);
  const model = seat.model || chosen || (models[0] && keyOf(models[0]));
  const more = { turn, sessionId: id, intensity: config.intensity ?? 3 };
  return html`<div class="next-turn row">
    <p class="grow">Turn ${turn} of ${order.length}, ${seat.position} the motion${tried && (TRIED[tried.state] ?? '')}</p>
    ${seat.model
      ? html`<bdi class="soft">${seat.model}</bdi>`
      : html`<label class="named"><span class="visually-hidden">Model</span>
          <${Models} models=${models} onChange=${(event) => choose(event.target.value)} /></label>`}
    <${Button} class="main" disabled=${!model} onClick=${() => ask({ topic: motion, modelId: model, ...more })}>
      ${tried ? `Ask for turn ${turn} again` : 'Next turn'}
    <//>
  </div>`;
}

function useModels() {
  const [loaded, error] = useLoaded((signal) => get('/models', { signal }));
  const usable = (loaded?.models ?? []).filter((model) => model.available);
  if (!loaded || usable.some((model) => keyOf(model) === loaded.default)) return [usable, error];
  const [provider, ...name] = loaded.default.split('/');
  return [[{ provider, modelId: name.join('/'), name: name.join('/') }, ...usable], error];
}

const Models = ({ models, ...more }) => html`<select class="field" ...${more}>
  ${models.map((model) => html`<option key=${keyOf(model)} value=${keyOf(model)}>${model.name} (${model.provider})</option>`)}
</select>`;

function ask({ turn, ...more }) {
  const body = { role: roleOf(turn), turnNumber: turn, opponentMessage: null, previousResponseId: null, ...more };
  return outside('/debate/stream/init', { method: 'POST', body });
}
