// The setup of a new debate: stored in the browser, sent to the server, shared as a link, or taken from an earlier
// debate. Empty fields get the defaults of the format or the server: a name, a side, a model. The server validates
// it.

import { FIRST } from './motions.js';

export const PERSON = 'human/human';
// The same as in core/terms.py, which a test checks: a setup is read before the server has answered.
const MAX_PARTICIPANTS = 4;
export const SEAT_COLOURS = ['#0b6e6e', '#b3432b', '#6d28d9', '#a16207'];
export const MAX_JUDGES = 9;
const MAX_CRITERIA = 20;
/** Of a list in a link; the server has a limit of its own. */
const MAX_ITEMS = 100;

/** Limits for texts from links and storage; the server has its own limits. */
const TEXT = { topic: 600, format: 100, name: 200, model: 300, standIn: 300, systemPrompt: 12000 };

/** What the form asks about the votes of the audience: `polls` of a request. */
const VOTES = { audience: false, voteBefore: true, voteSeconds: null };
/** Numbers that cannot be left out. */
const FIXED = new Set(['maxRounds', 'intensity']);

/** The config of a new setup. `settings` are what the server says of each. */
const usualConfig = (settings) => ({
  ...Object.fromEntries(settings.filter(({ kind }) => kind !== 'polls').map((one) => [one.name, usualOf(one)])),
  ...VOTES,
});
const usualOf = ({ kind, default: usual }) => usual ?? (kind === 'choice' ? '' : null);

export const emptySeat = (index) => ({
  name: '', position: '', model: '', persona: '', objective: '', systemPrompt: '',
  color: SEAT_COLOURS[index % SEAT_COLOURS.length], standIn: '', temperature: null, maxTokens: null,
});
export const emptyJudge = () => ({
  name: '', model: '', criteria: '', weights: null, temperature: null, maxTokens: null,
});

export const fresh = (settings) => ({
  topic: FIRST,
  format: 'oxford',
  seats: [emptySeat(0), emptySeat(1)],
  judges: [emptyJudge()],
  config: usualConfig(settings),
});

/** A valid setup from data of a link or of storage: unknown fields are dropped, missing ones added. */
export function tidied(raw, settings) {
  const defaults = fresh(settings);
  if (!raw || typeof raw !== 'object') return defaults;
  const readList = (list, most, empty) =>
    Array.isArray(list) && list.length ? list.slice(0, most).map((one, index) => like(empty(index), one)) : null;
  return {
    topic: text(raw.topic, TEXT.topic) ?? defaults.topic,
    format: text(raw.format, TEXT.format) || defaults.format,
    seats: spread(readList(raw.seats, MAX_PARTICIPANTS, emptySeat)) ?? defaults.seats,
    judges: readList(raw.judges, MAX_JUDGES, emptyJudge) ?? defaults.judges,
    config: like(defaults.config, raw.config),
  };
}

const spread = (seats) => (seats?.length === 1 ? [...seats, emptySeat(1)] : seats);
const text = (value, most) => (typeof value === 'string' ? value.slice(0, most) : null);

/** The fields of `model`, with the values of `raw` where they have the same type. */
function like(model, raw) {
  const checked = { ...model };
  for (const [name, usual] of Object.entries(model)) {
    const value = raw?.[name];
    if (name === 'color') checked[name] = /^#[0-9a-f]{6}$/i.test(value) ? value : usual;
    else if (typeof usual === 'string') checked[name] = text(value, TEXT[name] ?? 3000) ?? usual;
    else if (typeof usual === 'boolean') checked[name] = typeof value === 'boolean' ? value : usual;
    else if (Array.isArray(usual)) checked[name] = texts(value);
    else if (name === 'weights') checked[name] = numbers(value);
    else if (value === null && !FIXED.has(name)) checked[name] = null;
    else checked[name] = Number.isFinite(value) ? value : usual;
  }
  return checked;
}

const texts = (value) =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one.length < 200).slice(0, MAX_ITEMS) : [];
const numbers = (value) => {
  const some = Object.entries(value && typeof value === 'object' ? value : {}).slice(0, MAX_CRITERIA);
  return Object.fromEntries(some.filter(([, one]) => Number.isFinite(one)));
};

// --- seats -------------------------------------------------------------------------------------

/** The chair of the format for an index; further seats repeat the chairs. */
export function chairOf(format, index) {
  const chairs = format?.chairs ?? [];
  if (chairs[index]) return chairs[index];
  const debaters = chairs.filter((chair) => chair.role === 'debater');
  const chair = debaters[index % (debaters.length || 1)];
  if (!chair) return { name: `Seat ${index + 1}`, position: index % 2 ? 'against' : 'for' };
  return { ...chair, name: `${chair.name} ${Math.floor(index / debaters.length) + 1}` };
}

export const nameOf = (setup, format, index) => setup.seats[index].name.trim() || chairOf(format, index).name;
const sideOf = (setup, format, index) => setup.seats[index].position || chairOf(format, index).position;

/** The setup in another format, with its number of seats unless the user has changed that number. */
export function inFormat(setup, before, format) {
  const seatCount = before && setup.seats.length !== before.chairs.length ? setup.seats.length : format.chairs.length;
  const count = Math.min(Math.max(seatCount, format.minParticipants), format.maxParticipants);
  const seats = Array.from({ length: count }, (_, index) => setup.seats[index] ?? emptySeat(index));
  const maxRounds = format.scripted ? format.rounds : Math.min(setup.config.maxRounds, format.maxRounds);
  return { ...setup, format: format.name, seats, config: { ...setup.config, maxRounds, opens: '' } };
}

