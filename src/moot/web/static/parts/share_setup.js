// A setup as a link: whoever opens it finds the page filled in. Secrets stay here unless they are asked for.

import { html, useState } from '../../vendor/preact.js';
import { linkOf } from '../lib/setup.js';
import { Sheet } from '../lib/ui.js';
import { Link } from './copy_link.js';
import { Tick } from './field.js';

export function Sharing({ setup, onClose }) {
  const [secrets, tell] = useState(false);
  const hasSecrets = setup.seats.some((seat) => seat.objective.trim() || seat.systemPrompt.trim());
  const link = linkOf(setup, secrets);
  return html`<${Sheet} title="Share this setup" onClose=${onClose}>
    <div class="stack">
      <p class="soft">Whoever opens this link finds everything filled in as it is here. Nothing is started.</p>
      ${hasSecrets && html`<${Tick} label="With private objectives and prompts" hint="Left out otherwise."
        checked=${secrets} onChange=${tell} />`}
      <${Link} label="Link" url=${link} />
    </div>
  <//>`;
}
