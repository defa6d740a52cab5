// The standalone replay: the debate is in the document, and no server is needed.

import { html, render } from '../vendor/preact.js';
import * as keys from './lib/keyboard.js';
import { Recording, unpacked } from './lib/playback.js';
import { applyPreferences } from './lib/preferences.js';
import { Announcer, Toasts } from './lib/ui.js';
import { Player } from './parts/replay_player.js';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' });

function StandaloneReplay({ recording }) {
  const { about, money } = recording.view(recording.size);
  return html`<main id="main" class="replay kept">
      <${Facts} about=${about} money=${money} />
      <${Player} recording=${recording} start=${startOf(recording)} />
    </main>
    <${Toasts} /><${Announcer} />`;
}

/** Who, when, and what it cost. */
function Facts({ about, money }) {
  const models = [...new Set([...about.seats, ...about.judges].map((one) => one.model))];
  return html`<p class="particulars numbers">
    <span>${DAY.format(new Date(about.createdAt))}</span>
    ${models.map((model) => html`<bdi key=${model}>${model}</bdi>`)}
    <span>${money.bill}</span>
  </p>`;
}

const startOf = (recording) => recording.startOf(/^#turn-(\d+)$/.exec(location.hash)?.[1]);

document.documentElement.dataset.page = 'replay';
applyPreferences();
keys.listen();
const recording = new Recording(unpacked(JSON.parse(document.getElementById('debate').textContent)));
render(html`<${StandaloneReplay} recording=${recording} />`, document.getElementById('app'));
