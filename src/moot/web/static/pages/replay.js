// The replay page: loads the frames that the user may see, then plays them without further requests.

import { html, signal, useEffect, useMemo } from '../../vendor/preact.js';
import { get, save } from '../lib/api.js';
import { figure } from '../lib/numbers.js';
import { Recording } from '../lib/playback.js';
import { Button, Empty, Failed, Menu, useLoaded } from '../lib/ui.js';
import { NoDebate } from '../parts/not_found.js';
import { Player } from '../parts/replay_player.js';

const PAGE = 1000;

export default function Replay({ id, at }) {
  const loaded = useMemo(() => signal(0), []);
  const [frames, error, again] = useLoaded((stop) => all(id, stop, loaded), [id]);
  const recording = useMemo(() => frames && new Recording(frames), [frames]);
  useEffect(() => {
    if (frames?.length) document.title = `Replay: ${recording.view(1).about.motion} · Moot`;
  }, [recording]);
  if (error?.status === 404) return html`<${NoDebate} />`;
  if (error) return html`<main id="main" class="wide"><${Broken} error=${error} again=${again} /></main>`;
  if (!recording) return html`<main id="main" class="wide" aria-busy="true"><${Loading} loaded=${loaded} /></main>`;
  if (!recording.marks.length) return html`<main id="main" class="wide"><${Unheard} id=${id} /></main>`;
  const keep = (reasoning) => () => save(id, recording.view(1).about.motion, 'replay', reasoning);
  return html`<main id="main" class="replay">
    <${Player} recording=${recording} id=${id} start=${startOf(recording, at)} onTurn=${keepAddress}>
      <${Menu} label="Save">
        <${Button} onClick=${keep(false)}>Save as HTML<//>
        <${Button} onClick=${keep(true)}>Save with reasoning<//>
        <a class="btn" href=${`/debate/${id}`}>Read the transcript</a>
      <//>
    <//>
  </main>`;
}

function Loading({ loaded }) {
  return html`<div class="stack">
    <h1 tabindex="-1">Replay</h1>
    <p class="soft numbers" role="status">
      Getting the debate${loaded.value ? `: ${figure(loaded.value)} moments so far` : ''}…
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

/** All frames so far, page by page. */
async function all(id, stop, loaded) {
  const frames = [];
  for (let after = 0, more = true; more; ) {
    const page = await get(`/debates/${id}/view/frames?after=${after}&limit=${PAGE}`, { signal: stop });
    frames.push(...page.frames);
    more = page.hasMore && page.next > after;
    after = page.next;
    loaded.value = frames.length;
  }
  return frames;
}

/** A link may point to a speech (#turn-4) or a second (?t=83). */
function startOf(recording, { query, hash }) {
  const turn = /^#turn-(\d+)$/.exec(hash)?.[1];
  const seconds = Number.parseFloat(query.get('t') ?? '');
  if (turn) return recording.startOf(turn);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), recording.duration) : null;
}

function keepAddress(turn) {
  history.replaceState(null, '', location.pathname + (turn ? `#turn-${turn}` : ''));
}
