// One experiment: its progress while it runs, and what its debates show so far, every figure with its interval.

import { html } from '../../vendor/preact.js';
import { get, saveReply, tokens } from '../lib/api.js';
import { figure, plural } from '../lib/numbers.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Button, Failed, PageSection, Words, useLoaded } from '../lib/ui.js';
import { Progress, ProgressFigures, StateName, isRunning, shortName, usePolling } from '../parts/experiment_progress.js';
import { Leaderboard, MatchupMatrix } from '../parts/leaderboard.js';

await ensureStyle('statistics');
await ensureStyle('experiments');

const BOARD = `400 points are odds of ten to one; the dotted mark is the mean, 1500. The rank range has every rank that
  the data allows.`;
const MATRIX = 'How often, in percent, the model of the row won against the model of the column. A tie counts half.';
const PROTOCOLS = `How often judges found the right answer after each protocol, with 95 % intervals; differences in percentage
  points on the same questions. The curve shows accuracy by confidence: on the dashed line they are equal, below it a
  judge is too sure. The full report has all figures.`;
const BIASES = 'Biases are in log-odds; 0 is none, – means that the data does not show it.';
const RELIABILITY = 'Counted apart from strength. Words, seconds and cost are those of one debate.';

export default function Experiment({ id: name }) {
  const [experiment, error, again] = useLoaded((signal) => get(`/experiments/${name}`, { signal }), [name]);
  usePolling(Boolean(experiment && isRunning(experiment)), again, [experiment, error]);
  return html`<main id="main" class="wide statistics experiment" aria-busy=${!experiment && !error}>
    <header>
      <p class="overline"><a href="/experiments">Experiments</a></p>
      <div class="row">
        <h1 tabindex="-1" class="grow">${decodeURIComponent(name)}</h1>
        ${experiment?.held > 0 && html`<a class="btn" href=${`/experiments/${experiment.name}/judge`}>Judge debates</a>`}
        ${experiment?.measuredAt && experiment.held > 0 && html`<${FullReport} name=${experiment.name} />`}
      </div>
    </header>
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${experiment && html`<${Figures} experiment=${experiment} />`}
  </main>`;
}

/** A link sends no token: where there is one, the report is saved as a file instead. */
function FullReport({ name }) {
  const path = `/experiments/${name}/report`;
  if (!tokens.own()) return html`<a class="btn" href=${`/api/v1${path}`} target="_blank" rel="noopener">Full report</a>`;
  return html`<${Button} onClick=${async () => saveReply(await get(path, { raw: true }), `${name}.html`)}>
    Full report
  <//>`;
}

