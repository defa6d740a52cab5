// The connection to one debate: a snapshot of its view, then its changes over a WebSocket. It reconnects by itself
// from the last change, and reports its state. It runs in the shared worker, or else in the page.

import { fold } from './apply_frame.js';

const PAUSES = [300, 700, 1500, 3000, 5000];
const REVOKED = 4401;
/** A connection that was lost sooner, in ms, does not reset the delay between attempts. */
const STEADY = 5000;

export class DebateSocket {
  /** `tell(kind, ...)`: view (view, seq, me), frame (frame), line (state, problem). */
  constructor({ debate, seat, token, origin, tell }) {
    Object.assign(this, { debate, seat, token, origin, tell });
    this.view = null;
    this.seq = 0;
    this.me = null;
    this.state = 'connecting';
    this.failures = 0;
    this.opened = Infinity;
    this.closed = false;
    this.#go();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  /** Try again now: the network is back, or the page is visible again. */
  hurry() {
    if (this.timer) {
      clearTimeout(this.timer);
      this.timer = null;
      this.#go();
    }
  }

  async #go() {
    this.timer = null;
    try {
      if (this.view === null) await this.#look();
      if (!this.closed) await this.#open();
    } catch (problem) {
      this.#fail(problem);
    }
  }

  async #look() {
    const shape = await this.#ask('GET', `view${this.seat ? `?as=${this.seat}` : ''}`);
    if (this.closed) return;
    this.view = shape.view;
    this.seq = shape.seq;
    this.me = shape.me;
    this.tell('view', this.view, this.seq, this.me);
  }

  async #open() {
    const query = new URLSearchParams({ view: 'true', after: this.seq });
    if (this.seat) query.set('as', this.seat);
    if (this.token) query.set('ticket', (await this.#ask('POST', 'tickets')).ticket);
    // It may have been closed meanwhile.
    if (this.closed) return;
    const url = new URL(`/api/v1/debates/${this.debate}/ws?${query}`, this.origin);
    url.protocol = url.protocol.replace('http', 'ws');
    this.opened = Infinity;
    const socket = (this.socket = new WebSocket(url));
    socket.onopen = () => {
      this.opened = Date.now();
      this.#say('live');
    };
    socket.onmessage = (message) => this.#hear(JSON.parse(message.data));
    socket.onclose = (event) => this.#left(event.code);
  }

  #hear({ event, data }) {
    if (event === 'error') return this.#end('gone', data);
    if (event || !data?.ops || data.seq <= this.seq) return undefined;
    this.view = fold(this.view, data);
    this.seq = data.seq;
    return this.tell('frame', data);
  }

  #left(code) {
    if (this.closed || this.state === 'gone') return;
    if (Date.now() - this.opened > STEADY) this.failures = 0;
    if (code === REVOKED) this.#end('denied', { detail: 'Your token counts no longer.' });
    else this.#fail();
  }

  #fail(problem) {
    if (this.closed) return;
    if (problem?.status === 404) return void this.#end('gone', problem);
    if (problem?.status === 401 || problem?.status === 403) return void this.#end('denied', problem);
    // The server has fewer events than we have seen: a backup was restored.
    if (problem?.status === 409 || this.failures > 1) this.view = null;
    this.#say('lost');
    this.timer = setTimeout(() => this.#go(), PAUSES[Math.min(this.failures++, PAUSES.length - 1)]);
  }

  #end(state, problem) {
    this.closed = true;
    this.#say(state, problem);
    this.socket?.close();
  }

  #say(state, problem = null) {
    this.state = state;
    const details = problem && { status: problem.status ?? 0, detail: problem.detail ?? problem.message ?? '' };
    this.tell('line', state, details);
  }

  async #ask(method, what) {
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const reply = await fetch(new URL(`/api/v1/debates/${this.debate}/${what}`, this.origin), { method, headers });
    const shape = await reply.json().catch(() => ({}));
    if (!reply.ok) throw Object.assign(new Error(shape.detail), { status: reply.status, detail: shape.detail });
    return shape;
  }
}
