// The settings page: providers and models, tokens, and the preferences of this browser.

import { html, useState } from '../../vendor/preact.js';
import { get, tokens } from '../lib/api.js';
import * as prefs from '../lib/preferences.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Failed, PageSection, toast, useLoaded } from '../lib/ui.js';
import { Installs, Providers } from '../parts/providers.js';
import { Theirs, TokenList } from '../parts/token_list.js';

await ensureStyle('settings');

export default function Settings() {
  const [info, error, again] = useLoaded((signal) => get('/providers', { signal }));
  return html`<main id="main" class="wide settings">
    <h1 tabindex="-1">Settings</h1>
    <${PageSection} title="This browser" says="Kept here, and for nobody else.">
      <${Choice} title="Theme" of=${prefs.theme} choices=${{ auto: 'As the system', light: 'Light', dark: 'Dark' }} />
      <${Choice} title="Motion" of=${prefs.motion} choices=${{ auto: 'As the system', reduced: 'Reduced' }} />
      <${Choice} title="Reasoning" of=${prefs.reasoning} choices=${{ shown: 'Beside the speech', folded: 'Folded' }} />
      <${OwnToken} />
    <//>
    <${PageSection} title="Providers" says="Whose models can debate right now, and what the others lack.">
      ${error && html`<${Failed} error=${error} again=${again} />`}
      ${info ? html`<${Providers} info=${info} />` : html`<p class="soft" aria-busy="true">Looking…</p>`}
    <//>
    <${PageSection} title="Local models" says="They run on the server's own machine: no key, no cost, nothing leaves it.">
      <${Installs} allowed=${Boolean(info?.operator)} />
    <//>
    <${PageSection} title="Tokens" says="Who may use this server.">
      ${info && (info.operator ? html`<${TokenList} />` : html`<${Theirs} />`)}
    <//>
    <${PageSection} title="About"><${About} version=${info?.version} /><//>
  </main>`;
}

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
    toast(token ? 'This browser keeps the token.' : 'The token is forgotten here.');
  };
  const submit = (event) => {
    event.preventDefault();
    if (draft.trim()) keep(draft.trim());
  };
  if (token) {
    return html`<div class="choice">
      <span class="legend">Token</span><span class="soft">kept, ends in <code>${token.slice(-4)}</code></span>
      <${Button} class="plain" onClick=${() => keep('')}>Forget it<//>
    </div>`;
  }
  return html`<form class="choice" onSubmit=${submit}>
    <label for="own-token">Token</label>
    <input class="field" id="own-token" type="password" autocomplete="current-password" value=${draft}
      placeholder="none needed so far" onInput=${(event) => setDraft(event.target.value)} />
    <button class="btn" type="submit">Keep</button>
  </form>`;
}

function About({ version }) {
  const [health] = useLoaded((signal) => get('/health', { signal }));
  return html`
    <p>Moot ${version} <span class="soft">${health?.status === 'ok' && 'The server is well.'}</span></p>
    <p class="row">
      <a class="btn" href="/docs">The API and its guide</a>
      <a class="btn" href="/vendor/LICENSES.txt" target="_blank">Licences of what this page builds on</a>
    </p>
    <p class="soft small">Press <kbd>?</kbd> anywhere for the keys.</p>`;
}
