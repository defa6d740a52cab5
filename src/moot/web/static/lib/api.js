// Asking the server. A refusal becomes a `Trouble`, which says in words what is wrong and what to do next.

const TOKEN = 'moot.token';
/** Happens to the window when the server wants a token, or another one. */
export const LOCKED = 'moot:locked';

export class Trouble extends Error {
  constructor(problem, status) {
    super(problem.detail || problem.title || 'The server did not answer.');
    this.status = status;
    this.kind = (problem.type ?? '').split('/').pop();
    this.errors = problem.errors ?? {};
    this.retryAfter = problem.retryAfter ?? null;
  }
}

class Unreachable extends Trouble {
  constructor() {
    super({ detail: 'The server cannot be reached. Is it still running?' }, 0);
  }
}

export const tokens = {
  /** The token for this debate: an invitation to it, or one's own. */
  for(debate) {
    return (debate && sessionStorage.getItem(`moot.invited.${debate}`)) || localStorage.getItem(TOKEN) || '';
  },
  own: () => localStorage.getItem(TOKEN) ?? '',
  keep(token) {
    if (token) localStorage.setItem(TOKEN, token);
    else localStorage.removeItem(TOKEN);
  },
  invite(debate, token) {
    sessionStorage.setItem(`moot.invited.${debate}`, token);
  },
};

/**
 * `debate`: whose token counts; `once`: doing it again does nothing; `raw`: the reply itself; `quiet`: a locked door
 * is no news; `signal` and `keepalive` as fetch has them.
 */
export async function ask(method, path, body, { debate, signal, once, raw, keepalive, quiet } = {}) {
  const headers = {};
  const token = tokens.for(debate ?? /\/debates\/([^/?]+)/.exec(path)?.[1]);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (once) headers['Idempotency-Key'] = newKey();
  let reply;
  try {
    reply = await fetch(`/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      keepalive,
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Unreachable();
  }
  if (reply.status === 401 && !quiet) dispatchEvent(new Event(LOCKED));
  if (!reply.ok) throw new Trouble(await reply.json().catch(() => ({})), reply.status);
  if (raw) return reply;
  return reply.status === 204 ? null : reply.json();
}

/** Not a UUID: these a browser makes for https and for this machine alone. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');
}

export const get = (path, more) => ask('GET', path, undefined, more);
export const post = (path, body, more) => ask('POST', path, body ?? {}, more);
export const put = (path, body, more) => ask('PUT', path, body ?? {}, more);
export const remove = (path, more) => ask('DELETE', path, undefined, more);
