// What can be done with a finished debate: replay, hold again, judge again, export, share, inspect. A share link is
// an invitation as an observer: it is created when the dialog opens, and can be revoked there.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get, post, remove, save, transcript } from '../lib/api.js';
import { useKeys } from '../lib/keyboard.js';
import { go } from '../lib/router.js';
import { Button, Failed, Link, Menu, Dialog, complain, copyText, isNear, toast, useLoaded } from '../lib/ui.js';
import { ReasoningDialog } from './reasoning.js';
import { Rejudge, judgeLabel } from './rejudge.js';

const DIALOGS = { minds: ReasoningDialog, rejudge: Rejudge, share: Share };
const FORMS = [
  ['markdown', 'Markdown'],
  ['html', 'HTML page'],
  ['json', 'JSON'],
  ['replay', 'Standalone replay (HTML)'],
];

/** For the bar. Only entries that are possible and permitted are shown. */
export function AfterDebateBar({ debate, id }) {
  const [sheet, show] = useState(null);
  const may = debate.me.value?.may ?? {};
  const rejudges = may.steer && debate.at('now').value.open.includes('rejudge');
  const judge = judgeLabel(debate);
  const minds = hasThoughts(debate);
  const [rematch, swapped] = [`/?from=${id}`, `/?from=${id}&swap=1`];
  const shortcuts = {
    p: ['Replay', () => go(`/debate/${id}/replay`)],
    ...(may.open && { m: ['Rematch', () => go(rematch)], o: ['Swap sides and run again', () => go(swapped)] }),
    ...(rejudges && { u: [judge, () => show('rejudge')] }),
    c: ['Copy as Markdown', () => copy(id).catch(complain)],
    ...(may.invite && { l: ['Share', () => show('share')] }),
    ...(minds && { b: ['Reasoning, side by side', () => show('minds')] }),
    ...(may.inspect && { d: ['Inspect', () => go(`/debate/${id}/inspect`)] }),
  };
  useKeys('When a debate is over', shortcuts);
  const Shown = DIALOGS[sheet];
  return html`
    <${Way} class="main" to=${`/debate/${id}/replay`} hint="p">Replay<//>
    ${may.open && html`<${Way} class="wide-only" to=${rematch} hint="m">Rematch<//>
      <${Way} class="wide-only" to=${swapped} hint="o">Swap sides<//>`}
    ${rejudges && html`<${Button} class="wide-only" hint="u" onClick=${() => show('rejudge')}>${judge}<//>`}
    ${minds && html`<${Button} class="wide-only" hint="b" onClick=${() => show('minds')}>Reasoning<//>`}
    <${ExportMenu} id=${id} motion=${debate.at('about').value.motion} thoughts=${minds} />
    ${may.invite && html`<${Button} class="wide-only" hint="l" onClick=${() => show('share')}>Share<//>`}
    <${Menu} label="More">
      ${may.open && html`<${Way} class="narrow-only" to=${rematch}>Rematch<//>
        <${Way} class="narrow-only" to=${swapped}>Swap sides and run again<//>`}
      ${rejudges && html`<button class="btn narrow-only" onClick=${() => show('rejudge')}>${judge}</button>`}
      ${may.invite && html`<button class="btn narrow-only" onClick=${() => show('share')}>Share</button>`}
      ${minds && html`<button class="btn narrow-only" onClick=${() => show('minds')}>Reasoning, side by side</button>`}
      <${Button} hint="c" onClick=${() => copy(id)}>Copy as Markdown<//>
      <${Way} to=${`/debate/${id}/verdict`}>Verdict alone<//>
      ${may.inspect && html`<${Way} to=${`/debate/${id}/inspect`} hint="d">Inspect<//>`}
    <//>
    ${Shown && html`<${Shown} debate=${debate} id=${id} onClose=${() => show(null)} />`}
  `;
}

const Way = ({ to, hint, children, class: kind = '' }) => html`<a class="btn ${kind}" href=${to}
  aria-keyshortcuts=${hint}>
  ${children}${hint && html`<kbd aria-hidden="true">${hint}</kbd>`}
</a>`;

export const hasThoughts = (debate) => debate.keys('turns').value.some((key) => debate.at('turns', key).value.reasoning);

function ExportMenu({ id, motion, thoughts }) {
  const [reasoning, include] = useState(true);
  const keep = (form) => save(id, motion, form, thoughts && reasoning).catch(complain);
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

function Share({ id, onClose }) {
  const [link, setLink] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    post(`/debates/${id}/invitations`, { role: 'observer' }, { once: true }).then(setLink, setError);
  }, []);
  const withdraw = async () => {
    await remove(`/debates/${id}/invitations/${encodeURIComponent(link.name)}`);
    toast('The link is revoked.');
    onClose();
  };
  // Only the operator may read the tokens; where that is refused, tokens are needed.
  const [tokens] = useLoaded((signal) => get('/tokens', { signal }));
  const url = link && new URL(link.link, location.origin).href;
  return html`<${Dialog} title="Share" class="share" onClose=${onClose}>
    ${error && html`<${Failed} error=${error} />`}
    <div class="stack">
      <p>Anyone with this link can read this debate, its verdict and its replay, and change nothing.
        ${' '}${tokens?.needed === false
          ? 'This server has no access token, so everyone who can reach it can also see and change all other debates. Create a token in the settings to prevent that.'
          : 'It opens no other debate.'}</p>
      <${Link} label="Read-only link" url=${url}>
        <${Button} onClick=${withdraw} disabled=${!link}>Revoke<//>
      <//>
      ${isNear() && html`<p class="soft small">This server answers at ${location.host}, which only this machine can
        reach. For others, serve it at an address that they can reach, or send them the exported replay.</p>`}
    </div>
  <//>`;
}
