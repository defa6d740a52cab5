// What a debate tells those who do not look at the page: screen readers (who begins, who has finished, the verdict;
// never the words of a speech), the title and icon of the tab, and a notice to a person whose turn it is.

import { effect, signal, useEffect } from '../../vendor/preact.js';
import { readable } from './seats.js';
import { announce } from './ui.js';

export function useAnnouncements(debate) {
  useEffect(() => {
    let before = null;
    return effect(() => {
      const now = debate.at('now').value;
      if (before) {
        const news = changes(debate, before, now).join(' ');
        if (news) announce(news);
      }
      before = now;
    });
  }, [debate]);
}

/** While the last speech is being finished, a debate is not paused yet. */
const isPaused = (now) => now.state === 'paused' && !now.pausing;

function changes(debate, before, now) {
  const { seats } = debate.at('about').peek();
  const turn = (number) => debate.at('turns', number).peek();
  const name = (number) => seats.find((seat) => seat.id === turn(number)?.seat)?.name;
  const ended = before.speaking.filter((number) => !now.speaking.includes(number));
  const begun = now.speaking.filter((number) => !before.speaking.includes(number));
  const announcements = [
    ...ended.map((number) => `${name(number)} has finished.`),
    ...begun.map((number) => `${name(number)} begins: ${turn(number)?.title}.`),
  ];
  if (now.phase !== before.phase && begun.length === 0 && now.speaking.length === 0) announcements.push(`${now.phase}.`);
  if (now.pausing && !before.pausing) announcements.push('Pauses after this speech.');
  if (isPaused(now) && !isPaused(before)) announcements.push('Paused.');
  if (now.trouble && !before.trouble) announcements.push(`${now.trouble.title}.`);
  return announcements;
}

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

export function useTitle(debate) {
  useEffect(() => {
    const stop = effect(() => {
      const shown = state(debate);
      document.title = `${shown.text} · ${debate.at('about').value.motion} · Moot`;
      icon(MARKS[shown.mark](readable(shown.colour, 'light')));
    });
    return () => {
      stop();
      put(PLAIN);
    };
  }, [debate]);
}

/** The state of the debate for the tab: mark, text and colour. */
function state(debate) {
  const now = debate.at('now').value;
  const { seats } = debate.at('about').value;
  const seatOf = (turn) => debate.at('turns', turn).peek()?.seat;
  const speakers = now.speaking.map((turn) => seats.find((seat) => seat.id === seatOf(turn)));
  const colour = speakers[0]?.color;
  if (yourTurn.value) return { mark: 'yours', text: 'Your turn', colour };
  if (now.trouble) return { mark: 'wrong', text: now.trouble.title };
  if (now.endedAt && !now.beingJudged) return { mark: 'over', text: now.phase };
  if (now.beingJudged || now.state === 'judge_evaluating') return { mark: 'judging', text: 'Judging' };
  if (isPaused(now)) return { mark: 'paused', text: 'Paused' };
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

const yourTurn = signal(false);
/** granted, denied or default; unknown if the browser has no notifications. */
export const permission = signal(globalThis.Notification?.permission ?? 'unknown');

/** Called on a click only, so that the user knows why the browser asks. */
export async function permit() {
  permission.value = await Notification.requestPermission();
}

let shown = null;

export function callUp(what, motion) {
  yourTurn.value = true;
  announce(`It is your turn: ${what}.`);
  // Browsers refuse it before the first input of the user.
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
  if (permission.value !== 'granted' || document.hasFocus()) return;
  try {
    shown = new Notification('It is your turn', { body: `${what}: ${motion}`, tag: 'moot-turn', silent: true });
    shown.onclick = () => {
      focus();
      shown?.close();
    };
  } catch {
    // On phones only service workers may show notifications.
  }
}

export function callOff() {
  yourTurn.value = false;
  shown?.close();
  shown = null;
}
