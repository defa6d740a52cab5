// The settings page: keys of model services, model servers, installed models, appearance, access, and the server.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get, tokens } from '../lib/api.js';
import * as prefs from '../lib/preferences.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Failed, PageSection, toast, useLoaded } from '../lib/ui.js';
import { ApiKeys } from '../parts/api_keys.js';
import { follow, installs } from '../parts/model_install.js';
import { Installs, ModelServers } from '../parts/providers.js';
import { OperatorOnly, TokenList } from '../parts/token_list.js';

await ensureStyle('settings');

export default function Settings() {
  const [info, error, again] = useLoaded((signal) => get('/providers', { signal }));
  const [keys, keysError, keysAgain] = useLoaded((signal) => get('/keys', { signal }));
  const reload = () => {
    again();
    keysAgain();
  };
  const [noInstalls, setNoInstalls] = useState(false);
  useEffect(() => void follow().catch(() => setNoInstalls(true)), []);
  // All at once, so that no section moves another.
  const ready = info && (keys || keysError) && (noInstalls || Object.keys(installs.value).length > 0);
  useLinkedSection(Boolean(ready));
  if (error && !info) {
    return html`<main id="main" class="wide settings"><h1 tabindex="-1">Settings</h1>
      <${Failed} error=${error} again=${reload} />
      <${PageSection} title="Appearance"><${Appearance} /><//>
    </main>`;
  }
  if (!ready) {
    return html`<main id="main" class="wide settings" aria-busy="true"><h1 tabindex="-1">Settings</h1>
      <p class="soft" role="status">Loading…</p>
    </main>`;
  }
  return html`<main id="main" class="wide settings">
    <h1 tabindex="-1">Settings</h1>
    <${PageSection} id="providers" title="API keys" says="Models of these services can debate once their key is set.">
      ${keys
        ? html`<${ApiKeys} keys=${keys} providers=${info.providers} onChange=${reload} />`
        : html`<${NoKeys} error=${keysError} again=${keysAgain} />`}
    <//>
    <${PageSection} id="local-servers" title="Model servers" says="Ollama and others that run on your own machine.">
      <${ModelServers} info=${info} onLook=${again} />
    <//>
    <${PageSection} id="local-models" title="Local models"
      says="Installed by Moot and run on the server. They need no key and cost nothing.">
      <${Installs} allowed=${info.operator} />
    <//>
    <${PageSection} id="appearance" title="Appearance" says="For this browser only."><${Appearance} /><//>
    <${PageSection} id="access" title="Access" says="Who can use this server.">
      ${info.operator ? html`<${TokenList} />` : html`<${OperatorOnly} />`}
      <${OwnToken} />
    <//>
    <${PageSection} id="server" title="Server"><${About} info=${info} /><//>
  </main>`;
}

/** A link such as /settings#local-models shows its section as soon as the page has its length. */
function useLinkedSection(ready) {
  useEffect(() => {
    if (ready && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'start' });
  }, [ready]);
}

const FORBIDDEN = 403;

function NoKeys({ error, again }) {
  if (error.status !== FORBIDDEN) return html`<${Failed} error=${error} again=${again} />`;
  return html`<p class="soft">Only the operator of this server can see and change its keys.</p>`;
}

const Appearance = () => html`
  <${Choice} title="Theme" of=${prefs.theme} choices=${{ auto: 'System', light: 'Light', dark: 'Dark' }} />
  <${Choice} title="Motion" of=${prefs.motion} choices=${{ auto: 'System', reduced: 'Reduced' }} />
  <${Choice} title="Reasoning" of=${prefs.reasoning} choices=${{ shown: 'Beside the speech', folded: 'Folded' }} />`;

function Choice({ title, of, choices }) {
  return html`<fieldset class="choice"><legend>${title}</legend>
    ${Object.entries(choices).map(([value, name]) => html`<label key=${value} class="chip">
      <input type="radio" class="visually-hidden" name=${title} value=${value} checked=${of.value === value}
        onChange=${() => (of.value = value)} />${name}
    </label>`)}
  </fieldset>`;
}

/** The token that this browser sends. */
function OwnToken() {
  const [token, setToken] = useState(tokens.own());
  const [draft, setDraft] = useState('');
  const keep = (token) => {
    tokens.keep(token);
    setToken(token);
    setDraft('');
    toast(token ? 'Token saved in this browser.' : 'Token removed from this browser.');
  };
  const submit = (event) => {
    event.preventDefault();
    if (draft.trim()) keep(draft.trim());
  };
  if (token) {
    return html`<div class="choice own">
      <span class="legend">Token of this browser</span><span>ends in <code>${token.slice(-4)}</code></span>
      <${Button} onClick=${() => keep('')}>Remove<//>
    </div>`;
  }
  return html`<form class="choice own" onSubmit=${submit}>
    <label for="own-token">Token of this browser</label>
    <input class="field" id="own-token" type="password" autocomplete="current-password" value=${draft}
      placeholder="None" onInput=${(event) => setDraft(event.target.value)} />
    <button class="btn" type="submit">Save</button>
  </form>`;
}

function About({ info }) {
  const [health, error] = useLoaded((signal) => get('/health', { signal }));
  const ok = health?.status === 'ok';
  return html`
    <dl class="facts">
      <dt>Status</dt>
      <dd><span class="mark ${ok ? 'ready' : ''}" aria-hidden="true"></span>
        ${ok ? 'Server OK' : error ? `Not healthy: ${error.message}` : 'Checking…'}</dd>
      <dt>Version</dt><dd>Moot ${info.version}</dd>
      <dt>Default model</dt><dd><code>${info.default}</code></dd>
    </dl>
    <p class="row">
      <a class="btn" href="/manual/">Manual</a>
      <a class="btn" href="/docs">API reference</a>
      <a class="btn" href="/vendor/LICENSES.txt" target="_blank">Licences</a>
    </p>
    <p class="soft small">Press <kbd>?</kbd> on any page to see its keys.</p>`;
}
