// The clock on the wall: one beat a second for all who look at it, and times as they are read.

import { signal, useEffect } from '../../vendor/preact.js';

/** The time now, to the second; it runs while somebody looks. */
export const now = signal(Date.now());
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

/** 0:41, 12:05. */
export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
