// What of a speech changes only now and then: a signal that stays the same while nothing but its words grow.

import { useComputed, useRef } from '../../vendor/preact.js';

const GROWING = new Set(['text', 'reasoning']);

export function useSteady(source) {
  const last = useRef();
  return useComputed(() => {
    const next = source.value;
    if (!isSame(last.current, next)) last.current = next;
    return last.current;
  });
}

function isSame(one, other) {
  if (!one || !other) return one === other;
  for (const key in other) if (one[key] !== other[key] && !GROWING.has(key)) return false;
  return true;
}
