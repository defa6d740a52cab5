// The judges at work: each in both orders, with the reasoning as it is written, and whom each ballot names.

import { html, useComputed } from '../../vendor/preact.js';
import { partiesOf } from '../lib/parties.js';
import { Growing } from './prose.js';
import { orderName } from './ranking_chart.js';

const STATE = { waiting: 'not begun', writing: 'writing', spoiled: 'could not be read', missing: 'none came' };

export function Bench({ room }) {
  const keys = room.keys('bench').value;
  const told = (key) => room.at('bench', key).value;
  const last = Math.max(0, ...keys.map((key) => told(key)?.judging ?? 0));
  const own = keys.filter((key) => told(key)?.judging === last);
  if (!own.length) return null;
  const judges = Map.groupBy(own, (key) => told(key).judge);
  return html`<section class="bench" aria-labelledby="bench-title">
    <h2 id="bench-title">The judges are weighing it</h2>
    <p class="soft">Each model judges twice, the second time with the parties the other way round.</p>
    ${[...judges].map(([judge, papers]) => html`<${Judge} key=${judge} keys=${papers} room=${room} />`)}
  </section>`;
}

// A replay may be taken back to before the judging: then a paper is gone before the page that shows it.

function Judge({ keys, room }) {
  const { name, model } = room.at('bench', keys[0]).value ?? {};
  return html`<article class="opinion">
    <header><h3><bdi>${name}</bdi></h3><span class="soft small"><bdi>${model}</bdi></span></header>
    <div class="papers">${keys.map(
      (key) => html`<${Paper} key=${key} name=${key} alone=${keys.length === 1} room=${room} />`,
    )}</div>
  </article>`;
}

function Paper({ name, alone, room }) {
  const one = room.at('bench', name);
  const state = useComputed(() => one.value?.state).value;
  const thinks = useComputed(() => Boolean(!one.value?.text && one.value?.reasoning)).value;
  const attempt = useComputed(() => one.value?.attempt).value;
  const text = useComputed(() => one.value?.text ?? '');
  const { order, winner, person } = one.peek() ?? {};
  const party = state === 'cast' ? partiesOf(room.at('about').value).get(winner) : null;
  const word = person && state === 'waiting' ? 'awaited' : thinks && state === 'writing' ? 'thinking…' : STATE[state];
  return html`<section class="paper ${state}" data-seat style=${party?.style ?? ''}>
    <h4>
      <span class="soft">${alone ? 'Ballot' : orderName(order)}</span>
      ${state === 'cast'
        ? html`<span class="hue"><bdi>${party?.name ?? 'a tie'}</bdi></span>`
        : html`<span class="soft">${word}${attempt > 1 && state === 'writing' ? `, attempt ${attempt}` : ''}</span>`}
    </h4>
    ${state === 'writing' && html`<${Growing} text=${text} live=${true} />`}
  </section>`;
}
