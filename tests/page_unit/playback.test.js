import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVERY, Recording, LONGEST_SILENCE, TAIL, clock, playTimes, unpacked } from '../../src/moot/web/static/lib/playback.js';
import { EMPTY, fold } from '../../src/moot/web/static/lib/apply_frame.js';

const START = Date.parse('2026-01-01T12:00:00Z');
const frame = (ms, ...ops) => ({ seq: 0, at: new Date(START + ms).toISOString(), ops });
const numbered = (frames) => frames.map((one, place) => ({ ...one, seq: place + 1 }));

/** Two speeches one after the other, the bench, a verdict. */
function debate(words = 5) {
  const frames = [frame(0, ['put', [], { turns: {}, now: { beingJudged: false }, verdicts: {} }])];
  let at = 0;
  for (const turn of ['1', '2']) {
    frames.push(frame((at += 100), ['put', ['turns', turn], { seat: `s${turn}`, slot: 0, title: 'Opening', state: 'live', text: '' }]));
    for (let n = 0; n < words; n++) frames.push(frame((at += 50), ['add', ['turns', turn, 'text'], ` ${n}`]));
    frames.push(frame((at += 50), ['put', ['turns', turn, 'state'], 'completed']));
  }
  frames.push(frame((at += 100), ['put', ['now', 'beingJudged'], true]));
  frames.push(frame((at += 500), ['put', ['now', 'beingJudged'], false], ['put', ['verdicts', '0'], { winner: 's1' }]));
  return numbered(frames);
}

test('long silences are cut short, and a clock that runs backwards stands still', () => {
  const times = playTimes([frame(0), frame(500), frame(60_500), frame(60_000), frame(60_100)]);
  assert.deepEqual([...times], [0, 500, 500 + LONGEST_SILENCE, 500 + LONGEST_SILENCE, 600 + LONGEST_SILENCE]);
});

test('speeches that began in the same millisecond are jumped to one by one', () => {
  const began = (turn) => frame(0, ['put', ['turns', turn], { seat: 's', slot: 0, title: 'Opening', state: 'live', text: '' }]);
  const frames = [frame(0, ['put', [], { turns: {}, now: {}, verdicts: {} }]), began('1'), began('2')];
  const recording = new Recording(numbered(frames));
  const heard = (time) => Object.keys(recording.view(recording.count(time)).turns);
  assert.deepEqual(heard(0), []);
  assert.deepEqual(heard(recording.startOf('1')), ['1']);
  assert.equal(recording.jump(recording.startOf('1'), 1), recording.startOf('2'));
});

test('every point of a recording is what folding from the start gives', () => {
  const frames = debate(3 * EVERY);
  const recording = new Recording(frames);
  let view = EMPTY;
  frames.forEach((one, place) => {
    assert.deepEqual(recording.view(place), view);
    view = fold(view, one);
  });
  assert.deepEqual(recording.view(frames.length), view);
});

test('a seek folds no more frames than lie between two kept views', () => {
  let touched = 0;
  const frames = debate(5000).map((one) => Object.defineProperty({ ...one }, 'ops', { get: () => (touched++, one.ops) }));
  const recording = new Recording(frames);
  touched = 0;
  recording.view(frames.length - 3);
  assert.ok(touched <= EVERY);
});

test('marks tell speeches, the bench and the verdict with their spans', () => {
  const recording = new Recording(debate());
  assert.deepEqual(recording.marks.map(({ kind, turn, at, end }) => [kind, turn, at, end]), [
    ['speech', '1', 100, 400],
    ['speech', '2', 500, 800],
    ['judging', undefined, 900, 1400],
    ['verdict', undefined, 1400, 1400 + TAIL],
  ]);
  assert.equal(recording.startOf('2'), 500);
  assert.equal(recording.startOf('9'), null);
  assert.equal(recording.startOf(undefined), null);
});

test('jumps lead from mark to mark, and back to the start of the one being shown', () => {
  const recording = new Recording(debate());
  assert.equal(recording.jump(0, 1), 100);
  assert.equal(recording.jump(100, 1), 500);
  assert.equal(recording.jump(1400, 1), recording.duration);
  assert.equal(recording.jump(700, -1, 100), 500);
  assert.equal(recording.jump(550, -1, 100), 100);
  assert.equal(recording.jump(50, -1), 0);
  assert.equal(recording.markAt(50), null);
  assert.equal(recording.markAt(600).turn, '2');
});

test('frames at the same moment are shown together', () => {
  const recording = new Recording([frame(0), frame(0), frame(10), frame(10), frame(20)]);
  assert.deepEqual([0, 9, 10, 20, 9999].map((time) => recording.count(time)), [2, 2, 4, 5, 5]);
});

test('nothing at all can be shown, too', () => {
  const recording = new Recording([]);
  assert.deepEqual([recording.duration, recording.count(0), recording.view(0), recording.marks], [0, 0, EMPTY, []]);
});

test('a file keeps frames by their distance from the start', () => {
  const [first, second] = unpacked({ start: '2026-01-01T12:00:00Z', frames: [[0, []], [1500, [['put', [], 1]]]] });
  assert.deepEqual(first, { seq: 1, at: '2026-01-01T12:00:00.000Z', ops: [] });
  assert.deepEqual(second, { seq: 2, at: '2026-01-01T12:00:01.500Z', ops: [['put', [], 1]] });
});

test('times are said as on a clock', () => {
  assert.deepEqual([0, 59_999, 247_000, 3_661_000].map(clock), ['0:00', '0:59', '4:07', '1:01:01']);
});
