// A seat on the start page: its side and its model or person; folded, its name, persona and instructions.

import { html } from '../../vendor/preact.js';
import { seatStyle } from '../lib/seats.js';
import { PERSON } from '../lib/setup.js';
import { Details } from '../lib/ui.js';
import { Named, Wrong, numberIn, wrongs } from './field.js';
import { Picker } from './model_picker.js';

const SIDES = { for: 'argues for', against: 'argues against', neutral: 'takes no side' };
const PERSONAS = ['an urban planner from Utrecht', 'a delivery driver', 'a retired judge', 'a schoolteacher'];
const FOLDED = [
  'name', 'position', 'persona', 'objective', 'systemPrompt', 'color', 'standIn', 'model.temperature', 'model.maxTokens',
];

/** `usual`: the model that is used where none is chosen. */
export function SeatCard({ seat, index, chair, usual, errors, server, onChange, onRemove }) {
  const wrong = (name, deep = false) => wrongs(errors, `participants.${index}.${name}`, deep);
  const person = seat.model === PERSON;
  const name = seat.name.trim() || chair.name;
  const hold = (model) => onChange({ model, temperature: null, maxTokens: null, standIn: '' });
  const play = html`<button type="button" class="text" onClick=${() => hold(person ? '' : PERSON)}>
    ${person ? 'Use a model' : 'Play this side'}
  </button>`;
  return html`<section class="lectern" data-seat data-place=${index} style=${seatStyle(seat.color)}
    aria-label=${`Seat ${index + 1}, ${name}`}>
    <header>
      <h3><bdi>${name}</bdi></h3>
      <span class="small soft">${SIDES[seat.position || chair.position]}</span>
      ${onRemove && html`<button type="button" class="btn plain" aria-label=${`Remove ${name}`} title="Remove"
        onClick=${onRemove}>✕</button>`}
    </header>
    <${Picker} label="Model" people aside=${play} value=${seat.model} usual=${usual} models=${server.models}
      wrong=${[...wrong('model.provider'), ...wrong('model.modelId'), ...wrong('model')]} onPick=${hold} />
    <${Details} summary=${summaryOf(seat)} needed=${FOLDED.some((one) => wrong(one, true).length)}>
      <${More} seat=${seat} index=${index} chair=${chair} wrong=${wrong} server=${server} onChange=${onChange} />
    <//>
  </section>`;
}

function More({ seat, index, chair, wrong, server, onChange }) {
  const person = seat.model === PERSON;
  const set = (name) => (event) => onChange({ [name]: event.target.value });
  const side = ({ target: { value } }) => onChange({ position: value === chair.position ? '' : value });
  return html`<div class="stack">
    <div class="pair">
      <${Named} label="Name" dir="auto" maxlength="100" placeholder=${chair.name} value=${seat.name}
        wrong=${wrong('name')} onInput=${set('name')} />
      <${Named} as="select" label="Side" value=${seat.position || chair.position} wrong=${wrong('position')}
        onChange=${side}>
        ${Object.keys(SIDES).map((one) => html`<option value=${one}>${one}</option>`)}
      <//>
    </div>
    ${!person && html`<${Named} label="Persona" dir="auto" value=${seat.persona} wrong=${wrong('persona')}
      placeholder=${PERSONAS[index % PERSONAS.length]} onInput=${set('persona')} />`}
    <${Named} as="textarea" rows="2" label="Private objective" dir="auto" value=${seat.objective}
      hint="Shown to this seat only; opponents, judges and audience never see it."
      wrong=${wrong('objective')} onInput=${set('objective')} />
    ${!person && html`<${Named} as="textarea" rows="3" label="Custom prompt" dir="auto" value=${seat.systemPrompt}
      hint="Added to the instructions of the model."
      wrong=${wrong('systemPrompt')} onInput=${set('systemPrompt')} />`}
    ${person && html`<${Picker} label="Stand-in, if the person is away" empty="None" value=${seat.standIn}
      usual=${server.usual} models=${server.models} wrong=${wrong('standIn', true)}
      onPick=${(standIn) => onChange({ standIn })} />`}
    <div class="pair">
      <${Named} label="Colour" type="color" value=${seat.color} wrong=${wrong('color')} onInput=${set('color')} />
      ${!person && html`<${Named} label="Temperature" type="number" min="0" max="1" step="0.1" placeholder="0.7"
        value=${seat.temperature ?? ''} wrong=${wrong('model.temperature')}
        onInput=${(event) => onChange({ temperature: numberIn(event) })} />
      <${Named} label="Max tokens" type="number" min="1" inputmode="numeric" placeholder="default"
        value=${seat.maxTokens ?? ''} wrong=${wrong('model.maxTokens')}
        onInput=${(event) => onChange({ maxTokens: numberIn(event) })} />`}
    </div>
  </div>`;
}

/** A summary of the folded options. */
function summaryOf(seat) {
  const filled = [
    seat.persona.trim(),
    seat.objective.trim() && 'private objective',
    seat.systemPrompt.trim() && 'custom prompt',
    seat.standIn && 'stand-in',
  ].filter(Boolean);
  return filled.length ? html`<span dir="auto">${filled.join(', ')}</span>` : 'Persona and instructions';
}
