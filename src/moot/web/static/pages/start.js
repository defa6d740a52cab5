// The start page: what Moot is, a sample debate, and the form for a debate of one's own: motion, sides, format and one
// button. Everything has a default, and changes are stored in this browser. Returning users get the form first. A
// setup can be shared as a link; private objectives and prompts are left out unless chosen.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { hasSmallSpeaker, withModels } from '../lib/default_models.js';
import { Parts } from '../lib/extensions.js';
import { formatSummary } from '../lib/format_summary.js';
import { useKeys } from '../lib/keyboard.js';
import { surprise } from '../lib/motions.js';
import { isStill, returning, storedSignal } from '../lib/preferences.js';
import { SEAT_COLOURS, chairOf, emptySeat, fresh, inFormat, linkOf, nameOf, swapped, tidied } from '../lib/setup.js';
import { usePlan, usePrefilled, useStart } from '../lib/start_debate.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Failed, Details, Link, Dialog, announce, toast, useLoaded } from '../lib/ui.js';
import { Conduct, Price, Rules, Versus, inShort, isOption } from '../parts/debate_options.js';
import { Tick, Wrong, wrongs } from '../parts/field.js';
import { MOD } from '../parts/form.js';
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
  const [first] = useState(() => !returning.peek() && !at.query.get('from') && !at.hash.startsWith('#setup='));
  const [sampled, showSample] = useState(first);
  useEffect(() => void follow().catch(() => {}), []);
  const sample = sampled && html`<${Sample} onClose=${!first && (() => showSample(false))} />`;
  return html`<main id="main" class="start ${first ? 'first' : ''}" aria-busy=${!offer && !error}>
    <${Intro} first=${first} sampled=${sampled} onSample=${() => showSample(true)} />
    ${sample}
    ${offer && html`<${SetupForm} at=${at} first=${first} server=${serverOf(offer[0])} formats=${offer[1].formats}
      settings=${offer[1].settings} />`}
    ${!offer && !error && html`<p class="waiting soft" role="status">Loading models and formats…</p>`}
    ${error && !offer && html`<${Failed} error=${error} again=${again} />`}
  </main>`;
}

/** A model that was just installed is available, even if the list is older. */
function serverOf({ models, default: usual }) {
  const ready = (row) => row.provider === 'local' && here.value.has(row.modelId);
  return { models: models.map((row) => (ready(row) ? { ...row, available: true, missing: null } : row)), usual };
}

function Intro({ first, sampled, onSample }) {
  const toForm = () => {
    const field = document.getElementById('motion');
    field?.scrollIntoView({ block: 'center', behavior: isStill() ? 'auto' : 'smooth' });
    field?.focus({ preventScroll: true });
  };
  return html`<header class="intro">
    <div>
      <h1 tabindex="-1">${first ? 'Moot lets language models debate each other' : 'Start a debate'}</h1>
      <p class="soft">${first
        ? 'See what they think, who wins, and how sure the judges are.'
        : 'Moot lets language models debate each other and shows how sure the judges are.'}</p>
    </div>
    ${first && html`<button type="button" class="btn main" onClick=${toForm}>Start your own</button>`}
    ${!first && !sampled && html`<button type="button" class="btn" onClick=${onSample}>Watch a sample</button>`}
  </header>`;
}

/** The frame of the sample debate has its size before the sample is loaded. */
function Sample({ onClose }) {
  const [part, show] = useState(null);
  const [error, fail] = useState(null);
  const load = () => import('../parts/sample_debate.js').then((module) => show(() => module.default), fail);
  useEffect(() => void load(), []);
  return html`<section class="sample" aria-label="Sample debate" aria-busy=${!part && !error}>
    ${part && html`<${part} />`}
    ${error && html`<${Failed} error=${{ message: 'The sample debate could not be loaded.' }} again=${load} />`}
    ${onClose && html`<button type="button" class="btn plain close" aria-label="Close the sample" onClick=${onClose}>✕</button>`}
  </section>`;
}

