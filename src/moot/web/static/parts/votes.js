// The votes of an audience: what was voted before and after, who moved, and how sure the change is.

import { html } from '../../vendor/preact.js';
import { plural, signed } from '../lib/numbers.js';
import { partiesOf, spread } from '../lib/seats.js';

/** A part of a bar with a smaller share has no room for its number. */
const ROOM = 0.09;
const WHEN = { before: 'Before the debate', after: 'After the debate' };

/** `models`: the votes are those of the model audience. */
export function Swing({ result, about, models = false }) {
  if (!result || result.sealed || !result.polls?.length || !result.changes) return null;
  const title = models ? 'model-swing-title' : 'swing-title';
  const named = new Map(result.changes.map((change) => [change.choice, change.label]));
  const style = (choice) => styleOf(choice, about);
  const choices = spread(result.choices);
  return html`<section class="swing" aria-labelledby=${title}>
    <h3 id=${title}>${models ? 'The model audience' : 'The audience'}</h3>
    ${result.headline && html`<p class="headline"><bdi>${result.headline}</bdi></p>`}
    ${result.polls.map((poll) => html`<${Bar} key=${poll.poll} ...${{ poll, named, style, choices }} />`)}
    <ul class="legend">${choices.map(
      (choice) => html`<li key=${choice} data-seat style=${style(choice)}><bdi>${named.get(choice)}</bdi></li>`,
    )}</ul>
    ${result.pairs > 0 && html`<${Moves} ...${{ result, named, style, models }} />`}
    <p class="soft small">${result.account.join(' ')}</p>
    <ul class="doubts">${result.doubts.map((doubt) => html`<li key=${doubt}>${doubt}</li>`)}</ul>
  </section>`;
}

/** A side has the colour of its first seat. */
function styleOf(choice, about) {
  const parties = partiesOf(about);
  if (parties.has(choice)) return parties.get(choice).style;
  const seat = about.seats.find((one) => one.position === choice);
  return seat ? (parties.get(seat.id)?.style ?? '') : '';
}

function Bar({ poll, choices, named, style }) {
  const votes = poll.byChoice ?? {};
  const share = (choice) => (poll.votes ? (votes[choice] ?? 0) / poll.votes : 0);
  const shown = choices.filter((choice) => votes[choice]);
  const apart = [poll.late && `${poll.late} late`, poll.single && `${poll.single} only here`].filter(Boolean);
  const counts = choices.map((choice) => `${named.get(choice)} ${votes[choice] ?? 0}`);
  const label = `${WHEN[poll.poll]}: ${counts.join(', ')}`;
  return html`<div class="count">
    <p>
      <span>${WHEN[poll.poll]}</span>
      <span class="soft numbers">${[plural(poll.votes, 'vote'), ...apart].join(' · ')}</span>
    </p>
    <div class="votes" role="img" aria-label=${label}>${shown.map(
      (choice) => html`<b key=${choice} class=${choice} data-seat style=${`${style(choice)};--share:${share(choice)}`}>
        ${share(choice) >= ROOM && `${Math.round(share(choice) * 100)}%`}
      </b>`,
    )}</div>
  </div>`;
}

function Moves({ result, named, style, models }) {
  const interval = ({ interval: range }) => (range ? `${signed(range.low)} to ${signed(range.high)}` : 'not sure');
  const head = (choice, scope) => html`<th scope=${scope} key=${choice} class="choice" data-seat style=${style(choice)}>
    <bdi>${named.get(choice)}</bdi>
  </th>`;
  const row = (title, cell) => html`<tr>
    <th scope="row">${title}</th>${result.changes.map((change) => html`<td key=${change.choice}>${cell(change)}</td>`)}
  </tr>`;
  return html`<div class="scroll" tabindex="0"><table class="moves">
    <caption>Who moved from what to what: ${models ? plural(result.pairs, 'model') : plural(result.pairs, 'person', 'people')} ${models ? 'that' : 'who'} voted twice</caption>
    <thead><tr><th scope="col">from ↓ to →</th>${result.choices.map((choice) => head(choice, 'col'))}</tr></thead>
    <tbody>
      ${result.table.map((row, from) => html`<tr key=${from}>${head(result.choices[from], 'row')}${row.map(
        (cell, to) => html`<td key=${to} class=${from === to ? 'kept' : cell ? 'moved' : ''}>${cell || '·'}</td>`,
      )}</tr>`)}
    </tbody>
    <tfoot>
      ${row('Change in points', (change) => html`<strong>${signed(change.points)}</strong>`)}
      ${row('95 of 100 cases', interval)}
      ${row('Won over', ({ choice, won, persuadable }) => (choice === 'undecided' ? '–' : `${won} of ${persuadable}`))}
    </tfoot>
  </table></div>`;
}
