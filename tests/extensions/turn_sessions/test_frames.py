"""A turn told by itself: the words, the thoughts and the money of that turn, and nobody else's."""

from __future__ import annotations

import pytest

from moot.api.frames import Frame, SeenEvent
from moot.core.events import CallCompleted, CallDelta, SegmentCompleted, TurnCompleted
from moot.core.evolve import fold
from moot.core.state import Turn
from moot.core.terms import Money, Reasoning, ReasoningPart, Text, Usage
from moot.core.visibility import OWNER, Viewer
from moot.extensions.turn_sessions.frames import TurnFrames, turn_costs
from moot.extensions.turn_sessions.rows import entry
from tests.api.watching import NAMES, sent, told, watch
from tests.golden.reading import log_of
from tests.support.for_each import for_each
from tests.views.logs import Log


def frames(seen: list[SeenEvent], turn: Turn, after: int | None = None) -> list[Frame]:
    """As the one who asked for it hears it, or one who asks again and hears it from `after` on."""
    return [
        frame for _, frame in told(TurnFrames(turn.number, turn.seq - 1 if after is None else after), seen)
    ]


def joined(made: list[Frame], name: str) -> str:
    return "".join(frame.data.chunk for frame in made if frame.event == name)


@for_each("name", NAMES)
def test_a_turn_ends_with_all_that_was_said_in_it(name: str) -> None:
    seen = watch(log_of(name), OWNER)
    debate = seen[-1].after
    for turn in debate.turns:
        *streamed, last = frames(seen, turn)
        assert {frame.event for frame in streamed} <= {"content", "reasoning"}
        if last.event == "error" and last.data.retrying:
            # Words that had been sent no longer stood: who asks again hears those that do.
            *streamed, last = frames(seen, turn, turn.since)
        if turn.state != "completed":
            assert (last.event, [*sent(last)]) == ("error", ["message"])
            continue
        assert last.event == "complete"
        assert last.data.content == joined(streamed, "content") == turn.text
        assert last.data.cost.total == (turn.cost or 0)


@for_each("name", NAMES)
def test_the_thoughts_of_a_turn_are_told_as_they_are_kept(name: str) -> None:
    seen = watch(log_of(name), OWNER)
    for turn in seen[-1].after.turns:
        if turn.state == "completed":
            assert (
                joined(frames(seen, turn, turn.since), "reasoning") == entry(seen[-1].after, turn).reasoning
            )


def speaking(*attempts: str) -> Log:
    """Each attempt but the last breaks off."""
    log = Log().start()
    log.begin("for")
    for number, text in enumerate(attempts, 1):
        if number > 1:
            log.ask_again(1, number)
        for word in text.split(" "):
            log.hear(word + " ")
    return log


@pytest.mark.parametrize(
    ("attempts", "end"),
    [
        (("So it ", "So it is, I say"), "complete"),
        (("So it is, ", "So ", "So it is, I say"), "complete"),
        (("So it ", "It is so"), "error"),
        (("So it is, I say ", "So it"), "error"),
    ],
)
def test_a_further_attempt_goes_on_from_what_was_sent_or_ends_the_stream(
    attempts: tuple[str, ...], end: str
) -> None:
    log = speaking(*(text.strip() for text in attempts))
    whole = log.debate.live[0].text
    log.settle(whole).add(TurnCompleted(1, 3))
    seen = watch(log.records, OWNER)
    turn = seen[-1].after.turns[0]
    *streamed, last = frames(seen, turn)
    assert last.event == end
    if end == "complete":
        assert joined(streamed, "content") == last.data.content
    else:
        assert last.data.retrying is True
    *streamed, last = frames(seen, turn, turn.since)
    assert last.data.content == joined(streamed, "content") == whole


def test_there_is_a_break_between_two_thoughts() -> None:
    log = Log().start()
    log.begin("for")
    for segment, kind, text in (
        (0, "reasoning", "weighing "), (0, "reasoning", "it."), (1, "text", "Yes. "),
        (2, "reasoning", "Second "), (2, "reasoning", "thought."), (3, "text", "So it is."),
    ):  # fmt: skip
        log.add(CallDelta(1, segment, kind, text))
    log.add(
        SegmentCompleted(1, Reasoning((ReasoningPart("weighing it."),), 0)),
        SegmentCompleted(1, Text("Yes. ", 1)),
        SegmentCompleted(1, Reasoning((ReasoningPart("Second thought."),), 2)),
        SegmentCompleted(1, Text("So it is.", 3)),
        # One that did not come word by word.
        SegmentCompleted(1, Reasoning((ReasoningPart("And a third."),), 4)),
        CallCompleted(1, "stop", Usage(100, 20), Money(0), 1500),
        TurnCompleted(1, 4),
    )
    seen = watch(log.records, OWNER)
    turn = seen[-1].after.turns[0]
    told_ = joined(frames(seen, turn), "reasoning")
    assert told_ == "weighing it.\n\nSecond thought.\n\nAnd a third."
    assert entry(seen[-1].after, turn).reasoning == told_


@for_each("name", NAMES)
def test_the_parts_of_a_cost_make_the_total(name: str) -> None:
    debate = fold(log_of(name))
    assert debate
    for turn in debate.turns:
        told_ = turn_costs(debate, turn)
        parts = [told_.input, told_.output, told_.reasoning]
        assert min(parts) >= 0
        assert sum(parts) == told_.total
        assert told_.known == (turn.cost is not None)


def test_who_may_not_read_thoughts_is_told_none() -> None:
    seen = watch(log_of("asked-for"), Viewer("participant", "part_2"))
    for turn in seen[-1].after.turns:
        assert not joined(frames(seen, turn), "reasoning")


def test_a_turn_that_was_called_off_before_it_began_ends_with_an_error() -> None:
    seen = watch(log_of("asked-for"), OWNER)
    # Nobody ever gave a seventh: what is told from the end on is that it came to nothing.
    cut = [one for one in seen if one.seq > seen[-1].seq - 2]
    told_ = [frame.event for _, frame in told(TurnFrames(7, seen[-1].seq - 2), cut)]
    assert told_ == ["error"]
