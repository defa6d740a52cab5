// Rates in words: an interval is named only where it has a width.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords } from '../../src/moot/web/static/parts/win_rates.js';

test('a rate is told with its interval', () => {
  assert.equal(inWords(0.62, { low: 0.41, high: 0.79 }), '62 %, between 41 and 79 %');
});

test('an interval without a width is left out', () => {
  assert.equal(inWords(1, { low: 1, high: 1 }), '100 %');
  assert.equal(inWords(1, null), '100 %');
  assert.equal(inWords(null, null), 'nothing decided');
});
