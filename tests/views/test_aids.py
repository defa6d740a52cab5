"""What transcripts tell of the tools that a speech was given with: a line, and nothing of what they gave."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.debate import Debate
from moot.evolve import fold
from moot.terms import ToolCall, ToolResult
from moot.views.html import to_html
from moot.views.json import to_json
from moot.views.markdown import to_markdown
from moot.views.transcript import aids, transcript
from tests.golden.reading import log_of


@pytest.fixture(scope="module")
def debate() -> Debate:
    found = fold(log_of("tools"))
    assert found is not None
    return found


def test_a_line_names_the_tools_and_how_often_they_were_of_use(debate: Debate) -> None:
    assert aids(debate.turns[0]) == ("With tools: Measure (2 times).",)
    used = (ToolCall("a", "x", "{}", title="Search"), ToolResult("a", "Found."))
    vain = (ToolCall("b", "x", "{}", title="Search"), ToolResult("b", "", "Not found."))
    turn = replace(debate.turns[0], segments=(*used, *vain, ToolCall("c", "nobody's", "")))
    assert aids(turn) == ("With tools: Search.",)


def test_every_shape_tells_it_and_none_what_the_tools_gave(debate: Debate) -> None:
    told = transcript(debate)
    for shape in (to_markdown(told), to_html(told), to_json(told)):
        assert "With tools: Measure (2 times)." in shape
        assert "It is {" not in shape
