// What is folded away until somebody wants it. It unfolds by itself where something inside needs a look, and
// never folds up under one's hands.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';

export function Fold({ summary, needed = false, class: kind = '', children }) {
  const fold = useRef();
  useLayoutEffect(() => {
    if (needed) fold.current.open = true;
  }, [needed]);
  return html`<details class="fold ${kind}" ref=${fold}>
    <summary>${summary}</summary>
    <div class="inside">${children}</div>
  </details>`;
}
