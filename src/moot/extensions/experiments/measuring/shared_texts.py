"""Results in less memory: texts that many rows have in common, such as motions and names, are kept once.

The rows of a large experiment differ in numbers, but each one that is decoded has strings of its own, which
take most of its memory.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from moot.extensions.experiments.measuring.judgments import Judgment, Ranking
from moot.extensions.experiments.measuring.leg_results import LegResult

Row = TypeVar("Row", Judgment, Ranking)


class SharedTexts:
    """Used for all results that are kept together; it forgets nothing itself."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def result(self, result: LegResult) -> LegResult:
        """An equal result that shares its texts with those before it."""
        judgments, rankings = map(self._row, result.judgments), map(self._row, result.rankings)
        texts = {name: self._shared(getattr(result, name)) for name in ("debate", "motion", "headline")}
        return replace(result, judgments=tuple(judgments), rankings=tuple(rankings), **texts)

    def _row(self, row: Row) -> Row:
        values = {name: getattr(row, name) for name in row.__struct_fields__}
        texts = {name: self._shared(value) for name, value in values.items() if isinstance(value, str)}
        return replace(row, **texts)

    def _shared(self, text: str) -> str:
        return self._known.setdefault(text, text)
