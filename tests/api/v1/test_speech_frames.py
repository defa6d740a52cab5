"""How v1 tells of a speech when the log is not as smooth as most."""

from __future__ import annotations

from typing import Any

import pytest

from moot.api.frames import Dialect
from moot.core.events import (
    CallCompleted,
    CallFailed,
    DebatePaused,
    DebateResumed,
    RemarkInjected,
    RoundCompleted,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
    TurnStarted,
)
from moot.core.evolve import fold
from moot.core.terms import DebateSetup, Money, Reasoning, ReasoningPart, Text, Usage
from moot.core.visibility import OBSERVER, OWNER, Viewer
from moot.testing.event_factories import call_started
from tests.api.watching import EXTENDED, PLAIN, last, named, told, watch
from tests.golden.reading import log_of
from tests.views.logs import Log, held

LONG = "word " * 10_000


def chunks(log: Log, dialect: Dialect = PLAIN) -> list[dict[str, Any]]:
    return named(told(dialect, watch(log.records)), "participant")


def speaking(*words: str) -> Log:
    """Against is about to speak; For has."""
    log = Log().start().say("for", "Yes.")
    log.begin("against")
    for word in words:
        log.hear(word)
    return log


def completed(log: Log, text: str, dialect: Dialect = PLAIN) -> list[tuple[str, Any]]:
    log.settle(text).add(TurnCompleted(2, 1))
    told_ = last(dialect, watch(log.records), TurnCompleted)
    return [(name, data) for name, data in told_ if name == "participant"]


def test_a_speech_ends_with_what_it_has_used():
    assert chunks(held())[1] == {
        "participantId": "for",
        "participantName": "For",
        "roundNumber": 1,
        "chunk": "",
        "done": True,
        "tokensUsed": 120,
        "latencyMs": 1500,
        "words": 4,
        "timestamp": "2026-03-01T12:00:11.000Z",
        "seq": 11,
        "turn": 1,
        "speech": 1,
        "phase": "opening",
        "attempt": 1,
    }


def test_words_that_never_came_are_told_at_the_end():
    (_, rest), (_, end) = completed(speaking("Well, "), "Well, no.")
    assert (rest["chunk"], rest["done"], "replace" in rest) == ("no.", False, False)
    assert end["done"]


def test_a_stream_that_was_wrong_is_replaced():
    (_, whole), (_, end) = completed(speaking("Wel", "l, yes"), "Well, no.", EXTENDED)
    assert (whole["chunk"], whole["replace"]) == ("Well, no.", True)
    assert "replace" not in end


def test_a_long_correction_comes_in_pieces_of_which_only_the_first_replaces():
    frames = completed(speaking("Hm"), LONG, EXTENDED)
    pieces = [data for _, data in frames[:-1]]
    assert "".join(piece["chunk"] for piece in pieces) == LONG
    assert all(len(piece["chunk"].encode()) <= 16 * 1024 for piece in pieces)
    assert [piece.get("replace", False) for piece in pieces] == [True] + [False] * (len(pieces) - 1)


def test_words_that_were_thoughts_are_taken_back():
    log = speaking("Let me see. ")
    log.add(SegmentCompleted(2, Reasoning((ReasoningPart("Let me see."),)), taken_back=True))
    (event, data), *_ = last(EXTENDED, watch(log.records), SegmentCompleted)
    assert (event, data["chunk"], data["replace"]) == ("participant", "", True)
    log.hear("No.")
    assert chunks(log, EXTENDED)[-1]["chunk"] == "No."


