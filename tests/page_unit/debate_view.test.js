import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effect } from '../../src/moot/web/vendor/preact.js';
import { EMPTY, fold } from '../../src/moot/web/static/lib/apply_frame.js';
import { DebateView } from '../../src/moot/web/static/lib/debate_view.js';

const frame = (seq, ...ops) => ({ seq, at: '2026-01-05T12:00:00Z', ops });
const view = () => ({
  now: { status: 'debating' },
  money: { spent: '$0.01' },
  turns: { 1: { text: 'One' }, 2: { text: 'Two' } },
});

/** How often each of these has changed since. */
function counting(signals) {
  const counts = Object.fromEntries(Object.keys(signals).map((name) => [name, -1]));
  for (const [name, signal] of Object.entries(signals)) {
    effect(() => {
      void signal.value;
      counts[name]++;
    });
  }
  return counts;
}

function entered() {
  const debate = new DebateView();
  debate.enter(view(), 5);
  const counts = counting({
    now: debate.at('now'),
    money: debate.at('money'),
    turns: debate.keys('turns'),
    one: debate.at('turns', '1'),
    two: debate.at('turns', '2'),
  });
  return { debate, counts };
}

test('a word repaints its own speech and nothing else', () => {
  const { debate, counts } = entered();
  debate.apply(frame(6, ['add', ['turns', '2', 'text'], ' and']));
  assert.deepEqual(counts, { now: 0, money: 0, turns: 0, one: 0, two: 1 });
  assert.equal(debate.at('turns', '2').value.text, 'Two and');
  assert.equal(debate.seq, 6);
});

test('a new speech is a new key, and leaves the others alone', () => {
  const { debate, counts } = entered();
  debate.apply(frame(6, ['put', ['turns', '3'], { text: '' }], ['put', ['now', 'status'], 'paused']));
  assert.deepEqual(counts, { now: 1, money: 0, turns: 1, one: 0, two: 0 });
  assert.deepEqual(debate.keys('turns').value, ['1', '2', '3']);
  assert.equal(debate.at('turns', '3').value.text, '');
});

test('several changes of one event are seen at once', () => {
  const { debate, counts } = entered();
  debate.apply(frame(6, ['put', ['now', 'status'], 'paused'], ['put', ['now', 'open'], ['resume']]));
  assert.equal(counts.now, 1);
  assert.deepEqual(debate.at('now').value, { status: 'paused', open: ['resume'] });
});

test('a whole list or a whole view that is put anew reaches everybody who looks at it', () => {
  const { debate, counts } = entered();
  debate.apply(frame(6, ['put', ['turns'], { 2: { text: 'Again' } }]));
  assert.deepEqual(counts, { now: 0, money: 0, turns: 1, one: 1, two: 1 });
  assert.equal(debate.at('turns', '1').value, undefined);
  debate.apply(frame(7, ['put', [], view()]));
  assert.equal(debate.at('turns', '2').value.text, 'Two');
  assert.equal(counts.money, 1);
});

test('who asks before anything is known is told when it comes', () => {
  const debate = new DebateView();
  const turn = debate.at('turns', '1');
  const keys = debate.keys('turns');
  assert.equal(turn.value, undefined);
  assert.deepEqual(keys.value, []);
  debate.enter(view(), 5);
  assert.equal(turn.value.text, 'One');
  assert.deepEqual(keys.value, ['1', '2']);
  assert.equal(debate.ready.value, true);
});

test('folding changes nothing in place, and shares what was not touched', () => {
  const before = Object.freeze(view());
  const after = fold(before, frame(6, ['add', ['turns', '1', 'text'], '!'], ['put', ['polls', 'after'], { votes: 1 }]));
  assert.deepEqual(before, view());
  assert.equal(after.turns['1'].text, 'One!');
  assert.equal(after.turns['2'], before.turns['2']);
  assert.equal(after.now, before.now);
  assert.deepEqual(after.polls, { after: { votes: 1 } });
  assert.deepEqual(fold(EMPTY, frame(1, ['add', ['turns', '1', 'text'], 'a'])), { turns: { 1: { text: 'a' } } });
});

test('words and speakers move the clock of silence, and failed calls do not', () => {
  const { debate } = entered();
  const quiet = [
    ['put', ['turns', '2', 'trouble'], { text: 'Retrying 1/3…', tries: 1 }],
    ['put', ['turns', '2', 'attempt'], 2],
    ['put', ['turns', '2', 'text'], ''],
    ['put', ['money', 'spent'], '$0.02'],
    ['put', ['now', 'open'], ['skip']],
  ];
  const progress = [
    ['add', ['turns', '2', 'text'], ' and'],
    ['add', ['turns', '2', 'reasoning'], 'Hm.'],
    ['put', ['turns', '2', 'text'], 'Well'],
    ['put', ['turns', '3'], { text: '' }],
    ['put', ['now', 'status'], 'paused'],
  ];
  for (const [expected, ops] of [[0, quiet], [1, progress]]) {
    for (const op of ops) {
      debate.progressAt.value = 0;
      debate.apply(frame(debate.seq + 1, op));
      assert.equal(Number(debate.progressAt.value > 0), expected, JSON.stringify(op));
    }
  }
});
