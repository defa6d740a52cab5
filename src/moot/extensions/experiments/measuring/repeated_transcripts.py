"""Debates that are the same word for word: they are found by their digests, count once, and are told.

Models that ignore the seed, or have a temperature of 0, write the same speeches in every repeat. Such repeats
tell nothing new about the debaters, only about how steadily the judges judge.
"""

from __future__ import annotations

from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.views.text import plural


class TranscriptCount:
    """Counts judged debates, and those of them that repeat another."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._repeats: set[str] = set()
        self._judged: set[str] = set()

    def add(self, result: LegResult) -> None:
        """The same debate may be added again, once it has been judged again."""
        if not result.transcript or not (result.judgments or result.rankings):
            return
        self._judged.add(result.debate)
        if self._first.setdefault(result.transcript, result.debate) != result.debate:
            self._repeats.add(result.debate)

    @property
    def note(self) -> str:
        """One sentence; empty where no debate repeats another."""
        count = len(self._repeats)
        if not count:
            return ""
        verbs = ("repeats", "counts") if count == 1 else ("repeat", "count")
        return (
            f"{count:,} of {plural(len(self._judged), 'debate')} {verbs[0]} another word for word, and "
            f"{verbs[1]} with it once: the models write the same whatever the seed. Set a temperature."
        )
