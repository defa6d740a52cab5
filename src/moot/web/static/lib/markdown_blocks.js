// Where a growing Markdown text may be cut: after a blank line outside of code blocks, and before the next list
// item. The text before the cut does not change any more. And which text is too costly to render. Pure.

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
