// A link for others to read along. It is an invitation as an observer: made when asked for, and withdrawn again
// by whoever made it.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { post, remove } from '../lib/api.js';
import { Button, Failed, Sheet, toast } from '../lib/ui.js';
import { Link, isNear } from './copy_link.js';

export function Share({ id, onClose }) {
  const [link, setLink] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    post(`/debates/${id}/invitations`, { role: 'observer' }, { once: true }).then(setLink, setError);
  }, []);
  const withdraw = async () => {
    await remove(`/debates/${id}/invitations/${encodeURIComponent(link.name)}`);
    toast('The link leads nowhere any more.');
    onClose();
  };
  const url = link && new URL(link.link, location.origin).href;
  return html`<${Sheet} title="Share" class="share" onClose=${onClose}>
    ${error && html`<${Failed} error=${error} />`}
    <div class="stack">
      <p>Whoever has this link can read this debate, its verdict and its replay, and can change nothing. It opens
        no other debate.</p>
      <${Link} label="Read-only link" url=${url}>
        <${Button} onClick=${withdraw} disabled=${!link}>Withdraw it<//>
      <//>
      ${isNear() && html`<p class="soft small">This server answers at ${location.host}, which only this machine can
        reach. For others, serve it at an address that they can reach, or send them the exported replay.</p>`}
    </div>
  <//>`;
}
