// The motion as the headline of a page. A long one is set smaller.

import { html } from '../../vendor/preact.js';

/** '', middling, long or huge. */
export function sizeOf(motion) {
  const length = [...motion].length;
  return length > 280 ? 'huge' : length > 140 ? 'long' : length > 70 ? 'middling' : '';
}

/** `over`: what stands above it, small. Children stand below. */
export const Headline = ({ motion, over, children }) => html`<header class="motion ${sizeOf(motion)}">
  <p class="overline">${over}</p>
  <h1 tabindex="-1" dir="auto">${motion}</h1>
  ${children}
</header>`;
