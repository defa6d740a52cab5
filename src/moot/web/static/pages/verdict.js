// The verdict page: the motion and its verdict.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { Parts } from '../lib/extensions.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Failed, Headline } from '../lib/ui.js';
import { watch } from '../lib/watch_debate.js';
import { AfterDebateBar } from '../parts/export_menu.js';
import { Bench } from '../parts/judge_ballots.js';
import { NoDebate, isMissing } from '../parts/not_found.js';
import { NoVerdict, Verdict } from '../parts/verdict.js';

await ensureStyle('verdict');

export default function Page({ id }) {
  const [{ debate, leave }] = useState(() => watch(id));
  useEffect(() => leave, []);
  const ready = debate.ready.value;
  const now = ready ? debate.at('now').value : null;
  const about = ready ? debate.at('about').value : null;
  useEffect(() => {
    if (ready) document.title = `${now.phase} · ${about.title || about.motion} · Moot`;
  }, [ready, now?.phase]);
  if (isMissing(debate)) return html`<${NoDebate} debate=${debate} />`;
  if (!ready) {
    const trouble = debate.trouble.value;
    return html`<main id="main" class="wide" aria-busy=${!trouble}>
      <h1 class="visually-hidden" tabindex="-1">Verdict</h1>
      ${trouble && html`<${Failed} error=${trouble} />`}
    </main>`;
  }
  const judged = debate.keys('verdicts').value.length > 0;
  const names = about.seats.map((seat, index) => html`${index > 0 && ', '}<bdi>${seat.name}</bdi>`);
  return html`<main id="main" class="wide verdict-page">
    <${Headline} motion=${about.motion} over=${html`${about.formatTitle} · ${names}`}>
      ${judged && html`<p><a href=${`/debate/${id}`}>Read the speeches</a></p>`}
    <//>
    ${now.beingJudged && html`<${Bench} debate=${debate} />`}
    ${judged && html`<${Verdict} debate=${debate} id=${id} away />`}
    ${!judged && !now.beingJudged && html`<${NoVerdict} debate=${debate} id=${id} away />`}
    <${Parts} place="verdict" debate=${debate} id=${id} />
    ${(judged || now.endedAt) && html`<div class="bar"><${AfterDebateBar} debate=${debate} id=${id} /></div>`}
  </main>`;
}
