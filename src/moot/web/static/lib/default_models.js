// The models of a new debate where none is chosen: a different one for each side and a third as judge, as far as
// there are as many. Very small models are used only where there is nothing else.

import { PERSON, labelOf } from './setup.js';

/** Of the models of one service, those that cost at most this many times as much as the recommended one. */
const DEARER = 2;

/** Labels in the order in which they are used: the default model of the server first, unless it is very small. */
export function usableModels({ models, usual }) {
  const ready = models.filter((row) => row.available);
  const own = models.find((row) => labelOf(row) === usual);
  const strong = ready.filter((row) => row !== own && !row.small && (row.local || row.recommended));
  const others = [...strong.filter((row) => !row.local), ...strong.filter((row) => row.local)];
  // A model that is not listed was named in the settings of the server.
  if (!own) return distinct([usual, ...others.map(labelOf)]);
  if (own.available && !own.small) others.unshift(own);
  if (others.length) return distinct([...others, ...similar(ready, others)].map(labelOf));
  return distinct([usual, ...ready.filter((row) => row.local).map(labelOf)]);
}

/** Other models of the same services, of nearly the same price: the nearest first. */
function similar(ready, chosen) {
  const price = (row) => (row.price ? row.price.inputPerMillion + row.price.outputPerMillion : null);
  return chosen.flatMap((one) => {
    const own = price(one);
    const fits = (row) => row.provider === one.provider && !row.small && price(row) > 0 && price(row) <= own * DEARER;
    const far = (row) => Math.abs(price(row) - own);
    return own ? ready.filter(fits).sort((a, b) => far(a) - far(b) || (labelOf(a) < labelOf(b) ? 1 : -1)) : [];
  });
}

/** Each model once, also where several services offer it. */
function distinct(labels) {
  const names = new Set();
  return labels.filter((one) => {
    const name = one.slice(one.lastIndexOf('/') + 1);
    return !names.has(name) && names.add(name);
  });
}

/** The setup with a model at every seat and for every judge. */
export function withModels(setup, server) {
  const usable = usableModels(server);
  const at = (index) => usable[index % usable.length];
  const sides = Math.min(2, usable.length);
  return {
    ...setup,
    seats: setup.seats.map((seat, index) => (seat.model ? seat : { ...seat, model: at(index % sides) })),
    judges: setup.judges.map((judge, index) => (judge.model ? judge : { ...judge, model: at(index + 2) })),
  };
}

/** Whether all seats have one model: {model, judges: whether it also judges}, or null. People are no models. */
export function soleModel(setup) {
  const [model, ...others] = new Set(setup.seats.map((seat) => seat.model));
  if (others.length || model === PERSON) return null;
  const judged = setup.config.winningCondition === 'ai-judge' || setup.config.winningCondition === 'self-terminate';
  return { model, judges: judged && setup.judges.every((judge) => judge.model === model) };
}

/** Whether a very small model speaks: it needs simple motions. */
export const hasSmallSpeaker = (setup, { models }) =>
  setup.seats.some((seat) => models.some((row) => row.small && labelOf(row) === seat.model));
