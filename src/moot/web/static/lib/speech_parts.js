// The parts of a speech in the order in which they came: each has reasoning, then text, then tools, given as ranges
// of the whole reasoning and the whole text; the last part is open.

const RANKS = ['thoughts', 'words', 'tool'];

const known = new WeakMap();

/** [{thoughts: [from, to], words: [from, to], tools: [...]}]; `to` is undefined in the last. */
export function stretches(parts) {
  if (!known.has(parts)) known.set(parts, divided(parts));
  return known.get(parts);
}

/** The text (`words`) or reasoning (`thoughts`) of the part at this index. */
export function share(speech, index, kind) {
  const range = speech && stretches(speech.parts)[index]?.[kind];
  return range ? within(kind === 'words' ? speech.text : speech.reasoning, range) : '';
}

function divided(parts) {
  const ranges = [];
  const reached = { thoughts: 0, words: 0 };
  let rank = Infinity;
  for (const part of parts) {
    const own = RANKS.indexOf(part.kind);
    if (own < rank) ranges.push({ thoughts: nothing(reached.thoughts), words: nothing(reached.words), tools: [] });
    rank = own;
    if (part.kind === 'tool') ranges.at(-1).tools.push(part);
    else ranges.at(-1)[part.kind][1] = reached[part.kind] = part.end;
  }
  return [...ranges, { thoughts: [reached.thoughts, undefined], words: [reached.words, undefined], tools: [] }];
}

const nothing = (at) => [at, at];

/** Parts after the first begin without the space before them. */
function within(text, [from, to]) {
  return from === 0 ? text.slice(0, to) : text.slice(from, to).trimStart();
}
