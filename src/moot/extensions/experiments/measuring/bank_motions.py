"""The bank of motions: about 300, each with a theme, a kind and a difficulty.

Empirical motions are about what is so, normative ones about what ought to be, mixed ones about both. The
bank is data (`motion_bank.jsonl`), so that experiments can draw balanced sets from it. Plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments import measuring

MotionKind = Literal["empirical", "normative", "mixed"]
MotionDifficulty = Literal["easy", "medium", "hard"]


class BankMotion(Struct, frozen=True):
    """A motion of the bank."""

    id: str
    text: str
    theme: str
    kind: MotionKind
    difficulty: MotionDifficulty
    """`easy` motions name a concrete policy or claim; `hard` ones need definitions or weighing of values."""


@cache
def motion_bank() -> tuple[BankMotion, ...]:
    """All motions of the bank."""
    lines = files(measuring).joinpath("motion_bank.jsonl").read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=BankMotion) for line in lines)


def themes() -> tuple[str, ...]:
    return tuple(dict.fromkeys(motion.theme for motion in motion_bank()))


def find_motions(
    *,
    theme: str | None = None,
    kind: MotionKind | None = None,
    difficulty: MotionDifficulty | None = None,
    search: str = "",
) -> tuple[BankMotion, ...]:
    """The motions that fit all that is asked; `search` are words that must all occur. Raises `Invalid` for an
    unknown theme.

    >>> [motion.text for motion in find_motions(theme="economy", search="tipping")]
    ['Tipping should be abolished']
    """
    if theme is not None and theme not in themes():
        raise Invalid(f"There is no theme {theme!r}. Known: {', '.join(themes())}.")
    words = search.casefold().split()
    return tuple(
        motion
        for motion in motion_bank()
        if theme in (None, motion.theme)
        and kind in (None, motion.kind)
        and difficulty in (None, motion.difficulty)
        and all(word in motion.text.casefold() for word in words)
    )


def draw_motions(motions: Sequence[BankMotion], count: int, seed: int = 0) -> tuple[BankMotion, ...]:
    """So many of the motions, at random, evenly over the themes; raises `Invalid` if there are fewer."""
    if count > len(motions):
        raise Invalid(f"Only {len(motions)} motions fit; {count} were asked for.")
    random = Random(seed)
    by_theme: dict[str, list[BankMotion]] = {}
    for motion in motions:
        by_theme.setdefault(motion.theme, []).append(motion)
    for listed in by_theme.values():
        random.shuffle(listed)
    order = list(by_theme)
    random.shuffle(order)
    drawn: list[BankMotion] = []
    while len(drawn) < count:
        for theme in order:
            if by_theme[theme] and len(drawn) < count:
                drawn.append(by_theme[theme].pop())
    return tuple(drawn)


def motions_as_jsonl(motions: Iterable[BankMotion]) -> str:
    return "".join(f"{msgspec.json.encode(motion).decode()}\n" for motion in motions)


def motions_as_toml(motions: Iterable[BankMotion]) -> str:
    """An array of tables, as an experiment file or a script can include it."""
    rows: list[str] = []
    for motion in motions:
        fields = msgspec.structs.asdict(motion).items()
        # A JSON string is a TOML string too.
        lines = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in fields]
        rows.append("\n".join(("[[motions]]", *lines)) + "\n")
    return "\n".join(rows)
