// Rendered text: a subset of Markdown, sanitized, and text that grows without being rendered again.
//
// Finished paragraphs are rendered once; the current one is a single text node that is appended to. So a word
// costs the same at any length, and a selection stays selected.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { DOMPurify, marked } from '../../vendor/prose.js';
import { isTangled, settled } from '../lib/markdown_blocks.js';

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

/** Finished text. */
export function Prose({ text, class: kind = '', ...more }) {
  const box = useRef();
  useLayoutEffect(() => box.current.replaceChildren(rendered(text)), [text]);
  return html`<div class="prose ${kind}" dir="auto" ref=${box} ...${more}></div>`;
}

/** Text that grows. `text` is a signal; `live` says whether more will come. */
export function Growing({ text, live, class: kind = '', ...more }) {
  const box = useRef();
  const setter = useRef();
  useLayoutEffect(() => {
    const own = (setter.current = new Setter(box.current));
    own.take(text.peek() ?? '');
    const stop = text.subscribe((now) => own.hear(now ?? ''));
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
const BLANK_LINE = /\n[ \t]*\n/;

class Setter {
  #text = '';
  #heard = '';
  #cut = 0;
  #tail = null;
  #frame = 0;
  #finished = false;
  #kept = new Set();

  constructor(box) {
    this.box = box;
    this.box.replaceChildren();
  }

  /** Text is shown once per frame of the screen. */
  hear(text) {
    if (text === this.#text) return;
    this.#heard = text;
    if (this.#finished) this.#flush();
    else this.#frame ||= requestAnimationFrame(() => this.#flush());
  }

  take(text) {
    this.#heard = text;
    if (text.length < this.#text.length || !text.startsWith(this.#text)) this.#again();
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
    if (this.#cut < this.#text.length) this.#settle(this.#text.length);
  }

  leave() {
    cancelAnimationFrame(this.#frame);
    for (const stop of this.#kept) stop();
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#heard === this.#text) return;
    this.take(this.#heard);
    if (this.#finished && this.#cut < this.#text.length) this.#settle(this.#text.length);
  }

  #again() {
    for (const stop of this.#kept) stop();
    this.#text = '';
    this.#cut = 0;
    this.#tail = null;
    this.box.replaceChildren();
  }

  #settle(cut) {
    const words = this.#text.slice(this.#cut, cut);
    const nodes = rendered(words);
    const tail = this.#tail;
    this.#tail = null;
    this.#cut = cut;
    if (!tail) this.box.append(nodes);
    else if (isPlain(nodes, tail)) tail.removeAttribute('class');
    else if (isSelected(tail)) this.#keep(tail, words, nodes);
    else tail.replaceWith(nodes);
  }

  /** Selected text is rendered when the selection ends; later text is shown at once. */
  #keep(tail, words, nodes) {
    const [own] = words.split(BLANK_LINE, 1);
    const node = tail.firstChild;
    if (own.startsWith(node.data)) node.appendData(own.slice(node.data.length));
    const set = nodes.firstElementChild ?? document.createTextNode('');
    set.remove();
    tail.after(nodes);
    const look = () => {
      if (isSelected(tail)) return;
      stop();
      tail.replaceWith(set);
    };
    const stop = () => {
      document.removeEventListener('selectionchange', look);
      this.#kept.delete(stop);
    };
    this.#kept.add(stop);
    tail.className = 'kept';
    document.addEventListener('selectionchange', look);
  }

  #grow() {
    const rest = this.#text.slice(this.#cut);
    if (!this.#tail) {
      if (!rest.trim()) return;
      this.#tail = document.createElement('p');
      this.#tail.className = 'tail';
      this.#tail.append(document.createTextNode(''));
      this.box.append(this.#tail);
    }
    const node = this.#tail.firstChild;
    if (rest.startsWith(node.data)) node.appendData(rest.slice(node.data.length));
    else node.data = rest;
  }
}

/** Whether a paragraph contains no Markdown and needs no rendering. */
function isPlain(nodes, tail) {
  const [only, ...others] = [...nodes.childNodes].filter((node) => node.nodeType === 1 || node.data.trim());
  if (others.length || only?.nodeName !== 'P' || only.childNodes.length !== 1) return false;
  const text = only.firstChild;
  if (text.nodeType !== 3) return false;
  return text.data === tail.textContent.trim() && !text.data.includes('\n');
}

function isSelected(node) {
  const selection = getSelection();
  return Boolean(selection && !selection.isCollapsed && selection.containsNode(node, true));
}

function escape(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
