// The list of experiments, each with its progress.

import { html } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { plural } from '../lib/numbers.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Copy, Empty, Failed, useLoaded } from '../lib/ui.js';
import { Progress, ProgressFigures, StateName, isRunning, shortName, usePolling } from '../parts/experiment_progress.js';

await ensureStyle('experiments');

const SHOWN = 6;
const FILE = `# league.toml
name = "league"
models = ["anthropic/claude-haiku-5-5", "openai/gpt-6-luna"]
motions = ["Homework should be banned", "Zoos do more good than harm"]
judges = ["mistral/mistral-large-2512"]
budget = 5.00`;
const COMMANDS = `moot experiment check league.toml
moot experiment run league.toml
moot experiment report league`;

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
  const { name, models, motions, format } = experiment;
  const others = models.length - SHOWN;
  return html`<li>
    <div class="row">
      <h2 class="grow"><a href=${`/experiments/${name}`}>${name}</a></h2>
      <${StateName} experiment=${experiment} />
    </div>
    <${Progress} experiment=${experiment} />
    <${ProgressFigures} experiment=${experiment} />
    <p class="soft small">
      ${plural(models.length, 'model')} on ${plural(motions, 'motion')}, ${format}:${' '}
      <bdi title=${models.join(', ')}>${models.slice(0, SHOWN).map(shortName).join(', ')}</bdi>
      ${others > 0 && ` and ${plural(others, 'other')}`}
    </p>
  </li>`;
}

function Nothing() {
  return html`<${Empty} title="No experiments yet">
    <p class="soft">
      An experiment holds many debates between models, each with the sides swapped, and rates the models with
      intervals. Write a file, then run it in a terminal on the server's machine; its progress is shown here.
    </p>
    <figure>
      <figcaption class="row"><h3 class="grow">The file</h3><${Copy} text=${FILE} label="Copy file" /></figcaption>
      <pre tabindex="0" aria-label="The file">${FILE}</pre>
    </figure>
    <figure>
      <figcaption class="row"><h3 class="grow">Three commands</h3><${Copy} text=${COMMANDS} label="Copy commands" /></figcaption>
      <pre tabindex="0" aria-label="Three commands">${COMMANDS}</pre>
    </figure>
  <//>`;
}
