// How many words a text has, whatever its script: as the server counts them, for text that it has not seen yet.

const UNSPACED =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\u{20000}-\\u{3134f}';
const STOPS = '\\u3000-\\u303f\\uff00-\\uff65';
const PIECE = new RegExp(`[${UNSPACED}]{1,2}[${STOPS}]*|[^\\s${UNSPACED}]+`, 'gu');

export const count = (text) => text.match(PIECE)?.length ?? 0;
