"""A debate as a conversation: what each event is made of, and what is kept from whom."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.events import (
    CallDelta,
    CallFailed,
    DebateStarted,
    Event,
    PointRaised,
    RemarkInjected,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
)
from moot.core.evolve import evolve
from moot.core.terms import (
    CompletionStatus,
    DebateSetup,
    PartStart,
    Reasoning,
    ReasoningPart,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.core.visibility import OBSERVER, OWNER, Viewer
from moot.extensions.conversations.debates import conversation
from moot.extensions.conversations.legacy_rows import to_legacy_shape
from moot.testing.event_factories import call_started, delta, opened, seats, state, table, turn_started
from tests.golden.reading import HERE as GOLDEN
from tests.golden.reading import log_of
from tests.support.for_each import for_each

Shape = dict[str, Any]
THOUGHT = Reasoning(
    (ReasoningPart("Hm.", 0, 4), ReasoningPart("Well.", 1, 6)), 0, "rs_1", 3, "low", 12, opaque="sealed"
)
CALL = ToolCall("call_1", "search", '{"q": "cats"}', 1, server="web", title="Search the web", opaque="sealed")
NAMES = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
RESULT = ToolResult("call_1", "Cats sleep.", index=2)


def done(*segments: Any) -> list[SegmentCompleted]:
    return [SegmentCompleted(call=1, segment=segment) for segment in segments]


def spoken(*events: Event, **changes: Any) -> list[Shape]:
    return conversation(
        state(opened(**changes), DebateStarted(), turn_started(), call_started(), *events), OWNER
    )


def completed(**more: Any) -> TurnCompleted:
    return TurnCompleted(turn=1, words=2, **more)


def types(event: Shape) -> list[str]:
    return [segment["type"] for segment in event["segments"]]


def test_the_motion_is_the_systems_and_a_speech_an_assistants() -> None:
    motion, speech = spoken(delta("Cats "), *done(Text("Cats purr.")), completed())
    assert (motion["id"], motion["role"], motion["segments"]) == (
        "deb_1.1", "system", [{"type": "text", "text": "Cats are better than dogs"}]
    )  # fmt: skip
    assert (speech["id"], speech["role"], speech["seat"], speech["name"], speech["turn"]) == (
        "deb_1.3", "assistant", "for", "For", 1
    )  # fmt: skip
    assert speech["segments"] == [{"type": "text", "text": "Cats purr."}]
    assert speech["response_metadata"] == {"total_output_items": 1, "completion_status": "complete"}
    assert speech["ts"] == motion["ts"] + 2000


def test_thoughts_calls_and_results_stand_in_the_order_of_the_provider() -> None:
    *_, speech = spoken(*done(Text("So.", 3), RESULT, THOUGHT, CALL), completed())
    assert types(speech) == ["reasoning", "tool_call", "tool_result", "text"]
    thought, call, result, _ = speech["segments"]
    assert thought == {
        "type": "reasoning",
        "id": "rs_1",
        "output_index": 0,
        "sequence_number": 3,
        "parts": [
            {
                "summary_index": n,
                "type": "summary_text",
                "text": text,
                "sequence_number": number,
                "is_complete": True,
                "created_at": speech["ts"] + 4000,
            }
            for n, text, number in ((0, "Hm.", 4), (1, "Well.", 6))
        ],
        "combined_text": "Hm.\n\nWell.",
        "effort_level": "low",
        "reasoning_tokens": 12,
    }
    assert call == {
        "type": "tool_call",
        "id": "call_1",
        "name": "search",
        "args": {"q": "cats"},
        "server_label": "web",
        "display_name": "Search the web",
    }
    assert result == {"type": "tool_result", "id": "call_1", "output": {"text": "Cats sleep."}}
    assert speech["response_metadata"]["total_output_items"] == 3


def test_thoughts_are_counted_on_from_call_to_call() -> None:
    again = replace(THOUGHT, index=4, item_id="rs_2")
    uncounted = Reasoning((ReasoningPart("So."),), 5)
    *_, speech = spoken(*done(THOUGHT, CALL, RESULT, again, uncounted), completed())
    thoughts = [segment for segment in speech["segments"] if segment["type"] == "reasoning"]
    numbers = [[one["sequence_number"] for one in (thought, *thought["parts"])] for thought in thoughts]
    assert numbers == [[3, 4, 6], [7, 8, 10], [11, 11]]


def test_an_effort_that_readers_do_not_know_stands_beside_the_nearest() -> None:
    *_, speech = spoken(
        *done(replace(THOUGHT, effort="xhigh"), replace(THOUGHT, effort="none", index=1)), completed()
    )
    levels = [(thought.get("effort_level"), thought.get("effort")) for thought in speech["segments"]]
    assert levels == [("high", "xhigh"), (None, "none")]


def test_a_tool_of_the_providers_leaves_its_result_behind_its_call() -> None:
    search = ToolCall("ws_1", "web_search", "not json", 0, kind="web_search_call", output='{"hits": 2}')
    failed = ToolResult("x", "", "timed out", 1)
    *_, speech = spoken(*done(search, failed, CompletionStatus("error", "odd", 2)), completed())
    assert speech["segments"] == [
        {
            "type": "tool_call",
            "id": "ws_1",
            "name": "web_search",
            "args": {"arguments": "not json"},
            "server_type": "web_search_call",
        },
        {"type": "tool_result", "id": "ws_1", "output": {"hits": 2}},
        {"type": "tool_result", "id": "x", "output": {}, "error": "timed out"},
        {"type": "completion_status", "status": "error", "metadata": {"detail": "odd"}},
    ]


STRANGE = UnknownItem("hologram", {"type": "hologram", "frames": [1]}, 2, "h_1", 9)


def test_a_tool_of_the_providers_that_failed_leaves_an_error() -> None:
    call = ToolCall("m_1", "ask", "{}", 0, kind="mcp_call", status="failed", error="down")
    *_, speech = spoken(*done(call), completed())
    assert speech["segments"][1] == {"type": "tool_result", "id": "m_1", "output": {}, "error": "down"}


def test_an_unknown_item_is_told_as_it_came_to_those_who_may_read_thoughts() -> None:
    debate = state(
        opened(setup=DebateSetup(show_reasoning=False)),
        DebateStarted(),
        turn_started(),
        call_started(),
        *done(Text("So."), STRANGE),
        completed(),
    )
    assert conversation(debate, OWNER)[1]["segments"][1] == {
        "type": "unknown_item",
        "id": "h_1",
        "output_index": 2,
        "sequence_number": 9,
        "item_type": "hologram",
        "item": {"type": "hologram", "frames": [1]},
    }
    assert types(conversation(debate, OBSERVER)[1]) == ["text"]
    open_to_all = replace(debate, setup=DebateSetup(show_reasoning=True))
    unknown = conversation(open_to_all, OBSERVER)[1]["segments"][1]
    assert (unknown["id"], unknown["item"]) == ("deb_1.3.2", STRANGE.item)
    legacy = to_legacy_shape(conversation(debate, OWNER)[1])
    assert legacy["segments"] == conversation(debate, OWNER)[1]["segments"]


def thinking(text: str) -> CallDelta:
    return CallDelta(call=1, segment=0, kind="reasoning", text=text)


def test_a_speech_under_way_stands_there_as_far_as_it_has_come() -> None:
    *_, speech = spoken(thinking("Hm."), thinking("Well."), *done(THOUGHT), delta("Cats "), delta("purr"))
    assert types(speech) == ["reasoning", "text", "completion_status"]
    assert speech["segments"][1]["text"] == "Cats purr"
    assert speech["segments"][2] == {
        "type": "completion_status",
        "status": "partial",
        "metadata": {"live": True},
    }
    assert speech["response_metadata"]["completion_status"] == "partial"
    assert speech["live"] is True


def test_a_thought_under_way_is_not_complete() -> None:
    *_, speech = spoken(thinking("Hm."))
    (thought, _) = speech["segments"]
    assert (thought["combined_text"], thought["parts"][0]["is_complete"]) == ("Hm.", False)


def test_a_thought_in_which_the_reply_was_cut_is_not_complete() -> None:
    cut = Reasoning((ReasoningPart("Hm.", 0, 4), ReasoningPart("So", 1, 9)), 0, "rs_1", 3, incomplete=True)
    *_, speech = spoken(*done(cut, Text("Cats", 1)), completed())
    assert [part["is_complete"] for part in speech["segments"][0]["parts"]] == [True, False]


def counted(text: str, segment: int, part: PartStart | None) -> CallDelta:
    return CallDelta(call=1, segment=segment, kind="reasoning", text=text, part=part)


def test_a_thought_that_was_cut_before_the_first_word_keeps_its_id_its_place_and_its_parts() -> None:
    first = Reasoning((ReasoningPart("Hm.", 0, 4),), 0, "rs_1", 3)
    *_, speech = spoken(
        counted("Hm.", 0, PartStart("rs_1", 3, 0, 4)),
        *done(first, replace(CALL, index=1)),
        counted("What ", 2, PartStart("rs_2", 11, 0, 12)),
        counted("now?", 2, None),
        counted("\n\nStill", 2, PartStart("rs_2", 11, 1, 17)),
        counted(" thinking", 2, None),
        TurnInterrupted(turn=1, by="stop"),
    )
    assert types(speech) == ["reasoning", "tool_call", "reasoning", "completion_status"]
    second = speech["segments"][2]
    began = speech["ts"]
    assert (second["id"], second["output_index"], second["sequence_number"]) == ("rs_2", 2, 11)
    assert second["combined_text"] == "What now?\n\nStill thinking"
    assert [(part["text"], part["summary_index"], part["sequence_number"]) for part in second["parts"]] == [
        ("What now?", 0, 12),
        ("Still thinking", 1, 17),
    ]
    assert [(part["is_complete"], part["created_at"] - began) for part in second["parts"]] == [
        (True, 5000),
        (False, 7000),
    ]
    assert speech["segments"][0]["parts"][0]["created_at"] - began == 2000


def test_thoughts_without_ids_are_told_apart_by_their_place() -> None:
    *_, speech = spoken(
        counted("Hm.", 0, None),
        counted("Well.", 3, None),
        delta("Cats"),
        counted(" So.", 3, None),
        TurnInterrupted(turn=1, by="crash"),
    )
    assert [(part["output_index"], part["combined_text"]) for part in speech["segments"][:1]] == [(0, "Hm.")]
    assert types(speech) == ["reasoning", "text", "reasoning", "completion_status"]
    assert speech["segments"][2]["combined_text"] == "Well. So."


def test_words_behind_the_last_segment_are_told_too() -> None:
    *_, speech = spoken(delta("Cats "), *done(Text("Cats ")), delta("purr"))
    assert [segment.get("text") for segment in speech["segments"]] == ["Cats ", "purr", None]


def test_where_the_segments_tell_something_else_the_words_count() -> None:
    *_, speech = spoken(*done(Text("Dogs bark.")), delta("Cats purr"), TurnInterrupted(turn=1, by="skip"))
    assert [segment["text"] for segment in speech["segments"] if segment["type"] == "text"] == ["Cats purr"]


@pytest.mark.parametrize(
    ("end", "completion", "status", "metadata"),
    [
        (TurnInterrupted(turn=1, by="crash"), "interrupted", "partial", {"interrupted_by": "crash"}),
        (TurnFailed(turn=1, kind="timeout", message="secret"), "interrupted", "error", {"fault": "timeout"}),
        (completed(truncated="timeout"), "partial", "partial", {"truncated": "timeout"}),
    ],
)
def test_a_speech_that_is_not_whole_says_so(
    end: Event, completion: str, status: str, metadata: Shape
) -> None:
    *_, speech = spoken(delta("Cats "), end)
    assert speech["segments"] == [
        {"type": "text", "text": "Cats "},
        {"type": "completion_status", "status": status, "metadata": metadata},
    ]
    assert speech["response_metadata"]["completion_status"] == completion
    assert "live" not in speech


def test_usage_has_the_names_of_the_document() -> None:
    cut = CallFailed(call=1, kind="cut", severity="permanent", message="", usage=Usage(40, 10, 6), cost=None)
    *_, speech = spoken(delta("Cats"), cut, TurnInterrupted(turn=1, by="skip"))
    assert speech["response_metadata"]["usage"] == {
        "reasoning_tokens": 6,
        "completion_tokens": 10,
        "total_tokens": 50,
        "input_tokens": 40,
    }


def test_remarks_and_points_that_were_taken_are_users() -> None:
    events = spoken(
        RemarkInjected(remark=1, text="Mind the cost.", by="Zoe"),
        RemarkInjected(remark=2, text="Just you.", by="Zoe", to="for"),
        PointRaised(point=1, turn=1, seat="against", accepted=True, text="And dogs?"),
        PointRaised(point=2, turn=1, seat="against", accepted=False, text="Really?"),
    )
    assert [(event["role"], event["kind"], event.get("name")) for event in events] == [
        ("system", "motion", None),
        ("assistant", "speech", "For"),
        ("user", "remark", "Zoe"),
        ("user", "remark", "Zoe"),
        ("user", "point", "Against"),
    ]
    assert events[3]["to"] == "for"


def test_nobody_reads_what_is_not_for_them() -> None:
    debate = state(
        opened(setup=DebateSetup(show_reasoning=False)),
        DebateStarted(),
        turn_started(),
        call_started(),
        thinking("Hm."),
        *done(THOUGHT, CALL),
        CallDelta(call=1, segment=2, kind="text", text="Cats"),
        RemarkInjected(remark=1, text="Just you.", by="Zoe", to="for"),
    )
    for viewer in (OBSERVER, Viewer("participant", "against"), Viewer("judge")):
        events = conversation(debate, viewer)
        assert types(events[1]) == ["tool_call", "text", "completion_status"]
        assert "Just you." not in str(events)
    assert types(conversation(debate, OWNER)[1])[0] == "reasoning"
    assert all("sealed" not in str(conversation(debate, viewer)) for viewer in (OWNER, OBSERVER))


def test_a_veiled_speech_shows_none_of_its_words() -> None:
    blind = table("oxford", "for", "against", setup=DebateSetup(blind=True))
    blind = replace(blind, seats=seats("for", "against"))
    debate = state(
        blind,
        DebateStarted(),
        replace(turn_started(), seat="a"),
        call_started(),
        delta("Cats"),
        *done(THOUGHT),
    )
    opponent = conversation(debate, Viewer("participant", "b"))[1]
    assert types(opponent) == ["completion_status"]
    assert types(conversation(debate, Viewer("participant", "a"))[1])[0] == "text"


def test_a_speech_given_again_is_marked() -> None:
    *_, speech = spoken(delta("Cats"), TurnInterrupted(turn=1, by="skip"), TurnRetried(turn=1))
    assert speech["struck"] is True


# --- laws, at every point of every golden log -------------------------------------------------------------


def texts(event: Shape) -> str:
    return "".join(segment["text"] for segment in event["segments"] if segment["type"] == "text")


@for_each("name", NAMES)
def test_a_conversation_only_grows_and_tells_every_word(name: str) -> None:
    debate, known = None, list[str]()
    for recorded in log_of(name):
        debate = evolve(debate, recorded)
        if recorded.seq % 5 and not isinstance(recorded.event, TurnCompleted | TurnInterrupted | TurnFailed):
            continue
        events = conversation(debate, OWNER)
        ids = [event["id"] for event in events]
        assert ids[: len(known)] == known
        assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
        known = ids
        speeches = {event["turn"]: event for event in events if event["kind"] == "speech"}
        for turn in (*debate.turns, *debate.live):
            speech = speeches[turn.number]
            # A segment may be complete of which no word came before.
            assert texts(speech) == turn.text or (
                turn.state == "live" and texts(speech).startswith(turn.text)
            )
            thoughts = [part["combined_text"] for part in speech["segments"] if part["type"] == "reasoning"]
            assert "".join("".join(thoughts).split()).startswith("".join(turn.reasoning.split()))
        for event in events:
            old = to_legacy_shape(event)
            assert texts(old) == texts(event)
            assert len([s for s in event["segments"] if s["type"] == "tool_call"]) == len(
                [s for s in old["segments"] if s["type"] == "tool_call"]
            )


@for_each("name", NAMES)
def test_all_that_was_shown_of_a_speech_is_still_there_when_it_is_cut(name: str) -> None:
    debate, shown = None, dict[tuple[int | None, str, int], str]()
    for recorded in log_of(name):
        debate, event = evolve(debate, recorded), recorded.event
        match event:
            case CallDelta() if event.call in {turn.call for turn in debate.live}:
                place = (event.call, event.kind, event.segment)
                shown[place] = shown.get(place, "") + event.text
            case CallFailed(call=gone, retry_in_ms=int()):
                shown = {place: text for place, text in shown.items() if place[0] != gone}
            case _:
                pass
        for turn in debate.live:
            end = replace(recorded, seq=recorded.seq + 1, event=TurnInterrupted(turn.number, "stop"))
            after = evolve(debate, end)
            cut = after.turns[-1]
            speech = next(e for e in conversation(after, OWNER) if e.get("turn") == turn.number)
            told = [s.get("text") or s.get("combined_text") or "" for s in speech["segments"]]
            for (call, kind, index), text in shown.items():
                if call == turn.call:
                    sort = Text if kind == "text" else Reasoning
                    kept = [s.text for s in cut.shown if isinstance(s, sort) and s.index == index]
                    assert kept == [text], (recorded.seq, index)
                    assert text in told, (recorded.seq, text)
                    assert text in (cut.text if kind == "text" else cut.reasoning)
