"""A page of Markdown as HTML, with its headings and the plain text of its sections.

The pages are our own, but HTML in them is shown as text, except comments, which are not shown. Nothing that
a policy of content security forbids is made: no style attributes, no scripts. Code is highlighted with
classes. Wide tables and code scroll by themselves, and the keyboard reaches them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace
from pygments import formatters, highlight, lexers
from pygments.util import ClassNotFound

ResolveLink = Callable[[str], str | None]
"""Returns where a link leads in the manual; None if only its text is to remain."""
CONTENTS_LEVELS = (2, 3)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


class Section(Struct, frozen=True):
    """A heading and the text below it, up to the next heading; each block of text is a line."""

    level: int = 0
    anchor: str = ""
    heading: str = ""
    heading_html: str = ""
    text: str = ""


class Article(Struct, frozen=True):
    html: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.sections[0].heading if self.sections else ""

    @property
    def contents(self) -> tuple[Section, ...]:
        """The sections in the table of contents."""
        return tuple(section for section in self.sections if section.level in CONTENTS_LEVELS)


def render(text: str, resolve: ResolveLink) -> Article:
    parser = _parser()
    tokens = parser.parse(text)
    _set_anchors(tokens)
    for token in tokens:
        _move_links(token, resolve)
    return Article(parser.renderer.render(tokens, parser.options, {}), tuple(_sections(tokens)))


def slug(heading: str, known: set[str]) -> str:
    """The anchor of a heading: its words in lower case, joined by hyphens; the same words again get `_1`."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    first = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()) or "section"
    anchor, count = first, 0
    while anchor in known:
        count += 1
        anchor = f"{first}_{count}"
    known.add(anchor)
    return anchor


def _set_anchors(tokens: Sequence[Token]) -> None:
    known = set[str]()
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(plain_text(inline), known))


def _heading_html(inline: Token) -> str:
    """Without its links: it stands inside one."""
    parser = _parser()
    children = [child for child in inline.children or () if not child.type.startswith("link_")]
    return parser.renderer.render([Token("inline", "", 0, children=children)], parser.options, {})


def _move_links(token: Token, resolve: ResolveLink) -> None:
    kept, dropped = list[Token](), False
    for child in token.children or ():
        if child.type == "link_close" and dropped:
            dropped = False
            continue
        name = {"link_open": "href", "image": "src"}.get(child.type)
        if name is not None:
            target = resolve(str(child.attrGet(name)))
            if target is None:
                dropped = True
                continue
            child.attrSet(name, target)
        kept.append(child)
    if token.children is not None:
        token.children = kept


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    section, lines = Section(), list[str]()
    previous = ""
    for token in tokens:
        if token.type == "heading_open":
            if section.heading or lines:
                yield replace(section, text="\n".join(lines))
            section, lines = Section(int(token.tag[1]), str(token.attrGet("id"))), []
        elif token.type == "inline" and previous == "heading_open":
            section = replace(section, heading=plain_text(token), heading_html=_heading_html(token))
        elif token.type == "inline":
            lines.append(plain_text(token))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content.rstrip())
        previous = token.type
    if section.heading or lines:
        yield replace(section, text="\n".join(lines))


def plain_text(inline: Token) -> str:
    """The words of a line without its markup; of a picture, what it shows."""
    breaks = {"softbreak": " ", "hardbreak": " ", "html_inline": ""}
    return "".join(breaks.get(child.type, child.content) for child in inline.children or ())


# --- the parser and what it writes ----------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    rules: dict[str, Callable[..., str]] = {
        "heading_open": _heading_open,
        "heading_close": _heading_close,
        "fence": _fence,
        "table_open": _table_open,
        "table_close": _table_close,
        "th_open": _cell_open,
        "td_open": _cell_open,
        "image": _image,
        "html_block": _shown_html,
        "html_inline": _shown_html,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _heading_open(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    """A heading leads to itself, so that its address can be copied; the title of the page does not."""
    token = tokens[index]
    anchor = token.attrGet("id")
    link = f'<a class="self" href="#{anchor}">' if _links_to_itself(tokens, index) else ""
    return f'<{token.tag} id="{anchor}">{link}'


def _heading_close(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    end = "</a>" if _links_to_itself(tokens, index - 2) else ""
    return f"{end}</{tokens[index].tag}>\n"


def _links_to_itself(tokens: Sequence[Token], index: int) -> bool:
    inside = tokens[index + 1].children or ()
    return tokens[index].tag != "h1" and not any(child.type == "link_open" for child in inside)


def _fence(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    language = (tokens[index].info.split() or [""])[0]
    code = highlighted(tokens[index].content, language)
    return f'<div class="code"><pre tabindex="0"><code>{code}</code></pre></div>\n'


def highlighted(code: str, language: str) -> str:
    """The code as HTML, its words in classes; in a language that is unknown or not named, as it is."""
    known: Any = lexers
    try:
        lexer = known.get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return highlight(code, lexer, _formatter())


@cache
def _formatter() -> Any:
    known: Any = formatters
    return known.get_formatter_by_name("html", nowrap=True)


def _table_open(*_arguments: Any) -> str:
    return '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n'


def _table_close(*_arguments: Any) -> str:
    return "</table></div>\n"


def _cell_open(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    """The alignment is a class: the policy of the page allows no styles in the document."""
    aligned = str(tokens[index].attrGet("style") or "").removeprefix("text-align:")
    return f'<{tokens[index].tag} class="{aligned}">' if aligned else f"<{tokens[index].tag}>"


def _image(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    image = tokens[index]
    return f'<img src="{escape(str(image.attrGet("src")))}" alt="{escape(image.content)}" loading="lazy">'


def _shown_html(renderer: Any, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    return escape(COMMENT.sub("", tokens[index].content))
