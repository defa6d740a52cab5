// The sections of an experiment's report, as the server wrote them: sentences, bullets, and tables with caption and n.

import { html } from '../../../vendor/preact.js';
import { PageSection } from '../../lib/ui.js';

const MEASURED = /^(.+?) \((.+)\)$/;
const minus = (text) => text.replace(/(?<![\w–])-(?=\d)/g, '−');

/** `before` and `instead`: what the page draws before the blocks of a section, and instead of a table, by title. */
export function ReportSections({ sections, before = {}, instead = {} }) {
  return sections.map(({ title, blocks }) => html`<${PageSection} key=${title} title=${title}>
    ${before[title]}
    ${blocks.map((block, index) => instead[block.title] ?? html`<${Block} key=${index} ...${block} />`)}
  <//>`);
}

function Block(block) {
  if (block.kind === 'table') return html`<${Table} ...${block} />`;
  if (block.kind === 'bullets') return html`<${Bullets} ...${block} />`;
  return block.texts.map((text) => html`<p key=${text} class="reported-text" dir="auto">${text}</p>`);
}

const Bullets = ({ title, items }) => html`<div class="stack">
  ${title && html`<h3>${title}</h3>`}
  <ul class="notes">${items.map(({ text, debate, turn }) => html`<li key=${debate + text} dir="auto">
    ${debate ? html`<a href=${`/debate/${debate}${turn ? `#turn-${turn}` : '/verdict'}`}>${text}</a>` : text}
  </li>`)}</ul>
</div>`;

function Table({ number, title, restsOn, note, headings, rows, words }) {
  const named = words[0] ?? 0;
  const kind = (at) => (words.includes(at) ? 'words' : 'end');
  return html`<div class="reported">
    <div class="scroller" tabindex="0" role="region" aria-label=${title}><table class="plain">
      <caption><b>Table ${number}. ${title}.</b> ${restsOn}</caption>
      <thead><tr>${headings.map((name, at) => html`<th scope="col" key=${at} class=${kind(at)}>${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row, line) => html`<tr key=${line}>${row.map((cell, at) => (at === named
        ? html`<th scope="row" key=${at} class="words"><bdi>${cell}</bdi></th>`
        : html`<td key=${at} class=${kind(at)}>${words.includes(at) ? html`<bdi>${cell}</bdi>` : html`<${Figure} cell=${cell} />`}</td>`))}
      </tr>`)}</tbody>
    </table></div>
    ${note && html`<p class="soft small">${note}</p>`}
  </div>`;
}

/** A figure; its interval is written smaller. */
function Figure({ cell }) {
  const [, value, interval] = minus(cell).match(MEASURED) ?? [];
  return value ? html`${value} <span class="soft interval">${interval}</span>` : minus(cell);
}
