"""What a run of an experiment remembers of its legs: names, money and a few facts, but no results.

A result takes kilobytes and there may be 200,000 of them, so they stay in the store and are read in pages
where they are needed. Kept are the names of the legs that were begun, what those that are over have cost, the
legs that are not over, the answers that open debates wait for, and, where pairs are chosen by results, who
won.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from moot.core.terms import Money
from moot.extensions.experiments.measuring.judge_identity import own_rows
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.planned_questions import (
    PlannedQuestion,
    cannot_be_held,
    choice_leg,
)
from moot.extensions.experiments.measuring.transcripts import TranscriptCount
from moot.extensions.experiments.question_setups import QuestionSetups
from moot.extensions.experiments.store import MICRODOLLARS, ExperimentLeg

MOST_FAILURES = 100
"""Reasons why debates failed that are kept."""


class RunLedger:
    def __init__(self, planned: int, questions: QuestionSetups | None, *, keep_rows: bool) -> None:
        """`planned` is the number of legs where it does not depend on results; with `keep_rows`, who won is
        kept for the pairing."""
        self.open: dict[str, ExperimentLeg] = {}
        """Legs that were begun and are not over, or have failed, in the order in which they were begun."""
        self.choices: dict[str, LegResult] = {}
        """What is believed in the legs that open debates wait for."""
        self.failures: dict[str, str] = {}
        """Why debates failed, each reason once, with a debate for it."""
        self.transcripts = TranscriptCount()
        self._planned = planned
        self._spent: dict[str, int] = {}
        """By leg that is over, in millionths of a dollar."""
        self._failed = set[str]()
        self._unpriced = set[str]()
        self._waiting = _by_chooser(questions.open if questions else ())
        self._cannot_be_held = Counter[str]()
        """Open debates by the leg of their chooser, where that has chosen nothing."""
        self._rows: dict[str, tuple[Judgment, ...]] | None = {} if keep_rows else None
        self._names: dict[str, str] = {}
        self._total = 0

    def __contains__(self, leg: str) -> bool:
        """Whether the leg was begun."""
        return leg in self._spent or leg in self.open

    @property
    def begun(self) -> int:
        return len(self._spent) + sum(leg not in self._spent for leg in self.open)

    @property
    def planned(self) -> int:
        return self._planned - self._cannot_be_held.total()

    @property
    def finished(self) -> int:
        return len(self._spent) - len(self._failed)

    @property
    def failed(self) -> int:
        return len(self._failed)

    @property
    def spent(self) -> Money:
        return Money(self._total) / MICRODOLLARS

    @property
    def unpriced(self) -> bool:
        """Whether the cost of a debate is not known."""
        return bool(self._unpriced)

    def has_result(self, leg: str) -> bool:
        return leg in self._spent

    def is_over(self, leg: str) -> bool:
        """Whether the leg has a result and is not held again."""
        return leg in self._spent and (leg not in self.open or self.open[leg].held is None)

    def begin(self, leg: ExperimentLeg) -> None:
        self.open[leg.leg] = leg

    def settle(self, leg: ExperimentLeg, result: LegResult) -> None:
        """Note what came of a leg; again, where its debate has gone on."""
        name, failed = leg.leg, result.status == "error"
        self._total += leg.reserved - self._spent.get(name, 0)
        self._spent[name] = leg.reserved
        _mark(self._failed, name, failed)
        _mark(self._unpriced, name, result.cost is None)
        if failed or leg.held is not None:
            self.open[name] = leg
        else:
            self.open.pop(name, None)
        if failed and len(self.failures) < MOST_FAILURES:
            self.failures.setdefault(result.headline, result.debate)
        self.transcripts.add(result)
        if name in self._waiting:
            self.choices[name] = replace(result, judgments=(), rankings=(), votes=(), beliefs=None)
            impossible = sum(cannot_be_held(waits, self.choices) for waits in self._waiting[name])
            self._cannot_be_held[name] = impossible
        if self._rows is not None:
            self._rows[name] = tuple(self._for_pairing(row) for row in own_rows(result.judgments))

    def rows(self) -> list[Judgment]:
        """Who won, for the pairing: in the order of the names of the legs, so that the pairs do not depend on
        which debate ended first."""
        return [row for _, rows in sorted((self._rows or {}).items()) for row in rows]

    def _for_pairing(self, row: Judgment) -> Judgment:
        """A row of what the pairing reads, whose names share their memory with those of others."""
        name = self._names.setdefault
        return Judgment(
            group=name(row.group, row.group),
            debate=row.debate,
            pro=name(row.pro, row.pro),
            con=name(row.con, row.con),
            judge=name(row.judge, row.judge),
            winner=row.winner,
            motion=name(row.motion, row.motion),
            repeat=row.repeat,
            transcript=row.transcript,
            eligible=row.eligible,
        )


def _by_chooser(legs: Iterable[PlannedQuestion]) -> dict[str, list[PlannedQuestion]]:
    waiting: dict[str, list[PlannedQuestion]] = {}
    for leg in legs:
        waiting.setdefault(choice_leg(leg).leg, []).append(leg)
    return waiting


def _mark(names: set[str], name: str, marked: bool) -> None:
    if marked:
        names.add(name)
    else:
        names.discard(name)
