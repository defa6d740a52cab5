"""The Markdown of a debate is like the contract's example, and no text of a speech can fake its structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from moot import formats
from moot.core.events import PointRaised, RemarkInjected
from moot.core.terms import FREE, DebateSetup, Model, PollSettings, Seat
from moot.views.text import clean, duration_words
from moot.views.transcript import ANYONE, transcript
from moot.views.transcript_markdown import escape, to_markdown, unescape
from tests.views.logs import Log, ballot, held, judge, seat

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


EXAMPLE = """\
# Debate: Should AI development be regulated by government?

**Format:** Oxford Debate
**Date:** 2026-03-01
**Duration:** {duration}

## Participants

1. **Pro-Regulation (Claude)** - For
   - Model: anthropic/claude-3-5-sonnet-20241022

2. **Anti-Regulation (GPT-4)** - Against
   - Model: openai/gpt-4-turbo-preview

## Round 1

### Pro-Regulation (Claude)
Government regulation of AI is crucial...

### Anti-Regulation (GPT-4)
Innovation requires freedom...

## Judge's Verdict

**Winner:** Pro-Regulation (Claude)

**Scores:**
- Pro-Regulation (Claude): 85/100
- Anti-Regulation (GPT-4): 78/100

**Reasoning:**
Because of the evidence.

## Costs
- Total: $0.00 USD
- Total Tokens: 240
"""
"""As v1's document has it, with the names and figures of `example`."""


def example() -> Log:
    seats = (
        Seat(
            "for",
            "Pro-Regulation (Claude)",
            "for",
            Model("anthropic", "claude-3-5-sonnet-20241022", price=FREE),
        ),
        Seat(
            "against",
            "Anti-Regulation (GPT-4)",
            "against",
            Model("openai", "gpt-4-turbo-preview", price=FREE),
        ),
    )
    log = Log(seats=seats, motion="Should AI development be regulated by government?").start()
    log.say("for", "Government regulation of AI is crucial...").say(
        "against", "Innovation requires freedom..."
    )
    return log.judged(ballot("for", 85, 78, 0), ballot("for", 85, 78, 1))


def test_every_line_of_the_documents_example_stands_as_it_is():
    page = transcript(example().debate)
    lines = to_markdown(page).split("\n")
    wanted = EXAMPLE.format(duration=duration_words(page.seconds)).split("\n")
    place = 0
    for before, line in zip(["", *wanted], wanted, strict=False):
        found = lines.index(line, place)
        if line and before:
            # Nothing comes between two lines of a block.
            assert lines[found - 1] == before
        place = found + 1
    assert not any(line.endswith(("\\", " ")) for line in lines)


def test_the_page_has_the_shape_of_the_contract():
    page = to_markdown(transcript(held().debate))
    assert page.startswith(
        "# Debate: Cats are better than dogs\n\n**Format:** Oxford Debate\n**Date:** 2026-03-01\n"
    )
    assert "1. **For** - For\n   - Model: scripted/parrot\n" in page
    assert "## Round 1\n\n*Opening statement*\n\n### For\nLicences keep people safe.\n\n" in page
    assert "\n\n*Opening statement*\n\n### Against\n" in page
    assert "## Judge's Verdict\n\n**Winner:** For\n" in page
    assert "**Scores:**\n- For: 78/100\n- Against: 71/100\n" in page
    assert "## Costs\n- Total: $0.00 USD\n- Total Tokens: 480\n" in page


def test_a_format_that_says_it_is_a_debate_says_so_once():
    page = to_markdown(transcript(Log(format=formats.load("free")).start().debate))
    assert "**Format:** Free debate\n" in page


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
    assert "> **Remark from Chair:**\n>\n> Mind the time." in page
    assert "> Be brief.  \n> Very." in page
    assert "Be brief" not in to_markdown(transcript(log.debate))
    unnamed = Log().start().add(RemarkInjected(1, "Mind the time.", by=ANYONE)).debate
    assert "> **Remark from the moderator:**" in to_markdown(transcript(unnamed))


def everything() -> Log:
    """A debate in which all that can be told has happened."""
    panel = (judge("ann"), judge("bob"), replace(judge("cid"), recused="of the speakers' own kind"))
    log = Log(setup=DebateSetup(polls=PollSettings()), judges=panel).start()
    log.poll("before", *["undecided"] * 6, *["for"] * 6)
    log.say("for", "One two three. Four five.", clipped=3, over_length=True)
    log.add(PointRaised(1, 1, "against", True, "And if not?"), PointRaised(2, 1, "against", False, "Hush."))
    log.add(RemarkInjected(1, "Why?", by="Row 3", to="against", question=True)).say("against", "No.")
    log.poll("after", *["against"] * 6, *["for"] * 6)
    rubric = {"argument": {"for": 8.0, "against": 6.0}}
    log.judged(
        *(
            ballot("for", 80, 70, order, by, cites=(1,), rubric=rubric)
            for by in ("ann", "bob")
            for order in (0, 1)
        )
    )
    again = (ballot("against", 60, 70, order, "eve", cites=(2,)) for order in (0, 1))
    return log.judged_again((judge("eve"),), *again)


def test_all_that_happened_stands_in_its_place():
    page = to_markdown(transcript(everything().debate))
    places = [
        "**Judge:** Cid, scripted/owl (not asked: of the speakers' own kind)",
        "One two three.",
        "*(Longer than its word budget: only the first 3 words count.)*",
        "> *Beyond its budget, heard by nobody:*\n>\n> Four five.",
        "> **Point of information, Against:**\n>\n> And if not?",
        "*(Against offered a point of information; it was declined.)*",
        "> **Question from Row 3 to Against:**\n>\n> Why?",
        "## Judge's Verdict\n\n**Winner:** For",
        "| Criterion | For | Against |\n| --- | ---: | ---: |\n| argument | 8 | 6 |",
        "- **Ann** (scripted/owl): For in both readings",
        "  - Key speeches: S1 (For, Opening statement)",
        "Last word: Against",
        "## Judged again: Eve\n\n**Winner:** Against",
        "## Audience\n\n**People's choice:** Against, by a swing of 50 points",
        "| Before the debate | 6 (50%) | 0 (0%) | 6 (50%) | 12 |",
        "| Undecided | 0 | 6 | 0 |",
        "## Issues\n\n- For exceeded the word budget: S1",
        "## Costs",
    ]
    found = [page.find(place) for place in places]
    assert -1 not in found
    assert found == sorted(found)
    assert "Hush" not in page


def test_the_tables_of_a_page_are_tables_whatever_the_names():
    log = everything()
    names = tuple(replace(one, name=f"| {one.name} |\n---") for one in log.debate.seats)
    page = to_markdown(transcript(replace(log.debate, seats=names)))
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
    widths = [len(row.split(" | ")) for row in page.split("\n") if row.startswith("| ")]
    assert [token.type for token in tokens].count("table_open") == 3
    assert set(widths) <= {3, 4, 5}
