// What somebody prefers, kept in this browser: theme, motion, how a debate is watched.

import { effect, signal } from '../../vendor/preact.js';

export const theme = kept('theme', 'auto');
export const motion = kept('motion', 'auto');
export const reasoning = kept('reasoning', 'shown');

export function kept(name, fallback) {
  const key = `moot.${name}`;
  let start = fallback;
  try {
    start = JSON.parse(localStorage.getItem(key)) ?? fallback;
  } catch {
    // Somebody else wrote there; ours is written over it.
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

export function dress() {
  effect(() => {
    const root = document.documentElement;
    root.toggleAttribute('data-still', motion.value === 'reduced');
    if (theme.value === 'auto') delete root.dataset.theme;
    else root.dataset.theme = theme.value;
  });
}

export const isStill = () => motion.peek() === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;
