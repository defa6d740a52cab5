// What extensions tell of a debate: sections of blocks, drawn alike for all of them. An extension that has a form of
// its own on the page brings a module that draws it.

import { html } from '../../vendor/preact.js';
import { Swing } from './votes.js';

const OURS = new Set([
  'about', 'now', 'money', 'turns', 'remarks', 'points', 'polls', 'place', 'bench', 'verdicts', 'mishaps',
]);

export function Reports({ debate, about, to }) {
  const names = Object.keys(debate.view).filter((name) => !OURS.has(name));
  return names.map((name) => html`<${Report} key=${name} ...${{ debate, name, about, to }} />`);
}

function Report({ debate, name, about, to }) {
  const { sections } = debate.at(name).value ?? {};
  return sections?.map(({ title, blocks }, index) => html`<section key=${title} class="told" aria-labelledby=${`${name}-${index}`}>
    <h3 id=${`${name}-${index}`} dir="auto">${title}</h3>
    ${blocks.map((block, at) => html`<${BLOCKS[block.type] ?? Nothing} key=${at} block=${block} about=${about} to=${to} />`)}
  </section>`);
}

const Nothing = () => null;

const BLOCKS = {
  note: ({ block }) => html`<p class="soft small">${block.text}</p>`,
  sentences: ({ block }) => block.texts.map((text) => html`<p key=${text} dir="auto">${text}</p>`),
  bullets: ({ block, to }) => html`
    ${block.title && html`<h4 dir="auto">${block.title}</h4>`}
    <ul class="account">${block.items.map(({ text, turn }, at) => html`<li key=${at} dir="auto">
      ${text}${turn > 0 && html` <a href=${to(turn)}>S${turn}</a>`}
    </li>`)}</ul>`,
  table: ({ block }) => html`<${Table} table=${block} />`,
  folded: ({ block }) => html`<details class="as-table"><summary>${block.title}</summary><${Table} table=${block.table} /></details>`,
  listing: ({ block }) => html`<details><summary>${block.title}</summary><pre>${block.text}</pre></details>`,
  votes: ({ block, about }) => html`<${Swing} result=${block.result} about=${about} models=${block.models} />`,
};

function Table({ table }) {
  return html`<div class="scroll" tabindex="0"><table>
      ${table.title && html`<caption dir="auto">${table.title}</caption>`}
      <thead><tr>${table.headings.map((head) => html`<th scope="col" key=${head}><bdi>${head}</bdi></th>`)}</tr></thead>
      <tbody>${table.rows.map(([first, ...rest], at) => html`<tr key=${at}>
        <th scope="row"><bdi>${first}</bdi></th>${rest.map((cell, index) => html`<td key=${index}>${cell}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    ${table.note && html`<p class="soft small">${table.note}</p>`}`;
}
