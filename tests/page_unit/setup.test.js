// The setup of a new debate: what the form begins with, and what is sent of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { bodyOf, fresh, setupOf } from '../../src/moot/web/static/lib/setup.js';

const SETTINGS = [
  { name: 'teaBreak', kind: 'switch', default: true },
  { name: 'quiet', kind: 'switch', default: false },
];
const FORMAT = { chairs: [{ name: 'For', position: 'for' }, { name: 'Against', position: 'against' }] };

test('a switch begins as it is by default, is sent as it was set, and comes back so', () => {
  const setup = fresh(SETTINGS);
  const { teaBreak, quiet } = setup.config;
  assert.deepEqual([teaBreak, quiet], [true, false]);
  const body = bodyOf({ ...setup, config: { ...setup.config, teaBreak: false, quiet: true } }, FORMAT);
  assert.deepEqual(body.config, { teaBreak: false, quiet: true });
  const again = setupOf(body, SETTINGS).config;
  assert.deepEqual([again.teaBreak, again.quiet], [false, true]);
  assert.equal(setupOf({ ...body, config: {} }, SETTINGS).config.teaBreak, true);
});
