// The page's own modules in Node, as one tab uses them: they watch one debate of a running server. Called with the
// address of the server, the id of a debate and a word. Prints `ready` when the view has come, and once the word has
// come as well, the functions that ran from then on: `[[file, function], ...]`, in no order.

import { get } from 'node:http';
import { Session } from 'node:inspector';
import { promisify } from 'node:util';

const [origin, debateId, word] = process.argv.slice(2);
const STATIC = new URL('../../src/moot/web/static/', import.meta.url);

/** What the page uses of a WebSocket, to read: Node 18 and 20 have none. The server sends text in whole frames. */
class WebSocket {
  constructor(url) {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'MTIzNDU2Nzg5MDEyMzQ1Ng==' };
    get(String(url).replace(/^ws/, 'http'), { headers }).on('upgrade', (_reply, socket, rest) => {
      this.socket = socket;
      this.onopen?.({});
      let bytes = rest;
      const take = (more) => {
        bytes = Buffer.concat([bytes, more]);
        for (let frame; (frame = firstFrame(bytes)); bytes = bytes.subarray(frame.end)) {
          if (frame.text) this.onmessage?.({ data: bytes.toString('utf8', frame.start, frame.end) });
        }
      };
      socket.on('data', take);
      take(Buffer.alloc(0));
    });
  }

  close() {
    this.socket?.destroy();
  }
}

/** Where the first frame of a server begins and ends, if it has come whole. */
function firstFrame(bytes) {
  if (bytes.length < 2) return null;
  const short = bytes[1] & 127;
  const start = { 126: 4, 127: 10 }[short] ?? 2;
  if (bytes.length < start) return null;
  const length = start === 2 ? short : start === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return bytes.length < start + length ? null : { start, end: start + length, text: (bytes[0] & 15) === 1 };
}

Object.assign(globalThis, {
  WebSocket,
  location: new URL(origin),
  addEventListener() {},
  localStorage: { getItem: () => null },
  sessionStorage: { getItem: () => null },
});

const { watch } = await import(new URL('lib/watch_debate.js', STATIC));
const { debate } = watch(debateId);
const session = new Session();
session.connect();
const ask = promisify(session.post.bind(session));
await ask('Profiler.enable');

const text = () => Object.values(debate.view.turns ?? {}).map((turn) => turn.text).join('');

while (!text()) await new Promise((next) => setTimeout(next, 10));
await new Promise((next) => setTimeout(next, 300));
await ask('Profiler.startPreciseCoverage', { callCount: true });
console.log('ready');
while (!text().includes(word)) await new Promise((next) => setTimeout(next, 10));

const { result } = await ask('Profiler.takePreciseCoverage');
const steps = result
  .filter(({ url }) => url.startsWith(STATIC))
  .flatMap(({ url, functions }) =>
    functions
      .filter(({ functionName, ranges }) => functionName && ranges[0].count)
      .map(({ functionName }) => [`web/static/${url.slice(STATIC.href.length)}`, functionName]),
  );
console.log(JSON.stringify(steps));
process.exit(0);
