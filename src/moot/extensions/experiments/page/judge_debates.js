// People judge the debates of an experiment, one after the other, without knowing the models or the verdict.

import { html, useEffect, useRef, useState } from '../../../vendor/preact.js';
import { get, post } from '../../lib/api.js';
import { figure, plural } from '../../lib/numbers.js';
import { storedSignal } from '../../lib/preferences.js';
import { ensureStyle } from '../../lib/stylesheet.js';
import { Button, Empty, Failed, announce, sizeOf, useLoaded } from '../../lib/ui.js';
import { Choice, Submit, TextArea, TextInput, Wrong, useForm } from '../../parts/form.js';
import { Prose } from '../../parts/prose.js';

await ensureStyle('controls');
await ensureStyle('extensions/experiments/experiments');

const voter = storedSignal('voter', '');
const MOST_OF_A_REASON = 6000;
const BLIND = `You do not see which models debate, and no verdict. Which side is A is drawn by lot. Your vote is kept with
  the experiment, under the name that you give here.`;

export default function JudgeDebates({ id }) {
  const name = decodeURIComponent(id);
  return html`<main id="main" class="wide judging" aria-label="Judge debates">
    ${voter.value ? html`<${Queue} key=${voter.value} ...${{ name }} />` : html`<${WhoJudges} name=${name} />`}
  </main>`;
}

function WhoJudges({ name }) {
  const [given, setGiven] = useState('');
  const form = useForm(async () => {
    voter.value = given.trim();
  });
  return html`<header class="stack"><p class="overline">${name}</p><h1 tabindex="-1">Judge debates</h1><p>${BLIND}</p></header>
    <form class="stack" ...${form.props}>
      <${TextInput} label="Your name" value=${given} onWrite=${setGiven} maxlength="60" autocomplete="nickname" />
      <${Submit} form=${form} disabled=${!given.trim()}>Begin<//>
    </form>`;
}

function Queue({ name }) {
  const path = `/experiments/${name}/queue?voter=${encodeURIComponent(voter.value)}`;
  const [loaded, error, again] = useLoaded((signal) => get(path, { signal }), [path]);
  const [next, setNext] = useState(null);
  const queue = next ?? loaded;
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  if (!queue) return html`<p class="soft" aria-busy="true">Loading …</p>`;
  return html`<${Standing} name=${name} queue=${queue} />
    ${queue.debate
      ? html`<${Debate} key=${queue.debate.debate} ...${{ name, shown: queue.debate, setNext }} moved=${Boolean(next)} />`
      : html`<${NothingLeft} ...${{ name, queue }} />`}`;
}

function Standing({ name, queue: { judged, total } }) {
  return html`<section class="stack" aria-label="Progress">
    <div class="row">
      <p class="overline grow">${name}</p>
      <p class="small soft">You are <bdi>${voter.value}</bdi></p>
      <${Button} onClick=${() => (voter.value = '')}>Somebody else<//>
    </div>
    <p>${figure(judged)} of ${figure(total)} judged by you</p>
    <div class="progress" role="progressbar" aria-label="Debates judged by you" aria-valuenow=${judged} aria-valuemin="0"
      aria-valuemax=${total}><i data-part="held" style=${{ '--share': total ? judged / total : 0 }}></i></div>
  </section>`;
}

const NothingLeft = ({ name, queue }) => html`<${Empty} title=${queue.total ? 'You have judged them all' : 'Nothing to judge'}>
  <p>${queue.total
    ? `Your votes on ${plural(queue.total, 'debate')} are kept with the experiment.`
    : 'No debate of this experiment with two sides is over yet.'}</p>
  <p><a class="btn" href=${`/experiments/${name}`}>See the experiment</a></p>
<//>`;

/** A debate to judge: its speeches, then the ballot. After a vote the heading of the next debate is focused. */
function Debate({ name, shown, setNext, moved }) {
  const heading = useRef();
  useEffect(() => {
    if (!moved) return;
    scrollTo(0, 0);
    heading.current?.focus();
  }, []);
  return html`<article class="stack to-judge">
    <header class="stack">
      <h1 ref=${heading} tabindex="-1" dir="auto" class=${sizeOf(shown.motion)}>${shown.motion}</h1>
      <ul class="plain">${shown.sides.map((side) => html`<li key=${side.name}><b>${side.name}</b> ${argues(side, shown)}</li>`)}</ul>
    </header>
    ${shown.speeches.map((speech, at) => html`<section key=${at} class="speech-to-judge" data-side=${speech.side ?? ''}>
      <h2>${speech.side && html`<b>${speech.side}</b> `}<span class="soft">${
        speech.number ? `S${speech.number}, ` : ''}${speech.heading}</span></h2>
      <${Prose} text=${speech.text} />
    </section>`)}
    <${Ballot} ...${{ name, shown, setNext }} />
  </article>`;
}

const argues = (side, { isQuestion }) =>
  html`argues ${isQuestion ? html`that the answer is: <bdi>${side.argues}</bdi>` : `${side.argues} the motion`}`;

function Ballot({ name, shown, setNext }) {
  const [winner, setWinner] = useState('');
  const [reason, setReason] = useState('');
  const [sure, setSure] = useState('');
  const { isQuestion, debate, sides } = shown;
  const percent = Number(sure);
  const isSure = !isQuestion || (sure !== '' && percent >= 50 && percent <= 100);
  const form = useForm(async () => {
    const body = { voter: voter.value, debate, winner, reason, ...(isQuestion && { probability: percent / 100 }) };
    const queue = await post(`/experiments/${name}/votes`, body);
    announce(`Your vote is kept. ${queue.judged} of ${queue.total} judged by you.`);
    setNext(queue);
  });
  const options = isQuestion
    ? sides.map((side) => [side.name, `${side.name}: ${side.argues}`])
    : [...sides.map((side) => [side.name, `${side.name}, ${side.argues} the motion`]), ['tie', 'Neither']];
  return html`<section class="ballot" aria-labelledby="your-ballot">
    <h2 id="your-ballot">Your ballot</h2>
    <form class="stack" ...${form.props}>
      <${Choice} name="winner" legend=${isQuestion ? 'Which answer is right?' : 'Who has won?'} value=${winner}
        onPick=${setWinner} options=${options} />
      <${Wrong} errors=${form.errors} of="winner" />
      ${isQuestion && html`<${TextInput} label="How sure are you, from 50 to 100 %?" value=${sure} onWrite=${setSure}
        type="number" min="50" max="100" inputmode="numeric" />`}
      <${Wrong} errors=${form.errors} of="probability" />
      <${TextArea} label="Your reason, if you like" value=${reason} onWrite=${setReason} rows="3" maxlength=${MOST_OF_A_REASON} />
      <${Wrong} errors=${form.errors} of="reason" />
      <${Submit} form=${form} disabled=${!winner || !isSure}>Vote, and go to the next<//>
    </form>
  </section>`;
}
