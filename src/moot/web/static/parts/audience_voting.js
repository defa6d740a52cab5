// The audience: one vote before the first speech and one after the last, and questions. A visitor with the
// shared link joins first, and gets an invitation of their own.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get, post, tokens } from '../lib/api.js';
import { plural } from '../lib/numbers.js';
import { seatStyle } from '../lib/seats.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { announce, complain } from '../lib/ui.js';
import { Addressee, TextInput, TextArea, Submit, Wrong, useForm } from './form.js';

await ensureStyle('controls');

const ASKED = {
  before: 'Before a word is said: where do you stand?',
  after: 'Having heard it all: where do you stand?',
};

export function Voting({ debate, id }) {
  const me = debate.me.value;
  const { open } = debate.at('now').value;
  const polls = debate.at('polls').value;
  const name = open.find((command) => command.startsWith('vote:'))?.slice(5);
  if (!me) return null;
  return html`
    ${me.many && html`<${Join} id=${id} />`}
    ${name && html`<${Poll} key=${name} ...${{ debate, id, name, me }} poll=${polls[name]} choices=${polls.choices} />`}
    ${me.role === 'audience' && me.may.ask && open.includes('ask') && html`<${Ask} debate=${debate} id=${id} />`}
  `;
}

function Poll({ debate, id, name, poll, choices, me }) {
  const shelf = `moot.voted.${id}.${name}.${tokens.for(id).slice(-8)}`;
  const [voted, setVoted] = useState(() => localStorage.getItem(shelf));
  const { seats, parties } = debate.at('about').value;
  const options = choices.map((choice) => option(choice, seats, parties));
  const remember = (choice) => {
    localStorage.setItem(shelf, choice);
    setVoted(choice);
  };
  const vote = async (choice) => {
    try {
      await post(`/debates/${id}/votes`, { choice, poll: name }, { once: true });
      remember(choice);
      announce('Your vote is counted.');
    } catch (error) {
      if (error.status === 409 && /voted/.test(error.message)) remember('?');
      complain(error);
    }
  };
  return html`<section class="poll" aria-labelledby="poll-title">
    <h2 id="poll-title">${ASKED[name]}</h2>
    ${!me.may.vote && html`<p class="soft">The audience votes.</p>`}
    ${me.may.vote && voted && html`<${Thanks} given=${options.find((one) => one.choice === voted)} />`}
    ${me.may.vote && !voted && html`<div class="choices">
      ${options.map((one) => html`<${Vote} key=${one.choice} ...${one} onVote=${() => vote(one.choice)} />`)}
    </div>`}
    <p class="soft small numbers">
      ${poll.votes ? `${plural(poll.votes, 'vote')} so far` : 'No votes yet'}.${' '}
      The result stays hidden until voting closes${poll.endsAt && html`, at ${hour(poll.endsAt)}`}.
    </p>
  </section>`;
}

const Thanks = ({ given }) => html`<p class="thanks">
  Thank you: your vote is counted${given && html` (<bdi>${given.label}</bdi>)`}.
</p>`;

const Vote = ({ label, who, style, onVote }) => html`<button type="button" class="vote"
  data-seat=${style ? '' : undefined} style=${style} onClick=${onVote}>
  <b><bdi>${label}</bdi></b>${who && html`<span><bdi>${who}</bdi></span>`}
</button>`;

const LABELS = { for: 'For', against: 'Against', undecided: 'Undecided' };

/** A side with its speakers, or one speaker where there are no two sides. */
function option(choice, seats, parties) {
  const party = parties.find((one) => one.id === choice || sideOf(one, seats) === choice);
  const seat = seats.find((one) => one.id === party?.id);
  const style = seat && seatStyle(seat.color);
  return { choice, style, label: LABELS[choice] ?? party?.name, who: LABELS[choice] && party?.name };
}

const sideOf = (party, seats) => seats.find((seat) => seat.id === party.id)?.position;
const hour = (moment) => new Date(moment).toLocaleTimeString([], { timeStyle: 'medium' });

// --- the shared link -----------------------------------------------------------------------------------------------

function Join({ id }) {
  const [name, setName] = useState('');
  const form = useForm(async () => {
    const { token } = await post(`/debates/${id}/join`, name.trim() ? { name: name.trim() } : {}, { once: true });
    localStorage.setItem(`moot.joined.${id}`, token);
    enter(id, token);
  });
  useEffect(() => {
    comeBack(id);
  }, []);
  return html`<section class="poll join" aria-labelledby="join-title">
    <h2 id="join-title">Join the audience</h2>
    <form class="row" ...${form.props}>
      <${TextInput} label="Your name (if you like)" class="grow" value=${name} onWrite=${setName} maxlength="60" />
      <button type="submit" class="btn main" disabled=${form.busy}>Join</button>
    </form>
    <${Wrong} errors=${form.errors} of="name" />
    <p class="soft small">Then you can vote and ask. Nobody sees whose vote was whose.</p>
  </section>`;
}

function enter(id, token) {
  tokens.invite(id, token);
  location.reload();
}

/** A visitor who joined before keeps their invitation, unless it is no longer valid. */
async function comeBack(id) {
  const joined = localStorage.getItem(`moot.joined.${id}`);
  if (!joined) return;
  const hall = tokens.for(id);
  tokens.invite(id, joined);
  try {
    await get(`/debates/${id}/status`, { quiet: true });
    location.reload();
  } catch {
    localStorage.removeItem(`moot.joined.${id}`);
    tokens.invite(id, hall);
  }
}

function Ask({ debate, id }) {
  const { seats } = debate.at('about').value;
  const [text, setText] = useState('');
  const [to, setTo] = useState('');
  const form = useForm(async () => {
    await post(`/debates/${id}/questions`, { text, ...(to && { to }) }, { once: true });
    setText('');
    announce('Your question waits for its answer.');
  });
  return html`<details class="asking">
    <summary>Put a question</summary>
    <form class="stack" ...${form.props}>
      <${Addressee} seats=${seats} to=${to} onPick=${setTo} />
      <${TextArea} label="Your question" value=${text} onWrite=${setText} maxlength="2000" />
      <${Wrong} errors=${form.errors} of="text" />
      <${Submit} form=${form} disabled=${!text.trim()}>Ask<//>
    </form>
  </details>`;
}
