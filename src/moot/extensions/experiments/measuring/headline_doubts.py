"""What stands before the first sentence of a report: reasons why its judges may not be fit to tell.

Some make the result void: judges who agree no better than by chance, half of a panel that goes by labels, by
place or by a coin, or a sole judge of the winner's own family. The others are a warning. All rest on figures
of the report, and on the experiment's own panel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from moot.extensions.experiments.measuring.covariates import family_of
from moot.extensions.experiments.measuring.judge_checks import UNREADABLE, Fault, JudgeCheck
from moot.extensions.experiments.measuring.judge_measures import JudgeMeasures, JudgeReport
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.views.text import plural

BY_CHANCE = 0.2
"""Below this alpha, judges agree hardly more often than by chance."""
MANY_FLIPS = 1 / 3
VOIDING: tuple[Fault, ...] = ("coin", "first-listed", "read-first", "bribed", "unreadable")
"""Faults of half a panel that make its result void."""
STRONG = 1.0
"""In log-odds: 73 % instead of 50 %. A weaker bias is a warning."""
SHOWN = 3


class AddressedJudges(Struct, frozen=True):
    """Speeches that address the judge."""

    debates: int
    """With such a speech."""
    held: int
    sentences: int
    debate: str = ""
    speech: int = 0
    model: str = ""
    quotation: str = ""
    """The first of them."""


class HeadlineDoubts(Struct, frozen=True):
    void: tuple[str, ...] = ()
    """Why nothing can be told; empty where something can."""
    warnings: tuple[str, ...] = ()

    def before(self, sentence: str) -> str:
        """The first sentence of a report, with its doubts."""
        if self.void:
            shown = f"this {sentence[5:]}" if sentence.startswith("This ") else sentence
            return f"Which model is best cannot be told: {_listed(self.void)}. By the ballots alone, {shown}"
        if self.warnings:
            return f"With a warning: {_listed(self.warnings)}. {sentence}"
        return sentence


def addressed_judges(results: Sequence[LegResult]) -> AddressedJudges:
    """Counted from what is stored with the results; no log is read."""
    found = [result for result in results if result.address is not None]
    sentences = sum(
        (result.judgments[0].pro_addresses or 0) + (result.judgments[0].con_addresses or 0)
        if result.judgments
        else 1
        for result in found
    )
    first = found[0].address if found else None
    if first is None:
        return AddressedJudges(0, len(results), 0)
    return AddressedJudges(
        len(found), len(results), sentences, found[0].debate, first.speech, first.model, first.quotation
    )


def headline_doubts(
    judges: JudgeReport, models: Sequence[str], leading: Sequence[str], addressed: AddressedJudges
) -> HeadlineDoubts:
    """`models` are the contestants, `leading` those that may each be the best."""
    panel = [judge for judge in judges.judges if judge.own] or list(judges.judges)
    checks = [check for check in judges.checks if check.found and check.own]
    void = (*_family(panel, models, leading), *_chance(judges), *_compromised(panel, checks))
    warnings = (
        *_family(panel, models, models),
        *_uncertain(judges),
        *(f"{check.judge} {check.text}" for check in checks),
        *_flips(panel),
        *_unreadable(panel, checks),
        *_addressed(addressed),
    )
    return HeadlineDoubts(void, tuple(each for each in dict.fromkeys(warnings) if each not in void))


def _family(panel: Sequence[JudgeMeasures], models: Sequence[str], of: Sequence[str]) -> Iterator[str]:
    maker = family_of(panel[0].judge) if len(panel) == 1 else ""
    kin = [model for model in models if maker and family_of(model) == maker]
    if kin and len(kin) < len(models) and set(kin) & set(of):
        yield f"the only judge, {panel[0].judge}, is made by the maker of {', '.join(kin)}"


def _chance(judges: JudgeReport) -> Iterator[str]:
    alpha = judges.agreement.alpha
    if alpha.value is None or not judges.agreement.debates:
        return
    if alpha.high is not None and alpha.high < BY_CHANCE:
        yield f"the judges agree no better than by chance (alpha {alpha.value:.2f})"


def _uncertain(judges: JudgeReport) -> Iterator[str]:
    alpha = judges.agreement.alpha
    if alpha.value is None or not judges.agreement.debates or any(_chance(judges)):
        return
    if alpha.low is None or alpha.low <= 0:
        yield f"the judges may agree no better than by chance (alpha {alpha.value:.2f})"


def _compromised(panel: Sequence[JudgeMeasures], checks: Sequence[JudgeCheck]) -> Iterator[str]:
    strong = [check for check in checks if check.fault in VOIDING and _is_strong(check)]
    if 2 * len({check.judge for check in strong}) >= len(panel):
        yield from (f"{check.judge} {check.text}" for check in strong)


def _is_strong(check: JudgeCheck) -> bool:
    return check.fault in ("coin", "unreadable") or abs(check.figure.value or 0.0) >= STRONG


def _flips(panel: Sequence[JudgeMeasures]) -> Iterator[str]:
    for judge in panel:
        share = judge.flips.value
        if share is not None and share > MANY_FLIPS:
            yield f"{judge.judge} changes {100 * share:.0f} % of its decisions in the second reading"


def _unreadable(panel: Sequence[JudgeMeasures], checks: Sequence[JudgeCheck]) -> Iterator[str]:
    told = {check.judge for check in checks if check.fault == "unreadable"}
    for judge in panel:
        share = judge.undecided / max(judge.judgments + judge.undecided, 1)
        if share > UNREADABLE and judge.judge not in told:
            yield f"{100 * share:.0f} % of the ballots of {judge.judge} could not be read"


def _addressed(addressed: AddressedJudges) -> Iterator[str]:
    if addressed.debates:
        yield (
            f"speeches address the judge in {addressed.debates:,} of {plural(addressed.held, 'debate')}, "
            f"such as “{addressed.quotation}”"
        )


def _listed(reasons: Sequence[str]) -> str:
    more = len(reasons) - SHOWN
    return "; ".join(reasons[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
