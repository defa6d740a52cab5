// A link to hand on: shown, selected when somebody enters it, copied by one button.

import { html } from '../../vendor/preact.js';
import { Copy } from '../lib/ui.js';

const NEAR = /^(localhost|127\.|\[::1\])/;

/** Whether what is served here can be reached from this machine alone. */
export const isNear = () => NEAR.test(location.hostname);

/** Children stand beside the button. */
export const Link = ({ label, url, children }) => html`<div class="link stack">
  <label class="named"><span>${label}</span>
    <input class="field" readonly value=${url ?? ''} onFocus=${(event) => event.target.select()} />
  </label>
  <div class="row"><${Copy} text=${url} label="Copy link" class="main" disabled=${!url} />${children}</div>
</div>`;
