// The providers: which of them work, what the others need, and the models on this machine.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { Copy, Failed } from '../lib/ui.js';
import { Installing, follow, installs } from './model_install.js';

/** `info`: the reply of the server about its providers. */
export function Providers({ info }) {
  const ready = info.providers.filter((one) => one.ready);
  const lacking = info.providers.filter((one) => !one.ready);
  return html`
    ${ready.length > 0 && html`<ul class="providers">
      ${ready.map((one) => html`<${Ready} key=${one.name} one=${one} />`)}
    </ul>`}
    ${!ready.length && html`<p class="notice">
      Nothing is ready yet: install a local model, or set the key of a provider below.
    </p>`}
    ${lacking.length > 0 && html`<details open=${!ready.length}>
      <summary>${lacking.length} more ${lacking.length === 1 ? 'provider' : 'providers'} could be used</summary>
      <ul class="providers">${lacking.map((one) => html`<${Lacking} key=${one.name} one=${one} />`)}</ul>
      <p class="soft small">
        A key is read where the server starts, from its environment: set it there and start the server again.
        It never comes here.
      </p>
    </details>`}
    ${info.default && html`<p class="soft small">Where nothing is chosen, <code>${info.default}</code> speaks.</p>`}`;
}

function Ready({ one }) {
  return html`<li>
    <span class="mark ready" aria-hidden="true"></span><b>${one.title}</b>
    <span class="soft grow">${one.local ? 'on this machine' : 'key found'}</span>
    <${Models} of=${one.models ?? []} />
  </li>`;
}

function Models({ of }) {
  if (!of.length) return null;
  return html`<details>
    <summary class="small numbers">${of.length} ${of.length === 1 ? 'model' : 'models'}</summary>
    <ul class="models small">${of.map((model) => html`<li key=${model}><bdi>${model}</bdi></li>`)}</ul>
  </details>`;
}

function Lacking({ one }) {
  const line = one.keyName && `export ${one.keyName}=`;
  return html`<li>
    <span class="mark" aria-hidden="true"></span>
    <div class="grow"><b>${one.title}</b> <span class="soft">${one.missing}</span></div>
    ${line && html`<${Copy} class="plain small" text=${line} aria-label="Copy ${line}" title=${line} />`}
  </li>`;
}

/** The models that can be installed on the server. `allowed`: whether this user may do so. */
export function Installs({ allowed }) {
  const [error, setError] = useState(null);
  const look = () => follow().then(() => setError(null), setError);
  useEffect(() => void look(), []);
  if (error) return html`<${Failed} error=${error} again=${look} />`;
  return html`<ul class="installs">${Object.values(installs.value).map((one) => html`<li key=${one.name}>
      <div class="grow">
        <b>${one.title}</b> <span class="soft small">${one.licence}</span>
        <p class="soft small">${one.summary}</p>
      </div>
      ${one.state === 'installed' && html`<span class="soft">Installed</span>`}
      ${allowed && html`<${Installing} name=${one.name} />`}
    </li>`)}</ul>
    ${!allowed && html`<p class="soft small">
      To install one is for whoever runs the server: <code>moot models install NAME</code> there.
    </p>`}`;
}
