"""What a person in a seat sees of speeches that are given at the same time as their own."""

from __future__ import annotations

from moot.core.events import TurnCompleted, TurnStarted
from moot.core.evolve import fold
from moot.core.visibility import Viewer
from tests.api.watching import PLAIN, named, told, watch
from tests.golden.reading import log_of

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
