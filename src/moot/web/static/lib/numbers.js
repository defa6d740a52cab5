// Numbers as text, and the number of words in a text.

const figures = new Intl.NumberFormat('en');

/** 1,234 */
export const figure = (number) => figures.format(number);

/** $1.20, for amounts that people set and axes. Costs come from the server as text. */
export const dollars = (amount) => `$${amount.toFixed(2)}`;

/** $0.00012345: every digit, for those who look into a call. */
export const exactDollars = (amount) => `$${amount}`;

/** 1 vote, 1,234 votes */
export const plural = (count, one, more = `${one}s`) => `${figure(count)} ${count === 1 ? one : more}`;

/** Points without their sign: 4.5 */
export const inPoints = (number) => `${+Math.abs(number).toFixed(1)}`;

/** +4.5, −3, 0 */
export const signed = (number) => (number === 0 ? '0' : `${number > 0 ? '+' : '−'}${inPoints(number)}`);

const UNSPACED =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\u{20000}-\\u{3134f}';
const STOPS = '\\u3000-\\u303f\\uff00-\\uff65';
const WORD = new RegExp(`[${UNSPACED}]{1,2}[${STOPS}]*|[^\\s${UNSPACED}]+`, 'gu');

export const countWords = (text) => text.match(WORD)?.length ?? 0;
