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

test('whoever leaves before the line stands leaves nothing open behind them', async () => {
  const { asked, sockets } = house();
  const told = [];
  const line = new DebateSocket({ ...call, tell: (...words) => told.push(words) });
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
  const line = new DebateSocket({ ...call, tell: (...words) => told.push(words) });
  asked[0].answer({ view: { now: {} }, seq: 3, me: {} });
  await soon();
  asked[1].answer({ ticket: 't' });
  await soon();
  const [socket] = sockets;
  assert.equal(socket.url.search, '?view=true&after=3&ticket=t');
  for (const seq of [3, 4, 4, 5]) {
    socket.onmessage({ data: JSON.stringify({ event: '', data: { seq, ops: [['add', ['said'], `${seq}`]] } }) });
  }
  assert.deepEqual(line.view, { now: {}, said: '45' });
  line.close();
  assert.ok(socket.closed);
});
