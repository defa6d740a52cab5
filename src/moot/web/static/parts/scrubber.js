// The strip of speeches as the way through a replay: each as long as it took, in the colour of its seat, filled
// up to where one is. Underneath is a real slider, so that it is dragged, focused and read out like one.

import { html, useMemo, useState } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';
import { clock } from '../lib/playback.js';

/** `time` is a signal; `colours`: seat -> hex; `label(mark)` says what is shown there. */
export function Scrubber({ film, time, colours, label, onSeek }) {
  const [over, setOver] = useState(null);
  const segments = useMemo(() => strip(film, colours), [film, colours]);
  const hover = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    setOver({ share, mark: film.markAt(share * film.duration), at: clock(share * film.duration) });
  };
  return html`<div class="scrubber" onPointerMove=${hover} onPointerLeave=${() => setOver(null)}>
    <div class="strip" aria-hidden="true">${segments}</div>
    <${Played} film=${film} time=${time} segments=${segments} />
    <${Slider} film=${film} time=${time} label=${label} onSeek=${onSeek} />
    ${over && html`<div class="over" aria-hidden="true" style=${`--at:${over.share}`}>
      <b class="numbers">${over.at}</b>${over.mark && html` <bdi>${label(over.mark)}</bdi>`}
    </div>`}
  </div>`;
}

function strip(film, colours) {
  const lanes = inLanes(film.marks);
  const share = (ms) => (film.duration ? ms / film.duration : 0).toFixed(5);
  return film.marks.map((mark, place) => {
    const span = `--from:${share(mark.at)};--long:${share(mark.end - mark.at)};${seatStyle(colours[mark.seat])}`;
    const [lane, seat] = [lanes.get(mark), mark.seat && ''];
    return html`<i key=${place} data-kind=${mark.kind} data-lane=${lane} data-seat=${seat} style=${span}></i>`;
  });
}

/** Speeches that are given at the same time share the height of the strip. */
function inLanes(marks) {
  const lanes = new Map();
  marks.forEach((mark, place) => {
    const before = marks[place - 1];
    if (before?.kind !== 'speech' || mark.kind !== 'speech' || mark.at >= before.end) return;
    if (!lanes.has(before)) lanes.set(before, 'upper');
    lanes.set(mark, lanes.get(before) === 'upper' ? 'lower' : 'upper');
  });
  return lanes;
}

function Played({ film, time, segments }) {
  const at = film.duration ? time.value / film.duration : 0;
  return html`<div class="played" aria-hidden="true" style=${`--at:${at}`}>
    <div class="strip">${segments}</div><b></b>
  </div>`;
}

function Slider({ film, time, label, onSeek }) {
  const mark = film.markAt(time.value);
  const text = `${clock(time.value)} of ${clock(film.duration)}${mark ? `, ${label(mark)}` : ''}`;
  return html`<input type="range" aria-label="Position in the debate" aria-valuetext=${text} min="0"
    max=${Math.ceil(film.duration)} step="1" value=${Math.round(time.value)}
    onInput=${(event) => onSeek(Number(event.target.value))} />`;
}