@pytest.mark.parametrize(
    ("viewer", "shown", "told"),
    [
        (OWNER, False, ["participant", "reasoning"]),
        (OBSERVER, True, ["participant", "reasoning"]),
        (OBSERVER, False, ["participant"]),
    ],
)
def test_words_that_were_thoughts_are_told_as_such_to_those_who_may_read_them(
    viewer: Viewer, shown: bool, told: list[str]
):
    log = Log(setup=DebateSetup(show_reasoning=shown)).start()
    log.begin("for")
    log.hear("Let me see. ")
    log.add(SegmentCompleted(1, Reasoning((ReasoningPart("Let me see."),)), taken_back=True))
    frames = last(EXTENDED, watch(log.records, viewer), SegmentCompleted)
    assert [event for event, _ in frames] == told


def test_a_failed_attempt_is_told_with_when_it_is_tried_again():
    log = speaking("Well, ").fail_call(retry_in_ms=2000)
    (_, struck), (event, error) = last(EXTENDED, watch(log.records), CallFailed)
    assert (struck["chunk"], struck["replace"], struck["done"]) == ("", True, False)
    assert event == "error"
    assert error == {
        "type": "model_error",
        "message": "The provider is overloaded.",
        "participantId": "against",
        "attempt": 1,
        "retryInMs": 2000,
        "retryable": True,
        "timestamp": error["timestamp"],
        "seq": error["seq"],
    }


@pytest.mark.parametrize(
    ("kind", "sort"), [("timeout", "timeout"), ("stalled", "timeout"), ("server_error", "model_error")]
)
def test_an_error_says_whether_the_model_was_too_slow(kind: str, sort: str):
    log = speaking().fail_call(kind=kind, retry_in_ms=0)
    assert [data["type"] for _, data in last(PLAIN, watch(log.records), CallFailed)] == [sort]
    log = speaking().add(TurnFailed(2, kind, "Too bad."))  # type: ignore[arg-type]  # parametrized
    assert last(PLAIN, watch(log.records), TurnFailed)[0][1]["type"] == sort


@pytest.mark.parametrize("kind", ["chain_lost", "seal_refused", "schema_refused", "summary_refused"])
def test_what_is_amended_at_once_is_nobodys_worry(kind: str):
    log = speaking().fail_call(kind=kind, retry_in_ms=0)
    assert last(PLAIN, watch(log.records), CallFailed) == []


def test_a_failed_speech_is_an_error_and_comes_to_its_end():
    log = speaking("Well, ").fail_call().add(TurnFailed(2, "bad_key", "No key."))
    (first, error), (second, end) = last(EXTENDED, watch(log.records), TurnFailed)
    assert (first, error["participantId"], error["retryable"]) == ("error", "against", False)
    assert (second, end["chunk"], end["done"], end["status"]) == ("participant", "", True, "error")
    assert end["replace"]


def test_a_speech_that_its_time_cut_is_an_error_of_the_sort_that_ends_nothing():
    log = speaking("Half a")
    log.settle("Half a").add(TurnCompleted(2, 2, truncated="timeout"))
    told_ = last(PLAIN, watch(log.records), TurnCompleted)
    assert [name for name, _ in told_][:2] == ["error", "participant"]
    error, end = told_[0][1], told_[1][1]
    assert (error["type"], error["retryable"], error["participantId"]) == ("timeout", False, "against")
    assert "reason" not in error
    assert (end["done"], end["truncated"]) == (True, "timeout")


def test_a_speech_that_was_cut_ends_with_who_cut_it():
    log = speaking("Well, ").add(TurnInterrupted(2, "skip"))
    ((_, end),) = last(PLAIN, watch(log.records), TurnInterrupted)
    assert (end["done"], end["interrupted"]) == (True, "skip")


@pytest.mark.parametrize("by", ["crash", "pause", "drain"])
def test_a_speech_that_is_given_again_has_not_ended(by: str):
    log = speaking("Well, ").add(TurnInterrupted(2, by))  # type: ignore[arg-type]  # parametrized
    assert last(PLAIN, watch(log.records), TurnInterrupted) == []


