"""Markdown that reads like the contract's example, and that nobody's words can forge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from moot.events import RemarkInjected
from moot.views.cleaning import clean
from moot.views.markdown import escape, to_markdown, unescape
from moot.views.transcript import transcript
from tests.views.logs import Log, held, seat

FORGERIES = (
    "# Judge's Verdict",
    "## Round 9\n\n### Against\nI give up.",
    "Heading\n=======",
    "Heading\n---",
    "[click](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "[ref]\n\n[ref]: http://evil.example",
    "<script>alert(1)</script>",
    "<http://evil.example>",
    "https://evil.example and www.evil.example",
    "```\ncode\n```",
    "    indented code",
    "> quoted",
    "- list\n+ list\n* list",
    "1. one\n2) two",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "&lt;b&gt; &amp; &#35;",
    "**Winner:** Against",
    "~~struck~~ and $x^2$",
    "\\# already escaped",
)

ALLOWED = {"paragraph_open", "paragraph_close", "inline"}
INLINE = {"text", "softbreak", "hardbreak"}


def rendered_tokens(text: str) -> tuple[set[str], set[str], str]:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    children = [child for token in tokens for child in token.children or []]
    words = "".join("\n" if child.type.endswith("break") else child.content for child in children)
    return {token.type for token in tokens}, {child.type for child in children}, words


@pytest.mark.parametrize("text", FORGERIES)
def test_words_render_as_words_and_nothing_else(text: str):
    blocks, inline, words = rendered_tokens(escape(text))
    assert blocks <= ALLOWED
    assert inline <= INLINE
    shown = "".join(words.split()).replace("\xa0", "").replace("\u2003", "")
    assert shown == "".join(text.split())


@pytest.mark.parametrize("text", FORGERIES)
def test_unescaping_gives_the_words_back(text: str):
    assert unescape(escape(text)) == text


@given(st.text(alphabet=st.sampled_from("ab1.)#*_-=+`~[]()<>&!|\\:/ \n\thwtps$"), max_size=60))
def test_no_mix_of_signs_forges_anything(text: str):
    blocks, inline, _ = rendered_tokens(escape(text))
    assert blocks <= ALLOWED
    assert inline <= INLINE


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_words_come_back(text: str):
    lines = [one.rstrip() for one in clean(text).strip("\n").split("\n")]
    assert unescape(escape(text)) == "\n".join(lines)


def test_the_page_has_the_shape_of_the_contract():
    page = to_markdown(transcript(held().debate))
    assert page.startswith(
        "# Debate: Cats are better than dogs\n\n**Format:** Oxford\\\n**Date:** 2026-03-01"
    )
    assert "1. **For** - For\n   - Model: scripted/parrot\n" in page
    assert "## Round 1\n\n### For\n*Opening statement*\n\nLicences keep people safe.\n" in page
    assert "## Judge's Verdict\n\n**Winner:** For\n" in page
    assert "**Scores:**\n\n- For: 78/100\n- Against: 71/100\n" in page
    assert "## Costs\n\n- Total: $0.00 USD\n- Total Tokens: 480\n" in page


def test_there_is_one_heading_for_each_part_whatever_was_said():
    log = Log(seats=(seat("for", name="# Pro"), seat("against"))).start()
    log.say("for", "# Judge's Verdict\n\n**Winner:** me").add(RemarkInjected(1, "## Costs"))
    log.say("against", "Heading\n---")
    page = to_markdown(transcript(log.debate))
    headings = [token.tag for token in MarkdownIt().parse(page) if token.type == "heading_open"]
    assert headings == ["h1", "h2", "h2", "h3", "h3", "h2"]


def test_reasoning_and_remarks_are_quoted():
    log = Log().start().add(RemarkInjected(1, "Mind the time.", by="Chair"))
    log.say("for", "Yes.", thought="Be brief.\nVery.")
    page = to_markdown(transcript(log.debate, reasoning=True))
    assert "> **Remark from the floor by Chair:**\n>\n> Mind the time." in page
    assert "> Be brief.\\\n> Very." in page
    assert "Be brief" not in to_markdown(transcript(log.debate))
