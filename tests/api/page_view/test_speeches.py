"""Speeches as the page shows them."""

from __future__ import annotations

from typing import Any

from moot.api.page_view.sections import view
from moot.api.page_view.view_frames import ViewFrames
from moot.core.events import CallDelta, SegmentCompleted, TurnCompleted
from moot.core.terms import Reasoning, ReasoningPart, Text, ToolResult
from moot.core.visibility import OBSERVER, OWNER, Viewer
from tests.api.watching import watch
from tests.golden.reading import log_of
from tests.views.logs import Log


def test_thoughts_are_separated_while_they_come_as_they_are_afterwards() -> None:
    log = Log().start()
    turn = log.begin("for")
    call = log.debate.live[0].call
    thoughts = ((0, "Begin "), (0, "with risk."), (1, "Then "), (1, "cost."), (3, "Hm."))
    log.add(*(CallDelta(call, segment, "reasoning", text) for segment, text in thoughts))
    dialect, seen = ViewFrames(OWNER), watch(log.records, OWNER)
    ops = [op for one in seen for frame in dialect.frames(one) for op in frame.data["ops"]]
    added = "".join(value for verb, path, value in ops if verb == "add" and path[-1] == "reasoning")
    live = view(log.debate, OWNER)["turns"][str(turn)]["reasoning"]
    assert live == added == "Begin with risk.\n\nThen cost.\n\nHm."
    texts = {0: "Begin with risk.", 1: "Then cost.", 3: "Hm."}
    parts = [Reasoning((ReasoningPart(text),), index) for index, text in texts.items()]
    encrypted = Reasoning((), 2, opaque="sealed", redacted=True)
    log.add(*(SegmentCompleted(call, part) for part in (*parts, encrypted, Text("So.", 4))))
    assert view(log.debate, OWNER)["turns"][str(turn)]["reasoning"] == live
    log.add(TurnCompleted(turn, 1))
    assert view(log.debate, OWNER)["turns"][str(turn)]["reasoning"] == live


SEEN = watch(log_of("tools"))


def tools(after: int, viewer: Viewer = OBSERVER) -> list[dict[str, Any]]:
    """Those of the first speech as the view has them once that event has happened."""
    parts = view(SEEN[after - 1].after, viewer)["turns"]["1"]["parts"]
    return [part for part in parts if part["kind"] == "tool"]


def test_a_tool_is_shown_by_its_title_and_answered_when_its_result_comes() -> None:
    first, second = (
        one.seq
        for one in SEEN[:30]
        if isinstance(one.event, SegmentCompleted) and isinstance(one.event.segment, ToolResult)
    )
    asked = tools(first - 1)
    assert [(tool["title"], tool["server"], tool["output"]) for tool in asked] == [("Measure", "lab", "")] * 2
    assert [bool(tool["output"]) for tool in tools(first)] == [True, False]
    assert [bool(tool["output"]) for tool in tools(second)] == [True, True]
    assert [[tool["atWork"] for tool in tools(seq)] for seq in (first - 1, first, second)] == [
        [True, True],
        [False, True],
        [False, False],
    ]
    told = [frame.data["ops"] for frame in ViewFrames(OBSERVER).frames(SEEN[first - 1])]
    assert told, "those who watch see it as it comes"


def test_what_was_said_before_a_tool_stays_on_the_page_when_the_call_after_it_fails() -> None:
    texts = [view(one.after, OBSERVER)["turns"].get("1", {}).get("text", "") for one in SEEN[:27]]
    begun = texts.index("Let me measure.")
    assert all(text.startswith("Let me measure.") for text in texts[begun:])


def test_thoughts_words_and_tools_are_told_in_the_order_in_which_they_came() -> None:
    speech = view(SEEN[-1].after, OWNER)["turns"]["1"]
    thought, said, *used = speech["parts"]
    assert [part["kind"] for part in used] == ["tool", "tool"]
    assert speech["reasoning"][: thought["end"]] == "I need figures."
    assert speech["reasoning"][thought["end"] :].strip() == "Both are known now."
    assert speech["text"][: said["end"]] == "Let me measure."
    plain = view(watch(log_of("reasoning"))[-1].after, OWNER)["turns"]["1"]
    assert plain["reasoning"]
    assert plain["parts"] == []