function SetupForm({ at, first, server, formats, settings }) {
  const [setup, setSetup] = useState(() => tidied(remembered.peek(), settings));
  const [errors, setErrors] = useState({});
  const [sharing, share] = useState(false);
  const format = formats.find((one) => one.name === setup.format) ?? formats[0];
  const whole = withModels(setup, server);
  const usual = withModels({ ...setup, seats: setup.seats.map(noModel), judges: setup.judges.map(noModel) }, server);
  const small = hasSmallSpeaker(whole, server);
  const [plan, planned, current] = usePlan(whole, format);
  const wrong = { ...planned, ...errors };

  const change = (patch) => {
    returning.value = true;
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
  const reset = () => {
    change(fresh(settings));
    toast('Setup reset.', { action: ['Undo', () => change(setup)] });
  };
  usePrefilled(at, formats, settings, change);
  const start = useStart(whole, format, server, setErrors);
  useKeys('Start', {
    'Ctrl+Enter': ['Start the debate', start],
    x: ['Swap sides', swap],
    s: ['Random motion', () => change({ topic: surprise(small, setup.topic) })],
  });

  const names = Object.fromEntries(setup.seats.map((_, index) => [index, nameOf(setup, format, index)]));
  const add = setup.seats.length < format.maxParticipants && (() => change({ seats: seated(setup.seats) }));
  const options = html`<b>More options</b>
    <span dir="auto">${inShort(setup.config, settings, judgedBy(whole.judges, server))}</span>`;
  return html`<div class="setup">
    ${first && html`<h2>Start your own</h2>`}
    <${MotionField} topic=${setup.topic} small=${small} wrong=${wrongs(wrong, 'topic')}
      onChange=${(topic) => change({ topic })} />
    <${Lecterns} setup=${setup} usual=${usual} format=${format} server=${server} errors=${wrong} onChange=${change}
      onSwap=${swap} />
    <${Readiness} setup=${whole} server=${server} />
    <${FormatCard} format=${format} formats=${formats} describe=${(one) => formatSummary(one, inFormat(setup, format, one))}
      rounds=${(one) => inFormat(setup, format, one).config.maxRounds} order=${plan?.order}
      current=${current} colours=${setup.seats.map((seat) => seat.color)} names=${names}
      wrong=${wrongs(wrong, 'format')} onPick=${(picked) => change(inFormat(setup, format, picked))} />
    <${Details} class="options-fold" summary=${options} needed=${Object.keys(wrong).some((field) => isOption(field, settings))}>
      <${Conduct} config=${setup.config} settings=${settings} format=${format} errors=${wrong} onChange=${config} />
      <h3>Judges</h3>
      <${Judges} judges=${setup.judges} usual=${usual.judges.map((judge) => judge.model)} errors=${wrong}
        server=${server} onChange=${(judges) => change({ judges })} />
      <h3>Limits and rules</h3>
      <${Rules} config=${setup.config} settings=${settings} format=${format} errors=${wrong} smallest=${plan?.smallestLimit}
        onChange=${config} />
      <div class="row">
        ${add && html`<button type="button" class="btn" onClick=${add}>Add a speaker</button>`}
        <${Parts} place="form" />
        <button type="button" class="btn" onClick=${() => share(true)}>Share this setup</button>
        <button type="button" class="btn" onClick=${reset}>Reset setup</button>
      </div>
    <//>

    <${Doubts} texts=${plan?.warnings ?? []} />
    <footer class="go">
      <${Price} plan=${plan} errors=${wrong} settings=${settings}
        onFree=${() => config({ costLimit: null, warnAtCost: null })} />
      <${Button} class="main" onClick=${start} aria-keyshortcuts="Control+Enter Meta+Enter">
        Start the debate<kbd aria-hidden="true">${MOD} ↵</kbd>
      <//>
    </footer>
    ${sharing && html`<${Sharing} setup=${setup} onClose=${() => share(false)} />`}
  </div>`;
}

const noModel = (one) => ({ ...one, model: '' });

function Lecterns({ setup, usual, format, server, errors, onChange, onSwap }) {
  const { seats } = setup;
  const duel = seats.length === 2;
  const put = (index) => (patch) =>
    onChange({ seats: seats.map((seat, other) => (other === index ? { ...seat, ...patch } : seat)) });
  const take = (index) => () => onChange({ seats: seats.filter((_, other) => other !== index) });
  return html`
    <section class="lecterns ${duel ? 'duel' : 'table'}" aria-label="Sides">
      ${seats.map((seat, index) => html`
        ${duel && index === 1 && html`<${Versus} key="versus" onSwap=${onSwap} />`}
        <${SeatCard} key=${index} seat=${seat} index=${index} chair=${chairOf(format, index)} errors=${errors}
          usual=${usual.seats[index].model} server=${server} onChange=${put(index)}
          onRemove=${seats.length > format.minParticipants && take(index)} />`)}
    </section>
    <${Wrong} texts=${wrongs(errors, 'participants')} />
    ${!duel && html`<div class="beneath">
      <button type="button" class="btn plain" onClick=${onSwap}>Swap sides</button>
    </div>`}
  `;
}

/** A further seat, in an unused colour. */
function seated(seats) {
  const color = SEAT_COLOURS.find((colour) => !seats.some((other) => other.color === colour));
  const seat = emptySeat(seats.length);
  return [...seats, { ...seat, color: color ?? seat.color }];
}

const Doubts = ({ texts }) =>
  texts.length > 0
  && html`<ul class="doubts small soft">${texts.map((text) => html`<li key=${text} dir="auto">${text}</li>`)}</ul>`;

function Sharing({ setup, onClose }) {
  const [secrets, setSecrets] = useState(false);
  const hasSecrets = setup.seats.some((seat) => seat.objective.trim() || seat.systemPrompt.trim());
  const link = linkOf(setup, secrets);
  return html`<${Dialog} title="Share this setup" onClose=${onClose}>
    <div class="stack">
      <p class="soft">The link opens this page with the same setup. It starts nothing.</p>
      ${hasSecrets && html`<${Tick} label="Include private objectives and prompts" hint="Left out otherwise."
        checked=${secrets} onChange=${setSecrets} />`}
      <${Link} label="Link" url=${link} />
    </div>
  <//>`;
}
