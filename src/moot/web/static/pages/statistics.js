// The statistics page. Every rate is shown with its interval: ten debates prove little, and the page says so.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { get } from '../lib/api.js';
import { figure, plural } from '../lib/numbers.js';
import { go } from '../lib/router.js';
import { ensureStyle } from '../lib/stylesheet.js';
import { Empty, Failed, PageSection, useLoaded } from '../lib/ui.js';
import { Choice, Days } from '../parts/history_filters.js';
import { Matrix, Shares, Whisker, inWords, isClear } from '../parts/win_rates.js';

await ensureStyle('statistics');

const SIDES = { for: 'For', against: 'Against', neutral: 'Neither' };
const FILTERS = ['format', 'from', 'to'];
const FEW = 10;

export default function Statistics({ at }) {
  const filters = FILTERS.map((name) => [name, at.query.get(name) ?? '']).filter(([, value]) => value);
  const queryText = new URLSearchParams(filters).toString();
  const [statistics, error, again] = useLoaded((signal) => get(`/statistics?${queryText}`, { signal }), [queryText]);
  const [formats] = useLoaded((signal) => get('/formats', { signal }));
  const titles = Object.fromEntries((formats?.formats ?? []).map((one) => [one.name, one.title]));
  return html`<main id="main" class="wide statistics">
    <header class="row">
      <h1 tabindex="-1" class="grow">Statistics</h1>
      <${StatisticsFilters} filters=${Object.fromEntries(filters)} titles=${titles} />
    </header>
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${statistics && (statistics.totals.debates
      ? html`<${Figures} statistics=${statistics} titles=${titles} />`
      : html`<${Nothing} filtered=${filters.length > 0} />`)}
  </main>`;
}

/** The debates that are counted. */
function StatisticsFilters({ filters, titles }) {
  const set = (name) => (event) => {
    const next = Object.entries({ ...filters, [name]: event.target.value }).filter(([, value]) => value);
    go(`/statistics${next.length ? `?${new URLSearchParams(next)}` : ''}`);
  };
  const values = { format: '', from: '', to: '', ...filters };
  return html`<search class="among">
    <${Choice} name="Format" any="Any format" value=${values.format} of=${titles} onChange=${set('format')} />
    <${Days} filters=${values} set=${set} />
  </search>`;
}

function Nothing({ filtered }) {
  if (filtered) {
    return html`<${Empty} title="No debate fits that">
      <p><a class="btn main" href="/statistics">Count all of them</a></p>
    <//>`;
  }
  return html`<${Empty} title="Nothing to count yet">
    <p class="soft">After a few debates this page shows which model wins against which, and how sure that is.</p>
    <p><a class="btn main" href="/">Start a debate</a></p>
  <//>`;
}

function Figures({ statistics, titles }) {
  const judged = statistics.formats.reduce((all, one) => all + one.debates, 0);
  const models = statistics.models.map(standing).filter((one) => one.of > 0).sort(best);
  return html`
    <${Totals} totals=${statistics.totals} judged=${judged} />
    <${Caution} judged=${judged} models=${models} />
    ${statistics.totals.silent > 0 && html`<p class="notice">
      ${plural(statistics.totals.silent, 'debate')} had a speaker who said nothing in a turn. Their results are counted
      below; in the <a href="/debates">list of debates</a> they are marked “silent turn”.
    </p>`}
    ${models.length > 0 && html`<${Winners} models=${models} alone=${statistics.models.length - models.length} />`}
    ${statistics.pairs.length > 0 && html`<${PageSection} title="Against whom" says=${AGAINST}>
      <${Matrix} pairs=${statistics.pairs} />
    <//>`}
    ${judged > 0 && html`<${Fairness} sides=${statistics.sides} formats=${statistics.formats} titles=${titles} />`}
    ${statistics.judges.debates > 0 && html`<${Judges} judges=${statistics.judges} />`}
    ${statistics.days.length > 0 && html`<${PageSection} title="Day by day" says="Debates as columns, their cost as a line.">
      <${Drawn} days=${statistics.days} />
    <//>`}
    ${statistics.costs.length > 0 && html`<${Costs} costs=${statistics.costs} />`}
    ${statistics.topics.length > 0 && html`<${Topics} topics=${statistics.topics} />`}
  `;
}

const WINS = `Points against other models: a win counts 1, a draw ½. The line is the 95 % interval; a filled dot is
  clearly above or below the 50 % line, a hollow one may be chance.`;
const AGAINST = 'The model of the row against the model of the column: won–lost–drawn, and the interval of its points.';

/** `rate` and `interval` are the server's, in which a draw is half a win. */
const counted = (won, lost, draws) => ({ of: won + lost + draws, counts: `${won}–${lost}–${draws}` });
const standing = (one) => ({ ...one, ...counted(one.wins, one.losses, one.draws) });
/** The best first; with the same share, the one that is known better. */
const best = (one, other) => (other.rate ?? 0) - (one.rate ?? 0) || other.of - one.of || one.name.localeCompare(other.name);

function Totals({ totals, judged }) {
  const figures = [
    [figure(totals.debates), totals.debates === 1 ? 'debate' : 'debates'],
    [figure(judged), 'with a verdict'],
    [figure(totals.speeches), 'speeches'],
    [totals.costText, totals.unpriced ? `known; ${plural(totals.unpriced, 'debate')} unpriced` : 'spent'],
  ];
  return html`<dl class="totals">
    ${figures.map(([figure, name]) => html`<div key=${name}><dt>${name}</dt><dd>${figure}</dd></div>`)}
  </dl>`;
}

/** What cannot be concluded from the figures. */
function Caution({ judged, models }) {
  if (!judged) return html`<p class="notice">No debate has a verdict yet: there is nothing to say about who wins.</p>`;
  if (judged < FEW) {
    const so = judged === 1 ? 'one verdict is' : `${judged} verdicts are`;
    return html`<p class="notice">
      Too few to tell: ${so} not enough to compare models. The intervals below show how little is known.
    </p>`;
  }
  if (models.length && !models.some(isClear)) {
    return html`<p class="notice">No model stands out yet: every difference below may be chance.</p>`;
  }
  return null;
}

function Winners({ models, alone }) {
  return html`<${PageSection} title="Who wins" says=${WINS}>
    <${Shares} rows=${models} caption="Points by model, a draw counting half" counted="won–lost–drawn" ranked />
    ${alone > 0 && html`<p class="soft small">
      ${alone} more ${alone === 1 ? 'has debated only against itself' : 'have debated only against themselves'}.
    </p>`}
  <//>`;
}

