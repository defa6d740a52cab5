// Model servers that run on this machine or nearby, and the models that Moot installs itself.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { plural } from '../lib/numbers.js';
import { Failed } from '../lib/ui.js';
import { Named } from './field.js';
import { useForm } from './form.js';
import { Installing, follow, installSource, installs, sized } from './model_install.js';

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
        <h3><bdi>${one.title}</bdi>${one.state === 'installed' && html` <span class="soft small">installed</span>`}</h3>
        <p class="soft small">${one.summary} <${Needs} one=${one} /></p>
        ${allowed && html`<div class="ways"><${Installing} name=${one.name} /></div>`}
      </div>
    </li>`)}</ul>
    ${allowed
      ? html`<${OtherModel} />`
      : html`<p class="soft small">
          Only the operator of this server can install models, also with <code>moot models install NAME</code>.
        </p>`}`;
}

/** Size, memory, speed and licence. */
function Needs({ one }) {
  const facts = [
    one.bytes > 0 && `${sized(one.bytes)} download`,
    one.memoryBytes && `${sized(one.memoryBytes)} of memory`,
    one.tokensPerSecond && `about ${one.tokensPerSecond} tokens/s on a laptop`,
    one.licence && `licence ${one.licence}`,
  ].filter(Boolean);
  return html`<span class="needs numbers">${facts.join(' · ')}</span>
    ${one.fits === false && html` <span class="lacks">This machine has less memory.</span>`}`;
}

/** Any GGUF file of the Hugging Face Hub, which is shown before it is downloaded, or a model of a running Ollama. */
function OtherModel() {
  const [source, setSource] = useState('');
  const [seen, setSeen] = useState(null);
  const form = useForm(async () => {
    const wanted = source.trim();
    if (wanted.startsWith('ollama/') || seen?.source === wanted) {
      setSeen(null);
      setSource('');
      await installSource(wanted);
    } else {
      setSeen(await post('/installs/preview', { source: wanted }));
    }
  });
  const write = (event) => {
    setSource(event.target.value);
    setSeen(null);
  };
  const known = seen?.source === source.trim();
  return html`<form class="key-form" ...${form.props}>
    <${Named} label="Another model" placeholder="hf:owner/repo/file.gguf or ollama/NAME" spellcheck="false"
      autocomplete="off" value=${source} wrong=${form.errors.source ?? []} onInput=${write}
      hint="A GGUF file of the Hugging Face Hub, or a model to pull into a running Ollama." />
    <button type="submit" class="btn" disabled=${form.busy || !source.trim()}>
      ${known || source.trim().startsWith('ollama/') ? 'Install' : 'Check'}
    </button>
    ${known && html`<p class="result" role="status"><b><bdi>${seen.title}</bdi></b> <${Needs} one=${seen} />
      ${seen.installed && ' It is installed already.'}</p>`}
  </form>`;
}
