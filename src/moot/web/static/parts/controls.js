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
const DONE_MESSAGES = { pause: 'Pauses after this speech.', resume: 'Resumed.' };

/** The controls of this user at this moment. */
export function commandsFor(now, me, role) {
  if (!me || role === null) return [];
  const steers = (command) => role === 'moderator' || (role !== 'observer' && IN_A_SEAT.has(command.name));
  return me.buttons.filter(
    (command) =>
      now.open.includes(command.name) &&
      (me.may.steer && steers(command) || (command.right !== 'steer' && !SHEETS[command.name])) &&
      (command.name !== 'cut' || now.speaking.length > 0),
  );
}

export function Controls({ debate, id, role, seat, setRole }) {
  const [sheet, show] = useState(null);
  const me = debate.me.value;
  const now = debate.at('now').value;
  const commands = commandsFor(now, me, role);
  const act = useDeeds(debate, id, show);
  useEffect(() => {
    if (me && role === null) setRole(...natural(me, debate.at('about').peek().seats));
  }, [me, role]);
  const invite = me?.may.invite && role === 'moderator' && (() => show('invite'));
  useKeys('In the chair', bound(commands, act, invite));
  // A dialog reports late that it was closed; by then another may be open.
  const close = () => show((now) => (now === sheet ? null : now));
  const open = sheet && DIALOGS[sheet];
  const idle = commands.length === 0 && (now.endedAt !== null || !canSwitch(debate));
  return html`${!idle && html`<section class="bar controls" aria-label="Controls">
      <div class="side start"><${RoleSwitch} ...${{ debate, id, role, seat, setRole }} /></div>
      <div class="commands"><${CommandButtons} ...${{ debate, commands, act, invite }} /></div>
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

function CommandButtons({ debate, commands, act, invite }) {
  const now = debate.at('now').value;
  const { pausing } = now;
  const urgent = awaited(now, debate.at('about').value.config);
  const others = commands.filter((command) => command.name !== urgent);
  const first = [...commands.filter((command) => command.name === urgent), ...others.filter((command) => command.place === 'first')];
  const bar = others.filter((command) => command.place === 'bar');
  const more = others.filter((command) => command.place === 'more');
  const buttonOf = (command) => ({ ...hinted(command), onClick: () => act(command) });
  const label = (command) => (command.name === 'resume' && pausing ? 'Keep going' : command.label);
  // The first button stays the same element, and keeps the focus, when Pause becomes Resume.
  return html`
    ${first.map(
      (command, at) => html`<${Button} key=${`first${at}`} class=${at === 0 ? 'main' : ''} ...${buttonOf(command)}>
        ${label(command)}
      <//>`,
    )}
    ${bar.map(
      (command) => html`<${Button} key=${keyOf(command)} class="roomy ${classes(command)}" ...${buttonOf(command)}>
        ${wording(command)}
      <//>`,
    )}
    ${(bar.length + more.length > 0 || invite) &&
    html`<div class=${more.length ? '' : 'narrow'}><${Menu} label="More">
      ${[...bar, ...more].map(
        (command) => html`<${Button} key=${keyOf(command)} class="item ${classes(command)}" ...${buttonOf(command)}>${command.label}<//>`,
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

const keyOf = (command) => command.label;
const classes = (command) => `do-${command.name} in-${command.place} ${command.kind}`;

function hinted({ key }) {
  if (/^[A-Z]$/.test(key)) return { hint: `⇧${key}`, 'aria-keyshortcuts': `Shift+${key}` };
  return { hint: key, 'aria-keyshortcuts': key === 'space' ? 'Space' : key };
}

/** Runs a command, one at a time: a key that is held down counts once. */
function useDeeds(debate, id, show) {
  const busy = useRef(new Set());
  return async (command) => {
    const { name, path, body } = command;
    if (SHEETS[name]) return show(SHEETS[name]);
    if (busy.current.has(keyOf(command))) return undefined;
    busy.current.add(keyOf(command));
    try {
      const bodies = name === 'skip' ? skipped(debate.at('now').peek()) : [body];
      let reply;
      for (const one of bodies) reply = await post(`/debates/${id}/${path}`, one, { once: true });
      announce(reply.message ?? DONE_MESSAGES[path]);
    } catch (error) {
      complain(error);
    } finally {
      busy.current.delete(keyOf(command));
    }
    return undefined;
  };
}

function bound(commands, act, invite) {
  const keys = {};
  for (const command of commands) keys[command.key] ??= [command.label, (event) => event.repeat || act(command)];
  if (invite) keys.v = ['Invite people', invite];
  return keys;
}