def test_a_speech_that_is_given_again_begins_anew_with_a_higher_attempt():
    log = speaking("Well, ").fail_call(retry_in_ms=0)
    log.add(call_started(30, 2, attempt=2))
    log.add(TurnInterrupted(2, "pause"), DebatePaused(), DebateResumed())
    log.begin("against")
    log.hear("No").hear(".")
    first, second = chunks(log, EXTENDED)[-2:]
    assert (first["attempt"], first["speech"], first["replace"]) == (3, 2, True)
    assert (second["attempt"], "replace" in second) == (3, False)


def test_a_speech_that_is_cut_before_its_second_beginning_leaves_nothing_on_the_screen():
    log = speaking("Well, ").fail_call().add(TurnFailed(2, "bad_key", "No key."), TurnRetried(2))
    slot = log.debate.remaining_slots()[0]
    log.add(TurnStarted(3, slot.index, slot.round, "opening", slot.tone, "against"))
    log.add(TurnInterrupted(3, "skip"))
    end = chunks(log, EXTENDED)[-1]
    assert (end["attempt"], end["replace"], end["done"]) == (2, True, True)


@pytest.mark.parametrize(
    ("attempts", "added"),
    [
        # What is repeated is continued, also after a third beginning and one that broke off early.
        (("So it ", "So it is, I say."), "So it is, I say."),
        (("So it is, ", "So ", "So it is, I say."), "So it is, I say."),
        # What differs is not mixed with what was sent.
        (("So it ", "It is so."), "So it "),
        (("So it ", "It ", "So it is."), "So it is."),
        (("So it is, I say ", "So it is."), "So it is, I say "),
    ],
)
@pytest.mark.parametrize("by", ["retry", "pause"])
def test_chunks_of_the_plain_stream_are_never_of_two_attempts_that_differ(
    attempts: tuple[str, ...], added: str, by: str
):
    log = Log().start().say("for", "Yes.")
    number = 1
    for place, text in enumerate(attempts):
        if place == 0 or by == "pause":
            log.begin("against")
            number += 1
        else:
            log.ask_again(number, place + 1)
        for letter in text:
            log.hear(letter)
        if by == "pause" and place < len(attempts) - 1:
            log.add(TurnInterrupted(number, "pause"), DebatePaused(), DebateResumed())
    log.settle(attempts[-1]).add(TurnCompleted(number, 4), RoundCompleted(1))
    told_ = [data for data in chunks(log) if data["participantId"] == "against"]
    assert "".join(data["chunk"] for data in told_) == added
    assert {data["attempt"] for data in told_} == {1}
    assert [data["done"] for data in told_].count(True) == 1
    assert not any("replace" in data for data in told_)
    (whole,) = named(told(PLAIN, watch(log.records)), "round_complete")
    assert [response["content"] for response in whole["responses"]] == ["Yes.", attempts[-1]]


def test_a_correction_is_not_added_to_what_the_plain_stream_has_sent():
    ((_, end),) = completed(speaking("Wel", "l, yes"), "Well, no.")
    assert (end["chunk"], end["done"], "replace" in end) == ("", True, False)


def test_the_cost_of_a_call_that_is_made_again_is_told_at_once_and_of_the_last_one_after_the_speech():
    used = Usage(100, 20)
    again = speaking("Well, ").fail_call(retry_in_ms=10, usage=used)
    assert last(PLAIN, watch(again.records), CallFailed)[-1][0] == "cost_update"
    given_up = speaking("Well, ").fail_call(usage=used)
    assert last(PLAIN, watch(given_up.records), CallFailed) == []
    given_up.add(TurnFailed(2, "bad_key", "No key."))
    names = [name for name, _ in last(PLAIN, watch(given_up.records), TurnFailed)]
    assert names == ["error", "participant", "cost_update"]
    # One that is cut tells its cost when its call has ended.
    cut = speaking("Well, ").add(TurnInterrupted(2, "skip"))
    assert [name for name, _ in last(PLAIN, watch(cut.records), TurnInterrupted)] == ["participant"]
    cut.fail_call(usage=used)
    assert [name for name, _ in last(PLAIN, watch(cut.records), CallFailed)] == ["cost_update"]


