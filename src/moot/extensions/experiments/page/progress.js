// How far an experiment is: its state, a bar of its debates, and the figures beside it. It is loaded again every two
// seconds while it runs and the page is visible.

import { html, useEffect } from '../../../vendor/preact.js';
import { When } from '../../lib/clock.js';
import { dollars, figure, plural } from '../../lib/numbers.js';

const STATES = {
  running: 'Running', stopping: 'Stopping', stopped: 'Stopped', done: 'Done', interrupted: 'Interrupted',
};
const AGAIN = 2000;

export const isRunning = (experiment) => experiment.state === 'running' || experiment.state === 'stopping';

/** The next request follows the reply to the last one, so that a slow reply is never cut off. */
export function usePolling(going, again, loaded) {
  useEffect(() => {
    if (!going) return undefined;
    const timer = setInterval(() => {
      if (document.hidden) return;
      clearInterval(timer);
      again();
    }, AGAIN);
    return () => clearInterval(timer);
  }, [going, ...loaded]);
}

export const StateName = ({ experiment }) => html`<span class="state ${experiment.state}">
  ${STATES[experiment.state] ?? experiment.state}
</span>`;

export function Progress({ experiment }) {
  const { planned, held, failed, running, name } = experiment;
  const share = (count) => `--share:${planned ? count / planned : 0}`;
  return html`<div class="progress" role="progressbar" aria-label=${`Debates of ${name}`} aria-valuemin="0"
    aria-valuemax=${planned} aria-valuenow=${held + failed} aria-valuetext=${`${held} of ${planned} debates held`}>
    <i data-part="held" style=${share(held)}></i><i data-part="failed" style=${share(failed)}></i>
    <i data-part="running" style=${share(running)}></i>
  </div>`;
}

export function ProgressFigures({ experiment }) {
  const { planned, held, failed, running, costText, budget } = experiment;
  return html`<p class="figures numbers">
    <span><b>${figure(held)}</b> of ${plural(planned, 'debate')}</span>
    ${running > 0 && html`<span>${figure(running)} under way</span>`}
    ${failed > 0 && html`<span class="wrong">${figure(failed)} failed</span>`}
    <span>${costText}${budget !== null && ` of ${dollars(budget)}`}</span>
    <span>started <${When} at=${experiment.createdAt} /></span>
  </p>`;
}

/** heron, of ollama/heron */
export const shortName = (model) => model.slice(model.indexOf('/') + 1) || model;
