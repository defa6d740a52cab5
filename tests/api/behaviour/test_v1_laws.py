"""What holds for the events of v1 whatever happens in a debate: on the golden logs, and on random ones."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from moot.api.frames import Frame, SeenEvent, as_sse, parse_cursor
from moot.api.v1.replies import status_reply
from moot.api.v1.speech_frames import attempt
from moot.core.events import Recorded
from moot.core.visibility import OWNER
from moot.views.transcript import transcript
from moot.views.transcript_json import to_json
from tests.api.v1_contract import EVENTS, keeps
from tests.api.watching import EXTENDED, HERE, NAMES, PLAIN, named, sent, snapshots, told, watch
from tests.golden.reading import log_of
from tests.rules.random_debates import law
from tests.rules.simulate import Simulation
from tests.support.for_each import for_each

ORDER = {"": 10**6}
FURTHER = {"reasoning", "turn", "remark", "ballot", "seat", "clock", "point", "poll"}


class Reader:
    """A client of the extended stream: it shows the last attempt of every speech."""

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        self.shown: dict[int, str] = {}
        """The same for a client that knows `replace` and no attempts."""
        self.last: dict[int, int] = {}
        self.done: set[tuple[int, int]] = set()

    def read(self, frame: Frame) -> None:
        if frame.event != "participant":
            return
        data = sent(frame)
        speech, nth = data["speech"], data["attempt"]
        assert nth >= self.last.get(speech, 0), "attempts never go back"
        anew = data.get("replace", False)
        self.texts[speech, nth] = ("" if anew else self.texts.get((speech, nth), "")) + data["chunk"]
        self.shown[speech] = ("" if anew else self.shown.get(speech, "")) + data["chunk"]
        self.last[speech] = nth
        if data["done"]:
            self.done.add((speech, nth))

    def text(self, speech: int) -> str:
        return self.texts.get((speech, self.last.get(speech, 0)), "")


def place(id: str) -> tuple[int, int]:
    seq, _, part = id.partition(".")
    return int(seq), int(part or ORDER[""])


def check_names_and_shapes(frames: Sequence[tuple[str, Frame]]) -> None:
    for id, frame in frames:
        assert frame.event in EVENTS, id
        assert keeps(sent(frame), EVENTS[frame.event]), (id, frame)


def check_order(frames: Sequence[tuple[str, Frame]], seen: Sequence[SeenEvent]) -> None:
    places = [place(id) for id, _ in frames]
    assert places == sorted(set(places))
    states = named(frames, "status")
    if states and seen[-1].after.started_at:
        assert (states[0]["state"], states[0]["currentRound"]) == ("initializing", 0)
    if seen[-1].after.ended_seq:
        assert [frame.event for _, frame in frames[-2:]] == ["status", "complete"]
        assert states[-1]["state"] == "completed"
    assert sum(frame.event == "complete" for _, frame in frames) == bool(seen[-1].after.ended_seq)


def check_words(seen: Sequence[SeenEvent]) -> None:
    """At any moment the words on the screen are those of the log; in the end, of every reply."""
    reader = Reader()
    for one in seen:
        for frame in EXTENDED.frames(one):
            reader.read(frame)
            if frame.event == "round_complete":
                check_round(reader, sent(frame))
        for turn in one.after.live if not one.after.ended_seq else ():
            assert reader.texts.get((turn.slot + 1, attempt(one.after, turn)), "") == turn.text
    debate = seen[-1].after
    counting = {turn.number: turn for turn in debate.turns if turn.used_slot and turn.seq < _end(seen)}
    previews = {speech.turn: speech for part in status_reply(debate).rounds for speech in part.responses}
    page = json.loads(to_json(transcript(debate)))
    written = {r["turn"]: r for part in page["rounds"] for r in part["responses"]}
    for number, turn in counting.items():
        text = reader.text(turn.slot + 1)
        assert reader.shown.get(turn.slot + 1, "") == text
        assert (turn.slot + 1, reader.last[turn.slot + 1]) in reader.done
        assert text == written[number]["content"]
        assert text[:200] == previews[number].content_preview
        assert text == ("" if turn.state == "failed" else turn.text)


class Adder:
    """A client of the document: it adds up the chunks of each speech."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.attempts: dict[int, int] = {}
        self.judge = ""

    def read(self, frame: Frame) -> None:
        data = sent(frame)
        assert "replace" not in data
        if frame.event == "judge":
            self.judge += data["chunk"]
        if frame.event == "participant":
            speech = data["speech"]
            assert (
                self.attempts.setdefault(speech, data["attempt"]) == data["attempt"] or not self.texts[speech]
            )
            self.attempts[speech] = data["attempt"]
            self.texts[speech] = self.texts.get(speech, "") + data["chunk"]


