// Points of information, from a person's desk: rising on one while the other side speaks, and taking or declining
// one that is offered.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { post } from '../lib/api.js';
import { seatStyle } from '../lib/colour.js';
import { useKeys } from '../lib/keyboard.js';
import { Button, announce, complain } from '../lib/ui.js';
import { Line, Wrong, useForm } from './form.js';

export function Point({ room, path, seat, place, open }) {
  if (place.point && open.includes(`answer:${seat}`)) return html`<${Offered} ...${{ room, path, place }} />`;
  return open.includes(`point:${seat}`) ? html`<${Rise} path=${path} />` : null;
}

function Offered({ room, path, place }) {
  const by = room.at('about').value.seats.find((one) => one.id === place.point.participantId);
  const answer = (accept) => post(`${path}/answer`, { accept }, { once: true });
  useEffect(() => announce(`${by?.name} offers a point of information: ${place.point.text}`), []);
  useKeys('Point of information', {
    y: ['Take the point', () => answer(true).catch(complain)],
    n: ['Decline the point', () => answer(false).catch(complain)],
  });
  return html`<div class="point stack" role="group" aria-label="Point of information">
    <p><b data-seat style=${seatStyle(by?.color)}><bdi>${by?.name}</bdi></b> rises on a point of information:</p>
    <blockquote dir="auto">${place.point.text}</blockquote>
    <div class="row">
      <${Button} class="main" hint="y" onClick=${() => answer(true)}>Take it<//>
      <${Button} hint="n" onClick=${() => answer(false)}>No, thank you<//>
    </div>
  </div>`;
}

function Rise({ path }) {
  const [text, setText] = useState('');
  const field = useRef();
  useKeys('Point of information', { p: ['Offer a point', () => field.current.focus()] });
  const form = useForm(async () => {
    await post(`${path}/points`, { text }, { once: true });
    setText('');
    announce('Your point is put to the speaker at the break.');
  });
  return html`<form class="point row" ...${form.props}>
    <${Line} label="Point of information" class="grow" field=${field} value=${text} onWrite=${setText}
      maxlength="500" />
    <button type="submit" class="btn" disabled=${form.busy || !text.trim()}>
      Offer it<kbd aria-hidden="true">p</kbd>
    </button>
    <${Wrong} errors=${form.errors} of="text" />
  </form>`;
}
