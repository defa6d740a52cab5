"""People judge the debates of an experiment: which comes next for whom, and what they see of it.

The debate with the fewest votes comes first; of those with as many, each voter has an order of their own. A
debate is shown blind: the sides are A and B, drawn for each voter and debate, without models, names of seats,
verdict or ballots, and with what a judge reads and no more. Of a question the passage stays hidden, and
quotations are marked as for a judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Raw, Struct

from moot.core.state import Debate, Turn
from moot.extensions.experiments.measuring.pairing import draw
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.judging.judged_speeches import SpeakerQuestion, speech_heading
from moot.judging.parties import parties, party_of
from moot.judging.readings import Evidence, by_time
from moot.prompts.quotations import MARKS, checked_parts, words_left

SideName = Literal["A", "B"]
Position = Literal["pro", "con"]


class QueuedDebate(Struct, frozen=True):
    """What the queue needs of a result; read from the same JSON."""

    debate: str
    status: str
    judgments: tuple[Raw, ...] = ()
    votes: tuple[PersonVote, ...] = ()


class BlindSide(Struct, frozen=True):
    name: SideName
    argues: str
    """`for` or `against` the motion; of a question, the answer that it argues for."""


class BlindSpeech(Struct, frozen=True):
    number: int | None
    """None for a question between the speeches."""
    side: SideName | None
    """None for a question by others than a side."""
    heading: str
    text: str


class BlindDebate(Struct, frozen=True):
    """A debate as a person judges it."""

    debate: str
    motion: str
    is_question: bool
    sides: tuple[BlindSide, BlindSide]
    speeches: tuple[BlindSpeech, ...]


def next_debate(waiting: Iterable[QueuedDebate], voter: str) -> QueuedDebate | None:
    """The next debate for this voter, who has voted on none of them."""
    return min(waiting, key=lambda one: (len(one.votes), draw(0, voter, one.debate)), default=None)


def shown_first(voter: str, debate: str) -> Position:
    """The side that this voter sees as A."""
    return "pro" if int(draw(0, "side", voter, debate), 16) % 2 == 0 else "con"


def shown_debate(debate: Debate, first: Position) -> BlindDebate:
    """A debate of two sides, of which `first` is shown as A."""
    teams = {"pro" if team.seats[0].side != "against" else "con": team for team in parties(debate)}
    question = debate.setup.question
    names: dict[str, SideName] = {
        teams["pro"].id: "A" if first == "pro" else "B",
        teams["con"].id: "A" if first == "con" else "B",
    }
    argued = {"pro": "for", "con": "against"}
    if question is not None:
        argued = {"pro": question.choices[0], "con": question.choices[1]}
    items = by_time(debate)
    turns = [item for item in items if isinstance(item, Turn)]
    second: Position = "con" if first == "pro" else "pro"
    return BlindDebate(
        debate=debate.id,
        motion=debate.motion,
        is_question=question is not None,
        sides=(BlindSide("A", argued[first]), BlindSide("B", argued[second])),
        speeches=tuple(_shown(debate, item, turns, names) for item in items),
    )


def _shown(debate: Debate, item: Evidence, turns: list[Turn], names: dict[str, SideName]) -> BlindSpeech:
    if isinstance(item, SpeakerQuestion):
        asked_by = party_of(debate, item.seat) if item.seat else None
        heading = "point of information" if asked_by else "question"
        return BlindSpeech(None, names.get(asked_by.id) if asked_by else None, heading, item.text)
    party = party_of(debate, item.seat)
    heading = speech_heading(debate, item, turns)
    return BlindSpeech(item.number, names.get(party.id) if party else None, heading, _text(debate, item))


def _text(debate: Debate, turn: Turn) -> str:
    """The speech as it was heard, with its quotations checked where only the speakers have the text."""
    text, question = debate.heard_text(turn), debate.setup.question
    if question is None or not question.passage:
        return text
    parts = checked_parts(text, question.passage, words_left(debate, turn))
    return "".join(part.text + (f" [{MARKS[part.mark]}]" if part.mark else "") for part in parts)
