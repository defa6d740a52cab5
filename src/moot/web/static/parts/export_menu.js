// What can be done with a debate that is over: play it again, hold it again, judge it again, take it along,
// show it to others, look behind it.

import { html, useState } from '../../vendor/preact.js';
import { save, transcript } from '../lib/download.js';
import { useKeys } from '../lib/keyboard.js';
import { go } from '../lib/router.js';
import { Button, complain, copyText, Menu, toast } from '../lib/ui.js';
import { Minds } from './reasoning_panel.js';
import { Rejudge } from './rejudge.js';
import { Share } from './share_debate.js';

const SHEETS = { minds: Minds, rejudge: Rejudge, share: Share };
const FORMS = [
  ['markdown', 'Markdown'],
  ['html', 'HTML page'],
  ['json', 'JSON'],
  ['replay', 'Replay that plays by itself'],
];

/** For the bar. Each entry is there for those who may, and as long as it can be done. */
export function AfterBar({ room, id }) {
  const [sheet, show] = useState(null);
  const may = room.me.value?.may ?? {};
  const rejudges = may.steer && room.at('now').value.open.includes('rejudge');
  const minds = hasThoughts(room);
  const [rematch, swapped] = [`/?from=${id}`, `/?from=${id}&swap=1`];
  const deeds = {
    p: ['Replay', () => go(`/debate/${id}/replay`)],
    ...(may.open && { m: ['Rematch', () => go(rematch)], o: ['Swap sides and run again', () => go(swapped)] }),
    ...(rejudges && { u: ['Judge again', () => show('rejudge')] }),
    c: ['Copy as Markdown', () => copy(id).catch(complain)],
    ...(may.invite && { l: ['Share', () => show('share')] }),
    ...(minds && { b: ['Both minds', () => show('minds')] }),
    ...(may.inspect && { d: ['Inspect', () => go(`/debate/${id}/inspect`)] }),
  };
  useKeys('When a debate is over', deeds);
  const Shown = SHEETS[sheet];
  return html`
    <${Way} class="main" to=${`/debate/${id}/replay`} hint="p">Replay<//>
    ${may.open && html`<${Way} class="wide-only" to=${rematch} hint="m">Rematch<//>
      <${Way} class="wide-only" to=${swapped} hint="o">Swap sides<//>`}
    ${rejudges && html`<${Button} class="wide-only" hint="u" onClick=${() => show('rejudge')}>Judge again<//>`}
    <${ExportMenu} id=${id} thoughts=${minds} />
    ${may.invite && html`<${Button} class="wide-only" hint="l" onClick=${() => show('share')}>Share<//>`}
    <${Menu} label="More">
      ${may.open && html`<${Way} class="narrow-only" to=${rematch}>Rematch<//>
        <${Way} class="narrow-only" to=${swapped}>Swap sides and run again<//>`}
      ${rejudges && html`<button class="btn narrow-only" onClick=${() => show('rejudge')}>Judge again</button>`}
      ${may.invite && html`<button class="btn narrow-only" onClick=${() => show('share')}>Share</button>`}
      ${minds && html`<${Button} hint="b" onClick=${() => show('minds')}>Both minds<//>`}
      <${Button} hint="c" onClick=${() => copy(id)}>Copy as Markdown<//>
      <${Way} to=${`/debate/${id}/verdict`}>Verdict alone<//>
      ${may.inspect && html`<${Way} to=${`/debate/${id}/inspect`} hint="d">Inspect<//>`}
    <//>
    ${Shown && html`<${Shown} room=${room} id=${id} onClose=${() => show(null)} />`}
  `;
}

const Way = ({ to, hint, children, class: kind = '' }) => html`<a class="btn ${kind}" href=${to}
  aria-keyshortcuts=${hint}>
  ${children}${hint && html`<kbd aria-hidden="true">${hint}</kbd>`}
</a>`;

const hasThoughts = (room) => room.keys('turns').value.some((key) => room.at('turns', key).value.reasoning);

function ExportMenu({ id, thoughts }) {
  const [reasoning, include] = useState(true);
  const keep = (form) => save(id, form, thoughts && reasoning).catch(complain);
  return html`<${Menu} label="Export">
    ${FORMS.map(([form, title]) => html`<button class="btn" key=${form} onClick=${() => keep(form)}>${title}</button>`)}
    ${thoughts && html`<label class="btn" onClick=${(event) => event.stopPropagation()}>
      With reasoning<input type="checkbox" checked=${reasoning} onChange=${(event) => include(event.target.checked)} />
    </label>`}
  <//>`;
}

async function copy(id) {
  const reply = await transcript(id, 'markdown', false);
  await copyText(await reply.text());
  toast('The debate is copied as Markdown.', { seconds: 3 });
}