function Fairness({ sides, formats, titles }) {
  const bySide = sides.map((one) => ({ ...standing(one), title: SIDES[one.name] }));
  const byFormat = formats.map((one) => ({
    ...one, name: one.format, title: titles[one.format], ...counted(one.winsFor, one.winsAgainst, one.draws),
  }));
  return html`
    <${PageSection} title="By side" says="Whether it helps to speak for the motion or against it.">
      <${Shares} rows=${bySide} caption="Points by side, a draw counting half" counted="won–lost–drawn" />
    <//>
    <${PageSection} title="By format" says="How often the side for the motion wins. A fair format has its dot near the mark.">
      <${Shares} rows=${byFormat} caption="Share of debates won by the side for the motion, by format"
        ends=${['always against', 'always for']} counted="for–against–drawn" />
    <//>`;
}

function Judges({ judges }) {
  const rows = [
    ['Changed their mind in the second reading', judges.flipRate, judges.flipInterval],
    ['Unanimous panels', judges.unanimousRate, judges.unanimousInterval],
    ['Ballots that name the winner, on average', judges.agreement, judges.interval],
  ].filter(([, rate]) => rate !== null);
  const were = judges.debates === 1 ? 'debate was' : 'debates were';
  const says = `${judges.debates} ${were} judged by models. A judge that changes its mind when only labels or order change has not decided by the speeches.`;
  return html`<${PageSection} title="The judges" says=${says}>
    <dl class="judges">${rows.map(([name, rate, interval]) => html`<div key=${name}>
      <dt>${name}</dt>
      <dd><${Whisker} rate=${rate} interval=${interval} /><span>${inWords(rate, interval)}</span></dd>
    </div>`)}</dl>
  <//>`;
}

/** The chart library is loaded with this page only. */
function Drawn({ days }) {
  const [Chart, show] = useState(null);
  useEffect(() => {
    import('../parts/daily_chart.js').then((module) => show(() => module.default));
  }, []);
  return Chart ? html`<${Chart} days=${days} />` : html`<div class="days" aria-busy="true"></div>`;
}

function Costs({ costs }) {
  const most = Math.max(...costs.map((one) => one.cost ?? 0));
  const bar = (cost) => html`<span class="meter" aria-hidden="true"><i style=${`--share:${cost / most}`}></i></span>`;
  return html`<${PageSection} title="Cost" says="By model, as speaker and as judge.">
    <div class="scroller"><table class="costs">
      <thead><tr>
        <th scope="col">Model</th><td class="drawn"></td><th scope="col" class="end">Cost</th>
        <th scope="col" class="end">Tokens</th><th scope="col" class="end">Debates</th>
      </tr></thead>
      <tbody>${costs.map((one) => html`<tr key=${one.model}>
        <th scope="row"><bdi>${one.model}</bdi></th><td class="drawn">${one.cost > 0 && bar(one.cost)}</td>
        <td class="end">${one.costText}</td><td class="end">${figure(one.tokens)}</td>
        <td class="end">${one.debates}</td>
      </tr>`)}</tbody>
    </table></div>
  <//>`;
}

function Topics({ topics }) {
  const search = (motion) => `/debates?search=${encodeURIComponent(motion.slice(0, 200))}`;
  return html`<${PageSection} title="Top motions" says="Motions in the same words count as one.">
    <ol class="topics">${topics.map((topic) => html`<li key=${topic.motion}>
      <a href=${search(topic.motion)} dir="auto">${topic.motion}</a><span class="soft numbers">${topic.debates}</span>
    </li>`)}</ol>
  <//>`;
}
