// Numbers as they are read.

const figures = new Intl.NumberFormat('en');

/** 1,234 */
export const figure = (number) => figures.format(number);

/** 1 vote, 1,234 votes */
export const many = (count, one, more = `${one}s`) => `${figure(count)} ${count === 1 ? one : more}`;

/** Points without their sign, which is said in words: 4.5 */
export const inPoints = (number) => `${+Math.abs(number).toFixed(1)}`;

/** +4.5, −3, 0 */
export const signed = (number) => (number === 0 ? '0' : `${number > 0 ? '+' : '−'}${inPoints(number)}`);
