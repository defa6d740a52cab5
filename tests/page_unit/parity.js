// Folds the frames of many logs and compares the view with the server's, by digest, wherever it has given one.
// Says nothing where all agree; else the first view that differs, as JSON, for the test to find the place.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fold } from '../../src/moot/web/static/lib/apply_frame.js';

const written = new WeakMap();

/** With sorted keys. What a fold leaves alone is the same object, and is written once. */
function canonical(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (!written.has(value)) written.set(value, Array.isArray(value) ? list(value) : record(value));
  return written.get(value);
}

function list(values) {
  return `[${values.map(canonical).join(',')}]`;
}

function record(value) {
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

function digest(view) {
  return createHash('sha1').update(canonical(view)).digest('hex');
}

function* pieces({ frames, digests, snapshots }) {
  yield { view: {}, frames, digests };
  for (const [seq, view] of snapshots) {
    yield { view, frames: frames.filter((frame) => frame.seq > seq), digests: digests.slice(-1) };
  }
}

function firstWrong({ view, frames, digests }) {
  let at = 0;
  for (const [seq, wanted] of digests) {
    while (at < frames.length && frames[at].seq <= seq) view = fold(view, frames[at++]);
    if (digest(view) !== wanted) return { seq, view };
  }
  return null;
}

for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const log = JSON.parse(line);
  for (const piece of pieces(log)) {
    const wrong = firstWrong(piece);
    if (!wrong) continue;
    process.stdout.write(JSON.stringify({ name: log.name, viewer: log.viewer, ...wrong }));
    process.exit(0);
  }
}