function Figures({ experiment }) {
  const { leaderboard, matchups, judges, reliability, closest, notes, models, failures } = experiment;
  const order = leaderboard.length ? leaderboard.map((one) => one.model) : models;
  return html`
    <section class="stack" aria-label="Progress">
      <div class="row"><${StateName} experiment=${experiment} /><${ProgressFigures} experiment=${experiment} /></div>
      <${Progress} experiment=${experiment} />
      ${experiment.state === 'interrupted' && html`<p class="notice" role="status">
        No process runs it any more. Continue it on the machine of this server:
        <code>moot experiment resume ${experiment.name}</code>
      </p>`}
      <p class="soft small">
        ${experiment.questions
          ? `${plural(models.length, 'model')} on ${plural(experiment.questions, 'question')} with a known answer, each asked twice with the answers swapped.`
          : `${plural(models.length, 'model')} on ${plural(experiment.motions, 'motion')} in the format ${experiment.format}, each pair with the sides swapped.`}
      </p>
    </section>
    ${failures.length > 0 && html`<section class="notice bad stack" aria-label="Failures">
      <h2>${plural(experiment.failed, 'debate')} failed</h2>
      <ul class="plain stack">${failures.map((one) => html`<li key=${one.debate}>
        <span dir="auto">${one.reason}</span> <a href=${`/debate/${one.debate}`}>See the debate</a>
      </li>`)}</ul>
      <p class="small">Try them again: <code>moot experiment resume ${experiment.name} --retry-failed</code></p>
    </section>`}
    ${experiment.protocols.length > 0 && html`<${PageSection} title="Protocols" says=${PROTOCOLS}>
      <${Protocols} rows=${experiment.protocols} />
    <//>`}
    ${leaderboard.length > 0 && html`<${PageSection} title="Leaderboard" says=${BOARD}><${Leaderboard} models=${leaderboard} /><//>`}
    ${matchups.length > 0 && html`<${PageSection} title="Matchups" says=${MATRIX}>
      <${MatchupMatrix} models=${order} matchups=${matchups} />
    <//>`}
    ${judges.length > 0 && html`<${PageSection} title="Judges" says=${BIASES}><${Judges} ...${experiment} /><//>`}
    ${experiment.people && html`<${PageSection} title="Judges and people" says=${experiment.people.sentence}>
      <${Table} name="Judges and people" heads=${['Judge', 'Agreement with people']}>
        ${Object.entries(experiment.people.judges).map(([name, found]) => html`<tr key=${name}>
          <${Model} name=${name} /><${Measured} of=${found} as=${percent} />
        </tr>`)}
      <//>
    <//>`}
    ${experiment.beliefs && html`<${PageSection} title="Private beliefs" says=${experiment.beliefs.sentences.join(' ')}>
      <${Table} name="Private beliefs" heads=${['Model', 'Debates', 'At first', 'In the end', 'Won', 'Overconfidence']}>
        ${experiment.beliefs.models.map((one) => html`<tr key=${one.model}>
          <${Model} name=${one.model} /><td class="end">${figure(one.debates)}</td>
          <${Measured} of=${one.opening} as=${percent} /><${Measured} of=${one.closing} as=${percent} />
          <${Measured} of=${one.won} as=${percent} /><${Measured} of=${one.overconfidence} as=${signedPercent} />
        </tr>`)}
      <//>
      <ul class="notes">${experiment.beliefs.turning.map((turn) => html`<li key=${turn} dir="auto">${turn}</li>`)}</ul>
    <//>`}
    ${reliability.length > 0 && html`<${PageSection} title="Reliability and cost" says=${RELIABILITY}>
      <${Reliability} rows=${reliability} />
    <//>`}
    ${closest.length > 0 && html`<${PageSection} title="Closest debates" says="Decided most narrowly.">
      <ol class="closest">${closest.map((one) => html`<${Debate} key=${one.debate} ...${one} />`)}</ol>
    <//>`}
    ${notes.length > 0 && html`<${PageSection} title="What to beware of">
      <ul class="notes">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>
    <//>`}`;
}

const Table = ({ name, heads, children }) => html`<div class="scroller" tabindex="0" role="region" aria-label=${name}>
  <table class="plain">
    <thead><tr>${heads.map((head, index) => html`<th scope="col" key=${head} class=${index ? 'end' : ''}>${head}</th>`)}</tr></thead>
    <tbody>${children}</tbody>
  </table>
</div>`;

const Model = ({ name }) => html`<th scope="row"><bdi title=${name}>${shortName(name)}</bdi></th>`;

const percent = (share) => `${Math.round(share * 100)} %`;
const signedPercent = (share) => `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.round(Math.abs(share) * 100)} %`;
const odds = (value) => value.toFixed(2).replace('-', '−');

/** A figure with its interval. */
function Measured({ of, as = odds }) {
  if (!of || of.value === null) return html`<td class="end soft">–</td>`;
  return html`<td class="end">${as(of.value)}${of.low !== null && of.high !== null
    && html` <span class="soft interval">${as(of.low)} to ${as(of.high)}</span>`}</td>`;
}

const JUDGE_HEADS = [
  'Judge', 'Ballots', 'Unreadable', 'Changed in the second reading', 'For the motion', 'Side bias', 'Length bias', 'Own family',
];

function Judges({ judges, agreement }) {
  return html`
    ${agreement?.debates > 0 && agreement.raw.value !== null && html`<p>
      Two judges of a debate name the same result in <b>${percent(agreement.raw.value)}</b> of${' '}
      ${plural(agreement.debates, 'debate')}${agreement.alpha.value !== null
        && html`; Krippendorff's alpha is <b>${odds(agreement.alpha.value)}</b> (1: always the same, 0: as by chance)`}.
    </p>`}
    <${Table} name="Judges" heads=${JUDGE_HEADS}>${judges.map((one) => html`<tr key=${one.judge}>
      <${Model} name=${one.judge} /><td class="end">${figure(one.judgments)}</td><td class="end">${figure(one.undecided)}</td>
      <${Measured} of=${one.flips} as=${percent} /><${Measured} of=${one.proShare} as=${percent} />
      <${Measured} of=${one.side} /><${Measured} of=${one.length} /><${Measured} of=${one.family} />
    </tr>`)}<//>`;
}

