// The bar of controls. The server says which commands are possible (`now.open`) and permitted (`me.may`); the
// chosen role hides some of them. Every control has a key.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { useKeys } from '../lib/keyboard.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Menu, announce, complain } from '../lib/ui.js';
import { InviteSheet } from './invitations.js';
import { DecideSheet, SaySheet, SureSheet } from './moderator_dialogs.js';
import { RoleSwitch, canSwitch, natural } from './role_switch.js';
import { awaited, skipped } from './status.js';

await ensureStyle('controls');

// The buttons come from the server (`me.buttons`, from api/command_table.py). These open a dialog first, the others
// send their body at once.
const SHEETS = { inject: 'say', ask: 'ask', decide: 'decide', abort: 'abort' };
const IN_A_SEAT = new Set(['pause', 'resume', 'time']);
// Where the reply has no message.
const SAID = { pause: 'Pauses after this speech.', resume: 'Resumed.' };

/** The controls of this user at this moment. */
export function deedsFor(now, me, role) {
  if (!me || role === null) return [];
  const steers = (deed) => role === 'moderator' || (role !== 'observer' && IN_A_SEAT.has(deed.name));
  return me.buttons.filter(
    (deed) =>
      now.open.includes(deed.name) &&
      (me.may.steer && steers(deed) || (deed.right !== 'steer' && !SHEETS[deed.name])) &&
      (deed.name !== 'cut' || now.speaking.length > 0),
  );
}

export function Controls({ debate, id, role, seat, setRole }) {
  const [sheet, show] = useState(null);
  const me = debate.me.value;
  const now = debate.at('now').value;
  const deeds = deedsFor(now, me, role);
  const act = useDeeds(debate, id, show);
  useEffect(() => {
    if (me && role === null) setRole(...natural(me, debate.at('about').peek().seats));
  }, [me, role]);
  const invite = me?.may.invite && role === 'moderator' && (() => show('invite'));
  useKeys('In the chair', bound(deeds, act, invite));
  // A dialog reports late that it was closed; by then another may be open.
  const close = () => show((now) => (now === sheet ? null : now));
  const open = sheet && DIALOGS[sheet];
  const idle = deeds.length === 0 && (now.endedAt !== null || !canSwitch(debate));
  return html`${!idle && html`<section class="bar controls" aria-label="Controls">
      <div class="side start"><${RoleSwitch} ...${{ debate, id, role, seat, setRole }} /></div>
      <div class="deeds"><${Deeds} ...${{ debate, deeds, act, invite }} /></div>
      <div class="side end">${invite && html`<${Button} class="roomy" hint="v" onClick=${invite}>Invite<//>`}</div>
    </section>`}
    ${open && html`<${open} ...${{ debate, id }} onClose=${close} />`}`;
}

const DIALOGS = {
  say: (props) => html`<${SaySheet} ...${props} />`,
  ask: (props) => html`<${SaySheet} question ...${props} />`,
  decide: DecideSheet,
  abort: SureSheet,
  invite: InviteSheet,
};

function Deeds({ debate, deeds, act, invite }) {
  const now = debate.at('now').value;
  const { pausing } = now;
  const urgent = awaited(now, debate.at('about').value.config);
  const others = deeds.filter((deed) => deed.name !== urgent);
  const first = [...deeds.filter((deed) => deed.name === urgent), ...others.filter((deed) => deed.place === 'first')];
  const bar = others.filter((deed) => deed.place === 'bar');
  const more = others.filter((deed) => deed.place === 'more');
  const buttonOf = (deed) => ({ ...hinted(deed), onClick: () => act(deed) });
  const label = (deed) => (deed.name === 'resume' && pausing ? 'Keep going' : deed.label);
  // The first button stays the same element, and keeps the focus, when Pause becomes Resume.
  return html`
    ${first.map(
      (deed, at) => html`<${Button} key=${`first${at}`} class=${at === 0 ? 'main' : ''} ...${buttonOf(deed)}>
        ${label(deed)}
      <//>`,
    )}
    ${bar.map(
      (deed) => html`<${Button} key=${keyOf(deed)} class="roomy ${classes(deed)}" ...${buttonOf(deed)}>
        ${wording(deed)}
      <//>`,
    )}
    ${(bar.length + more.length > 0 || invite) &&
    html`<div class=${more.length ? '' : 'narrow'}><${Menu} label="More">
      ${[...bar, ...more].map(
        (deed) => html`<${Button} key=${keyOf(deed)} class="item ${classes(deed)}" ...${buttonOf(deed)}>${deed.label}<//>`,
      )}
      ${invite && html`<${Button} class="item narrow" hint="v" onClick=${invite}>Invite<//>`}
    <//></div>`}
  `;
}

/** On the smallest screens the second word is for screen readers only. */
function wording({ label }) {
  const [first, ...rest] = label.split(' ');
  return html`<span>${first}<span class="rest"> ${rest.join(' ')}</span></span>`;
}

const keyOf = (deed) => deed.label;
const classes = (deed) => `do-${deed.name} in-${deed.place} ${deed.kind}`;

function hinted({ key }) {
  if (/^[A-Z]$/.test(key)) return { hint: `⇧${key}`, 'aria-keyshortcuts': `Shift+${key}` };
  return { hint: key, 'aria-keyshortcuts': key === 'space' ? 'Space' : key };
}

/** Runs a command, one at a time: a key that is held down counts once. */
function useDeeds(debate, id, show) {
  const busy = useRef(new Set());
  return async (deed) => {
    const { name, path, body } = deed;
    if (SHEETS[name]) return show(SHEETS[name]);
    if (busy.current.has(keyOf(deed))) return undefined;
    busy.current.add(keyOf(deed));
    try {
      const bodies = name === 'skip' ? skipped(debate.at('now').peek()) : [body];
      let reply;
      for (const one of bodies) reply = await post(`/debates/${id}/${path}`, one, { once: true });
      announce(reply.message ?? SAID[path]);
    } catch (error) {
      complain(error);
    } finally {
      busy.current.delete(keyOf(deed));
    }
    return undefined;
  };
}

function bound(deeds, act, invite) {
  const keys = {};
  for (const deed of deeds) keys[deed.key] ??= [deed.label, (event) => event.repeat || act(deed)];
  if (invite) keys.v = ['Invite people', invite];
  return keys;
}
