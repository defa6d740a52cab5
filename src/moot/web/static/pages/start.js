// The start page: motion, seats, format and one button. Everything has a default, and changes are stored in this
// browser. A setup can be shared as a link; private objectives and prompts are left out unless chosen.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { useKeys } from '../lib/keyboard.js';
import { surprise } from '../lib/motions.js';
import { storedSignal } from '../lib/preferences.js';
import { SEAT_COLOURS, chairOf, emptySeat, fresh, inFormat, linkOf, nameOf, swapped, tidied } from '../lib/setup.js';
import { usePlan, usePrefilled, useStart } from '../lib/start_debate.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Failed, Details, Link, Dialog, announce, toast, useLoaded } from '../lib/ui.js';
import { Conduct, Price, Rules, Versus, inShort, isRule } from '../parts/debate_options.js';
import { Tick, Wrong, wrongs } from '../parts/field.js';
import { FormatCard } from '../parts/format_card.js';
import { Judges, judgedBy } from '../parts/judge_picker.js';
import { follow, here } from '../parts/model_install.js';
import { Readiness } from '../parts/model_readiness.js';
import { MotionField } from '../parts/motion_field.js';
import { SeatCard } from '../parts/seat_card.js';

await ensureStyle('start');

const remembered = storedSignal('setup', null);

export default function Start({ at }) {
  const load = (signal) => Promise.all([get('/models', { signal }), get('/formats', { signal })]);
  const [offer, error, again] = useLoaded(load);
  useEffect(() => void follow().catch(() => {}), []);
  if (offer) return html`<${SetupForm} at=${at} server=${serverOf(offer[0])} formats=${offer[1].formats} />`;
  return html`<main id="main" class="start" aria-busy=${!error}>
    <h1 class="visually-hidden" tabindex="-1">Start a debate</h1>
    ${error && html`<${Failed} error=${error} again=${again} />`}
  </main>`;
}

/** A model that was just installed is available, even if the list is older. */
function serverOf({ models, default: usual }) {
  const ready = (row) => row.provider === 'local' && here.value.has(row.modelId);
  return { models: models.map((row) => (ready(row) ? { ...row, available: true, missing: null } : row)), usual };
}

function SetupForm({ at, server, formats }) {
  const [setup, setSetup] = useState(() => tidied(remembered.peek()));
  const [errors, setErrors] = useState({});
  const [sharing, share] = useState(false);
  const format = formats.find((one) => one.name === setup.format) ?? formats[0];
  const [plan, planned, current] = usePlan(setup, format, server);
  const wrong = { ...planned, ...errors };

  const change = (patch) => {
    const next = { ...setup, ...patch };
    setErrors({});
    setSetup(next);
    remembered.value = next;
  };
  const config = (patch) => change({ config: { ...setup.config, ...patch } });
  const swap = () => {
    change(swapped(setup, format));
    announce('Sides swapped.');
  };
  const startOver = () => {
    change(fresh());
    toast('Everything is as at first.', { action: ['Undo', () => change(setup)] });
  };
  usePrefilled(at, formats, change);
  const start = useStart(setup, format, server, setErrors);
  useKeys('Start', {
    'Ctrl+Enter': ['Start the debate', start],
    x: ['Swap sides', swap],
    s: ['Surprise me with a motion', () => change({ topic: surprise(setup.topic) })],
  });

  const names = Object.fromEntries(setup.seats.map((_, index) => [index, nameOf(setup, format, index)]));
  const judge = html`<b>${setup.judges.length > 1 ? 'Judges' : 'Judge'}</b>
    <span dir="auto">${judgedBy(setup.judges, server)}</span>`;
  return html`<main id="main" class="start">
    <h1 class="visually-hidden" tabindex="-1">Start a debate</h1>
    <${MotionField} topic=${setup.topic} wrong=${wrongs(wrong, 'topic')} onChange=${(topic) => change({ topic })} />
    <${Lecterns} setup=${setup} format=${format} server=${server} errors=${wrong} onChange=${change} onSwap=${swap} />
    <${Readiness} setup=${setup} server=${server} onUse=${(model) => change(everywhere(setup, model))} />

    <div class="conduct">
      <${FormatCard} format=${format} formats=${formats} order=${plan?.order} current=${current}
        colours=${setup.seats.map((seat) => seat.color)} names=${names} wrong=${wrongs(wrong, 'format')}
        onPick=${(picked) => change(inFormat(setup, format, picked))} />
      <${Conduct} config=${setup.config} format=${format} errors=${wrong} onChange=${config} />
    </div>
    <${Details} class="line" summary=${judge} needed=${['judge', 'judges'].some((one) => wrongs(wrong, one, true).length)}>
      <${Judges} judges=${setup.judges} errors=${wrong} server=${server} onChange=${(judges) => change({ judges })} />
    <//>
    <${Details} class="line" summary=${html`<b>Rules</b> <span>${inShort(setup.config)}</span>`}
      needed=${Object.keys(wrong).some(isRule)}>
      <${Rules} config=${setup.config} format=${format} errors=${wrong} smallest=${plan?.smallestLimit}
        onChange=${config} />
    <//>
    <${Doubts} texts=${plan?.warnings ?? []} />
    <div class="aside">
      <button type="button" class="btn plain" onClick=${() => share(true)}>Share this setup</button>
      <button type="button" class="btn plain" onClick=${startOver}>Start over</button>
    </div>

    <footer class="go">
      <${Price} plan=${plan} limit=${setup.config.costLimit} errors=${wrong}
        onFree=${() => config({ costLimit: null, warnAtCost: null })} />
      <${Button} class="main" onClick=${start} aria-keyshortcuts="Control+Enter Meta+Enter">
        Start the debate<kbd aria-hidden="true">Ctrl ↵</kbd>
      <//>
    </footer>
    ${sharing && html`<${Sharing} setup=${setup} onClose=${() => share(false)} />`}
  </main>`;
}

