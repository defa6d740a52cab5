// The login form: shown when the server needs a token. A valid token is stored in this browser.

import { html, useState } from '../../vendor/preact.js';
import { get, tokens } from '../lib/api.js';
import { Dialog } from '../lib/ui.js';

const WRONG = 'This token is not valid here. Check that it is complete; it may have been revoked or have expired.';

const INVITED =
  'Your invitation to this debate is not valid any more: it was withdrawn, or it has expired. Ask for a new link, or enter a token of this server.';

const Needed = () => html`${tokens.own() ? 'The token saved in this browser is no longer valid.' : 'This server needs an access token.'}
  ${' '}Ask its operator for one; on the server, <code>moot token new NAME</code> creates one.`;

/** `debate`: the one on this page; `onIn()`: the token was valid; `onClose()`: the form was closed without one. */
export function Door({ debate, onIn, onClose }) {
  const [token, setToken] = useState('');
  const [wrong, setWrong] = useState('');
  const knock = (event) => {
    event.preventDefault();
    return enter(token.trim());
  };
  const enter = async (word) => {
    const before = tokens.own();
    tokens.keep(word);
    try {
      await get('/debates?limit=1', { quiet: true });
      onIn();
    } catch (error) {
      tokens.keep(before);
      setWrong(error.status !== 401 ? error.message : word ? WRONG : 'This server needs a token.');
    }
  };
  const field = { type: 'password', autocomplete: 'current-password', required: true, autofocus: true, value: token };
  return html`<${Dialog} title="Enter your token" class="door" onClose=${onClose}>
    <form class="stack" onSubmit=${knock}>
      <p class="soft">
        ${tokens.invited(debate) ? INVITED : html`<${Needed} />`}
      </p>
      <label class="named"><span>Token</span>
        <input class="field" ...${field} aria-describedby="door-wrong" aria-invalid=${Boolean(wrong)}
          onInput=${(event) => setToken(event.target.value)} />
      </label>
      <p class="wrong" id="door-wrong" role="alert">${wrong}</p>
      <p class="row">
        <button class="btn main" type="submit">Continue</button>
        ${tokens.own() && html`<button class="btn" type="button" onClick=${() => enter('')}>Forget the saved token</button>`}
        <span class="soft small">Saved in this browser only.</span>
      </p>
    </form>
  <//>`;
}
