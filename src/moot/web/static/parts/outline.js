// The outline of a debate: one line for each thing that happened, with links to the speeches.

import { html } from '../../vendor/preact.js';
import { figure } from '../lib/numbers.js';
import { seatStyle } from '../lib/seats.js';
import { inOrder } from '../lib/timeline.js';
import { Dialog, Words } from '../lib/ui.js';

export function Outline({ debate, onPick, onClose }) {
  const turn = (number) => ({ kind: 'turn', key: `turn/${number}`, number });
  const entries = inOrder(debate).flatMap((entry) => (entry.kind === 'together' ? entry.numbers.map(turn) : [entry]));
  const { seats } = debate.at('about').value;
  const named = Object.fromEntries(seats.map((seat) => [seat.id, seat]));
  const line = (entry) => {
    if (entry.kind === 'round') return html`<li class="overline" key=${entry.key}>Round ${entry.number}</li>`;
    const item = debate.at(`${entry.kind}s`, entry.number).peek();
    if (entry.kind === 'turn') {
      return html`<li key=${entry.key}><${Line} turn=${item} seats=${named} onPick=${onPick} /></li>`;
    }
    const remark = item.question ? 'A question' : 'A remark';
    const what = entry.kind === 'point' ? `${named[item.seat]?.name}, a point of information` : remark;
    return html`<li class="aside" key=${entry.key}><${Words}>${what}${item.text && `: ${item.text}`}</${Words}></li>`;
  };
  return html`<${Dialog} title="Log" class="outline" onClose=${onClose}>
    ${entries.length === 0 && html`<p class="soft">Nothing has been said yet.</p>`}
    <ol class="entries">${entries.map(line)}</ol>
  <//>`;
}

function Line({ turn, seats, onPick }) {
  const seat = seats[turn.seat];
  const words = turn.state === 'live' ? 'speaking' : `${figure(turn.words)} words`;
  const facts = [words, turn.cost, turn.struck && 'struck'].filter(Boolean);
  const pick = () => onPick(String(turn.number));
  return html`<button type="button" data-seat style=${seatStyle(seat?.color)} onClick=${pick}>
    <span class="numbers place">${turn.number}</span>
    <b><${Words}>${seat?.name}</${Words}></b>
    <span class="title">${turn.title}</span>
    <span class="numbers soft">${facts.join(' · ')}</span>
  </button>`;
}
