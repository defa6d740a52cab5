// One experiment: its progress while it runs, and what its debates show so far, every figure with its interval.

import { html } from '../../../vendor/preact.js';
import { get, saveReply, tokens } from '../../lib/api.js';
import { plural } from '../../lib/numbers.js';
import { ensureStyle } from '../../lib/stylesheet.js';
import { Button, Failed, useLoaded } from '../../lib/ui.js';
import { Progress, ProgressFigures, StateName, isRunning, usePolling } from './progress.js';
import { Leaderboard, MatchupMatrix } from './leaderboard.js';
import { ReportSections } from './report_sections.js';

await ensureStyle('statistics');
await ensureStyle('extensions/experiments/experiments');

const BOARD = `400 points are odds of ten to one; the dotted mark is the mean, 1500. The rank range has every rank that
  the data allows.`;

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
  const { leaderboard, matchups, notes, models, failures } = experiment;
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
    <${ReportSections} sections=${experiment.sections}
      before=${{
        Protocols: experiment.protocols.some((one) => one.bins.length) && html`<${Curves} rows=${experiment.protocols} />`,
        Matchups: matchups.length > 0 && html`<${MatchupMatrix} models=${order} matchups=${matchups} />`,
      }}
      instead=${{ Leaderboard: html`<${Leaderboard} models=${leaderboard} /><p class="soft small">${BOARD}</p>` }} />
    ${experiment.sections.length === 0 && html`<ul class="notes">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}`;
}

const percent = (share) => `${Math.round(share * 100)} %`;

/** Accuracy by confidence, from 50 to 100 %; on the dashed line both are equal, below it a judge is too sure. */
const Curves = ({ rows }) => html`<ul class="curves">${rows.map((one) => one.bins.length > 0 && html`<li key=${one.protocol}>
  <${Curve} bins=${one.bins} /> <span class="small">${one.protocol}</span>
</li>`)}</ul>`;

function Curve({ bins }) {
  const at = ({ confidence, accuracy }) => [(confidence - 0.5) * 96, 48 - accuracy * 48];
  const said = bins.map((one) => `${percent(one.confidence)} sure, ${percent(one.accuracy)} right`).join('; ');
  return html`<svg viewBox="-3 -3 54 54" width="72" height="72" role="img" aria-label=${said}>
    <rect width="48" height="48" fill="none" stroke="currentColor" opacity=".2" />
    <path d="M0 24 L48 0" fill="none" stroke="currentColor" stroke-dasharray="3 3" opacity=".4" />
    <polyline points=${bins.map((one) => at(one).join(',')).join(' ')} fill="none" stroke="currentColor" stroke-width="1.5" />
    ${bins.map((one) => html`<circle key=${one.confidence} cx=${at(one)[0]} cy=${at(one)[1]} r="2.5" fill="currentColor" />`)}
  </svg>`;
}
