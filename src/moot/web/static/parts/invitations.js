// Invitations: a link for each person with one role, and a shared link for an audience. A link is shown once, when
// it is created; the list shows who was invited, and revokes invitations.

import { html, useState } from '../../vendor/preact.js';
import { get, post, remove } from '../lib/api.js';
import { Button, Failed, Link, Dialog, isNear, toast, useLoaded } from '../lib/ui.js';
import { Choice, TextInput, Submit, Wrong, useForm } from './form.js';

const ROLES = [
  ['observer', 'Observer', 'Watches.'],
  ['audience', 'Audience', 'Watches, votes and puts questions.'],
  ['hall', 'A whole hall', 'One link for many: each of them joins with it, and votes and asks as themselves. Withdrawing the link removes them all.'],
  ['participant', 'Participant', 'Speaks for one seat, and sees no more than its speaker may.'],
  ['judge', 'Judge', 'Casts the ballot of one judge.'],
  ['moderator', 'Moderator', 'Does all that you can do here, except delete it.'],
];

export function InviteSheet({ debate, id, onClose }) {
  const { seats, judges } = debate.at('about').value;
  const benched = judges.filter((judge) => judge.person);
  const [role, setRole] = useState('observer');
  const [seat, setSeat] = useState(seats[0].id);
  const [judge, setJudge] = useState(benched[0]?.id ?? '');
  const [name, setName] = useState('');
  const [invitation, setInvitation] = useState(null);
  const [list, failed, again] = useLoaded((signal) => get(`/debates/${id}/invitations`, { signal }));
  const form = useForm(async () => {
    setInvitation(await post(`/debates/${id}/invitations`, bodyOf({ role, seat, judge, name }), { once: true }));
    setName('');
    again();
  });
  const roles = ROLES.filter(([key]) => key !== 'judge' || benched.length > 0).map(([key, text]) => [key, text]);
  const take = async (one) => {
    await remove(`/debates/${id}/invitations/${encodeURIComponent(one.name)}`);
    if (invitation?.name === one.name) setInvitation(null);
    const left = one.many ? ' Everybody who joined by this link has lost access.' : '';
    toast(`The invitation of ${one.name} counts no longer.${left}`);
    again();
  };
  return html`<${Dialog} title="Invite" class="inviting" onClose=${onClose}>
    <form class="stack" ...${form.props}>
      <${Choice} name="role" legend="As what?" value=${role} onPick=${setRole} options=${roles} />
      <p class="soft small">${ROLES.find(([key]) => key === role)[2]}</p>
      ${role === 'participant' && html`<${Pick} label="In the seat of" value=${seat} onPick=${setSeat} of=${seats} />`}
      ${role === 'judge' && html`<${Pick} label="In the place of" value=${judge} onPick=${setJudge} of=${benched} />`}
      <${TextInput} label="Name (if you like)" value=${name} onWrite=${setName} maxlength="60" />
      ${FIELDS.map((field) => html`<${Wrong} key=${field} errors=${form.errors} of=${field} />`)}
      <${Submit} form=${form}>Make the link<//>
    </form>
    ${invitation && html`<${NewInvitation} invitation=${invitation} />`}
    <${Invited} list=${list?.invitations} failed=${failed} again=${again} onTake=${take} />
  <//>`;
}

function bodyOf({ role, seat, judge, name }) {
  return {
    role: role === 'hall' ? 'audience' : role,
    ...(role === 'hall' && { many: true }),
    ...(role === 'participant' && { seat }),
    ...(role === 'judge' && { judge }),
    ...(name.trim() && { name: name.trim() }),
  };
}

const FIELDS = ['name', 'seat', 'judge', 'role'];

const Pick = ({ label, value, onPick, of }) => html`<label class="named">${label}
  <select class="field" value=${value} onChange=${(e) => onPick(e.target.value)}>
    ${of.map((one) => html`<option key=${one.id} value=${one.id}>${one.name}</option>`)}
  </select>
</label>`;

function NewInvitation({ invitation }) {
  return html`<div class="made stack" role="status">
    <${Link} label="Link for ${invitation.name}" url=${location.origin + invitation.link} />
    <p class="soft small">
      Copy it now; it cannot be shown again. Anyone with it comes in as ${AS[invitation.role]}.
      ${isNear() && ' This address works on this machine alone; moot serve --host lets others in.'}
    </p>
  </div>`;
}

const AS = {
  observer: 'an observer',
  audience: 'one of the audience',
  participant: 'the speaker of this seat',
  judge: 'this judge',
  moderator: 'a moderator',
};

function Invited({ list, failed, again, onTake }) {
  if (failed) return html`<${Failed} error=${failed} again=${again} />`;
  if (!list?.length) return null;
  return html`<section class="invited">
    <h3>Invited</h3>
    <ul class="plain">${list.map(
      (one) => html`<li key=${one.name} class="row">
        <span class="grow">
          <bdi>${one.name}</bdi> <span class="soft small">${one.many ? 'a whole hall' : one.role}</span>
        </span>
        <${Button} class="plain bad" aria-label="Withdraw the invitation of ${one.name}" onClick=${() => onTake(one)}>
          Withdraw
        <//>
      </li>`,
    )}</ul>
  </section>`;
}
