// The stage: one debate for a projector or a stream. No frame, no mouse, no controls but a few that come when
// somebody reaches for them. `?transparent=1` leaves out the background, for a source in a video mixer.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { useKeys } from '../lib/keyboard.js';
import { kept } from '../lib/preferences.js';
import { go } from '../lib/router.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Failed, announce } from '../lib/ui.js';
import { watch } from '../lib/watch_debate.js';
import { StageView } from '../parts/stage_view.js';

await ensureStyle('stage');

const QUIET = 2500;
const light = kept('stage', 'dark');

export default function Stage({ id, at }) {
  const [{ room, leave }] = useState(() => watch(id));
  useEffect(() => leave, []);
  const idle = useIdle();
  const back = () => (document.fullscreenElement ? document.exitFullscreen() : go(`/debate/${id}`));
  const turn = () => (light.value = light.peek() === 'dark' ? 'light' : 'dark');
  useKeys('Stage', { f: ['Full screen', fill], d: ['Dark or light', turn], Escape: ['Back to the debate', back] });
  useTold(room);
  const clear = at.query.get('transparent') === '1';
  const kind = `stage ${clear ? 'clear' : ''} ${idle ? 'idle' : ''}`;
  return html`<main id="main" class=${kind} data-light=${light.value}>
    ${room.ready.value ? html`<${StageView} room=${room} />` : html`<${Waiting} room=${room} />`}
    <div class="tools" role="toolbar" aria-label="Stage">
      <button class="btn plain" aria-keyshortcuts="f" onClick=${fill}>Full screen<kbd>F</kbd></button>
      <button class="btn plain" aria-keyshortcuts="d" onClick=${turn}>
        ${light.value === 'dark' ? 'Light' : 'Dark'}<kbd>D</kbd>
      </button>
      <a class="btn plain" href=${`/debate/${id}`}>Back<kbd>Esc</kbd></a>
    </div>
    <${Line} room=${room} />
  </main>`;
}

function fill() {
  // Refused where a page may not: a frame, a source in a video mixer. There is nothing to say about it.
  const done = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.();
  done?.catch(() => {});
}

function Waiting({ room }) {
  const problem = room.trouble.value;
  return html`<h1 tabindex="-1" class="visually-hidden">Stage</h1>
    ${problem && html`<div class="scene">
      <${Failed} error=${{ message: problem.detail || 'This debate cannot be shown.' }} />
    </div>`}`;
}

function Line({ room }) {
  const lost = room.ready.value && room.line.value === 'lost';
  return lost && html`<p class="line" role="status">Reconnecting…</p>`;
}

/** Whether the mouse has been still for a while. */
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

/** The title, and what a screen reader is told. */
function useTold(room) {
  const about = room.ready.value ? room.at('about').value : null;
  const phase = room.ready.value ? room.at('now').value.phase : '';
  useEffect(() => {
    if (!about) return;
    document.title = `${phase} · ${about.motion} · Moot`;
    announce(phase);
  }, [about?.motion, phase]);
}
