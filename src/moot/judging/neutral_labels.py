"""The neutral labels under which judges see the parties, or the answers to a question.

A label occurs nowhere else in what a judge reads, and each judge reads the debate with both labelings: the
second reading swaps them, so that no label can win a debate. Where the motion is a question with given
answers, each answer has a label, and a party has the label of the answer for which it argues. Where judges
read by side, chance decides whether the party that is read first has the first label or the last, so that
label and place can be told apart over many debates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, product
from zlib import crc32

from msgspec.structs import astuple

from moot.core.state import Debate, Judging
from moot.core.terms import Judge
from moot.judging.judged_speeches import speeches
from moot.judging.parties import parties, party
from moot.judging.readings import is_by_side

LABELS = (
    "Birch", "Cedar", "Maple", "Rowan", "Alder", "Hazel", "Aspen", "Larch",
    "Holly", "Tansy", "Sedge", "Briar", "Amber", "Coral", "Ivory", "Topaz",
)  # fmt: skip
"""All of one length, so that the choice does not change the length of a request."""
_SOUNDS = ("bdfgklmnprtvz", "aeiou", "lmnr", "aeiou", "bdgkmnt")
# Letters of other scripts may touch a label, where words are not spaced; a hyphen makes another word of it.
_MARK = re.compile(r"(?<![A-Za-z0-9_])([Ss]peech(?:es)? )?S([1-9]\d{0,3})(?![A-Za-z0-9_])")
"""The number of a speech as judges write it."""
_SENTENCE_ENDS = (".", "!", "?", "\n")
_WHOLE = r"(?<![A-Za-z0-9_])(?<![a-z]-)(?:(?:Speaker|Team) )?({})(?![A-Za-z0-9_])(?!-[a-z])"


def label_place(label: str) -> tuple[int, str]:
    """Sorts labels as judges are shown them: those of a debate are chosen in this order."""
    return (LABELS.index(label) if label in LABELS else len(LABELS), label)


def labels(debate: Debate, order: int, judging: Judging | None = None) -> dict[str, str]:
    """Party to label, in the latest judging unless another is named; the second reading reverses them."""
    if debate.setup.question is not None:
        return _labels_of_sides(debate, choice_labels(debate, order, judging))
    names = [party.id for party in parties(debate)]
    listed = names[::-1] if _are_swapped(debate, order) else names
    return dict(zip(listed, _chosen(debate, judging), strict=False))


def choice_labels(debate: Debate, order: int, judging: Judging | None = None) -> tuple[str, ...]:
    """The label of each answer to the question; empty where the motion is none."""
    question = debate.setup.question
    chosen = tuple(_chosen(debate, judging)[: len(question.choices) if question else 0])
    return chosen[::-1] if _are_swapped(debate, order) else chosen


def _are_swapped(debate: Debate, order: int) -> bool:
    chance = crc32(debate.dice.encode()) if is_by_side(debate) else 0
    return (order + chance) % 2 == 1


def _chosen(debate: Debate, judging: Judging | None) -> tuple[str, ...]:
    judging = judging or debate.judging
    return (judging.labels if judging else ()) or LABELS


def _labels_of_sides(debate: Debate, by_choice: Sequence[str]) -> dict[str, str]:
    question = debate.setup.question
    names: dict[str, str] = {}
    for each in parties(debate):
        choice = question.choice_of(each.seats[0].side) if question else None
        if choice is not None:
            names[each.id] = by_choice[choice]
    return names


def seat_labels(debate: Debate, order: int) -> dict[str, str]:
    """Seat to label: all seats of a party have the same."""
    names = labels(debate, order)
    return {
        seat.id: names[party.id] for party in parties(debate) if party.id in names for seat in party.seats
    }


def choose_labels(debate: Debate, judges: Sequence[Judge]) -> tuple[str, ...]:
    """A label for each party or answer, none of which occurs in what these judges read; empty where the usual
    ones do not occur."""
    if debate.prompts == 1:
        return ()
    needed = len(debate.setup.question.choices) if debate.setup.question else len(parties(debate))
    text = "\n".join(_read_by(debate, judges)).casefold()
    free = (label for label in chain(LABELS, _made_up()) if label.casefold() not in text)
    chosen = tuple(islice(free, needed))
    return () if chosen == LABELS[:needed] else chosen


def _read_by(debate: Debate, judges: Sequence[Judge]) -> Iterator[str]:
    yield debate.motion
    yield from debate.setup.question.choices if debate.setup.question else ()
    yield from (option for option in astuple(debate.setup) if isinstance(option, str))
    yield from (seat.name for seat in debate.seats)
    yield from (criterion for judge in judges for criterion in judge.criteria)
    yield from (judge.guidance for judge in judges)
    yield from (turn.text for turn in (*debate.turns, *debate.live))
    yield from (item.text for item in (*debate.remarks, *debate.points))


def _made_up() -> Iterator[str]:
    """Invented words of the same length, for when all labels occur in the debate."""
    return ("".join(sounds).capitalize() for sounds in product(*_SOUNDS))


def with_names(text: str, debate: Debate, order: int, judging: Judging | None = None) -> str:
    """A judge's text for people: with the speakers' names, or the answers, instead of the labels, where a
    label is a separate word, and with "speech 3" instead of S3."""
    question = debate.setup.question
    if question is not None:
        answers = (f"“{choice}”" for choice in question.choices)
        names = dict(zip(choice_labels(debate, order, judging), answers, strict=True))
    else:
        label_by_party = labels(debate, order, judging)
        names = {label: party(debate, party_id).name for party_id, label in label_by_party.items()}
    text = _MARK.sub(lambda match: _speech_name(match, debate), text)
    return re.sub(_WHOLE.format("|".join(names)), lambda match: names[match[1]], text)


def _speech_name(match: re.Match[str], debate: Debate) -> str:
    """As it stands where it is no speech of this debate, or the speakers use the same word (Amazon S3)."""
    word, number = match[1], int(match[2])
    given = any(turn.number == number for turn in speeches(debate))
    if not given or any(f"S{number}" in turn.text for turn in debate.turns) or f"S{number}" in debate.motion:
        return match[0]
    before = match.string[: match.start()].rstrip(' *_(“"')
    begins = not before or before.endswith(_SENTENCE_ENDS)
    return f"{word or ('Speech ' if begins else 'speech ')}{number}"
