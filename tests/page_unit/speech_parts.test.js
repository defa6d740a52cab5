import assert from 'node:assert/strict';
import { test } from 'node:test';
import { share, stretches } from '../../src/moot/web/static/lib/speech_parts.js';

const words = (end) => ({ kind: 'words', end });
const thoughts = (end) => ({ kind: 'thoughts', end });
const tool = (id) => ({ kind: 'tool', id });

test('a speech without tools is one open stretch', () => {
  assert.deepEqual(stretches([]), [{ thoughts: [0, undefined], words: [0, undefined], tools: [] }]);
});

test('whatever comes after a tool begins a stretch of its own, and so do thoughts after words', () => {
  const found = stretches([thoughts(4), words(9), tool('a'), tool('b'), words(12), thoughts(6), tool('c')]);
  assert.deepEqual(
    found.map((one) => [one.thoughts, one.words, one.tools.map(({ id }) => id)]),
    [
      [[0, 4], [0, 9], ['a', 'b']],
      [[4, 4], [9, 12], []],
      [[4, 6], [12, 12], ['c']],
      [[6, undefined], [12, undefined], []],
    ],
  );
});

test('a stretch has its own share of the words, and all of them have all', () => {
  const speech = { parts: [words(6), tool('a')], text: '🙂 one\n\ntwo', reasoning: 'Hm.' };
  assert.equal(share(speech, 0, 'words'), '🙂 one');
  assert.equal(share(speech, 1, 'words'), 'two');
  assert.equal(share(speech, 1, 'thoughts'), 'Hm.');
  assert.equal(share(speech, 2, 'words'), '');
  assert.equal(share(undefined, 0, 'words'), '');
});
