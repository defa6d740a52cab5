// The tokens of this server. Without any token everybody may use it; from the first one on a token is needed.

import { html, useState } from '../../vendor/preact.js';
import { get, post, remove, tokens as ownTokens } from '../lib/api.js';
import { When } from '../lib/clock.js';
import { Button, Copy, Failed, toast, useLoaded } from '../lib/ui.js';

const ROLES = {
  owner: ['Owner', 'Opens, steers and deletes debates, and sees what is secret in them.'],
  moderator: ['Moderator', 'Opens, steers and deletes debates, and sees what is secret in them.'],
  viewer: ['Viewer', 'Looks on, and changes nothing.'],
};

export function TokenList() {
  const [loaded, error, again] = useLoaded((signal) => get('/tokens', { signal }));
  const [newToken, setNewToken] = useState(null);
  // A token is needed from now on, and the list is shown to the operator only.
  if (newToken?.warning) return html`<${NewToken} token=${newToken} />`;
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  if (!loaded) return html`<p class="soft" aria-busy="true">Looking…</p>`;
  const revoke = async (name) => {
    await remove(`/tokens/${encodeURIComponent(name)}`);
    toast(`“${name}” counts no longer.`);
    again();
  };
  const take = (token) => {
    setNewToken(token);
    if (!token.warning) again();
  };
  return html`
    ${loaded.needed
      ? html`<p>Every request needs one of these. Only digests are kept: nobody can look a token up again.</p>`
      : html`<p><b>There are none, so the door is open</b>: whoever reaches this server may do everything. That is fine
          on your own machine.</p>`}
    ${loaded.tokens.length > 0 && html`<${Kept} tokens=${loaded.tokens} onRevoke=${revoke} />`}
    ${newToken && html`<${NewToken} token=${newToken} />`}
    <${Making} first=${!loaded.needed} onMade=${take} />`;
}

/** For users who may not see the tokens. */
export const Theirs = () => html`<p class="soft">
  Tokens are in the hands of whoever runs the server: by <code>moot token</code> there, or here with the token
  in <code>MOOT_TOKEN</code>.
</p>`;

function Kept({ tokens, onRevoke }) {
  return html`<div class="scroller"><table>
    <thead><tr>
      <th scope="col">Name</th><th scope="col">Role</th><th scope="col">Debates of</th>
      <th scope="col">Made</th><th scope="col">Counts until</th><td></td>
    </tr></thead>
    <tbody>${tokens.map((token) => html`<tr key=${token.name}>
      <th scope="row"><bdi>${token.name}</bdi></th><td>${token.role}</td><td><bdi>${token.owner || 'nobody'}</bdi></td>
      <td><${When} at=${token.createdAt} /></td><td>${until(token)}</td>
      <td class="end">
        <${Button} class="plain bad" aria-label="Revoke ${token.name}" onClick=${() => onRevoke(token.name)}>Revoke<//>
      </td>
    </tr>`)}</tbody>
  </table></div>`;
}

function until(token) {
  if (token.expired) return html`<span class="soft">expired</span>`;
  return token.expiresAt ? html`<${When} at=${token.expiresAt} />` : 'revoked';
}

function NewToken({ token }) {
  return html`<div class="notice made" role="status">
    <p>The token of <b><bdi>${token.name}</bdi></b>. It is shown this once.</p>
    <p class="row"><code class="grow secret">${token.token}</code><${Copy} text=${token.token} /></p>
    ${token.warning && html`<p class="soft small">${token.warning}</p>`}
    ${ownTokens.own() === token.token && html`<p class="soft small">This browser keeps it and goes on working.</p>`}
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
    <label class="named"><span>Name of its bearer</span>
      <input ...${field('name', { ...words, required: true })} />
    </label>
    ${!first && html`<label class="named"><span>Role</span><select ...${field('role')}>
      ${Object.entries(ROLES).map(([key, [title]]) => html`<option key=${key} value=${key}>${title}</option>`)}
    </select></label>
    <label class="named"><span>Debates of</span>
      <input ...${field('owner', { ...words, placeholder: 'its own' })} />
    </label>`}
    <label class="named"><span>Days it counts</span>
      <input ...${field('days', { type: 'number', min: 1, max: 36_500, placeholder: 'any' })} />
    </label>
    <button class="btn" type="submit">${first ? 'Make it and lock the door' : 'Make a token'}</button>
    ${wrong.map((text) => html`<p class="wrong" role="alert" key=${text}>${text}</p>`)}
    ${first ? html`<${FirstOne} />` : html`<p class="soft small">${ROLES[form.role][1]}</p>`}
  </form>`;
}

const FirstOne = () => html`<p class="soft small">
  <b>The first token locks the door</b> for everybody without one, and for good while the server runs. This browser
  keeps the one you make here and still sees what was debated so far. Further tokens are then made by${' '}
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
