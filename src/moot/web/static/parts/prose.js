// Rendered text: a subset of Markdown, sanitized, and text that is rendered while it grows.
//
// Finished blocks are rendered once. Only the last one is rendered again, at most once per frame of the screen, with
// its unfinished markup completed (`lib/markdown_blocks.js`); plain text in it is just appended. So a word costs the
// same at any length of the speech, and a selection stays selected.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { DOMPurify, marked } from '../../vendor/prose.js';
import { completed, isPlain, isTangled, settled } from '../lib/markdown_blocks.js';

const TAGS = [
  ...['p', 'br', 'em', 'strong', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'h3', 'h4', 'h5', 'h6'],
  ...['hr', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
const KEPT = { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ['href', 'start', 'align'], RETURN_DOM_FRAGMENT: true };
const SAFE = /^(?:https:|mailto:)/i;

marked.use({
  gfm: true,
  // HTML is shown as text; images are named and not loaded.
  renderer: {
    html: ({ text }) => escape(text),
    image: ({ text, href }) => escape(`[${text || 'picture'}: ${href}]`),
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return;
  const href = node.getAttribute('href') ?? '';
  if (!SAFE.test(href)) {
    node.replaceWith(document.createTextNode(`${node.textContent} (${href})`));
    return;
  }
  node.setAttribute('rel', 'noopener noreferrer nofollow');
  node.setAttribute('target', '_blank');
  node.setAttribute('title', href);
});

/** Markdown as nodes; text that would take too long to render is shown as it is. */
function rendered(text) {
  if (isTangled(text)) return asWritten(text);
  try {
    return DOMPurify.sanitize(marked.parse(text, { async: false }), KEPT);
  } catch {
    // Thousands of nested elements are too deep for the parser.
    return asWritten(text);
  }
}

function asWritten(text) {
  const nodes = document.createDocumentFragment();
  for (const block of text.split(/\n[ \t]*\n/)) {
    if (block.trim()) nodes.append(Object.assign(document.createElement('p'), { textContent: block }));
  }
  return nodes;
}

const SPEECH = /\b[Ss]peech (\d{1,4})\b/g;

/** Turns "speech 3" in the words of a judge into a link, where `to(3)` is an address. */
function linkSpeeches(nodes, to) {
  const walker = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts.filter((one) => !one.parentElement?.closest('a, code'))) {
    const found = [...node.data.matchAll(SPEECH)].filter((match) => to(Number(match[1])));
    // From the last to the first: what is before a match keeps its place.
    for (const match of found.toReversed()) {
      const word = node.splitText(match.index);
      word.splitText(match[0].length);
      const link = Object.assign(document.createElement('a'), { textContent: match[0] });
      link.setAttribute('href', to(Number(match[1])));
      word.replaceWith(link);
    }
  }
  return nodes;
}

/** Finished text. `to(turn)`: the address of a speech that the text may name; undefined where there is none. */
export function Prose({ text, to, class: kind = '', ...more }) {
  const box = useRef();
  useLayoutEffect(() => {
    const nodes = rendered(text);
    box.current.replaceChildren(to ? linkSpeeches(nodes, to) : nodes);
  }, [text]);
  return html`<div class="prose ${kind}" dir="auto" ref=${box} ...${more}></div>`;
}

/** Text that grows. `text` is a signal; `live` says whether more will come. */
export function Growing({ text, live, class: kind = '', ...more }) {
  const box = useRef();
  const setter = useRef();
  useLayoutEffect(() => {
    const own = (setter.current = new Setter(box.current));
    own.take(text.peek() ?? '');
    const stop = text.subscribe((now) => own.update(now ?? ''));
    return () => {
      stop();
      own.leave();
    };
  }, [text]);
  useLayoutEffect(() => {
    if (live) setter.current.goOn();
    else setter.current.finish();
  }, [live]);
  return html`<div class="prose ${kind}" dir="auto" ref=${box} ...${more}></div>`;
}

/** How many characters after a new line may decide about what is before it. */
const SIGNS = 12;

class Setter {
  #text = '';
  #latest = '';
  #cut = 0;
  /** So many nodes of the box are settled; the others are the block that grows. */
  #settled = 0;
  #frame = 0;
  #finished = false;
  #end = null;

  constructor(box) {
    this.box = box;
    this.box.replaceChildren();
  }

  /** Text is shown once per frame of the screen. */
  update(text) {
    if (text === this.#text) return;
    this.#latest = text;
    this.#frame ||= requestAnimationFrame(() => this.#flush());
  }

  take(text) {
    this.#latest = text;
    if (!text.startsWith(this.#text)) this.#again();
    const more = text.slice(this.#text.length);
    this.#text = text;
    if (!more) return;
    if (text.slice(-(more.length + SIGNS)).includes('\n')) {
      const cut = settled(text, this.#cut);
      if (cut > this.#cut) this.#settle(cut);
    }
    this.#grow();
  }

  goOn() {
    this.#finished = false;
  }

  finish() {
    this.#flush();
    this.#finished = true;
    this.#mark(null);
    if (this.#cut < this.#text.length) this.#settle(this.#text.length);
  }

  leave() {
    cancelAnimationFrame(this.#frame);
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#latest === this.#text) return;
    this.take(this.#latest);
    if (this.#finished && this.#cut < this.#text.length) this.#settle(this.#text.length);
  }

  #again() {
    this.#text = '';
    this.#cut = 0;
    this.#settled = 0;
    this.#mark(null);
    this.box.replaceChildren();
  }

  #settle(cut) {
    const words = this.#text.slice(this.#cut, cut);
    this.#mark(null);
    this.#show(rendered(words));
    this.#settled = this.box.childNodes.length;
    this.#cut = cut;
  }

  #grow() {
    const rest = this.#text.slice(this.#cut);
    if (!rest.trim()) return;
    if (!this.#append(rest)) this.#show(isPlain(rest) ? paragraph(rest) : rendered(completed(rest)));
    this.#mark(lastBlock(this.box));
  }

  /** Plain text in a plain paragraph is appended to it, without rendering. */
  #append(rest) {
    const [tail, ...others] = [...this.box.childNodes].slice(this.#settled);
    const text = tail?.firstChild;
    if (others.length || tail?.nodeName !== 'P' || tail.childNodes.length !== 1 || text.nodeType !== 3) return false;
    if (!isPlain(rest) || !rest.startsWith(text.data)) return false;
    text.appendData(rest.slice(text.data.length));
    return true;
  }

  #show(nodes) {
    const blocks = [...nodes.childNodes].filter((node) => node.nodeType === 1 || node.data.trim());
    match(this.box, this.#settled, blocks);
  }

  /** The block in which the last word is, for the caret. */
  #mark(block) {
    if (block === this.#end) return;
    this.#end?.removeAttribute('class');
    block?.setAttribute('class', 'tail');
    this.#end = block;
  }
}

const BLOCKS = new Set(['P', 'LI', 'UL', 'OL', 'BLOCKQUOTE', 'H3', 'H4', 'H5', 'H6', 'TABLE', 'TBODY', 'THEAD', 'TR', 'TD', 'TH', 'PRE']);

function lastBlock(box) {
  let block = box;
  while (block.lastElementChild && BLOCKS.has(block.lastElementChild.nodeName)) block = block.lastElementChild;
  return block === box ? null : block;
}

function paragraph(text) {
  const nodes = document.createDocumentFragment();
  nodes.append(Object.assign(document.createElement('p'), { textContent: text.trimStart() }));
  return nodes;
}

/** Makes the children of a node from an index on the same as these. What is the same stays the same node, and a text
    that has become longer is appended to: a selection stays selected, and nothing is laid out twice. */
function match(parent, from, nodes) {
  nodes.forEach((node, index) => {
    const old = parent.childNodes[from + index];
    if (!old) parent.append(node);
    else if (old.nodeName !== node.nodeName) old.replaceWith(node);
    else if (old.nodeType === 3) retext(old, node.data);
    else {
      for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
      for (const { name } of [...old.attributes]) if (name !== 'class' && !node.hasAttribute(name)) old.removeAttribute(name);
      match(old, 0, [...node.childNodes]);
    }
  });
  while (parent.childNodes.length > from + nodes.length) parent.lastChild.remove();
}

function retext(node, text) {
  if (node.data === text) return;
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else if (node.data.startsWith(text)) node.deleteData(text.length, node.data.length - text.length);
  else node.data = text;
}

function escape(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
