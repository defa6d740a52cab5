// The player of a replay: the transcript as it was, and a bar to move through it. The strip of speeches is filled
// up to the current time; under it is a real slider, so that it can be dragged, focused and read out.

import { html, useComputed, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { useKeys } from '../lib/keyboard.js';
import { RecordingPlayer, SPEEDS, clock, useScreen } from '../lib/playback.js';
import { isStill, storedSignal } from '../lib/preferences.js';
import { seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { announce } from '../lib/ui.js';
import { Transcript } from './transcript.js';

await Promise.all([ensureStyle('live'), ensureStyle('verdict'), ensureStyle('replay')]);

const LITTLE = 5000;
const NEAR = 160;
const speed = storedSignal('speed', 1);

/**
 * `start`: ms to begin at, or null. `id`: of the debate, if there is a server. `onTurn(turn)` is called after a
 * jump. Children are shown at the end of the bar.
 */
export function Player({ recording, id, start, onTurn, children }) {
  const [projector] = useState(() => new RecordingPlayer(recording, speed));
  const { debate, time } = projector;
  useState(() => {
    if (start) projector.show(start);
  });
  useScreen(projector);
  const follow = useFollow();
  const lastTurn = useRef(null);
  const seek = (ms) => {
    follow();
    projector.show(ms);
    const turn = recording.turnAt(time.peek());
    // Dragging passes through a speech in a hundred steps.
    if (turn !== lastTurn.current) onTurn?.((lastTurn.current = turn));
  };
  const jump = (step) => (event) => seek(event.shiftKey ? time.peek() + step * LITTLE : recording.jump(time.peek(), step));
  const toggle = () => {
    follow();
    projector.toggle();
  };
  useKeys('Replay', {
    space: ['Play or pause', toggle],
    ArrowLeft: ['Speech before (with Shift: five seconds)', jump(-1)],
    ArrowRight: ['Next speech (with Shift: five seconds)', jump(1)],
    Home: ['To the start', () => seek(0)],
    End: ['To the end', () => seek(recording.duration)],
    '+': ['Faster', () => projector.faster(1)],
    '-': ['Slower', () => projector.faster(-1)],
  });
  useEffect(() => {
    if (!isStill()) projector.play();
    return () => projector.pause();
  }, []);
  const over = useComputed(() => time.value >= recording.duration);
  useEffect(() => over.subscribe((is) => is && announce('The replay is over.')), []);
  return html`
    <${Transcript} debate=${debate} id=${id} onPick=${(turn) => seek(recording.startOf(turn))} />
    <${Bar} projector=${projector} seek=${seek} jump=${jump} toggle=${toggle}>${children}<//>
  `;
}

function Bar({ projector, seek, jump, toggle, children }) {
  const { recording, debate, time } = projector;
  const about = debate.at('about').value;
  const seats = about?.seats ?? [];
  const colours = useMemo(() => Object.fromEntries(seats.map((seat) => [seat.id, seat.color])), [about?.seats]);
  const names = Object.fromEntries(seats.map((seat) => [seat.id, seat.name]));
  const label = (mark) => labelOf(mark, names);
  return html`<div class="bar player" role="region" aria-label="Replay">
    <div class="keys-row">
      <${Key} label="Speech before" shortcut="ArrowLeft" onClick=${jump(-1)}>${BACK}<//>
      <${Toggle} projector=${projector} onClick=${toggle} />
      <${Key} label="Next speech" shortcut="ArrowRight" onClick=${jump(1)}>${ON}<//>
    </div>
    <div class="way">
      <${Where} projector=${projector} label=${label} />
      <${Scrubber} recording=${recording} time=${time} colours=${colours} label=${label} onSeek=${seek} />
    </div>
    <${Speed} projector=${projector} />
    ${children}
  </div>`;
}

const APART = { judging: 'The judges weigh it', verdict: 'Verdict' };
const labelOf = (mark, names) => APART[mark.kind] ?? `${mark.title}, ${names[mark.seat] ?? ''}`;

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
  const { recording, time } = projector;
  const mark = recording.markAt(time.value);
  const speeches = recording.marks.filter((one) => one.kind === 'speech');
  const nth = speeches.indexOf(mark) + 1;
  return html`<p class="where numbers">
    <span class="what">
      <bdi>${mark ? label(mark) : 'The start'}</bdi>
      ${nth > 0 && html`<span class="soft"> · ${nth} of ${speeches.length}</span>`}
    </span>
    <span class="soft"><span class="elapsed">${clock(time.value)}</span> / ${clock(recording.duration)}</span>
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

/** Keeps the end in view while the text grows, until the user scrolls away. */
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

/** The end of the speech, or the beginning of the verdict. */
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

/** `time` is a signal; `colours`: seat -> hex; `label(mark)` describes a mark. */
function Scrubber({ recording, time, colours, label, onSeek }) {
  const [over, setOver] = useState(null);
  const segments = useMemo(() => strip(recording, colours), [recording, colours]);
  const hover = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    setOver({ share, mark: recording.markAt(share * recording.duration), at: clock(share * recording.duration) });
  };
  return html`<div class="scrubber" onPointerMove=${hover} onPointerLeave=${() => setOver(null)}>
    <div class="strip" aria-hidden="true">${segments}</div>
    <${Played} recording=${recording} time=${time} segments=${segments} />
    <${Slider} recording=${recording} time=${time} label=${label} onSeek=${onSeek} />
    ${over && html`<div class="over" aria-hidden="true" style=${`--at:${over.share}`}>
      <b class="numbers">${over.at}</b>${over.mark && html` <bdi>${label(over.mark)}</bdi>`}
    </div>`}
  </div>`;
}

function strip(recording, colours) {
  const lanes = inLanes(recording.marks);
  const share = (ms) => (recording.duration ? ms / recording.duration : 0).toFixed(5);
  return recording.marks.map((mark, index) => {
    const span = `--from:${share(mark.at)};--long:${share(mark.end - mark.at)};${seatStyle(colours[mark.seat])}`;
    const [lane, seat] = [lanes.get(mark), mark.seat && ''];
    return html`<i key=${index} data-kind=${mark.kind} data-lane=${lane} data-seat=${seat} style=${span}></i>`;
  });
}

/** Simultaneous speeches share the height of the strip. */
function inLanes(marks) {
  const lanes = new Map();
  marks.forEach((mark, index) => {
    const before = marks[index - 1];
    if (before?.kind !== 'speech' || mark.kind !== 'speech' || mark.at >= before.end) return;
    if (!lanes.has(before)) lanes.set(before, 'upper');
    lanes.set(mark, lanes.get(before) === 'upper' ? 'lower' : 'upper');
  });
  return lanes;
}

function Played({ recording, time, segments }) {
  const at = recording.duration ? time.value / recording.duration : 0;
  return html`<div class="played" aria-hidden="true" style=${`--at:${at}`}>
    <div class="strip">${segments}</div><b></b>
  </div>`;
}

function Slider({ recording, time, label, onSeek }) {
  const mark = recording.markAt(time.value);
  const text = `${clock(time.value)} of ${clock(recording.duration)}${mark ? `, ${label(mark)}` : ''}`;
  return html`<input type="range" aria-label="Position in the debate" aria-valuetext=${text} min="0"
    max=${Math.ceil(recording.duration)} step="1" value=${Math.round(time.value)}
    onInput=${(event) => onSeek(Number(event.target.value))} />`;
}