def check_added_words(seen: Sequence[SeenEvent]) -> None:
    """At any moment the chunks add up to the text of one attempt, or of several that continue each other."""
    adder = Adder()
    attempts: dict[int, list[str]] = {}
    for one in seen:
        for frame in PLAIN.frames(one):
            adder.read(frame)
        if one.after.ended_seq:
            break
        for turn in (*one.after.live, *one.after.turns):
            attempts.setdefault(turn.slot + 1, []).append(turn.text)
    for speech, text in adder.texts.items():
        assert text in attempts[speech], speech
    for turn in seen[-1].after.turns:
        given = [text for text in attempts.get(turn.slot + 1, ()) if not turn.text.startswith(text)]
        if turn.used_slot and turn.state != "failed" and turn.seq < _end(seen) and not given:
            assert adder.texts[turn.slot + 1] == turn.text
    verdict = seen[-1].after.verdict
    if verdict and adder.judge and len(seen[-1].after.judgings) == 1:
        assert not adder.judge.count(adder.judge[: len(adder.judge) // 2 + 1]) > 1


def check_round(reader: Reader, data: dict[str, Any]) -> None:
    for response in data["responses"]:
        assert response["content"] == reader.text(response["speech"]) == reader.shown[response["speech"]]


def check_resuming(seen: Sequence[SeenEvent], frames: Sequence[tuple[str, Frame]]) -> None:
    """From every id: what comes after it is what was told after it."""
    counts = [len(told(PLAIN, [one])) for one in seen]
    first_after = [0, *itertools.accumulate(counts)]
    for cut, (id, _) in enumerate(frames, 1):
        cursor = parse_cursor(id)
        start = first_after[cursor.complete_seq]
        known = itertools.takewhile(lambda one: place(one[0]) <= place_of(cursor), frames[start : cut + 1])  # noqa: B023 - used at once
        assert start + len([*known]) == cut, id


def place_of(cursor: tuple[int, int]) -> tuple[int, int]:
    return cursor[0], cursor[1] or ORDER[""]


def _end(seen: Iterable[SeenEvent]) -> int:
    return next((one.seq for one in seen if PLAIN.ends(one)), 10**9)


@pytest.mark.needs_extensions("beliefs")
@for_each("name", NAMES)
def test_a_golden_log_is_told_as_it_always_was(name: str) -> None:
    for ending, text in snapshots(log_of(name)).items():
        assert text == (HERE / f"{name}.{ending}.txt").read_text(encoding="utf-8")


@for_each("name", NAMES)
def test_a_golden_log_keeps_the_contract(name: str) -> None:
    records = log_of(name)
    seen = watch(records)
    frames = told(PLAIN, seen)
    check_names_and_shapes(frames)
    check_order(frames, seen)
    check_words(seen)
    check_added_words(seen)
    check_resuming(seen, frames)


@law()
def test_any_debate_keeps_the_contract(simulation: Simulation) -> None:
    records = simulation.records
    seen = watch(records)
    frames = told(PLAIN, seen)
    check_names_and_shapes(frames)
    check_order(frames, seen)
    check_words(seen)
    check_added_words(seen)


@law()
def test_thoughts_never_travel_on_the_plain_stream(simulation: Simulation) -> None:
    seen = watch(simulation.records, OWNER)
    plain = b"".join(as_sse(frame, id) for id, frame in told(PLAIN, seen))
    assert b"thought<" not in plain
    assert b"objective<" not in plain
    assert b"system_prompt<" not in plain


@law()
def test_the_extended_stream_adds_events_and_changes_none(simulation: Simulation) -> None:
    seen = watch(simulation.records)
    extended = [frame for _, frame in told(EXTENDED, seen)]
    assert {frame.event for frame in extended} <= set(EVENTS) | FURTHER
    kept = [frame for frame in extended if frame.event not in FURTHER and not _is_growing(frame)]
    assert kept == [frame for _, frame in told(PLAIN, seen) if not _is_growing(frame)]


def _is_growing(frame: Frame) -> bool:
    """Speeches and ballots while they are written: only clients of the extended stream can take something
    back."""
    return frame.event == "participant" or (frame.event == "judge" and not frame.data["done"])


@law()
def test_every_thought_is_told_to_those_who_may_read_it(simulation: Simulation) -> None:
    seen = watch(simulation.records, OWNER)
    thoughts = "".join(data["chunk"] for data in named(told(EXTENDED, seen), "reasoning"))
    debate = seen[-1].after
    for turn in debate.turns if not debate.ended_seq else ():
        assert turn.reasoning in thoughts
    assert not named(told(PLAIN, seen), "reasoning")


@law()
def test_no_number_is_missing_or_infinite(simulation: Simulation) -> None:
    for id, frame in told(PLAIN, watch(simulation.records)):
        line = as_sse(frame, id).decode().splitlines()[2]
        json.loads(line.removeprefix("data: "), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", ["stopped", "draw"])
def test_nothing_is_told_after_the_first_end(name: str) -> None:
    records = log_of(name)
    late = records[-2]
    after = [*records, Recorded(late.debate, records[-1].seq + 1, late.at, late.epoch, late.event)]
    seen = watch(after)
    assert PLAIN.frames(seen[-1]) == ()
    assert [PLAIN.ends(one) for one in seen[-2:]] == [True, False]
