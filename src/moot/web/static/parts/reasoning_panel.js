// Both minds: what the sides thought, side by side and round by round, with what they then said behind a fold.

import { html } from '../../vendor/preact.js';
import { seatStyle } from '../lib/colour.js';
import { Sheet } from '../lib/ui.js';
import { Prose } from './prose.js';

export function Minds({ room, onClose }) {
  const { seats } = room.at('about').value;
  const turns = room.keys('turns').value.map((key) => room.at('turns', key).value).filter((turn) => !turn.struck);
  const rounds = Map.groupBy(turns, (turn) => turn.round);
  return html`<${Sheet} title=${seats.length === 2 ? 'Both minds' : 'All minds'} class="minds" onClose=${onClose}>
    <p class="soft">What each side thought before it spoke. None of this was heard by the others.</p>
    <div class="scroll" tabindex="0"><table style=${`--seats:${seats.length}`}>
      <caption class="visually-hidden">The reasoning of each side, by round</caption>
      <thead><tr><th scope="col"><span class="visually-hidden">Round</span></th>${seats.map(
        (seat) => html`<th scope="col" key=${seat.id} class="hue" data-seat style=${seatStyle(seat.color)}>
          <bdi>${seat.name}</bdi>
        </th>`,
      )}</tr></thead>
      <tbody>${[...rounds].map(([round, own]) => html`<tr key=${round}>
        <th scope="row">${round}</th>
        ${seats.map((seat) => html`<td key=${seat.id} data-seat style=${seatStyle(seat.color)}>
          ${own.filter((turn) => turn.seat === seat.id).map(thought)}
        </td>`)}
      </tr>`)}</tbody>
    </table></div>
  <//>`;
}

const thought = (turn) => html`<${Thought} key=${turn.number} turn=${turn} />`;

function Thought({ turn }) {
  return html`<section class="thought">
    <h3>${turn.title}</h3>
    ${turn.reasoning ? html`<${Prose} text=${turn.reasoning} />` : html`<p class="soft">No reasoning was shown.</p>`}
    ${turn.text && html`<details><summary>The speech</summary><${Prose} class="said" text=${turn.text} /></details>`}
  </section>`;
}
