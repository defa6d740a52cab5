// The connection to one debate for any number of tabs: each gets a snapshot of the view, then the changes, which come
// over a WebSocket. It keeps no view itself: each tab applies the changes. It reconnects by itself from the last
// change, and reports its state. It runs in the shared worker, or else in the page.

const PAUSES = [300, 700, 1500, 3000, 5000];
const REVOKED = 4401;
/** A connection that was lost sooner, in ms, does not reset the delay between attempts. */
const STEADY = 5000;

export class DebateSocket {
  /** The tabs, each with the changes that came while its view is on the way; null once it has a view. */
  #tabs = new Map();

  /** `notify(kind, ...)`, for the first tab: view (view, seq, me), frame (frame), line (state, problem). */
  constructor({ debate, seat, token, origin, notify }) {
    Object.assign(this, { debate, seat, token, origin });
    this.#tabs.set(notify, []);
    /** The last change; null while no tab has a view that can be continued. */
    this.seq = null;
    this.state = 'connecting';
    this.failures = 0;
    this.opened = Infinity;
    this.closed = false;
    this.#go();
  }

  /** Adds another tab. */
  join(notify) {
    this.#tabs.set(notify, []);
    notify('line', this.state, null);
    if (this.state === 'live') this.#welcome();
  }

  /** Closes the connection with its last tab. */
  leave(notify) {
    this.#tabs.delete(notify);
    if (this.#tabs.size === 0) this.close();
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
      if (this.seq === null) await this.#look();
      if (!this.closed) await this.#open();
    } catch (problem) {
      this.#fail(problem);
    }
  }

  /** Gives the view to the tabs that wait for it. */
  async #look() {
    const waiting = this.#waiting();
    const known = this.seq;
    const { view, seq, me } = await this.#ask('GET', `view${this.seat ? `?as=${this.seat}` : ''}`);
    if (this.closed) return;
    // A tab would miss the changes between this view and the first that it was given.
    if (known !== null && seq < known) throw new Error('an older view');
    this.seq ??= seq;
    for (const [notify, early] of waiting) {
      if (this.#tabs.get(notify) !== early) continue;
      this.#tabs.set(notify, null);
      notify('view', view, seq, me);
      for (const frame of early) if (frame.seq > seq) notify('frame', frame);
    }
  }

  #waiting() {
    return [...this.#tabs].filter(([, early]) => early);
  }

  /** Gives the view to tabs that came later, while the changes go on. */
  async #welcome() {
    try {
      await this.#look();
    } catch {
      // Reconnecting tries again, and tells the tabs what is wrong.
      this.socket.close();
    }
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
      if (this.#waiting().length) this.#welcome();
    };
    socket.onmessage = (message) => this.#onMessage(JSON.parse(message.data));
    socket.onclose = (event) => this.#left(event.code);
  }

  #onMessage({ event, data }) {
    if (event === 'error') return this.#end('gone', data);
    if (event || !data?.ops || data.seq <= this.seq) return undefined;
    this.seq = data.seq;
    for (const [notify, early] of this.#tabs) {
      if (early) early.push(data);
      else notify('frame', data);
    }
    return undefined;
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
    if (problem?.status === 409 || this.failures > 1) this.#restart();
    this.#say('lost');
    this.timer = setTimeout(() => this.#go(), PAUSES[Math.min(this.failures++, PAUSES.length - 1)]);
  }

  /** The next attempt begins with a new view for all tabs. */
  #restart() {
    this.seq = null;
    for (const notify of this.#tabs.keys()) this.#tabs.set(notify, []);
  }

  #end(state, problem) {
    this.closed = true;
    this.#say(state, problem);
    this.socket?.close();
  }

  #say(state, problem = null) {
    this.state = state;
    const details = problem && { status: problem.status ?? 0, detail: problem.detail ?? problem.message ?? '' };
    for (const notify of this.#tabs.keys()) notify('line', state, details);
  }

  async #ask(method, what) {
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const reply = await fetch(new URL(`/api/v1/debates/${this.debate}/${what}`, this.origin), { method, headers });
    const shape = await reply.json().catch(() => ({}));
    if (!reply.ok) throw Object.assign(new Error(shape.detail), { status: reply.status, detail: shape.detail });
    return shape;
  }
}