const PROTOCOL_HEADS = ['Protocol', 'Answers', 'Accuracy', 'To naive', 'To consultancy', 'Confidence', 'Brier', 'Curve', 'Cost'];
const points = (share) => `${share > 0 ? '+' : ''}${Math.round(share * 100)}`.replace('-', '−');

const Protocols = ({ rows }) => html`<${Table} name="Protocols" heads=${PROTOCOL_HEADS}>
  ${rows.map((one) => html`<tr key=${one.protocol}>
    <th scope="row">${one.protocol}</th>
    <td class="end">${one.answered === one.asked ? figure(one.asked) : `${figure(one.answered)} of ${figure(one.asked)}`}</td>
    <${Measured} of=${one.accuracy} as=${percent} /><${Measured} of=${one.againstNaive} as=${points} />
    <${Measured} of=${one.againstConsultancy} as=${points} />
    <td class="end">${one.confidence === null ? '–' : percent(one.confidence)}</td><${Measured} of=${one.brier} />
    <td class="end"><${Curve} bins=${one.bins} /></td><td class="end">${money(one.cost)}</td>
  </tr>`)}
<//>`;

/** Accuracy by confidence, from 50 to 100 %; the line from corner to corner is where both are equal. */
function Curve({ bins }) {
  if (!bins.length) return '–';
  const at = ({ confidence, accuracy }) => [(confidence - 0.5) * 96, 48 - accuracy * 48];
  const said = bins.map((one) => `${percent(one.confidence)} sure, ${percent(one.accuracy)} right`).join('; ');
  return html`<svg viewBox="-3 -3 54 54" width="54" height="54" role="img" aria-label=${said}>
    <path d="M0 24 L48 0" fill="none" stroke="currentColor" stroke-dasharray="3 3" opacity=".4" />
    <polyline points=${bins.map((one) => at(one).join(',')).join(' ')} fill="none" stroke="currentColor" stroke-width="1.5" />
    ${bins.map((one) => html`<circle key=${one.confidence} cx=${at(one)[0]} cy=${at(one)[1]} r="2.5" fill="currentColor" />`)}
  </svg>`;
}

const RELIABILITY_HEADS = [
  'Model', 'Debates', 'With issues', 'Refusals', 'Blank', 'Wrong side', 'Timeouts', 'Words', 'Seconds', 'Cost',
];

const rounded = (value) => (value === null ? '–' : figure(value >= 10 ? Math.round(value) : +value.toPrecision(2)));
const money = (cost) => (cost === null ? 'unknown' : `$${cost && cost < 0.1 ? +cost.toPrecision(2) : cost.toFixed(2)}`);

const Reliability = ({ rows }) => html`<${Table} name="Reliability and cost" heads=${RELIABILITY_HEADS}>
  ${rows.map((one) => html`<tr key=${one.model}>
    <${Model} name=${one.model} /><td class="end">${figure(one.debates)}</td><td class="end">${percent(one.issueShare)}</td>
    ${[one.refusals, one.blanks, one.wrongSides, one.timeouts].map((count) => html`<td class="end">${figure(count)}</td>`)}
    ${[one.words, one.seconds].map((value) => html`<td class="end">${rounded(value)}</td>`)}
    <td class="end">${money(one.cost)}</td>
  </tr>`)}
<//>`;

const Debate = ({ debate, motion, pro, con, share }) => html`<li>
  <a href=${`/debate/${debate}/verdict`} dir="auto">${motion}</a>
  <span class="soft small">
    <${Words} title=${pro}>${shortName(pro)}<//> for, <${Words} title=${con}>${shortName(con)}<//> against;${' '}
    ${percent(share)} of the ballots for the motion
  </span>
</li>`;
