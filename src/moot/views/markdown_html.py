"""Markdown of speeches as HTML: emphasis, lists, quotations, code and tables; nothing that loads or links.

Speeches are written by models and people. HTML in them is shown as text, and so are links and images: an
exported page asks no other host for anything. A heading is a bold paragraph, so that the headings of the page
stay those of the debate.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from moot.views.text import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SHOWN_AS_TEXT = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")


def markdown_html(text: str) -> str:
    return _parser().render(clean(text)).strip()


@cache
def _parser() -> MarkdownIt:
    # Loaded here, because the terminal loads this package and rarely writes HTML.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable(SHOWN_AS_TEXT)
    parser.add_render_rule("heading_open", _bold_open)
    parser.add_render_rule("heading_close", _bold_close)
    return parser


def _bold_open(*_arguments: Any) -> str:
    return "<p><strong>"


def _bold_close(*_arguments: Any) -> str:
    return "</strong></p>\n"
