// How the audience votes: while it is sealed, how many have; then each poll as one bar, in the colours of the
// sides, before above after.

import { html } from '../../vendor/preact.js';
import { span, useNow } from '../lib/clock.js';
import { seatStyle } from '../lib/colour.js';
import { many } from '../lib/numbers.js';
import { spread } from '../lib/parties.js';

const POLLS = ['before', 'after', 'final'];
const SIDES = { for: 'For', against: 'Against', undecided: 'Undecided' };

export function VoteBar({ room }) {
  const polls = room.at('polls').value ?? {};
  if (!polls.choices) return null;
  if (!polls.result) return html`<${Sealed} polls=${polls} />`;
  return html`<${Counted} room=${room} result=${polls.result} />`;
}

function Sealed({ polls }) {
  const held = Object.values(polls).filter((poll) => poll?.poll);
  if (!held.length) return null;
  return html`<ul class="votes" aria-label="Votes">${held.map(
    (poll) => html`<li key=${poll.poll} class=${poll.open ? 'open' : ''}>
      <b>${named(poll.poll)}</b> <span class="numbers">${many(poll.votes, 'vote')}</span>
      ${poll.open && html`<span class="soft"> · voting is open <${Left} ends=${poll.endsAt} /></span>`}
    </li>`,
  )}</ul>`;
}

function Left({ ends }) {
  const now = useNow();
  return ends && html`<span class="numbers">${span(Date.parse(ends) - now)}</span>`;
}

function Counted({ room, result }) {
  const { seats } = room.at('about').value;
  const counted = result.polls.filter((poll) => poll.byChoice && poll.votes > 0);
  const names = Object.fromEntries((result.changes ?? []).map(({ choice, label }) => [choice, label]));
  const seat = (choice) => seats.find((one) => one.id === choice || one.position === choice);
  const label = (choice) => SIDES[choice] ?? names[choice] ?? seat(choice)?.name ?? choice;
  if (!counted.length) return result.headline && html`<p class="votes"><bdi>${result.headline}</bdi></p>`;
  return html`<figure class="tally">
    <figcaption><bdi>${result.headline}</bdi></figcaption>
    ${counted.map((poll) => {
      const parts = spread(result.choices).filter((choice) => poll.byChoice[choice]);
      const words = parts.map((choice) => `${label(choice)} ${poll.byChoice[choice]}`).join(', ');
      return html`<div key=${poll.poll} class="division" role="img" aria-label=${`${named(poll.poll)}: ${words}`}>
        ${counted.length > 1 && html`<span class="when">${named(poll.poll)}</span>`}
        <div class="parts">${parts.map((choice) => {
          const of = seat(choice);
          const style = `flex-grow:${poll.byChoice[choice]};${of ? seatStyle(of.color) : ''}`;
          return html`<span key=${choice} data-seat=${Boolean(of) || undefined} style=${style}>
            <bdi>${label(choice)}</bdi> ${poll.byChoice[choice]}
          </span>`;
        })}</div>
      </div>`;
    })}
  </figure>`;
}

const named = (poll) => (POLLS.includes(poll) ? poll[0].toUpperCase() + poll.slice(1) : poll);
