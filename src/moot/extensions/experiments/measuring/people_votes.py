"""Votes of people on debates of an experiment, kept with the results: cast on the page, or from a CSV file.

A row of a file has the debate's id, the voter and the winner: `for`, `against`, `tie`, `pro`, `con`, or the
model that argued the side. `debate_id`, `judge`, `person`, `vote` and `choice` are understood as column names
too. A voter who votes twice on a debate is counted once, with the last vote.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.judgments import Judgment, JudgmentWinner

COLUMNS = {
    "debate": ("debate", "debate_id", "id"),
    "voter": ("voter", "judge", "person", "user"),
    "winner": ("winner", "vote", "choice"),
}
CHOICES: dict[str, JudgmentWinner] = {
    "for": "pro", "pro": "pro", "yes": "pro", "against": "con", "con": "con", "no": "con",
    "tie": "tie", "draw": "tie", "undecided": "tie",
}  # fmt: skip


class PersonVote(Struct, frozen=True, array_like=True):
    voter: str
    winner: JudgmentWinner
    reason: str = ""
    at: datetime | None = None
    """When it was cast; None for one that was imported."""
    shown_first: Literal["pro", "con"] | None = None
    """The side that was shown as A."""
    blind: bool = False
    """The voter saw neither models nor verdict."""
    chance: float | None = None
    """Where the debate is about a question: how probable the answer of the winner was thought, from 0.5."""


def read_votes(path: Path) -> dict[str, tuple[tuple[str, str], ...]]:
    """By debate: each voter with the word for the winner. Raises Invalid with the row that is wrong."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from None
    found: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, 1):
        named = {name: _cell(row, names) for name, names in COLUMNS.items()}
        missing = [name for name, value in named.items() if not value]
        if missing:
            raise Invalid(f"{path}, row {number} has no {' and no '.join(missing)}.")
        found.setdefault(named["debate"], {})[named["voter"]] = named["winner"]
    return {debate: tuple(votes.items()) for debate, votes in found.items()}


def _cell(row: Mapping[str | None, str | list[str] | None], names: Iterable[str]) -> str:
    given = {(name or "").strip().casefold(): value for name, value in row.items()}
    values = (given.get(name) for name in names)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def votes_on(judgment: Judgment, votes: Sequence[tuple[str, str]]) -> tuple[PersonVote, ...]:
    """The votes on the debate of this judgment; raises Invalid for a winner who did not take part."""
    sides: dict[str, JudgmentWinner] = {judgment.pro: "pro", judgment.con: "con"}
    found: list[PersonVote] = []
    for voter, word in votes:
        winner = CHOICES.get(word.casefold()) or (sides.get(word) if judgment.pro != judgment.con else None)
        if winner is None:
            raise Invalid(
                f"{word!r}, the vote of {voter} on {judgment.debate}, is none of for, against, tie, "
                f"{judgment.pro} and {judgment.con}."
            )
        found.append(PersonVote(voter, winner))
    return tuple(found)


def vote_rows(judgment: Judgment, votes: Iterable[PersonVote]) -> list[Judgment]:
    """The votes as rows with the voter as judge, for `agreement_with_people`."""
    return [replace(judgment, judge=vote.voter, winner=vote.winner, order=None) for vote in votes]
