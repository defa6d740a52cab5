"""What a debate has cost, by model. An unknown price stays unknown and is never counted as nothing."""

from __future__ import annotations

from msgspec import Struct

from moot.core.events import BudgetExhausted, BudgetShortened, BudgetWarned
from moot.core.state import Debate, ModelUsage
from moot.core.terms import HUMAN, Money, Usage


class CostReport(Struct, frozen=True):
    models: dict[str, ModelUsage]
    usage: Usage
    total: Money | None
    """What is known; None where nothing is."""
    unpriced: tuple[str, ...]
    """Models with calls of unknown price."""

    @property
    def estimated(self) -> bool:
        return self.usage.estimated


def costs(debate: Debate) -> CostReport:
    models = {model: used for model, used in sorted(debate.tallies.items()) if not is_person(model)}
    known = [used.known_cost for used in models.values() if used.known_cost is not None]
    return CostReport(
        models=models,
        usage=sum((used.usage for used in models.values()), Usage()),
        total=sum(known, Money(0)) if known or not models else None,
        unpriced=tuple(model for model, used in models.items() if used.unpriced),
    )


def is_person(label: str) -> bool:
    """Whether the label is that of a person, who costs nothing."""
    return label.startswith(f"{HUMAN}/")


def dollars(amount: Money | None) -> str:
    """$1.20, or with two significant digits where it is less than a cent."""
    if amount is None:
        return "unknown cost"
    if not amount:
        return "$0.00"
    if abs(amount) >= 1:
        return f"${amount:,.2f}"
    places = max(2, 1 - amount.adjusted())
    return f"${amount:.{places}f}"


def cost_warning(event: BudgetWarned) -> str:
    """Older logs have a warning that counted what was reserved."""
    if event.limit is not None:
        return (
            f"The cost limit of {dollars(event.limit)} ends the debate before the warning at "
            f"{dollars(event.threshold)} was due: it has cost {dollars(event.spent)}, and what comes next "
            "could cost more than is left."
        )
    reserved = f", and {dollars(event.reserved)} more is reserved" if event.reserved else ""
    warned = f"the warning was set at {dollars(event.threshold)}"
    return f"The debate has cost {dollars(event.spent)}{reserved}; {warned}."


def limit_reached(event: BudgetExhausted) -> str:
    if event.cut_round:
        return (
            f"The cost limit of {dollars(event.limit)} was used up in round {event.cut_round}. Its speeches "
            "are not judged, because not everybody had one."
        )
    return f"The cost limit of {dollars(event.limit)} leaves no room for a further call."


def words_shortened(event: BudgetShortened) -> str:
    if event.percent == 100:
        return f"From round {event.round} on, speeches have their full length again."
    words = f"{event.percent} % of their words"
    return f"From round {event.round} on, speeches have {words}, to stay within the cost limit."


def bill(figures: CostReport, unit: str = "") -> str:
    """The total in words, with what is estimated or unknown."""
    text = dollars(figures.total) + (unit if figures.total is not None else "")
    if figures.estimated and figures.total:
        text = f"about {text}"
    if figures.total is not None and figures.unpriced:
        text += f" and an unknown amount for {', '.join(figures.unpriced)}"
    return text
