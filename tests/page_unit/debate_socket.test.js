import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { DebateSocket } from '../../src/moot/web/static/lib/debate_socket.js';

/** A server that answers when it is told to, and the sockets that were opened to it. */
function house() {
  const asked = [];
  const sockets = [];
  globalThis.fetch = (url) =>
    new Promise((answer) => {
      asked.push({ path: url.pathname, answer: (shape) => answer({ ok: true, json: async () => shape }) });
    });
  globalThis.WebSocket = class {
    constructor(url) {
      this.url = url;
      sockets.push(this);
    }

    close() {
      this.closed = true;
    }
  };
  return { asked, sockets };
}

const { fetch: fetching, WebSocket: socketing } = globalThis;
afterEach(() => Object.assign(globalThis, { fetch: fetching, WebSocket: socketing }));

const soon = () => new Promise((next) => setImmediate(next));
const call = { debate: 'd', seat: null, token: 'secret', origin: 'http://127.0.0.1' };

const hear = (socket, seq) =>
  socket.onmessage({ data: JSON.stringify({ event: '', data: { seq, ops: [['add', ['said'], `${seq}`]] } }) });

/** The changes that were told. */
const seqs = (told) => told.filter(([kind]) => kind === 'frame').map(([, frame]) => frame.seq);

/** A line that is live after event 3. */
async function connected() {
  const { asked, sockets } = house();
  const notify = () => {};
  const line = new DebateSocket({ ...call, notify });
  asked[0].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  asked[1].answer({ ticket: 't' });
  await soon();
  sockets[0].onopen();
  return { asked, line, notify, socket: sockets[0] };
}

test('whoever leaves before the line stands leaves nothing open behind them', async () => {
  const { asked, sockets } = house();
  const told = [];
  const line = new DebateSocket({ ...call, notify: (...words) => told.push(words) });
  asked[0].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  assert.equal(asked[1].path, '/api/v1/debates/d/tickets');
  line.close();
  asked[1].answer({ ticket: 't' });
  await soon();
  assert.equal(sockets.length, 0);
  assert.deepEqual(told.map(([kind]) => kind), ['view']);
});

test('a line opens behind the view it has, hears each change once, and its token is in no address', async () => {
  const { asked, sockets } = house();
  const told = [];
  const line = new DebateSocket({ ...call, notify: (...words) => told.push(words) });
  asked[0].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  asked[1].answer({ ticket: 't' });
  await soon();
  const [socket] = sockets;
  assert.equal(socket.url.search, '?view=true&after=3&ticket=t');
  for (const seq of [3, 4, 4, 5]) hear(socket, seq);
  assert.deepEqual(seqs(told), [4, 5]);
  line.close();
  assert.ok(socket.closed);
});

test('a tab that joins later gets a view of its own, then every change after it once', async () => {
  const { asked, line, socket } = await connected();
  const told = [];
  line.join((...words) => told.push(words));
  await soon();
  assert.equal(asked[2].path, '/api/v1/debates/d/view');
  for (const seq of [4, 5, 6]) hear(socket, seq);
  asked[2].answer({ view: { now: {} }, seq: 5, me: {} });
  await soon();
  hear(socket, 7);
  assert.deepEqual(told.map(([kind]) => kind), ['line', 'view', 'frame', 'frame']);
  assert.deepEqual(seqs(told), [6, 7]);
});

test('a tab that joins while the line opens gets its view when the line stands', async () => {
  const { asked, sockets } = house();
  const [first, second] = [[], []];
  const line = new DebateSocket({ ...call, notify: (...words) => first.push(words) });
  line.join((...words) => second.push(words));
  asked[0].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  asked[1].answer({ ticket: 't' });
  await soon();
  sockets[0].onopen();
  hear(sockets[0], 4);
  asked[2].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  assert.deepEqual([seqs(first), seqs(second)], [[4], [4]]);
  line.close();
});

test('a view that is older than the changes that were passed on is not given to a tab', async () => {
  const { asked, line, socket } = await connected();
  const told = [];
  hear(socket, 4);
  line.join((...words) => told.push(words));
  await soon();
  asked[2].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  assert.deepEqual(told.map(([kind]) => kind), ['line']);
  assert.ok(socket.closed, 'the line is made again');
});

test('the line closes with its last tab', async () => {
  const { line, socket, notify } = await connected();
  const other = () => {};
  line.join(other);
  line.leave(notify);
  assert.ok(!socket.closed);
  line.leave(other);
  assert.ok(socket.closed);
});
