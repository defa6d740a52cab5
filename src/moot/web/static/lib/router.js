// Addresses and pages. Links within the application load no new document.

import { signal } from '../../vendor/preact.js';
import { tokens } from './api.js';
import { pages } from './extensions.js';

const PAGES = [
  [/^\/$/, 'start', 'Start'],
  [/^\/debates$/, 'history', 'Debates'],
  [/^\/statistics$/, 'statistics', 'Statistics'],
  [/^\/settings$/, 'settings', 'Settings'],
  [/^\/debate\/(?<id>[^/]+)$/, 'live', 'Debate'],
  [/^\/debate\/(?<id>[^/]+)\/verdict$/, 'verdict', 'Verdict'],
  [/^\/debate\/(?<id>[^/]+)\/replay$/, 'replay', 'Replay'],
  [/^\/debate\/(?<id>[^/]+)\/inspect$/, 'inspect', 'Inspect'],
  [/^\/debate\/(?<id>[^/]+)\/stage$/, 'stage', 'Stage'],
];

/** Addresses of this server that are not pages of the application. */
const ELSEWHERE = /^\/(docs|manual|api)(\/|$)/;

export const route = signal(readRoute());

export function readRoute() {
  takeInvitation();
  for (const [pattern, page, title] of PAGES) {
    const match = pattern.exec(location.pathname);
    if (!match) continue;
    const query = new URLSearchParams(location.search);
    return { page, path: `static/pages/${page}.js`, title, id: match.groups?.id ?? null, query, hash: location.hash };
  }
  for (const [pattern, path, title] of pages) {
    const match = pattern.exec(location.pathname);
    if (!match) continue;
    const page = path.match(/([^/]+)\.js$/)[1];
    return { page, path, title, id: match.groups?.id ?? null, query: new URLSearchParams(location.search), hash: location.hash };
  }
  return { page: 'lost', path: 'static/pages/lost.js', title: 'Not found', id: null, query: new URLSearchParams(), hash: '' };
}

/** A link may end in #token=…, which browsers do not send: it is stored for this tab and removed. */
function takeInvitation() {
  const token = /^#token=([\w.~+/=-]+)$/.exec(location.hash)?.[1];
  const debate = /^\/debate\/([^/]+)/.exec(location.pathname)?.[1];
  if (!token || !debate) return;
  tokens.invite(debate, token);
  history.replaceState(null, '', location.pathname + location.search);
}

export function go(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  const next = readRoute();
  const moved = next.page !== route.value.page || next.id !== route.value.id;
  route.value = next;
  if (moved) scrollTo(0, 0);
}

export function listen() {
  addEventListener('popstate', () => {
    // An invitation was opened in the tab of the same debate: it replaces the identity.
    const invited = location.hash.startsWith('#token=');
    route.value = readRoute();
    if (invited) location.reload();
  });
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const there = new URL(link.href);
    if (there.origin !== location.origin || link.target || link.hasAttribute('download')) return;
    if (ELSEWHERE.test(there.pathname)) return;
    if (there.pathname === location.pathname && there.search === location.search && there.hash) return;
    event.preventDefault();
    go(there.pathname + there.search + there.hash);
  });
}