function Lecterns({ setup, format, server, errors, onChange, onSwap }) {
  const { seats } = setup;
  const duel = seats.length === 2;
  const put = (index) => (patch) =>
    onChange({ seats: seats.map((seat, other) => (other === index ? { ...seat, ...patch } : seat)) });
  const take = (index) => () => onChange({ seats: seats.filter((_, other) => other !== index) });
  const add = seats.length < format.maxParticipants && (() => onChange({ seats: seated(seats) }));
  return html`
    <section class="lecterns ${duel ? 'duel' : 'table'}" aria-label="The seats">
      ${seats.map((seat, index) => html`
        ${duel && index === 1 && html`<${Versus} key="versus" onSwap=${onSwap} onAdd=${add} />`}
        <${SeatCard} key=${index} seat=${seat} index=${index} chair=${chairOf(format, index)} errors=${errors}
          server=${server} onChange=${put(index)} onRemove=${seats.length > format.minParticipants && take(index)} />`)}
    </section>
    <p class="centred"><${Wrong} texts=${wrongs(errors, 'participants')} /></p>
    ${!duel && html`<div class="beneath">
      <button type="button" class="btn plain" onClick=${onSwap}>Swap sides</button>
      ${add && html`<button type="button" class="btn plain" onClick=${add}>Add a seat</button>`}
    </div>`}
  `;
}

/** A further seat, in an unused colour. */
function seated(seats) {
  const color = SEAT_COLOURS.find((colour) => !seats.some((other) => other.color === colour));
  const seat = emptySeat(seats.length);
  return [...seats, { ...seat, color: color ?? seat.color }];
}

/** The setup with this model for all seats and judges without one. */
const everywhere = (setup, model) => ({
  seats: setup.seats.map((seat) => (seat.model ? seat : { ...seat, model })),
  judges: setup.judges.map((judge) => (judge.model ? judge : { ...judge, model })),
});

const Doubts = ({ texts }) =>
  texts.length > 0
  && html`<ul class="doubts small soft">${texts.map((text) => html`<li key=${text} dir="auto">${text}</li>`)}</ul>`;

function Sharing({ setup, onClose }) {
  const [secrets, tell] = useState(false);
  const hasSecrets = setup.seats.some((seat) => seat.objective.trim() || seat.systemPrompt.trim());
  const link = linkOf(setup, secrets);
  return html`<${Dialog} title="Share this setup" onClose=${onClose}>
    <div class="stack">
      <p class="soft">Whoever opens this link finds everything filled in as it is here. Nothing is started.</p>
      ${hasSecrets && html`<${Tick} label="With private objectives and prompts" hint="Left out otherwise."
        checked=${secrets} onChange=${tell} />`}
      <${Link} label="Link" url=${link} />
    </div>
  <//>`;
}
