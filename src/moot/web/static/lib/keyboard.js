// Keyboard shortcuts. A component registers its keys while it is shown; `?` lists them all.

import { signal, useLayoutEffect, useRef } from '../../vendor/preact.js';

const FIELDS = 'input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]';

/** Groups of {title, keys: {key: [what it does, function]}}, the latest last. */
export const groups = signal([]);

export function useKeys(title, keys) {
  const group = useRef({ title, keys });
  group.current.keys = keys;
  // Before the first paint: a key may be pressed at once.
  useLayoutEffect(() => {
    const own = group.current;
    groups.value = [...groups.peek(), own];
    return () => (groups.value = groups.peek().filter((other) => other !== own));
  }, []);
}

export function listen() {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector('dialog[open]') || isTyping(event.target)) return;
    const key = event.key === ' ' ? 'space' : event.key;
    // Space and Enter press the focused button.
    if ((key === 'space' || key === 'Enter') && event.target.closest?.('button, a, summary, [role=button]')) return;
    for (const group of groups.peek().toReversed()) {
      const binding = group.keys[key];
      if (!binding) continue;
      event.preventDefault();
      binding[1](event);
      return;
    }
  });
}

/** A field of a dialog that was just closed keeps the focus until the next frame: nobody types there any more. */
function isTyping(element) {
  return Boolean(element?.closest?.(FIELDS)) && !element.closest('dialog:not([open])');
}
