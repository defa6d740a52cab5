// Sessions in which every turn is asked for: the form that starts one, and the list of those there are.

import { html, useState } from '../../../vendor/preact.js';
import { outside } from '../../lib/api.js';
import { When } from '../../lib/clock.js';
import { ensureStyle } from '../../lib/stylesheet.js';
import { Button, Empty, Failed, useLoaded } from '../../lib/ui.js';
import { SessionForm } from './session_form.js';

await ensureStyle('extensions/turn_sessions/sessions');

export default function Sessions({ at }) {
  const [listing, error, again] = useLoaded((signal) => outside('/debate/sessions', { signal }));
  const [starting, start] = useState(at.query.has('new'));
  return html`<main id="main" class="wide sessions">
    <header class="row">
      <h1 tabindex="-1" class="grow">Turn by turn</h1>
      <${Button} class="main" aria-expanded=${starting} onClick=${() => start(!starting)}>New turn-by-turn session<//>
    </header>
    ${starting && html`<${SessionForm} />`}
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${listing && (listing.sessions.length
      ? html`<ol class="rows">${listing.sessions.map((one) => html`<${Row} key=${one.id} one=${one} />`)}</ol>`
      : html`<${Empty} title="No sessions yet" />`)}
  </main>`;
}

const Row = ({ one }) => html`<li>
  <h2><a href=${`/debate/${one.id}`} dir="auto">${one.topicText}</a></h2>
  <p class="small"><bdi>${one.model1Id}</bdi> <i class="soft">v.</i> <bdi>${one.model2Id || 'not chosen yet'}</bdi></p>
  <p class="soft small numbers">${one.createdAt && html`<${When} at=${new Date(one.createdAt).toISOString()} />`}</p>
</li>`;
