import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked } from '../../node_modules/marked/lib/marked.esm.js';
import { completed, isPlain, isTangled, settled } from '../../src/moot/web/static/lib/markdown_blocks.js';

const cut = (text, start = 0) => text.slice(0, settled(text, start));

test('a text is settled up to its last blank line', () => {
  assert.equal(cut('One.\n\nTwo.\n\nThr'), 'One.\n\nTwo.\n\n');
  assert.equal(cut('One line, and\nanother'), '');
  assert.equal(cut(''), '');
});

test('a code block is not cut, whatever is in it', () => {
  assert.equal(cut('So:\n\n```\na\n\nb\n\n'), 'So:\n\n');
  assert.equal(cut('~~~\na\n```\n\nb\n~~~\n\nAnd'), '~~~\na\n```\n\nb\n~~~\n\n');
});

test('blank lines at the front settle nothing', () => {
  assert.equal(settled('\n\n', 0), 0);
  assert.equal(settled('One.\n\n\n\n', 6), 6);
});

test('looking piece by piece cuts where looking once does, and what is settled stays so', () => {
  const text = 'One.\n\n- a\n- b\n\n```js\nlet a;\n\nlet b;\n```\n\nTwo.\n\nThree, and';
  let start = 0;
  for (let end = 0; end <= text.length; end++) {
    const next = settled(text.slice(0, end), start);
    assert.ok(next >= start && next <= end);
    start = next;
  }
  assert.equal(start, settled(text, 0));
});

test('what a model that got stuck says over and over is no Markdown', () => {
  const stuck = ['**a_', '_', '*', '>', '[', '|a'].map((sign) => sign.repeat(2000));
  const deep = Array.from({ length: 200 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n');
  for (const text of [...stuck, deep]) assert.ok(isTangled(`So:\n\n${text}\n\nAnd.`), text.slice(0, 20));
});

test('a long speech with many marks in it is Markdown', () => {
  const table = `| a | b |\n|---|---|\n${'| *x* | y |\n'.repeat(200)}`;
  assert.ok(!isTangled(`${'A **strong** point, [and](https://a.b) '.repeat(30)}\n\n`.repeat(100) + table));
});

const SPEECH = [
  'Three points decide this.',
  '1. **Space**: a street of *twelve metres* holds `6,000` people.\n2. See [the audit](https://example.org/audit).',
  '| mode | people |\n|---|---|\n| car | 600 |\n| **bus** | 6,000 |',
  'The last is **the most important** thing, _truly_ ~~not~~ ***both***, with snake_case.',
  '- one\n- two `code` end',
  '> quoted **text**',
  '### A heading',
  '```js\nlet a = b;\n```',
].join('\n\n');

test('at no character of a speech is unfinished markup shown, nor a heading that is none', () => {
  for (let end = 1; end <= SPEECH.length; end++) {
    const part = SPEECH.slice(0, end);
    const rest = part.slice(settled(part, 0));
    const html = isPlain(rest) ? rest : marked.parse(completed(rest), { async: false });
    const shown = html.replace(/<pre>[^]*?<\/pre>/g, '').replace(/<[^>]*>/g, '');
    assert.doesNotMatch(shown, /[*`|[\]~#]|__|\]\(/, JSON.stringify(rest));
    assert.doesNotMatch(html, /<h[12]>/, JSON.stringify(rest));
  }
});

test('what is finished is left as it is', () => {
  for (const block of ['One **two** three.', 'A `*` in code', '2 * 3 = 6', 'snake_case_name', '[a](https://b.example)']) {
    assert.equal(completed(block), block);
  }
});
