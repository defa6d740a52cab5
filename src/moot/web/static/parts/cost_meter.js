// The cost of the debate, always visible, with its limit as a bar; and a dialog with the costs of each model.

import { html } from '../../vendor/preact.js';
import { figure } from '../lib/numbers.js';
import { Dialog } from '../lib/ui.js';

/** `show(open)` opens and closes the dialog. */
export function CostMeter({ debate, open, show }) {
  const money = debate.at('money').value;
  const amount = money.limit ? `${money.spent} of ${money.limit}` : money.spent;
  const way = { 'aria-haspopup': 'dialog', 'aria-keyshortcuts': '$', 'aria-label': `Cost: ${amount}. Show it by model` };
  return html`<button type="button" class="money numbers" ...${way} onClick=${() => show(true)}>
      <span>${money.spent}</span>
      ${money.share !== null && html`<${Meter} money=${money} />`}
      ${money.limit && html`<span class="limit">of ${money.limit}</span>`}
    </button>
    ${open && html`<${Bill} money=${money} onClose=${() => show(false)} />`}`;
}

const Meter = ({ money, class: kind = '' }) =>
  html`<span class="meter ${kind} ${money.warned ? 'warned' : ''}" style=${`--share:${money.share}`}><i></i></span>`;

function Bill({ money, onClose }) {
  return html`<${Dialog} title="Cost and tokens" class="bill" onClose=${onClose}>
    <div class="stack">
      <p>${money.bill}</p>
      ${money.limit && html`<p class="row">
        <${Meter} money=${money} class="grow" />
        <span class="numbers">${money.spent} of ${money.limit}</span>
      </p>`}
      ${money.exhausted && html`<p class="wrong">The cost limit has been reached.</p>`}
      ${money.models.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Cost by model"><table>
        <thead><tr><th>Model</th><th>Calls</th><th>In</th><th>Out</th><th>Thinking</th><th>Cost</th></tr></thead>
        <tbody>${money.models.map(
          (row) => html`<tr key=${row.model}>
            <td><bdi>${row.model}</bdi></td>
            ${[row.calls, row.input, row.output, row.reasoning].map((number) => html`<td>${figure(number)}</td>`)}
            <td>${row.cost}</td>
          </tr>`,
        )}</tbody>
      </table></div>`}
      <p class="small soft">${figure(money.tokens)} tokens in all.
        ${money.estimated ? ' Some were estimated: the provider did not count them.' : ''}
        ${money.unpriced.length ? ` No price is known for ${money.unpriced.join(', ')}.` : ''}</p>
    </div>
  <//>`;
}
