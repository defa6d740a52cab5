// A seat on the start page: its model or person, its side, and its instructions.

import { html } from '../../vendor/preact.js';
import { seatStyle } from '../lib/seats.js';
import { PERSON } from '../lib/setup.js';
import { Details } from '../lib/ui.js';
import { Named, Wrong, numberIn, wrongs } from './field.js';
import { Picker } from './model_picker.js';

const SIDES = ['for', 'against', 'neutral'];
const PERSONAS = ['an urban planner from Utrecht', 'a delivery driver', 'a retired judge', 'a schoolteacher'];
const FOLDED = ['objective', 'systemPrompt', 'color', 'standIn', 'model.temperature', 'model.maxTokens'];

export function SeatCard({ seat, index, chair, errors, server, onChange, onRemove }) {
  const wrong = (name, deep = false) => wrongs(errors, `participants.${index}.${name}`, deep);
  const person = seat.model === PERSON;
  const name = seat.name.trim() || chair.name;
  const hold = (model) => onChange({ model, temperature: null, maxTokens: null, standIn: '' });
  const sit = html`<button type="button" class="text" onClick=${() => hold(person ? '' : PERSON)}>
    ${person ? 'Let a model speak' : 'Sit here yourself'}
  </button>`;
  return html`<section class="lectern" data-seat data-place=${index} style=${seatStyle(seat.color)}
    aria-label=${`Seat ${index + 1}, ${name}`}>
    <header>
      <${Who} seat=${seat} index=${index} chair=${chair} wrong=${wrong('name')} onChange=${onChange} />
      <${Side} name=${name} seat=${seat} chair=${chair} onChange=${onChange} />
      ${onRemove && html`<button type="button" class="btn plain" aria-label=${`Take ${name} away`}
        onClick=${onRemove}>✕</button>`}
    </header>
    <${Wrong} texts=${[...wrong('name'), ...wrong('position')]} />
    <${Picker} label="Held by" people aside=${sit} value=${seat.model} usual=${server.usual} models=${server.models}
      wrong=${[...wrong('model.provider'), ...wrong('model.modelId'), ...wrong('model')]} onPick=${hold} />
    <${Named} label="Persona" dir="auto" value=${seat.persona} placeholder=${PERSONAS[index % PERSONAS.length]}
      wrong=${wrong('persona')} onInput=${(event) => onChange({ persona: event.target.value })} />
    <${Details} summary=${summaryOf(seat)} needed=${FOLDED.some((one) => wrong(one, true).length)}>
      <${More} seat=${seat} person=${person} wrong=${wrong} server=${server} onChange=${onChange} />
    <//>
  </section>`;
}

const Who = ({ seat, index, chair, wrong, onChange }) => html`<input class="who" dir="auto" maxlength="100"
  aria-label=${`Name of seat ${index + 1}`} placeholder=${chair.name} value=${seat.name}
  aria-invalid=${wrong.length > 0 || undefined} onInput=${(event) => onChange({ name: event.target.value })} />`;

function Side({ name, seat, chair, onChange }) {
  const take = ({ target: { value } }) => onChange({ position: value === chair.position ? '' : value });
  return html`<select class="side" aria-label=${`Side of ${name}`} value=${seat.position || chair.position}
    onChange=${take}>
    ${SIDES.map((side) => html`<option value=${side}>${side}</option>`)}
  </select>`;
}

function More({ seat, person, wrong, server, onChange }) {
  const set = (name) => (event) => onChange({ [name]: event.target.value });
  return html`<div class="stack">
    <${Named} as="textarea" rows="2" label="Private objective" dir="auto" value=${seat.objective}
      hint="Told to this seat alone; its opponents and the audience never see it."
      wrong=${wrong('objective')} onInput=${set('objective')} />
    <${Named} as="textarea" rows="3" label="Custom prompt" dir="auto" value=${seat.systemPrompt}
      hint="Added to what the model is told about its part."
      wrong=${wrong('systemPrompt')} onInput=${set('systemPrompt')} />
    ${person && html`<${Picker} label="Stand-in, if the person is away" empty="Nobody" value=${seat.standIn}
      usual=${server.usual} models=${server.models} wrong=${wrong('standIn', true)}
      onPick=${(standIn) => onChange({ standIn })} />`}
    <div class="pair">
      <${Named} label="Colour" type="color" value=${seat.color} wrong=${wrong('color')} onInput=${set('color')} />
      ${!person && html`<${Named} label="Temperature" type="number" min="0" max="1" step="0.1" placeholder="0.7"
        value=${seat.temperature ?? ''} wrong=${wrong('model.temperature')}
        onInput=${(event) => onChange({ temperature: numberIn(event) })} />
      <${Named} label="Max tokens" type="number" min="1" inputmode="numeric" placeholder="usual"
        value=${seat.maxTokens ?? ''} wrong=${wrong('model.maxTokens')}
        onInput=${(event) => onChange({ maxTokens: numberIn(event) })} />`}
    </div>
  </div>`;
}

/** A summary of the folded options. */
function summaryOf(seat) {
  const filled = [
    seat.objective.trim() && 'a private objective',
    seat.systemPrompt.trim() && 'a prompt of its own',
    seat.standIn && 'a stand-in',
  ].filter(Boolean);
  return filled.length ? `More: ${filled.join(', ')}` : 'More';
}
