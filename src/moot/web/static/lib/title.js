// The state of a debate in the tab of the browser: the title says who speaks, and the icon shows it from afar.

import { effect, useEffect } from '../../vendor/preact.js';
import { readable } from './colour.js';
import { yourTurn } from './turn_alert.js';

const PLAIN = '/static/moot.svg';
const GREY = '#6b655b';
const disc = (colour) => `<circle cx="16" cy="16" r="15" fill="${colour}"/>`;
const lines = (path, width = 3) =>
  `<path d="${path}" fill="none" stroke="#fff" stroke-width="${width}" stroke-linecap="round"/>`;
const MARKS = {
  speaking: (colour) => disc(colour) + lines('M9 12h14M9 17h14M9 22h8'),
  yours: (colour) => `<rect width="32" height="32" rx="6" fill="${colour}"/>${lines('M16 7v12M16 25v.1', 4)}`,
  paused: () => disc(GREY) + lines('M12 10v12M20 10v12', 4),
  judging: () => disc(GREY) + lines('M16 8v16M8 12h16M8 12l-2 7h4zM24 12l-2 7h4z', 2),
  over: () => disc(GREY) + lines('M9 16l5 5 9-10'),
  wrong: () => disc('#a3242b') + lines('M16 8v10M16 24v.1', 4),
};

export function useTitle(room) {
  useEffect(() => {
    const stop = effect(() => {
      const shown = state(room);
      document.title = `${shown.text} · ${room.at('about').value.motion} · Moot`;
      icon(MARKS[shown.mark](readable(shown.colour, 'light')));
    });
    return () => {
      stop();
      put(PLAIN);
    };
  }, [room]);
}

/** What is going on, as a tab shows it. */
export function state(room) {
  const now = room.at('now').value;
  const { seats } = room.at('about').value;
  const seatOf = (turn) => room.at('turns', turn).peek()?.seat;
  const speakers = now.speaking.map((turn) => seats.find((seat) => seat.id === seatOf(turn)));
  const colour = speakers[0]?.color;
  if (yourTurn.value) return { mark: 'yours', text: 'Your turn', colour };
  if (now.trouble) return { mark: 'wrong', text: now.trouble.title };
  if (now.endedAt && !now.beingJudged) return { mark: 'over', text: now.phase };
  if (now.beingJudged || now.state === 'judge_evaluating') return { mark: 'judging', text: 'Judging' };
  if (now.state === 'paused') return { mark: 'paused', text: 'Paused' };
  const names = speakers.map((seat) => seat?.name).join(' and ');
  return { mark: 'speaking', text: names ? `${names}: ${now.phase}` : now.phase, colour };
}

function icon(mark) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}</svg>`;
  put(`data:image/svg+xml,${encodeURIComponent(svg)}`);
}

function put(href) {
  const link = document.querySelector('link[rel=icon]');
  if (link && link.getAttribute('href') !== href) link.href = href;
}
