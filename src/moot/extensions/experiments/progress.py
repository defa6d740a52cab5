"""Where a run of an experiment stands: while it runs, or by counting in the store."""

from __future__ import annotations

from msgspec import Struct

from moot.core.terms import Money
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import read_result
from moot.extensions.experiments.store import MICRODOLLARS, ExperimentStore
from moot.views.costs import dollars


class ExperimentProgress(Struct, frozen=True):
    """Where a run stands. Amounts are in US dollars."""

    planned: int
    finished: int
    failed: int
    running: int
    held_now: int
    """Debates that this run has finished."""
    seconds: float
    spent: Money
    budget: Money | None
    stopped_by: str = ""
    """Why no further debate is opened: `budget` or `stop`; empty while there are more."""
    failures: tuple[str, ...] = ()
    """Why debates failed, each reason once."""
    failed_debates: tuple[str, ...] = ()
    """A debate for each of these reasons."""
    unpriced: bool = False
    """What some of it costs is not known: `spent` is the rest."""
    repeated: str = ""
    """How many debates repeat another word for word, as a sentence; empty where none does."""

    @property
    def per_hour(self) -> float:
        return self.held_now / self.seconds * 3600 if self.seconds else 0.0

    @property
    def spent_text(self) -> str:
        """What was spent, never less than is known: an unknown price is not nothing."""
        if not self.unpriced:
            return dollars(self.spent)
        return f"at least {dollars(self.spent)}" if self.spent else dollars(None)


async def stored_progress(
    store: ExperimentStore,
    definition: ExperimentDefinition,
    planned: int | None = None,
    *,
    unpriced: bool = False,
) -> ExperimentProgress:
    """Where an experiment stands, by counting in the store. Without `planned`, what was begun is all.
    `unpriced`: the price of one of its models is not known."""
    counts = await store.counts(definition.name)
    failed = await store.failed_results(definition.name) if counts.failed else ()
    failures: dict[str, str] = {}
    for result in map(read_result, failed):
        failures.setdefault(result.headline, result.debate)
    return ExperimentProgress(
        planned=counts.reserved if planned is None else planned,
        finished=counts.settled - counts.failed,
        failed=counts.failed,
        running=counts.running,
        held_now=0,
        seconds=0.0,
        spent=Money(counts.spent) / MICRODOLLARS,
        budget=definition.budget,
        failures=tuple(failures),
        failed_debates=tuple(failures.values()),
        unpriced=unpriced and counts.settled > 0,
    )
