// Where a text that is still growing may be cut: behind a blank line that is not inside a code block, and
// before the next entry of a list. What stands before the cut will not change any more. And which text is no
// Markdown that anybody means. Pure.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ENTRY = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;

const MARKS = /[*_~`[\]<>]/g;
const MOST_MARKS = 1000;
/** Rows of a table with so many columns, and entries of a list so deep within others. */
const ENDLESS = /^[ \t]{100,}(?:[-*+]|\d{1,9}[.)])[ \t]|^(?:[^|\n]*\|){100}/m;

/** Whether there are so many marks in a paragraph that to set it would take seconds: models get stuck at times. */
export function isTangled(text) {
  return ENDLESS.test(text) || text.split(/\n[ \t]*\n/).some((block) => (block.match(MARKS)?.length ?? 0) > MOST_MARKS);
}

/** How far from `start` (the last cut) the text is settled; `start` where nothing more is. */
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
    // A list goes on behind a blank line where the next one is indented: only its first sign tells.
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
