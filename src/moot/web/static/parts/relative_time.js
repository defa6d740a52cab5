// A moment as people say it ("3 hours ago"), with the exact time for those who point at it.

import { html } from '../../vendor/preact.js';

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
