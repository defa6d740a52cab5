// How seats are shown. The colour of a seat, moved towards ink until it is readable on paper in either theme; and
// the parties that can win: a seat alone, or the seats of a side together under the id of the first.

// The background with the least contrast: --tint.
const PAPER = { light: [0xf2, 0xee, 0xe5], dark: [0x24, 0x21, 0x1a] };
const ENOUGH = 4.6;
const known = new Map();

/** For `style`: the seat's colour in both themes. */
export function seatStyle(hex) {
  if (!known.has(hex)) known.set(hex, `--seat-light:${readable(hex, 'light')};--seat-dark:${readable(hex, 'dark')}`);
  return known.get(hex);
}

export function readable(hex, theme) {
  const ink = theme === 'light' ? 0 : 255;
  let colour = parse(hex);
  for (let step = 0; step < 20 && contrast(colour, PAPER[theme]) < ENOUGH; step++) {
    colour = colour.map((part) => Math.round(part + (ink - part) * 0.12));
  }
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function parse(hex) {
  const match = /^#([0-9a-f]{6})$/i.exec(hex ?? '');
  return match ? [0, 2, 4].map((at) => parseInt(match[1].slice(at, at + 2), 16)) : [0x6b, 0x65, 0x5b];
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export const seatOf = (debate, id) => debate.at('about').value.seats.find((seat) => seat.id === id);

/** Map of id -> {id, name, style}, in the order of the parties; other seats follow by their own names. */
export function partiesOf(about) {
  const seats = new Map(about.seats.map((seat) => [seat.id, seat]));
  const byId = new Map();
  for (const { id, name } of about.parties) byId.set(id, { id, name, style: seatStyle(seats.get(id)?.color) });
  for (const seat of about.seats) {
    if (!byId.has(seat.id)) byId.set(seat.id, { id: seat.id, name: seat.name, style: seatStyle(seat.color) });
  }
  return byId;
}

/** The choices of a vote in the order in which they are drawn: undecided is in the middle. */
export const spread = ([first, ...others]) => [first, others.at(-1), ...others.slice(0, -1)];
