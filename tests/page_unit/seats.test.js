import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readable, seatStyle } from '../../src/moot/web/static/lib/seats.js';

const PAPER = { light: '#faf8f3', dark: '#16150f' };

function luminance(hex) {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test('every colour can be read on the paper of either theme', () => {
  for (let part = 0; part < 4096; part += 7) {
    const hex = `#${part.toString(16).padStart(3, '0').replace(/./g, '$&$&')}`;
    for (const theme of ['light', 'dark']) {
      assert.ok(contrast(readable(hex, theme), PAPER[theme]) >= 4.5, `${hex} ${theme}`);
    }
  }
});

test('a colour that can be read already stays as it is', () => {
  assert.equal(readable('#0b6e6e', 'light'), '#0b6e6e');
  assert.equal(readable('#FFFFFF', 'dark'), '#ffffff');
});

test('nothing but a colour gets into a style', () => {
  for (const odd of [undefined, null, '', 'red', '#12', '#0b6e6e;background:url(//x)', '</style>']) {
    assert.match(seatStyle(odd), /^--seat-light:#[0-9a-f]{6};--seat-dark:#[0-9a-f]{6}$/);
  }
});
