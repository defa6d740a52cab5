// A debate plays again, as whoever looks may see it. What happened is loaded first; then nothing is asked any more.

import { html, signal, useEffect, useMemo } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { figure } from '../lib/numbers.js';
import { save } from '../lib/download.js';
import { Film } from '../lib/playback.js';
import { Button, Empty, Failed, Menu, useLoaded } from '../lib/ui.js';
import { Player } from '../parts/replay_player.js';

const PAGE = 1000;

export default function Replay({ id, at }) {
  const heard = useMemo(() => signal(0), []);
  const [frames, error, again] = useLoaded((stop) => all(id, stop, heard), [id]);
  const film = useMemo(() => frames && new Film(frames), [frames]);
  useEffect(() => {
    if (frames?.length) document.title = `Replay: ${film.view(1).about.motion} · Moot`;
  }, [film]);
  if (error) return html`<main id="main" class="wide"><${Broken} error=${error} again=${again} /></main>`;
  if (!film) return html`<main id="main" class="wide" aria-busy="true"><${Loading} heard=${heard} /></main>`;
  if (!film.marks.length) return html`<main id="main" class="wide"><${Unheard} id=${id} /></main>`;
  return html`<main id="main" class="replay">
    <${Player} film=${film} id=${id} start=${startOf(film, at)} onTurn=${keepAddress}>
      <${Menu} label="File">
        <${Button} onClick=${() => save(id, 'replay', false)}>A file that plays it<//>
        <${Button} onClick=${() => save(id, 'replay', true)}>With the speakers' thoughts<//>
        <a class="btn" href=${`/debate/${id}`}>Read it instead</a>
      <//>
    <//>
  </main>`;
}

function Loading({ heard }) {
  return html`<div class="stack">
    <h1 tabindex="-1">Replay</h1>
    <p class="soft numbers" role="status">
      Getting the debate${heard.value ? `: ${figure(heard.value)} moments so far` : ''}…
    </p>
  </div>`;
}

const Broken = ({ error, again }) => html`<div class="stack">
  <h1 tabindex="-1">Replay</h1>
  <${Failed} error=${error} again=${again} />
</div>`;

const Unheard = ({ id }) => html`<h1 tabindex="-1" class="visually-hidden">Replay</h1>
  <${Empty} title="Nothing to play again yet">
    <p class="soft">No word has been spoken in this debate.</p>
    <p><a class="btn main" href=${`/debate/${id}`}>To the debate</a></p>
  <//>`;

/** All that has happened so far, page by page. */
async function all(id, stop, heard) {
  const frames = [];
  for (let after = 0, more = true; more; ) {
    const page = await get(`/debates/${id}/view/frames?after=${after}&limit=${PAGE}`, { signal: stop });
    frames.push(...page.frames);
    more = page.hasMore && page.next > after;
    after = page.next;
    heard.value = frames.length;
  }
  return frames;
}

/** A link may lead to a speech (#turn-4) or to a second (?t=83). */
function startOf(film, { query, hash }) {
  const turn = /^#turn-(\d+)$/.exec(hash)?.[1];
  const seconds = Number.parseFloat(query.get('t') ?? '');
  if (turn) return film.startOf(turn);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), film.duration) : null;
}

function keepAddress(turn) {
  history.replaceState(null, '', location.pathname + (turn ? `#turn-${turn}` : ''));
}
