// The replay in a file that needs no server: the debate stands in the document, and this plays it.

import { html, render } from '../vendor/preact.js';
import * as keys from './lib/keyboard.js';
import { Film, unpacked } from './lib/playback.js';
import { dress } from './lib/preferences.js';
import { Announcer, Toasts } from './lib/ui.js';
import { Player } from './parts/replay_player.js';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' });

function Kept({ film }) {
  const { about, money } = film.view(film.size);
  return html`<main id="main" class="replay kept">
      <${Facts} about=${about} money=${money} />
      <${Player} film=${film} start=${startOf(film)} />
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

const startOf = (film) => film.startOf(/^#turn-(\d+)$/.exec(location.hash)?.[1]);

document.documentElement.dataset.page = 'replay';
dress();
keys.listen();
const film = new Film(unpacked(JSON.parse(document.getElementById('debate').textContent)));
render(html`<${Kept} film=${film} />`, document.getElementById('app'));
