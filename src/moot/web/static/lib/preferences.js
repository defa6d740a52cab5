// Preferences kept in this browser (theme, motion, how a debate is watched), and whether the window is wide.

import { effect, signal } from '../../vendor/preact.js';

export const theme = storedSignal('theme', 'auto');
export const motion = storedSignal('motion', 'auto');
export const reasoning = storedSignal('reasoning', 'shown');
/** Whether this browser has set up a debate before. */
export const returning = storedSignal('returning', false);

export function storedSignal(name, fallback) {
  const key = `moot.${name}`;
  let start = fallback;
  try {
    start = JSON.parse(localStorage.getItem(key)) ?? fallback;
  } catch {
    // Written by another program; it is overwritten.
  }
  const value = signal(start);
  let first = true;
  effect(() => {
    const now = JSON.stringify(value.value);
    if (!first) localStorage.setItem(key, now);
    first = false;
  });
  return value;
}

export function applyPreferences() {
  effect(() => {
    const root = document.documentElement;
    root.toggleAttribute('data-still', motion.value === 'reduced');
    if (theme.value === 'auto') delete root.dataset.theme;
    else root.dataset.theme = theme.value;
  });
}

export const isStill = () => motion.peek() === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;

const query = matchMedia('(min-width: 70rem)');
export const wide = signal(query.matches);
query.addEventListener('change', () => (wide.value = query.matches));
