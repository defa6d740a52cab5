// The dialogs of a moderator: a remark or a question, who has won, and aborting the debate.

import { html, useState } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { seatStyle } from '../lib/seats.js';
import { Button, Dialog, announce, complain } from '../lib/ui.js';
import { Addressee, Choice, TextArea, Submit, Wrong, useForm } from './form.js';

const KINDS = [['remark', 'A remark'], ['question', 'A question']];
/** Text that was written when the dialog was closed is there again when it is opened. */
const draft = { text: '' };

export function SaySheet({ debate, id, question = false, onClose }) {
  const { seats } = debate.at('about').value;
  const { open } = debate.at('now').value;
  const [asks, setAsks] = useState(question);
  const [to, setTo] = useState('');
  const [text, setText] = useState(draft.text);
  const write = (words) => setText((draft.text = words));
  const form = useForm(async () => {
    const body = { text, ...(to && { to }), ...(asks && { question: true }) };
    await post(`/debates/${id}/inject`, body, { once: true });
    draft.text = '';
    announce(asks ? 'The question waits for its answer.' : 'The remark waits to be heard.');
    onClose();
  });
  const shut = !open.includes(asks ? 'ask' : 'inject');
  const name = seats.find((seat) => seat.id === to)?.name;
  return html`<${Dialog} title="Say something" onClose=${onClose}>
    <form class="stack" ...${form.props}>
      <${Choice} name="kind" legend="What is it?" value=${asks ? 'question' : 'remark'} options=${KINDS}
        onPick=${(kind) => setAsks(kind === 'question')} />
      <${Addressee} seats=${seats} to=${to} onPick=${setTo} />
      <${TextArea} label=${asks ? 'Your question' : 'Your remark'} value=${text} onWrite=${write} rows="4" maxlength="2000"
        autofocus />
      <${Wrong} errors=${form.errors} of="text" />
      <p class="soft small">${hearing(asks, name)}</p>
      <${Submit} form=${form} disabled=${shut || !text.trim()}>${asks ? 'Ask' : 'Say it'}<//>
    </form>
  <//>`;
}

function hearing(asks, name) {
  if (asks && name) return html`All hear it; <bdi>${name}</bdi> answers it in the next speech.`;
  if (asks) return 'All hear it, and answer it in their next speeches.';
  if (name) return html`<bdi>${name}</bdi> alone hears it, before the next speech.`;
  return 'Every speech that starts from now on hears it.';
}

export function DecideSheet({ debate, id, onClose }) {
  const about = debate.at('about').value;
  const [winner, setWinner] = useState('');
  const [reason, setReason] = useState('');
  const form = useForm(async () => {
    await post(`/debates/${id}/decide`, { winner, ...(reason.trim() && { reason }) }, { once: true });
    onClose();
  });
  return html`<${Dialog} title="Declare a winner" onClose=${onClose}>
    <form class="stack" ...${form.props}>
      <${Choice} name="winner" legend="Who has won?" value=${winner} onPick=${setWinner} options=${sides(about)} />
      <${Wrong} errors=${form.errors} of="winner" />
      <${TextArea} label="Why (if you like)" value=${reason} onWrite=${setReason} />
      <${Wrong} errors=${form.errors} of="reason" />
      <p class="soft small">This ends the debate at once; no judge is asked.</p>
      <${Submit} form=${form} disabled=${!winner}>${winner === 'draw' ? 'Declare a draw' : 'Declare the winner'}<//>
    </form>
  <//>`;
}

/** The parties and the draw, as options. */
export function sides(about) {
  const colour = (party) => about.seats.find((seat) => seat.id === party.id)?.color;
  return [...about.parties.map((party) => [party.id, party.name, seatStyle(colour(party))]), ['draw', 'A draw']];
}

export function SureSheet({ id, onClose }) {
  const abort = async () => {
    await post(`/debates/${id}/abort`, {}, { once: true }).then(onClose, complain);
  };
  return html`<${Dialog} title="Abort the debate?" onClose=${onClose}>
    <div class="stack">
      <p>The speech is cut and nothing is judged. What was said is kept.</p>
      <div class="row">
        <${Button} class="main" autofocus onClick=${abort}>Abort it<//>
        <${Button} onClick=${onClose}>Let it go on<//>
      </div>
    </div>
  <//>`;
}
