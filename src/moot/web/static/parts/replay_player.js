// A debate that plays again: the floor as it was, and one bar under it to go through it with.

import { html, useComputed, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { useKeys } from '../lib/keyboard.js';
import { clock, SPEEDS } from '../lib/playback.js';
import { isStill, kept } from '../lib/preferences.js';
import { Projector } from '../lib/playback_clock.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { announce } from '../lib/ui.js';
import { Floor } from './transcript.js';
import { Scrubber } from './scrubber.js';

await Promise.all([ensureStyle('live'), ensureStyle('verdict'), ensureStyle('replay')]);

const LITTLE = 5000;
const NEAR = 160;
const speed = kept('speed', 1);

/**
 * `start`: ms to begin at, or null. `id`: of the debate, where there is a server to ask. `onTurn(turn)` is told
 * where one has jumped to. Children stand at the end of the bar.
 */
export function Player({ film, id, start, onTurn, children }) {
  const [projector] = useState(() => new Projector(film, speed));
  const { room, time } = projector;
  useState(() => {
    if (start) projector.show(start);
  });
  useScreen(projector);
  const follow = useFollow();
  const told = useRef(null);
  const seek = (ms) => {
    follow();
    projector.show(ms);
    const turn = film.markAt(time.peek())?.turn ?? null;
    // Whoever drags goes through a speech in a hundred steps.
    if (turn !== told.current) onTurn?.((told.current = turn));
  };
  const jump = (step) => (event) => seek(event.shiftKey ? time.peek() + step * LITTLE : film.jump(time.peek(), step));
  const toggle = () => {
    follow();
    projector.toggle();
  };
  useKeys('Replay', {
    space: ['Play or pause', toggle],
    ArrowLeft: ['Speech before (with Shift: five seconds)', jump(-1)],
    ArrowRight: ['Next speech (with Shift: five seconds)', jump(1)],
    Home: ['To the start', () => seek(0)],
    End: ['To the end', () => seek(film.duration)],
    '+': ['Faster', () => projector.faster(1)],
    '-': ['Slower', () => projector.faster(-1)],
  });
  useEffect(() => {
    if (!isStill()) projector.play();
    return () => projector.pause();
  }, []);
  const over = useComputed(() => time.value >= film.duration);
  useEffect(() => over.subscribe((is) => is && announce('The replay is over.')), []);
  return html`
    <${Floor} room=${room} id=${id} onPick=${(turn) => seek(film.startOf(turn))} />
    <${Bar} projector=${projector} seek=${seek} jump=${jump} toggle=${toggle}>${children}<//>
  `;
}

function Bar({ projector, seek, jump, toggle, children }) {
  const { film, room, time } = projector;
  const about = room.at('about').value;
  const seats = about?.seats ?? [];
  const colours = useMemo(() => Object.fromEntries(seats.map((seat) => [seat.id, seat.color])), [about?.seats]);
  const names = Object.fromEntries(seats.map((seat) => [seat.id, seat.name]));
  const label = (mark) => said(mark, names);
  return html`<div class="bar player" role="region" aria-label="Replay">
    <div class="keys-row">
      <${Key} label="Speech before" shortcut="ArrowLeft" onClick=${jump(-1)}>${BACK}<//>
      <${Toggle} projector=${projector} onClick=${toggle} />
      <${Key} label="Next speech" shortcut="ArrowRight" onClick=${jump(1)}>${ON}<//>
    </div>
    <div class="way">
      <${Where} projector=${projector} label=${label} />
      <${Scrubber} film=${film} time=${time} colours=${colours} label=${label} onSeek=${seek} />
    </div>
    <${Speed} projector=${projector} />
    ${children}
  </div>`;
}

const APART = { judging: 'The judges weigh it', verdict: 'Verdict' };
const said = (mark, names) => APART[mark.kind] ?? `${mark.title}, ${names[mark.seat] ?? ''}`;

const Key = ({ label, shortcut, kind = 'plain', onClick, children }) =>
  html`<button type="button" class="btn ${kind}" aria-label=${label} aria-keyshortcuts=${shortcut} onClick=${onClick}>
    ${children}
  </button>`;

function Toggle({ projector, onClick }) {
  const { playing } = projector;
  const what = playing.value ? 'Pause' : projector.ended ? 'Play again' : 'Play';
  const sign = playing.value ? PAUSE : PLAY;
  return html`<${Key} label=${what} shortcut="Space" kind="main play" onClick=${onClick}>${sign}<//>`;
}

function Where({ projector, label }) {
  const { film, time } = projector;
  const mark = film.markAt(time.value);
  const speeches = film.marks.filter((one) => one.kind === 'speech');
  const nth = speeches.indexOf(mark) + 1;
  return html`<p class="where numbers">
    <span class="what">
      <bdi>${mark ? label(mark) : 'The start'}</bdi>
      ${nth > 0 && html`<span class="soft"> · ${nth} of ${speeches.length}</span>`}
    </span>
    <span class="soft"><span class="elapsed">${clock(time.value)}</span> / ${clock(film.duration)}</span>
  </p>`;
}

function Speed({ projector }) {
  const pick = (event) => (projector.speed.value = Number(event.target.value));
  return html`<label class="speed"><span class="visually-hidden">Speed</span>
    <select class="field numbers" value=${projector.speed.value} onChange=${pick}>
      ${SPEEDS.map((times) => html`<option key=${times} value=${times}>${times}×</option>`)}
    </select>
  </label>`;
}

/** Moves the film on with every picture of the screen, while it plays. */
function useScreen(projector) {
  useEffect(() => {
    let asked = 0;
    const next = (now) => {
      projector.tick(now);
      if (projector.playing.peek()) asked = requestAnimationFrame(next);
    };
    const leave = projector.playing.subscribe((playing) => {
      cancelAnimationFrame(asked);
      if (playing) asked = requestAnimationFrame(next);
    });
    return () => {
      cancelAnimationFrame(asked);
      leave();
    };
  }, []);
}

/** Keeps the end in sight while the text grows, until somebody scrolls away from it. */
function useFollow() {
  const following = useRef(true);
  useEffect(() => {
    const root = document.documentElement;
    const heed = () => (following.current = root.scrollHeight - innerHeight - scrollY < NEAR);
    const watcher = new ResizeObserver(() => following.current && toTheEnd());
    watcher.observe(document.body);
    addEventListener('scroll', heed, { passive: true });
    return () => {
      watcher.disconnect();
      removeEventListener('scroll', heed);
    };
  }, []);
  return () => {
    following.current = true;
    requestAnimationFrame(toTheEnd);
  };
}

/** The end of the speech; where there is a verdict, its beginning. */
function toTheEnd() {
  const verdict = document.getElementById('verdict');
  if (verdict) verdict.scrollIntoView({ block: 'start' });
  else scrollTo(0, document.documentElement.scrollHeight);
}

const icon = (path) => html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="currentColor">
  <path d=${path} />
</svg>`;
const PLAY = icon('M4 2.5v11l9.5-5.5z');
const PAUSE = icon('M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z');
const BACK = icon('M3 3h1.6v10H3zM13 3v10L5.5 8z');
const ON = icon('M11.4 3H13v10h-1.6zM3 3v10l7.5-5z');
