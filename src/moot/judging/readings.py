"""The two readings of a judge: in which order each has the speeches, and who is read first.

Every model that judges reads a debate twice, the second time with the labels swapped (`labels.py`). Read by
time, the speeches keep their order; only those that were given at the same time change places in the second
reading, because their order means nothing. Read by side (`DebateSetup.reading`), the speeches of each party
stand together, in the order in which they were given, and the second reading has the parties in reverse:
with more than two, the last comes first. Both readings have the same speeches, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moot.core.state import Debate, Turn
from moot.judging.judged_speeches import SpeakerQuestion, answerable_questions, speeches
from moot.judging.parties import parties, party_of

Evidence = Turn | SpeakerQuestion


def reading(debate: Debate, order: int) -> tuple[Evidence, ...]:
    """The speeches and the questions between them as a judge has them in its first or second reading."""
    if is_by_side(debate):
        return _by_side(debate, by_time(debate), reverse=order % 2 == 1)
    if order % 2 == 0 or debate.prompts == 1:
        return by_time(debate)
    return _with_simultaneous_swapped(debate, by_time(debate))


def by_time(debate: Debate) -> tuple[Evidence, ...]:
    return tuple(sorted((*speeches(debate), *answerable_questions(debate)), key=lambda item: item.seq))


def is_by_side(debate: Debate) -> bool:
    return debate.setup.reading == "by-side"


def read_first(debate: Debate, order: int) -> str | None:
    """The party whose speech comes first in this reading; None where nobody has spoken."""
    first = next((item for item in reading(debate, order) if isinstance(item, Turn)), None)
    party = party_of(debate, first.seat) if first else None
    return party.id if party else None


def _with_simultaneous_swapped(debate: Debate, items: Sequence[Evidence]) -> tuple[Evidence, ...]:
    swapped = list(items)
    places: dict[int, list[int]] = {}
    for place, item in enumerate(items):
        if isinstance(item, Turn):
            places.setdefault(debate.schedule[item.slot].group, []).append(place)
    for together in places.values():
        # Several turns of one slot stay in their order.
        turns = (item for place in together if isinstance(item := items[place], Turn))
        for place, turn in zip(together, sorted(turns, key=lambda turn: -turn.slot), strict=True):
            swapped[place] = turn
    return tuple(swapped)


def _by_side(debate: Debate, items: Sequence[Evidence], *, reverse: bool) -> tuple[Evidence, ...]:
    blocks: dict[str, list[Evidence]] = {party.id: [] for party in parties(debate)}
    for item in items:
        speech = item if isinstance(item, Turn) else _answering_speech(item, items)
        party = party_of(debate, speech.seat)
        blocks[party.id if party else next(iter(blocks))].append(item)
    in_order = reversed(blocks.values()) if reverse else blocks.values()
    return tuple(item for block in in_order for item in block)


def _answering_speech(question: SpeakerQuestion, items: Iterable[Evidence]) -> Turn:
    """The next speech of the seat that was asked; where none follows, the next speech."""
    later = [item for item in items if isinstance(item, Turn) and item.seq > question.seq]
    return next((turn for turn in later if question.to in (None, turn.seat)), later[0])
