// Where a growing Markdown text may be cut: after a blank line outside of code blocks, and before the next list
// item. The text before the cut does not change any more. How the block after it is completed, so that unfinished
// markup is not shown raw. And which text is too costly to render. Pure.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ENTRY = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;

const MARKS = /[*_~`[\]<>]/g;
const MOST_MARKS = 1000;
/** Table rows with very many columns, and very deeply nested list items. */
const ENDLESS = /^[ \t]{100,}(?:[-*+]|\d{1,9}[.)])[ \t]|^(?:[^|\n]*\|){100}/m;

/** Whether a paragraph has so much markup that rendering takes seconds: models may get stuck in loops. */
export function isTangled(text) {
  return ENDLESS.test(text) || text.split(/\n[ \t]*\n/).some((block) => (block.match(MARKS)?.length ?? 0) > MOST_MARKS);
}

/** The end of the settled text after `start` (the last cut); `start` if there is none. */
export function settled(text, start) {
  let at = start;
  let cut = start;
  let fence = '';
  let list = false;
  let blank = false;
  let empty = true;
  for (;;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    // A list continues after a blank line if the next line is indented: only its first character tells.
    if (list && !fence && !empty && (ENTRY.test(line) || (blank && /^\S/.test(line)))) {
      cut = at;
      list = false;
    }
    if (end < 0) return cut;
    const mark = FENCE.exec(line)?.[1];
    if (mark && !fence) fence = mark[0];
    else if (mark && mark[0] === fence) fence = '';
    at = end + 1;
    blank = line.trim() === '';
    if (!blank && ENTRY.test(line)) list = true;
    empty &&= blank;
    if (blank && !fence && !list && !empty) cut = at;
  }
}

const MARKUP = /[*_~`[\]<>|#\\&\n]|https?:|www\.|@|^\s*(?:\d{1,9}[.)]|[-+])\s/;

/** Whether a block has no Markdown in it. */
export const isPlain = (text) => !MARKUP.test(text) && !/^(?:\d{1,9}[.)]?|[-+=]+)$/.test(text.trim());

/** A last line that may be the beginning of a list item, a heading, a rule, a fence, a quotation or a table. */
const BEGUN = /(^|\n)[ \t]*(?:[-=*+#>~`_|]+|\d{1,9}[.)]?)[ \t]*$/;
const TABLE = /^[ \t]*\|/;

/** A block that is still being written, with its unfinished markup closed or left out. */
export function completed(block) {
  const text = block.replace(BEGUN, '$1').replace(/\\$/, '');
  if (isInFence(text)) return text;
  const at = text.lastIndexOf('\n') + 1;
  const [before, line] = [text.slice(0, at), text.slice(at)];
  if (TABLE.test(line) || TABLE.test(before)) return completedTable(before + closedMarks(line));
  return before + closedMarks(line, open(before));
}

function isInFence(text) {
  let fence = '';
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (mark && !fence) fence = mark[0];
    else if (mark && mark[0] === fence) fence = '';
  }
  return fence !== '';
}

/** The row under the header of a table is completed: without it the header would be a paragraph. */
function completedTable(text) {
  const [header, , ...rows] = text.split('\n');
  const columns = header.trim().replace(/^\||\|$/g, '').split('|').length;
  return [header, '|---'.repeat(columns) + '|', ...rows].join('\n');
}

const LINK = /!?\[([^\[\]]*)\](?:\([^()\s]*)?$/;
const OPENED = /!?\[([^\[\]]*)$/;
/** Code, and delimiters of emphasis with what is on either side. */
const DELIMITER = /(`+)|(\*{1,3}|_{1,3}|~~)/g;

/** The line with its open emphasis, code and link closed. `still`: what is open in the lines of the paragraph before. */
function closedMarks(line, still = []) {
  const bare = line.replace(/([*_~`])\1*$/, (marks) => (isKept(line, marks, still) ? marks : ''));
  const linked = LINK.test(bare) ? bare.replace(LINK, '$1') : bare.replace(OPENED, '$1');
  const end = linked.trimEnd();
  return `${end}${[...open(end, still)].reverse().join('')}${linked.slice(end.length)}`;
}

/** Whether these last marks of a line close what is open, or are in code. */
function isKept(line, marks, still) {
  const last = open(line.slice(0, -marks.length), still).at(-1);
  return last === marks || (last?.[0] === '`' && marks[0] !== '`');
}

/** The delimiters that are open at the end of a text, the first one first. */
function open(text, still = []) {
  const stack = [...still];
  const paragraph = text.slice(text.search(/\n[ \t]*\n[^]*$/) + 1);
  for (const match of paragraph.matchAll(DELIMITER)) {
    const [mark] = match;
    const code = stack.at(-1)?.[0] === '`';
    if (code && mark !== stack.at(-1)) continue;
    const before = paragraph[match.index - 1] ?? ' ';
    const after = paragraph[match.index + mark.length] ?? ' ';
    if (before === '\\' && !code) continue;
    const at = stack.lastIndexOf(mark);
    if (at >= 0 && (code || /\S/.test(before))) stack.length = at;
    else if (!code && /\S/.test(after) && !(mark[0] === '_' && /\w/.test(before))) stack.push(mark);
  }
  return stack;
}
