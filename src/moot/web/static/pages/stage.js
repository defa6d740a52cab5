// The stage page: one debate for a projector or a stream. The pointer and the few controls are hidden until the
// mouse moves. `?transparent=1` leaves out the background, for video mixers.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { useKeys } from '../lib/keyboard.js';
import { storedSignal } from '../lib/preferences.js';
import { go } from '../lib/router.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Failed, announce } from '../lib/ui.js';
import { watch } from '../lib/watch_debate.js';
import { NoDebate, isMissing } from '../parts/not_found.js';
import { StageView } from '../parts/stage_view.js';

await ensureStyle('stage');

const QUIET = 2500;
const light = storedSignal('stage', 'dark');

export default function Stage({ id, at }) {
  const [{ debate, leave }] = useState(() => watch(id));
  useEffect(() => leave, []);
  const idle = useIdle();
  const back = () => (document.fullscreenElement ? document.exitFullscreen() : go(`/debate/${id}`));
  const turn = () => (light.value = light.peek() === 'dark' ? 'light' : 'dark');
  useKeys('Stage', { f: ['Full screen', fill], d: ['Dark or light', turn], Escape: ['Back to the debate', back] });
  useTold(debate);
  const clear = at.query.get('transparent') === '1';
  const kind = `stage ${clear ? 'clear' : ''} ${idle ? 'idle' : ''}`;
  if (isMissing(debate)) return html`<${NoDebate} debate=${debate} />`;
  return html`<main id="main" class=${kind} data-light=${light.value}>
    ${debate.ready.value ? html`<${StageView} debate=${debate} />` : html`<${Waiting} debate=${debate} />`}
    <div class="tools" role="toolbar" aria-label="Stage">
      <button class="btn plain" aria-keyshortcuts="f" onClick=${fill}>Full screen<kbd>F</kbd></button>
      <button class="btn plain" aria-keyshortcuts="d" onClick=${turn}>
        ${light.value === 'dark' ? 'Light' : 'Dark'}<kbd>D</kbd>
      </button>
      <a class="btn plain" href=${`/debate/${id}`}>Back<kbd>Esc</kbd></a>
    </div>
    <${Line} debate=${debate} />
  </main>`;
}

function fill() {
  // Refused in frames and video mixers; nothing needs to be reported.
  const done = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.();
  done?.catch(() => {});
}

function Waiting({ debate }) {
  const problem = debate.trouble.value;
  return html`<h1 tabindex="-1" class="visually-hidden">Stage</h1>
    ${problem && html`<div class="scene">
      <${Failed} error=${{ message: problem.detail || 'This debate cannot be shown.' }} />
    </div>`}`;
}

function Line({ debate }) {
  const lost = debate.ready.value && debate.connection.value === 'lost';
  return lost && html`<p class="line" role="status">Reconnecting…</p>`;
}

/** Whether the mouse has not moved for a while. */
function useIdle() {
  const [idle, setIdle] = useState(true);
  useEffect(() => {
    let timer = 0;
    const heed = () => {
      setIdle(false);
      clearTimeout(timer);
      timer = setTimeout(() => setIdle(true), QUIET);
    };
    addEventListener('pointermove', heed);
    addEventListener('pointerdown', heed);
    return () => {
      clearTimeout(timer);
      removeEventListener('pointermove', heed);
      removeEventListener('pointerdown', heed);
    };
  }, []);
  return idle;
}

/** The title of the tab and the announcements for screen readers. */
function useTold(debate) {
  const about = debate.ready.value ? debate.at('about').value : null;
  const phase = debate.ready.value ? debate.at('now').value.phase : '';
  useEffect(() => {
    if (!about) return;
    document.title = `${phase} · ${about.motion} · Moot`;
    announce(phase);
  }, [about?.motion, phase]);
}
