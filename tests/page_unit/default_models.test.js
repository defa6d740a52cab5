// Which models a new debate has, which motions suit them, and what a format is said to do.

import assert from 'node:assert/strict';
import test from 'node:test';
import { soleModel, usableModels, withModels } from '../../src/moot/web/static/lib/default_models.js';
import { formatSummary } from '../../src/moot/web/static/lib/format_summary.js';
import { MOTIONS, examples, surprise } from '../../src/moot/web/static/lib/motions.js';
import { PERSON, fresh } from '../../src/moot/web/static/lib/setup.js';

const SETTINGS = [{ name: 'winningCondition', kind: 'choice', default: 'ai-judge' }];

const row = (label, more = {}) => {
  const [provider, ...name] = label.split('/');
  const price = { inputPerMillion: 1, outputPerMillion: 5 };
  const modelId = name.join('/');
  return { provider, modelId, available: true, small: false, local: false, recommended: true, price, ...more };
};
const tiny = row('local/tiny', { small: true, local: true, price: { inputPerMillion: 0, outputPerMillion: 0 } });

test('two sides have different models and a third one judges', () => {
  const models = [row('openai/luna'), row('anthropic/haiku'), row('google/flash'), row('xai/grok', { available: false }), tiny];
  const { seats, judges } = withModels(fresh(SETTINGS), { models, usual: 'openai/luna' });
  assert.deepEqual([...seats, ...judges].map((one) => one.model), ['openai/luna', 'anthropic/haiku', 'google/flash']);
});

test('one key brings a second model of the same service at nearly the same price', () => {
  const dear = row('openai/astra', { recommended: false, price: { inputPerMillion: 10, outputPerMillion: 50 } });
  const near = row('openai/nova', { recommended: false, price: { inputPerMillion: 1, outputPerMillion: 6 } });
  const models = [row('openai/luna'), dear, near, row('groq/nova', { available: false })];
  assert.deepEqual(usableModels({ models, usual: 'openai/luna' }), ['openai/luna', 'openai/nova']);
});

test('a model that two services offer is one model', () => {
  const models = [row('groq/openai/oss'), row('openrouter/openai/oss')];
  assert.deepEqual(usableModels({ models, usual: 'groq/openai/oss' }), ['groq/openai/oss']);
});

test('a very small model is used only where there is nothing else, and then argues against itself', () => {
  assert.deepEqual(usableModels({ models: [tiny, row('ollama/llama', { local: true })], usual: 'local/tiny' }), ['ollama/llama']);
  const alone = withModels(fresh(SETTINGS), { models: [tiny], usual: 'local/tiny' });
  assert.deepEqual(soleModel(alone), { model: 'local/tiny', judges: true });
  const [first, second] = alone.seats;
  assert.equal(soleModel({ ...alone, seats: [first, { ...second, model: PERSON }] }), null);
});

test('a chosen model stays', () => {
  const setup = fresh(SETTINGS);
  setup.seats[1].model = 'scripted/elm';
  const { seats } = withModels(setup, { models: [], usual: 'scripted/oak' });
  assert.deepEqual(seats.map((seat) => seat.model), ['scripted/oak', 'scripted/elm']);
});

test('a very small model is offered simple motions only', () => {
  const simple = new Set(MOTIONS.filter((motion) => motion.level === 'simple').map((motion) => motion.text));
  for (let dice = 0; dice < 1; dice += 0.02) assert.ok(simple.has(surprise(true, '', () => dice)));
  assert.ok(examples(true, MOTIONS[0].text).every((text) => simple.has(text) && text !== MOTIONS[0].text));
});

test('a summary promises an audience only where there is one', () => {
  const summary = 'Openings and closings; where there is an audience, it asks questions. Where an audience votes, it decides.';
  const phase = { speaksAs: '', member: 1, speaker: 'each', team: '' };
  const format = { summary, result: 'swing', chairs: [{}, {}], phases: [phase] };
  const setup = fresh(SETTINGS);
  assert.equal(formatSummary(format, setup), 'Openings and closings. The judges decide.');
  setup.config.winningCondition = 'audience';
  assert.equal(
    formatSummary(format, setup),
    'Openings and closings; the audience asks questions. The side that wins over more of the audience wins.',
  );
});
