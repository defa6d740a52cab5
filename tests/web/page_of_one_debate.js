// The page's own modules in Node, as one tab uses them: they watch one debate of a running server. Called with the
// address of the server, the id of a debate and a word. Prints `ready` when the view has come, and once the word has
// come as well, the functions that ran from then on: `[[file, function], ...]`, in no order.

import { Session } from 'node:inspector/promises';

const [origin, debateId, word] = process.argv.slice(2);
const STATIC = new URL('../../src/moot/web/static/', import.meta.url);

Object.assign(globalThis, {
  location: new URL(origin),
  addEventListener() {},
  localStorage: { getItem: () => null },
  sessionStorage: { getItem: () => null },
});

const { watch } = await import(new URL('lib/watch_debate.js', STATIC));
const { debate } = watch(debateId);
const session = new Session();
session.connect();
await session.post('Profiler.enable');

const text = () => Object.values(debate.view.turns ?? {}).map((turn) => turn.text).join('');

while (!text()) await new Promise((next) => setTimeout(next, 10));
await new Promise((next) => setTimeout(next, 300));
await session.post('Profiler.startPreciseCoverage', { callCount: true });
console.log('ready');
while (!text().includes(word)) await new Promise((next) => setTimeout(next, 10));

const { result } = await session.post('Profiler.takePreciseCoverage');
const steps = result
  .filter(({ url }) => url.startsWith(STATIC))
  .flatMap(({ url, functions }) =>
    functions
      .filter(({ functionName, ranges }) => functionName && ranges[0].count)
      .map(({ functionName }) => [`web/static/${url.slice(STATIC.href.length)}`, functionName]),
  );
console.log(JSON.stringify(steps));
process.exit(0);
