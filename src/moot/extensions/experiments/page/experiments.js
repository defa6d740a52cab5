// The list of experiments, each with its progress.

import { html } from '../../../vendor/preact.js';
import { get } from '../../lib/api.js';
import { usableModels } from '../../lib/default_models.js';
import { plural } from '../../lib/numbers.js';
import { ensureStyle } from '../../lib/stylesheet.js';
import { Copy, Empty, Failed, useLoaded } from '../../lib/ui.js';
import { sized } from '../../parts/model_install.js';
import { Progress, ProgressFigures, StateName, isRunning, shortName, usePolling } from './progress.js';

await ensureStyle('extensions/experiments/experiments');

const SHOWN = 6;
/** The second model of the example where only one can be used: the smallest that argues by itself. */
const SECOND = 'qwen2.5-1.5b';

/** An experiment that runs here: its file, the commands, and the models to install first. `server`: its models and the
    default one. */
function exampleFor({ models, default: usual }) {
  const usable = usableModels({ models, usual });
  const [one, other = `local/${SECOND}`, judge] = usable;
  const paid = [one, other, judge].some((label) => label && !label.startsWith('local/') && !label.startsWith('ollama/'));
  const file = [
    '# league.toml',
    'name = "league"',
    `models = ["${one}", "${other}"]`,
    'motions = ["Homework should be banned", "Zoos should be closed"]',
    judge && `judges = ["${judge}"]`,
    paid && 'budget = 2.00   # US dollars',
  ];
  const ready = new Set(models.filter((row) => row.available).map((row) => `${row.provider}/${row.modelId}`));
  const missing = [one, other, judge].filter((label) => label?.startsWith('local/') && !ready.has(label));
  const names = missing.map((label) => label.slice('local/'.length));
  const commands = [
    ...names.map((name) => `moot models install ${name}`),
    'moot experiment check league.toml',
    'moot experiment run league.toml',
    'moot experiment report league',
  ];
  return { file: file.filter(Boolean).join('\n'), commands: commands.join('\n'), names };
}

export default function Experiments() {
  const [listing, error, again] = useLoaded((signal) => get('/experiments', { signal }));
  const experiments = listing?.experiments ?? [];
  usePolling(experiments.some(isRunning), again, [listing, error]);
  return html`<main id="main" class="wide experiments" aria-busy=${!listing && !error}>
    <header class="row">
      <h1 tabindex="-1" class="grow">Experiments</h1>
      ${listing && experiments.length > 0 && html`<p class="soft numbers">${plural(experiments.length, 'experiment')}</p>`}
    </header>
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${listing && (experiments.length
      ? html`<ol class="rows">${experiments.map((one) => html`<${Row} key=${one.name} experiment=${one} />`)}</ol>`
      : html`<${Nothing} />`)}
  </main>`;
}

function Row({ experiment }) {
  const { name, models, motions, format, questions } = experiment;
  const others = models.length - SHOWN;
  return html`<li>
    <div class="row">
      <h2 class="grow"><a href=${`/experiments/${name}`}>${name}</a></h2>
      <${StateName} experiment=${experiment} />
    </div>
    <${Progress} experiment=${experiment} />
    <${ProgressFigures} experiment=${experiment} />
    <p class="soft small">
      ${plural(models.length, 'model')} on ${questions ? plural(questions, 'question') : `${plural(motions, 'motion')}, ${format}`}:${' '}
      <bdi title=${models.join(', ')}>${models.slice(0, SHOWN).map(shortName).join(', ')}</bdi>
      ${others > 0 && ` and ${plural(others, 'other')}`}
    </p>
  </li>`;
}

function Nothing() {
  const [server] = useLoaded((signal) => get('/models', { signal }));
  const [installs] = useLoaded((signal) => get('/installs', { signal }));
  if (!server) return null;
  const { file, commands, names } = exampleFor(server);
  const bytes = (name) => installs?.models.find((one) => one.name === name)?.bytes;
  const sizes = names.map((name) => (bytes(name) ? `${name} (${sized(bytes(name))})` : name)).join(' and ');
  return html`<${Empty} title="No experiments yet">
    <p class="soft">
      An experiment holds many debates between models, each with the sides swapped, and rates the models with
      intervals. Write a file, then run it in a terminal on the server's machine; its progress is shown here.
      ${' '}${names.length
        ? `This example needs ${names.length > 1 ? 'models that are' : 'a model that is'} not installed: the first
          ${names.length > 1 ? 'commands download' : 'command downloads'} ${sizes}.`
        : 'This example runs with the models that this server has.'}
    </p>
    <figure>
      <figcaption class="row"><h3 class="grow">The file</h3><${Copy} text=${file} label="Copy file" /></figcaption>
      <pre tabindex="0" aria-label="The file">${file}</pre>
    </figure>
    <figure>
      <figcaption class="row"><h3 class="grow">The commands</h3><${Copy} text=${commands} label="Copy commands" /></figcaption>
      <pre tabindex="0" aria-label="The commands">${commands}</pre>
    </figure>
    <p><a href="/manual/experiments.html">All that can be in the file</a></p>
  <//>`;
}
