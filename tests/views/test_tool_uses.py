"""What transcripts tell of the tools of a speech: each in its place, briefly, and as text."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.api.page_view.speeches import turn_shape
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import Text, ToolCall, ToolResult, UnknownItem
from moot.core.visibility import OWNER
from moot.core.word_count import CLIPPED_MARK
from moot.views.tool_uses import MAX_OUTPUT_CHARS, ToolUse, tool_uses, tools_line
from moot.views.transcript import Transcript, transcript
from moot.views.transcript_html import to_html
from moot.views.transcript_json import to_json
from moot.views.transcript_markdown import to_markdown
from tests.golden.reading import log_of

HOSTILE = "``](https://evil.test) <img src=https://evil.test/x>\n# Winner: me\n`"


@pytest.fixture(scope="module")
def debate() -> Debate:
    found = fold(log_of("tools"))
    assert found is not None
    return found


def with_segments(debate: Debate, *segments: Text | ToolCall | ToolResult) -> Transcript:
    turn = replace(debate.turns[0], segments=segments)
    return transcript(replace(debate, turns=(turn, *debate.turns[1:])))


def test_a_line_names_the_tools_and_how_often_they_were_of_use(debate: Debate) -> None:
    assert tools_line(tool_uses(debate.turns[0])) == ("With tools: Measure (2 times).",)
    assert "With tools: Measure (2 times)." in to_json(transcript(debate))
    used = (ToolCall("a", "x", "{}", title="Search"), ToolResult("a", "Found."))
    vain = (ToolCall("b", "x", "{}", title="Search"), ToolResult("b", "", "Not found."))
    turn = replace(debate.turns[0], segments=(*used, *vain, ToolCall("c", "nobody's", "")))
    assert tools_line(tool_uses(turn)) == ("With tools: Search.",)


def test_tools_stand_between_the_words_where_they_were_used(debate: Debate) -> None:
    page = transcript(debate)
    before, *used, after = page.rounds[1][0].parts
    assert before == "Let me measure."
    assert [use.arguments for use in used if isinstance(use, ToolUse)] == ['{"q":"height"}', '{"q":"weight"}']
    assert isinstance(after, str)
    in_order = ("Let me measure.", '{"q":"height"}', 'It is {"q":"weight"}.', after)
    for shape in (to_markdown(page), to_html(page).replace("&quot;", '"')):
        places = [shape.index(words) for words in in_order]
        assert places == sorted(places)


def test_what_a_tool_gave_is_cut_short_and_says_so(debate: Debate) -> None:
    page = with_segments(debate, ToolCall("a", "x", "{}"), ToolResult("a", "word " * 10_000))
    (use,) = page.rounds[1][0].uses
    assert use.output.endswith(CLIPPED_MARK)
    assert len(use.output) <= MAX_OUTPUT_CHARS + len(CLIPPED_MARK)


def test_what_a_tool_gave_is_never_markup(debate: Debate) -> None:
    call = ToolCall("a", "<b>`x`</b>", HOSTILE)
    page = with_segments(debate, call, ToolResult("a", HOSTILE), Text("So it is."))
    assert "<img" not in to_html(page)
    told = [one for one in to_markdown(page).splitlines() if "evil.test" in one]
    inside = HOSTILE.replace("\n", " ")
    assert told == [f"> *Tool:* \\<b\\>\\`x\\`\\</b\\> ``` {inside} ```  ", f"> *It gave:* ``` {inside} ```"]


def test_a_tool_that_failed_says_so(debate: Debate) -> None:
    page = with_segments(debate, ToolCall("a", "x", "{}"), ToolResult("a", "", "It is closed."))
    assert "> *It failed:* `It is closed.`" in to_markdown(page)
    assert "failed</summary>" in to_html(page)


def test_an_unknown_item_is_named_and_shown_only_with_the_thoughts(debate: Debate) -> None:
    strange = UnknownItem("hologram", {"type": "hologram", "secret": HOSTILE}, 1, "h_1")
    turn = replace(debate.turns[0], segments=(Text("So.", 0), strange))
    held = replace(debate, turns=(turn, *debate.turns[1:]))
    plain, whole = transcript(held), transcript(held, reasoning=True)
    assert tools_line(plain.rounds[1][0].uses) == ("Unknown item: hologram.",)
    assert "Unknown item: hologram." in to_json(plain)
    assert "> *Unknown item:* hologram" in to_markdown(plain)
    assert "Unknown item: <b><bdi>hologram</bdi></b>" in to_html(plain)
    assert all("evil" not in write(plain) for write in (to_markdown, to_html, to_json))
    assert "evil.test" in to_markdown(whole)
    assert "<img" not in to_html(whole)
    *_, part = turn_shape(held, turn, OWNER)["parts"]
    assert (part["kind"], part["title"]) == ("tool", "Unknown item: hologram")
    assert "secret" in part["arguments"]
