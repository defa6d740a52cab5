// The access tokens of this server. Without any token everyone may use it; from the first one on a token is needed.

import { html, useState } from '../../vendor/preact.js';
import { get, post, remove, tokens as ownTokens } from '../lib/api.js';
import { When } from '../lib/clock.js';
import { Button, Copy, Failed, toast, useLoaded } from '../lib/ui.js';

const ROLES = {
  owner: ['Owner', 'Can start, control and delete debates, and see private objectives.'],
  moderator: ['Moderator', 'Can start, control and delete debates, and see private objectives.'],
  viewer: ['Viewer', 'Can watch debates.'],
};

export function TokenList() {
  const [loaded, error, again] = useLoaded((signal) => get('/tokens', { signal }));
  const [newToken, setNewToken] = useState(null);
  // A token is needed from now on, and the list is shown to the operator only.
  if (newToken?.warning) return html`<${NewToken} token=${newToken} />`;
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  if (!loaded) return html`<p class="soft" aria-busy="true">Loading…</p>`;
  const revoke = async (name) => {
    await remove(`/tokens/${encodeURIComponent(name)}`);
    toast(`Token “${name}” revoked.`);
    again();
  };
  const take = (token) => {
    setNewToken(token);
    if (!token.warning) again();
  };
  return html`
    ${loaded.needed
      ? html`<p>Every request needs one of these tokens. A token is shown once, when it is created.</p>`
      : html`<p><b>No access control.</b> Everyone who can reach this server can use it. That is fine on your own
          machine; create a token before others can reach it.</p>`}
    ${loaded.tokens.length > 0 && html`<${Kept} tokens=${loaded.tokens} onRevoke=${revoke} />`}
    ${newToken && html`<${NewToken} token=${newToken} />`}
    <${Making} first=${!loaded.needed} onMade=${take} />`;
}

/** For users who may not see the tokens. */
export const OperatorOnly = () => html`<p class="soft">
  Only the operator manages tokens: with <code>moot token</code> on the server, or here with the token in
  ${' '}<code>MOOT_TOKEN</code>.
</p>`;

function Kept({ tokens, onRevoke }) {
  return html`<div class="scroller"><table>
    <thead><tr>
      <th scope="col">Name</th><th scope="col">Role</th><th scope="col">Debates of</th>
      <th scope="col">Created</th><th scope="col">Expires</th><td></td>
    </tr></thead>
    <tbody>${tokens.map((token) => html`<tr key=${token.name}>
      <th scope="row"><bdi>${token.name}</bdi></th><td>${token.role}</td><td><bdi>${token.owner || '–'}</bdi></td>
      <td><${When} at=${token.createdAt} /></td><td>${until(token)}</td>
      <td class="end">
        <${Button} class="plain bad" aria-label="Revoke ${token.name}" onClick=${() => onRevoke(token.name)}>Revoke<//>
      </td>
    </tr>`)}</tbody>
  </table></div>`;
}

function until(token) {
  if (token.expired) return html`<span class="soft">expired</span>`;
  return token.expiresAt ? html`<${When} at=${token.expiresAt} />` : 'never';
}

function NewToken({ token }) {
  return html`<div class="notice made" role="status">
    <p>Token for <b><bdi>${token.name}</bdi></b>. Copy it now; it cannot be shown again.</p>
    <p class="row"><code class="grow secret">${token.token}</code><${Copy} text=${token.token} /></p>
    ${token.warning && html`<p class="soft small">${token.warning}</p>`}
    ${ownTokens.own() === token.token && html`<p class="soft small">This browser uses it from now on.</p>`}
  </div>`;
}

function Making({ first, onMade }) {
  const [form, setForm] = useState({ name: '', role: 'owner', owner: '', days: '' });
  const [wrong, setWrong] = useState([]);
  const write = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const field = (name, more) => ({ class: 'field', value: form[name], onInput: write(name), ...more });
  const make = async (event) => {
    event.preventDefault();
    try {
      onMade(await makeToken(form, first));
      setWrong([]);
      setForm({ ...form, name: '' });
    } catch (error) {
      const messages = Object.values(error.errors ?? {}).flat();
      setWrong(messages.length ? messages : [error.message]);
    }
  };
  const words = { autocomplete: 'off', dir: 'auto', maxlength: 64 };
  return html`<form class="making" onSubmit=${make}>
    <label class="named"><span>Token name</span>
      <input ...${field('name', { ...words, required: true })} />
    </label>
    ${!first && html`<label class="named"><span>Role</span><select ...${field('role')}>
      ${Object.entries(ROLES).map(([key, [title]]) => html`<option key=${key} value=${key}>${title}</option>`)}
    </select></label>
    <label class="named"><span>Debates of</span>
      <input ...${field('owner', { ...words, placeholder: 'its own name' })} />
    </label>`}
    <label class="named"><span>Expires after (days)</span>
      <input ...${field('days', { type: 'number', min: 1, max: 36_500, placeholder: 'never' })} />
    </label>
    <button class="btn" type="submit">${first ? 'Create a token and require it' : 'Create token'}</button>
    ${wrong.map((text) => html`<p class="wrong" role="alert" key=${text}>${text}</p>`)}
    ${first ? html`<${FirstOne} />` : html`<p class="soft small">${ROLES[form.role][1]}</p>`}
  </form>`;
}

const FirstOne = () => html`<p class="soft small">
  <b>From the first token on, every request needs one</b>, for as long as the server runs. This browser keeps the one
  you create here, which still sees all earlier debates. Create further tokens with${' '}
  <code>moot token new NAME</code> on the server, or here with the token in <code>MOOT_TOKEN</code>.
</p>`;

async function makeToken({ name, role, owner, days }, first) {
  // Debates from before the first token have no owner: so has the first token, which still sees them.
  const whose = first ? { owner: '' } : owner.trim() && { owner: owner.trim() };
  const body = { name: name.trim(), role, ...whose, ...(days && { days: Number(days) }) };
  const token = await post('/tokens', body, { once: true });
  // The user must not lock themselves out.
  if (first) ownTokens.keep(token.token);
  return token;
}