/** All seats change sides. Two seats change chairs, which keep their colours. */
export function swapped(setup, format) {
  const sides = setup.seats.map((_, index) => sideOf(setup, format, index));
  if (setup.seats.length === 2 && sides[0] !== sides[1]) {
    const [one, other] = setup.seats;
    return { ...setup, seats: [moved(other, one), moved(one, other)] };
  }
  const turned = { for: 'against', against: 'for', neutral: 'neutral' };
  return { ...setup, seats: setup.seats.map((seat, index) => ({ ...seat, position: turned[sides[index]] })) };
}

const moved = (seat, chair) => ({ ...seat, position: chair.position, color: chair.color });

// --- to the server and back -------------------------------------------------------------------------------

/** The body of the request. Every seat and judge has its model: see `withModels`. */
export function bodyOf(setup, format) {
  const [judge, ...judges] = setup.judges.map((one, index) => judgeBody(one, index, setup.judges.length));
  const participants = setup.seats.map((seat, index) =>
    seatBody(seat, nameOf(setup, format, index), sideOf(setup, format, index)),
  );
  return {
    topic: setup.topic.trim(),
    format: setup.format,
    participants,
    judge,
    ...(judges.length && { judges }),
    config: configBody(setup.config),
  };
}

function seatBody(seat, name, position) {
  const person = seat.model === PERSON;
  return {
    name,
    position,
    model: choice(seat.model, seat),
    color: seat.color,
    ...filledIn(seat, 'persona', 'objective', 'systemPrompt'),
    ...(person && seat.standIn && { standIn: choice(seat.standIn) }),
  };
}

/** The items of a comma-separated text, each once. */
export const criteriaOf = (judge) =>
  [...new Set(judge.criteria.split(',').map((one) => one.trim()).filter(Boolean))];

function judgeBody(judge, index, count) {
  const criteria = criteriaOf(judge);
  const isWeighed = ([name, weight]) => weight !== null && criteria.includes(name);
  const weights = criteria.length > 1 ? Object.entries(judge.weights ?? {}).filter(isWeighed) : [];
  return {
    name: judge.name.trim() || (count > 1 ? `Judge ${index + 1}` : 'Judge'),
    model: choice(judge.model, judge),
    ...(criteria.length && { evaluationCriteria: criteria }),
    ...(weights.length && { weights: Object.fromEntries(weights) }),
  };
}

/** `provider/name`; the name may contain slashes. */
function choice(label, { temperature = null, maxTokens = null } = {}) {
  const at = label.indexOf('/');
  const model = { provider: label.slice(0, at), modelId: label.slice(at + 1) };
  if (label === PERSON) return model;
  return { ...model, ...(temperature !== null && { temperature }), ...(maxTokens !== null && { maxTokens }) };
}

const filledIn = (from, ...names) =>
  Object.fromEntries(names.filter((name) => from[name].trim()).map((name) => [name, from[name]]));

function configBody({ audience, voteBefore, voteSeconds, tools = [], ...config }) {
  const body = {};
  for (const [name, value] of Object.entries(config)) if (value !== '' && value !== null) body[name] = value;
  if (tools.length) body.tools = tools;
  if (audience) body.polls = { before: voteBefore, ...(voteSeconds && { seconds: voteSeconds }) };
  return body;
}

export const labelOf = (model) => `${model.provider}/${model.modelId}`;

/** The setup from the body of an earlier request. */
export function setupOf(body, settings) {
  const label = (model) => (model ? labelOf(model) : '');
  const { polls, ...config } = body.config ?? {};
  const more = (model) => ({ temperature: model?.temperature ?? null, maxTokens: model?.maxTokens ?? null });
  const judges = [body.judge, ...(body.judges ?? [])].filter(Boolean);
  return tidied({
    topic: body.topic,
    format: body.format,
    seats: body.participants.map((seat) => ({
      ...seat, ...more(seat.model), model: label(seat.model), standIn: label(seat.standIn),
    })),
    judges: judges.map((judge) => ({
      ...judge, ...more(judge.model), model: label(judge.model),
      criteria: (judge.evaluationCriteria ?? []).join(', '), weights: judge.weights ?? null,
    })),
    config: {
      costLimit: null, ...config,
      audience: Boolean(polls), voteBefore: polls?.before ?? true, voteSeconds: polls?.seconds ?? null,
    },
  }, settings);
}

// --- a link -----------------------------------------------------------------------------------------------

/** The address with the setup; private objectives and prompts only with `secrets`. */
export function linkOf(setup, secrets = false) {
  const seats = secrets ? setup.seats : setup.seats.map((seat) => ({ ...seat, objective: '', systemPrompt: '' }));
  const bytes = new TextEncoder().encode(JSON.stringify({ ...setup, seats }));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return `${location.origin}/#setup=${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** The setup in an address, or null. */
export function linked(hash, settings) {
  const encoded = /^#setup=([\w-]+)$/.exec(hash)?.[1];
  if (!encoded) return null;
  try {
    const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    return tidied(JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))), settings);
  } catch {
    return null;
  }
}

/** Values equal to the defaults of the chair are removed, so that another format or side brings its own. */
export function loosened(setup, format) {
  const seats = setup.seats.map((seat, index) => {
    const chair = chairOf(format, index);
    const unless = (name, own) => (seat[name] === own ? '' : seat[name]);
    return { ...seat, name: unless('name', chair.name), position: unless('position', chair.position) };
  });
  return { ...setup, seats };
}