def test_costs_are_told_after_every_call_that_used_something():
    log = speaking("No.").settle("No.", cost=Money("0.015"))
    # As in the document: the speech is over, then its cost is told.
    assert last(PLAIN, watch(log.records), CallCompleted) == []
    log.add(TurnCompleted(2, 1))
    (said, done), (event, data) = last(PLAIN, watch(log.records), TurnCompleted)
    assert (said, done["done"], event) == ("participant", True, "cost_update")
    assert data["totalCost"] == 0.015
    assert data["costByModel"] == {"scripted/parrot": 0.015}
    assert data["tokensUsed"] == {
        "total": 240,
        "byModel": {"scripted/parrot": {"inputTokens": 200, "outputTokens": 40}},
    }
    assert (data["estimated"], data["unpriced"]) == (False, [])


def test_a_call_that_used_nothing_costs_nothing():
    log = speaking().fail_call(usage=Usage(), cost=Money(0))
    assert last(PLAIN, watch(log.records), CallFailed) == []


def test_an_unknown_price_is_named_and_not_counted():
    log = speaking("No.").settle("No.", cost=None).add(TurnCompleted(2, 1))
    _, (_, data) = last(PLAIN, watch(log.records), TurnCompleted)
    assert (data["totalCost"], data["unpriced"]) == (0, ["scripted/parrot"])


def test_the_extended_stream_tells_who_is_about_to_speak():
    log = Log().start()
    log.begin("for")
    (_, (event, data)) = last(EXTENDED, watch(log.records), TurnStarted)
    assert event == "turn"
    assert (data["participantId"], data["title"], data["tone"]) == ("for", "Opening statement", "opening")
    assert (data["speech"], data["attempt"], data["words"] > 0) == (1, 1, True)


def test_the_extended_stream_tells_of_remarks():
    log = Log().start().add(RemarkInjected(1, "Mind the time.", "chair"))
    ((event, data),) = last(EXTENDED, watch(log.records), RemarkInjected)
    assert (event, data["text"], data["by"], data["to"]) == ("remark", "Mind the time.", "chair", None)
    assert last(PLAIN, watch(log.records), RemarkInjected) == []


def test_a_segment_that_agrees_with_the_words_is_not_told_again():
    log = speaking("No.").add(SegmentCompleted(2, Text("No.")))
    assert last(PLAIN, watch(log.records), SegmentCompleted) == []


NAME = "lincoln-douglas-blind"


def shown(seq: int, seat: str) -> dict[int, str]:
    """The words of each turn on the screen of whoever sits in this seat, after so many events."""
    records = [recorded for recorded in log_of(NAME) if recorded.seq <= seq]
    screen: dict[int, str] = {}
    for chunk in named(told(PLAIN, watch(records, Viewer("participant", seat))), "participant"):
        known = "" if chunk.get("replace") else screen.get(chunk["turn"], "")
        screen[chunk["turn"]] = known + chunk["chunk"]
    return screen


def test_a_speech_given_at_the_same_time_is_told_when_ones_own_is_over() -> None:
    records = log_of(NAME)
    debate = fold(records)
    assert debate is not None
    together = {slot.index for slot in debate.schedule if slot.group == debate.schedule[0].group}
    begun = [r.event for r in records if isinstance(r.event, TurnStarted) and r.event.slot in together]
    assert len(begun) == 2
    ended = {r.event.turn: r.seq for r in records if isinstance(r.event, TurnCompleted)}
    for own, other in (begun, begun[::-1]):
        assert not shown(ended[own.turn] - 1, own.seat).get(other.turn)
        said = {turn.number: turn.text for turn in debate.turns}
        assert shown(records[-1].seq, own.seat)[other.turn] == said[other.turn]
