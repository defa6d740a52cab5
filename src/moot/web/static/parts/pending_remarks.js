// Remarks and questions that nobody has heard yet: they wait for the next speech.

import { html } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';

export function Waiting({ room }) {
  const { waiting } = room.at('now').value;
  if (waiting.length === 0) return null;
  const { seats } = room.at('about').value;
  return html`<section class="waiting" aria-label="Waiting to be heard">
    <h3>Waiting to be heard</h3>
    <ul class="plain">${waiting.map(
      (number) => html`<${Remark} key=${number} remark=${room.at('remarks', number).value} seats=${seats} />`,
    )}</ul>
  </section>`;
}

const Named = ({ seat }) => html`<b data-seat style=${seatStyle(seat.color)}><bdi>${seat.name}</bdi></b>`;

function Remark({ remark, seats }) {
  if (!remark) return null;
  const to = seats.find((seat) => seat.id === remark.to);
  return html`<li>
    <span class="soft small">
      ${remark.question ? 'Question' : 'Remark'} to ${to ? html`<${Named} seat=${to} />` : 'everybody'}
    </span>
    <p dir="auto">${remark.text}</p>
  </li>`;
}
