// The page in the browser: the frame around every page, navigation, and the login dialog.

import { html, render, useEffect, useLayoutEffect, useState } from '../vendor/preact.js';
import { LOCKED, tokens } from './lib/api.js';
import { keepFocus } from './lib/keep_focus.js';
import { modules } from './lib/extensions.js';
import * as keys from './lib/keyboard.js';
import { applyPreferences } from './lib/preferences.js';
import * as router from './lib/router.js';
import { Announcer, Failed, Dialog, Toasts } from './lib/ui.js';
import { Door } from './parts/login.js';

const WITHOUT_FRAME = new Set(['stage']);
const NAMED = { space: 'Space', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };

function App() {
  const at = router.route.value;
  const [keysShown, showKeys] = useState(false);
  const [locked, lock, entered] = useDoor();
  keys.useKeys('Everywhere', {
    '?': ['Show keyboard shortcuts', () => showKeys(true)],
    n: ['New debate', () => router.go('/')],
    h: ['All debates', () => router.go('/debates')],
  });
  const page = html`<${Page} key=${`${at.page}/${at.id}/${entered}`} at=${at} />`;
  return html`
    ${WITHOUT_FRAME.has(at.page) ? page : html`<${Frame} at=${at} onAsk=${() => showKeys(true)}>${page}<//>`}
    <${Toasts} /><${Announcer} />
    ${keysShown && html`<${KeySheet} onClose=${() => showKeys(false)} />`}
    ${locked && html`<${Door} debate=${at.id} onIn=${() => lock(false, at.id)} onClose=${() => lock(true)} />`}
  `;
}

/** Whether the server needs a token, the callbacks of the login dialog, and the number of logins so far. */
function useDoor() {
  const [[locked, entered], set] = useState([false, 0]);
  useEffect(() => {
    const lock = () => set(([, times]) => [true, times]);
    addEventListener(LOCKED, lock);
    return () => removeEventListener(LOCKED, lock);
  }, []);
  const leave = (outside, debate) => {
    // An invitation that is no longer valid must not be sent again instead of the token.
    if (!outside && debate) tokens.invite(debate, '');
    set(([, times]) => [false, times + !outside]);
  };
  return [locked, leave, entered];
}

const WAYS = [
  ['/', 'Start'], ['/debates', 'Debates'], ['/statistics', 'Statistics'],
  ...modules.filter(({ place }) => place === 'nav').map(({ address, title }) => [address, title]),
  ['/settings', 'Settings'],
];

function Frame({ at, onAsk, children }) {
  const current = (path) => {
    if (location.pathname === path) return 'page';
    return location.pathname.startsWith(`${path}/`) ? 'true' : undefined;
  };
  const link = ([path, name]) => html`<a key=${path} href=${path} aria-current=${current(path)}>${name}</a>`;
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="top" data-page=${at.page}>
      <a class="brand" href="/">moot</a>
      <nav aria-label="Moot">${WAYS.map(link)}</nav>
      <div class="end" id="end"></div>
      <button type="button" class="ask" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" aria-keyshortcuts="?" onClick=${onAsk}>?</button>
    </header>
    ${children}
  `;
}

/** Loads the module of a page when it is first opened. */
function Page({ at }) {
  const [page, show] = useState(null);
  // Rules are scoped to their page by this attribute: stylesheets of earlier pages are still loaded.
  useLayoutEffect(() => {
    document.documentElement.dataset.page = at.page;
  }, []);
  useEffect(() => {
    document.title = `${at.title} · Moot`;
    const failed = (error) => show(() => () => Unloaded(error));
    import(`/${at.path}`).then((module) => show(() => module.default), failed);
  }, []);
  useArrival();
  return page ? html`<${page} id=${at.id} at=${at} />` : html`<main id="main" class="wide" aria-busy="true"></main>`;
}

let isFirst = true;

/** After navigation the focus moves to the heading of the new page, as soon as it is there. */
function useArrival() {
  useEffect(() => {
    const opened = isFirst;
    isFirst = false;
    if (opened) return undefined;
    const watcher = new MutationObserver(() => arrive());
    const arrive = () => {
      const heading = document.querySelector('main:not([aria-busy=true]) h1');
      if (!heading) return;
      watcher.disconnect();
      if (document.activeElement === document.body) heading.focus({ preventScroll: true });
    };
    watcher.observe(document.getElementById('app'), { childList: true, subtree: true, attributeFilter: ['aria-busy'] });
    arrive();
    return () => watcher.disconnect();
  }, []);
}

const Unloaded = (error) => html`<main id="main" class="wide">
  <${Failed} error=${{ message: `This page could not be loaded. Check that the server is running, then try again. (${error.message})` }} again=${() => location.reload()} />
</main>`;

const hasKeys = (group) => Object.keys(group.keys).length > 0;

function KeySheet({ onClose }) {
  return html`<${Dialog} title="Keyboard shortcuts" class="keys" onClose=${onClose}>
    <div>${keys.groups.value.toReversed().filter(hasKeys).map(
      (group) => html`<section key=${group.title}>
        <h3>${group.title}</h3>
        <dl>${Object.entries(group.keys).map(
          ([key, [what]]) => html`<dt><kbd>${NAMED[key] ?? key}</kbd></dt><dd>${what}</dd>`,
        )}</dl>
      </section>`,
    )}</div>
  <//>`;
}

applyPreferences();
router.listen();
keys.listen();
keepFocus(document.getElementById('app'));
render(html`<${App} />`, document.getElementById('app'));
