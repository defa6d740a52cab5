// The arena in the browser: the frame around every page, and the way from one to the next.

import { html, render, useEffect, useLayoutEffect, useState } from '../vendor/preact.js';
import { LOCKED, tokens } from './lib/api.js';
import { keepFocus } from './lib/keep_focus.js';
import * as keys from './lib/keyboard.js';
import { dress } from './lib/preferences.js';
import * as router from './lib/router.js';
import { Announcer, Failed, Sheet, Toasts } from './lib/ui.js';
import { Door } from './parts/login.js';

const WITHOUT_FRAME = new Set(['stage']);
const NAMED = { space: 'Space', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };

function App() {
  const at = router.place.value;
  const [asked, ask] = useState(false);
  const [locked, lock, entered] = useDoor();
  keys.useKeys('Everywhere', {
    '?': ['Show these keys', () => ask(true)],
    n: ['New debate', () => router.go('/')],
    h: ['Debates held so far', () => router.go('/debates')],
  });
  const page = html`<${Page} key=${`${at.page}/${at.id}/${entered}`} at=${at} />`;
  return html`
    ${WITHOUT_FRAME.has(at.page) ? page : html`<${Frame} at=${at} onAsk=${() => ask(true)}>${page}<//>`}
    <${Toasts} /><${Announcer} />
    ${asked && html`<${KeySheet} onClose=${() => ask(false)} />`}
    ${locked && html`<${Door} onIn=${() => lock(false, at.id)} onClose=${() => lock(true)} />`}
  `;
}

/** Whether the server wants a token, what to call when it has one or somebody gives up, and how often one came in. */
function useDoor() {
  const [[locked, entered], set] = useState([false, 0]);
  useEffect(() => {
    const lock = () => set(([, times]) => [true, times]);
    addEventListener(LOCKED, lock);
    return () => removeEventListener(LOCKED, lock);
  }, []);
  const leave = (outside, debate) => {
    // An invitation that counts no longer must not be shown again in place of the token.
    if (!outside && debate) tokens.invite(debate, '');
    set(([, times]) => [false, times + !outside]);
  };
  return [locked, leave, entered];
}

const WAYS = [['/', 'Start'], ['/debates', 'Debates'], ['/statistics', 'Statistics'], ['/settings', 'Settings']];

function Frame({ at, onAsk, children }) {
  const link = ([path, name]) =>
    html`<a key=${path} href=${path} aria-current=${location.pathname === path ? 'page' : undefined}>${name}</a>`;
  return html`
    <a class="skip" href="#main">To the debate</a>
    <header class="top" data-page=${at.page}>
      <a class="brand" href="/">moot</a>
      <nav aria-label="Moot">${WAYS.map(link)}</nav>
      <div class="end" id="end"></div>
      <button type="button" class="ask" aria-label="Keys" title="Keys" aria-keyshortcuts="?" onClick=${onAsk}>?</button>
    </header>
    ${children}
  `;
}

/** Loads the module of a page when somebody goes there. */
function Page({ at }) {
  const [page, show] = useState(null);
  // Every stylesheet counts on its own pages alone: those of the page before are still there.
  useLayoutEffect(() => {
    document.documentElement.dataset.page = at.page;
  }, []);
  useEffect(() => {
    document.title = `${at.title} · Moot`;
    const failed = (error) => show(() => () => Unloaded(error));
    import(`./pages/${at.page}.js`).then((module) => show(() => module.default), failed);
  }, []);
  useArrival();
  return page ? html`<${page} id=${at.id} at=${at} />` : html`<main id="main" class="wide" aria-busy="true"></main>`;
}

let isFirst = true;

/** Whoever comes from another page begins at the heading of this one, as soon as there is something to read. */
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
  <${Failed} error=${{ message: `This page could not be loaded: ${error.message}` }} again=${() => location.reload()} />
</main>`;

const hasKeys = (group) => Object.keys(group.keys).length > 0;

function KeySheet({ onClose }) {
  return html`<${Sheet} title="Keys" class="keys" onClose=${onClose}>
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

dress();
router.listen();
keys.listen();
keepFocus(document.getElementById('app'));
render(html`<${App} />`, document.getElementById('app'));
