// The services whose models need a key: whether each has one, and forms to save, test and remove it. A key is sent to
// the server once and never comes back.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { post, put, remove } from '../lib/api.js';
import { plural } from '../lib/numbers.js';
import { Button, announce, toast } from '../lib/ui.js';
import { Named } from './field.js';

/** Where a key is created. */
const PLACES = {
  openai: 'platform.openai.com, under API keys',
  anthropic: 'console.anthropic.com, under API keys',
  google: 'aistudio.google.com, under Get API key',
  mistral: 'console.mistral.ai, under API keys',
  openrouter: 'openrouter.ai, under Keys',
  groq: 'console.groq.com, under API keys',
  deepseek: 'platform.deepseek.com, under API keys',
  xai: 'console.x.ai, under API keys',
};
const SOURCES = { settings: 'saved on this server', file: 'from moot.toml' };
const TESTED = {
  untested: 'Key saved, not tested',
  accepted: 'Key saved and accepted',
  failed: 'Key saved, but its test failed',
};

/** `keys`: the reply of the server about its keys; `providers`: of its providers; `onChange()`: a key was changed. */
export function ApiKeys({ keys, providers, onChange }) {
  const modelsOf = (name) => providers.find((one) => one.name === name)?.models.length ?? 0;
  const services = keys.keys.filter((one) => one.needed).sort((a, b) => b.set - a.set);
  return html`
    ${!keys.editable && keys.reason && html`<p class="notice">${keys.reason}</p>`}
    <ul class="services">${services.map((one) => html`<${Service} key=${one.provider} one=${one}
      models=${modelsOf(one.provider)} editable=${keys.editable} onChange=${onChange} />`)}</ul>
    <p class="soft small">Keys stay on the server, in a file that only its account can read. They are never sent to the
      browser.</p>`;
}

function Service({ one, models, editable, onChange }) {
  const [open, setOpen] = useState(false);
  const [result, setResult] = useState(null);
  const test = async () => {
    setResult({ message: 'Testing…' });
    try {
      const reply = await post(`/keys/${one.provider}/test`);
      setResult(reply);
      announce(reply.message);
      onChange();
    } catch (error) {
      setResult({ ok: false, message: error.message });
    }
  };
  const saved = async () => {
    setOpen(false);
    await test();
  };
  const drop = async () => {
    await remove(`/keys/${one.provider}`);
    setResult(null);
    toast(`The key for ${one.title} was removed.`);
    onChange();
  };
  return html`<li class="service">
    <div class="head">
      <span class="mark ${result?.ok === false || one.test === 'failed' ? 'bad' : one.set && one.test !== 'untested' ? 'ready' : ''}" aria-hidden="true"></span>
      <h3>${one.title}</h3>
      <p class="soft small"><${State} one=${one} />${one.set && one.test !== 'failed' && models > 0 && ` · ${plural(models, 'model')}`}</p>
      ${editable && html`<div class="ways">
        ${one.set && html`<${Button} class="small" onClick=${test} aria-label=${`Test key for ${one.title}`}>Test<//>`}
        ${one.saved && html`<${Button} class="small" onClick=${drop} aria-label=${`Remove key for ${one.title}`}>Remove<//>`}
        <button type="button" class="btn small" aria-expanded=${open} onClick=${() => setOpen(!open)}
          aria-label=${`${one.set ? 'Replace' : 'Add'} key for ${one.title}`}>${one.set ? 'Replace key' : 'Add key'}</button>
      </div>`}
    </div>
    ${open && html`<${KeyForm} one=${one} onSaved=${saved} />`}
    ${result && html`<p class="result ${result.ok === undefined ? '' : result.ok ? 'good' : 'bad'}" role="status">
      ${result.message}${result.fix && ` ${result.fix}`}
    </p>`}
  </li>`;
}

function State({ one }) {
  const variable = html`<code>${one.variable}</code>`;
  if (!one.set) return html`No key · ${variable} not set`;
  if (one.test) return html`${TESTED[one.test]}`;
  return html`Key set, ${one.source === 'environment' ? html`from ${variable}` : SOURCES[one.source]}`;
}

function KeyForm({ one, onSaved }) {
  const [key, setKey] = useState('');
  const [wrong, setWrong] = useState([]);
  const [busy, setBusy] = useState(false);
  const form = useRef();
  useEffect(() => form.current.querySelector('input').focus(), []);
  const save = async (event) => {
    event.preventDefault();
    if (!key.trim()) return setWrong([`Paste the key for ${one.title}.`]);
    setBusy(true);
    try {
      await put(`/keys/${one.provider}`, { key: key.trim() });
      await onSaved();
    } catch (error) {
      const messages = Object.values(error.errors ?? {}).flat();
      setWrong(messages.length ? messages : [error.message]);
      setBusy(false);
    }
    return undefined;
  };
  const place = PLACES[one.provider];
  return html`<form class="key-form" ref=${form} onSubmit=${save}>
    <${Named} label=${`API key for ${one.title}`} type="password" autocomplete="off" spellcheck="false" value=${key}
      hint=${place && `Create one at ${place}. It is sent to ${one.host} only.`} wrong=${wrong}
      onInput=${(event) => setKey(event.target.value)} />
    <button type="submit" class="btn main" disabled=${busy}>Save and test</button>
  </form>`;
}
