// Installing a local model: a button, then a progress bar. The server does it; every page shows its progress.

import { computed, html, signal } from '../../vendor/preact.js';
import { get, post, remove } from '../lib/api.js';
import { Button, announce } from '../lib/ui.js';

const LOOK_MS = 400;

/** The models that can be installed, by name; and whether this user may do so. */
export const installs = signal({});
export const operates = signal(true);
export const here = computed(() => {
  const ready = Object.values(installs.value).filter((one) => one.state === 'installed');
  return new Set(ready.map((one) => one.name));
});
let looking = null;

async function look() {
  const { models, operator = true } = await get('/installs');
  installs.value = Object.fromEntries(models.map((one) => [one.name, one]));
  operates.value = operator;
  return models;
}

/** Resolves when the model is installed. */
export const install = (name) => installed(() => post(`/installs/${encodeURIComponent(name)}`));

/** `source`: hf:owner/repo/file.gguf, or ollama/NAME. */
export const installSource = (source) => installed(() => post('/installs', { source }));

async function installed(begin) {
  const { name, title } = await begin();
  announce(`Installing ${title}.`);
  await follow();
  const model = installs.peek()[name];
  if (model?.state === 'failed') throw new Error(model.error || 'The installation failed.');
  if (model?.state !== 'installed') throw new Error('The installation was cancelled.');
  announce(`${model.title} is installed.`);
}

/** Polls while an installation is running; all callers share the same requests. */
export function follow() {
  looking ??= followed().finally(() => (looking = null));
  return looking;
}

async function followed() {
  while ((await look()).some((one) => one.state === 'installing')) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

/** 98 MB, 1.1 GB */
export const sized = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round((bytes ?? 0) / 1e6)} MB`);

/** The button, then the progress bar, then nothing. */
export function Installing({ name, label = 'Install', onDone, main = false }) {
  const one = installs.value[name];
  if (!one || one.state === 'installed') return null;
  if (one.state === 'installing') return html`<${Underway} one=${one} />`;
  const run = async () => {
    await install(name);
    onDone?.();
  };
  return html`<div class="installing">
    <${Button} class=${main ? 'main' : ''} onClick=${run}>
      ${one.state === 'failed' ? 'Try again' : `${label} (${sized(one.bytes)})`}
    <//>
    ${one.state === 'failed' && html`<span class="wrong" dir="auto">${one.error}</span>`}
  </div>`;
}

function Underway({ one }) {
  const total = one.total || one.bytes;
  return html`<div class="installing">
    <progress value=${one.done} max=${total} aria-label=${`Installing ${one.title}`}></progress>
    <span class="numbers small soft">${sized(one.done)} of ${sized(total)}</span>
    <${Button} class="plain" onClick=${() => remove(`/installs/${encodeURIComponent(one.name)}`)}>Cancel<//>
  </div>`;
}
