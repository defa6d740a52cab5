// Model servers that run on this machine or nearby, and the models that Moot installs itself.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { plural } from '../lib/numbers.js';
import { Failed } from '../lib/ui.js';
import { Installing, follow, installs, sized } from './model_install.js';

const OWN = 'local';

/** `info`: the reply of the server about its providers; `onLook()` asks again. */
export function ModelServers({ info, onLook }) {
  const servers = info.providers.filter((one) => one.local && one.name !== OWN);
  return html`
    <ul class="services">${servers.map((one) => html`<${Server} key=${one.name} one=${one} />`)}</ul>
    <p><button type="button" class="btn" onClick=${onLook}>Check again</button></p>`;
}

function Server({ one }) {
  const count = one.models.length;
  const ready = count ? `Connected · ${plural(count, 'model')}` : 'Connected';
  return html`<li class="service">
    <div class="head">
      <span class="mark ${one.ready ? 'ready' : ''}" aria-hidden="true"></span>
      <h3>${one.title}</h3>
      <p class="soft small">${one.ready ? ready : one.missing}</p>
    </div>
    ${one.ready && count > 0 && html`<details class="small">
      <summary>Models</summary>
      <ul class="models">${one.models.map((model) => html`<li key=${model}><bdi>${model}</bdi></li>`)}</ul>
    </details>`}
  </li>`;
}

/** The models that can be installed on the server. `allowed`: whether this user may do so. */
export function Installs({ allowed }) {
  const [error, setError] = useState(null);
  const look = () => follow().then(() => setError(null), setError);
  useEffect(() => void look(), []);
  if (error) return html`<${Failed} error=${error} again=${look} />`;
  return html`<ul class="services">${Object.values(installs.value).map((one) => html`<li key=${one.name} class="service">
      <div class="head">
        <span class="mark ${one.state === 'installed' ? 'ready' : ''}" aria-hidden="true"></span>
        <h3>${one.title}</h3>
        <p class="soft small">
          ${one.summary} <span class="numbers">${sized(one.bytes)}, licence ${one.licence}.</span>
          ${one.state === 'installed' && html` <b>Installed.</b>`}
        </p>
        ${allowed && html`<div class="ways"><${Installing} name=${one.name} /></div>`}
      </div>
    </li>`)}</ul>
    ${!allowed && html`<p class="soft small">
      Only the operator of this server can install models, also with <code>moot models install NAME</code>.
    </p>`}`;
}
