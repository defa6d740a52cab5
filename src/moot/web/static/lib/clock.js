// Times: a signal that ticks once a second for all who show it, durations, and how long ago something was.

import { html, signal, useEffect, useState } from '../../vendor/preact.js';

/** The current time, to the second; it ticks while a component shows it. */
const now = signal(Date.now());
let lookers = 0;
let timer = null;

const beat = () => (now.value = Date.now());

export function useNow() {
  useEffect(() => {
    if (lookers++ === 0) timer = setInterval(beat, 1000);
    beat();
    return () => --lookers === 0 && clearInterval(timer);
  }, []);
  return now.value;
}

/** Renders the component again so often, while it is shown. */
export function useBeat(milliseconds) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

/** 0.8 s, 12 s: a duration in milliseconds. */
export const seconds = (duration) => `${duration < 9950 ? (duration / 1000).toFixed(1) : Math.round(duration / 1000)} s`;

/** 0:41, 12:05. */
export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const STEPS = [
  ['year', 31_536_000], ['month', 2_592_000], ['week', 604_800], ['day', 86_400], ['hour', 3600], ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' });

function ago(moment, now = Date.now()) {
  const seconds = (new Date(moment) - now) / 1000;
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? [null, 1];
  return unit ? relative.format(Math.trunc(seconds / size), unit) : 'just now';
}

export const When = ({ at }) => html`<time datetime=${at} title=${exact.format(new Date(at))}>${ago(at)}</time>`;
