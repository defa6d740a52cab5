// Requests to the server. A refusal becomes an `ApiError`, which says what is wrong and what to do next.

const TOKEN = 'moot.token';
/** The window event for a missing or invalid token. */
export const LOCKED = 'moot:locked';

class ApiError extends Error {
  constructor(problem, status) {
    super(problem.detail || problem.title || problem.error || 'The server did not answer.');
    this.status = status;
    this.kind = (problem.type ?? '').split('/').pop();
    this.errors = problem.errors ?? {};
    this.retryAfter = problem.retryAfter ?? null;
  }
}

class Unreachable extends ApiError {
  constructor() {
    super({ detail: 'The server cannot be reached. Check that it is running, then try again.' }, 0);
  }
}

export const tokens = {
  /** The token for this debate: an invitation to it, or the user's own token. */
  for(debate) {
    return (debate && sessionStorage.getItem(`moot.invited.${debate}`)) || localStorage.getItem(TOKEN) || '';
  },
  own: () => localStorage.getItem(TOKEN) ?? '',
  keep(token) {
    if (token) localStorage.setItem(TOKEN, token);
    else localStorage.removeItem(TOKEN);
  },
  invited: (debate) => Boolean(debate && sessionStorage.getItem(`moot.invited.${debate}`)),
  invite(debate, token) {
    sessionStorage.setItem(`moot.invited.${debate}`, token);
  },
};

/**
 * `debate`: the debate whose token is sent; `once`: with an idempotency key; `raw`: return the response itself;
 * `quiet`: no event for a 401; `signal` and `keepalive` as in fetch.
 */
async function ask(method, path, body, { debate, signal, once, raw, keepalive, quiet, base = '/api/v1' } = {}) {
  const headers = {};
  const token = tokens.for(debate ?? /\/debates\/([^/?]+)/.exec(path)?.[1]);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (once) headers['Idempotency-Key'] = newKey();
  let reply;
  try {
    reply = await fetch(`${base}${path}`, {
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
  if (!reply.ok) throw new ApiError(await reply.json().catch(() => ({})), reply.status);
  if (raw) return reply;
  return reply.status === 204 ? null : reply.json();
}

/** Not a UUID: browsers make those on https and localhost only. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');
}

export const get = (path, more) => ask('GET', path, undefined, more);
export const post = (path, body, more) => ask('POST', path, body ?? {}, more);
export const put = (path, body, more) => ask('PUT', path, body ?? {}, more);
/** A request to one of the older APIs. */
export const outside = (path, { method = 'GET', body, ...more } = {}) => ask(method, path, body, { ...more, base: '/api' });
export const remove = (path, more) => ask('DELETE', path, undefined, more);

/** Whether this provider answers at its address now. */
export async function answers(provider, signal) {
  return (await get(`/providers/${provider}/reachable`, { signal, quiet: true })).reachable;
}

const KEPT_MS = 60_000;

/** `form`: markdown, html, json, or replay (the standalone page). */
export const transcript = (id, form, reasoning) =>
  get(`/debates/${id}/transcript?format=${form}&reasoning=${reasoning}`, { raw: true });

const ENDINGS = { markdown: 'md', html: 'html', json: 'json', replay: 'replay.html' };

/** Saves the debate as a file that is named after its motion. */
export async function save(id, motion, form, reasoning) {
  const reply = await transcript(id, form, reasoning);
  return saveAs(await reply.blob(), `${slugOf(motion) || id}.${ENDINGS[form]}`);
}

const MOST_OF_A_NAME = 60;

/** "This house would ban zoos!" becomes this-house-would-ban-zoos; letters of every script are kept. */
export function slugOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const slug = words.join('-');
  if (slug.length <= MOST_OF_A_NAME) return slug;
  const whole = slug.slice(0, MOST_OF_A_NAME + 1).lastIndexOf('-');
  return slug.slice(0, whole > 0 ? whole : MOST_OF_A_NAME);
}

/** Saves a reply as a file, under the name that the server gives it or else `name`. */
export async function saveReply(reply, name) {
  const named = /filename="([^"]+)"/.exec(reply.headers.get('content-disposition') ?? '')?.[1];
  return saveAs(await reply.blob(), named ?? name);
}

function saveAs(file, name) {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}
