"""Which judge, or which judge prompt, decides most like people, and whether the data can tell.

Judges that a prompt was given to are judges of their own (`model [strict]`), so an A/B of prompts is a
comparison of judges. Each is compared with the majority of people on each debate; the best two are compared
with each other on the debates that both judged, and are separable if the interval of the difference does not
hold zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.agreement import (
    JudgeAgreement,
    agreement_with_people,
    judge_agreement,
    people_majorities,
    same_as_people,
)
from moot.extensions.experiments.measuring.estimates import DIFFERENCE, Estimate, mean_estimate
from moot.extensions.experiments.measuring.judge_decisions import decisions
from moot.extensions.experiments.measuring.judgments import PANEL, Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.people_votes import vote_rows
from moot.extensions.experiments.measuring.tables import as_table


class PeopleAgreement(Struct, frozen=True, kw_only=True):
    """How often each judge names what most people named."""

    debates: int
    """Debates with votes of people that are not evenly split."""
    voters: int
    judges: tuple[Estimate, ...]
    """Best first; the majority of all judges is `panel`."""
    difference: Estimate | None
    """The best judge less the next, on the debates that both judged."""
    sentence: str
    among: JudgeAgreement | None = None
    """How often people decide alike; None where no two voted on the same debate."""


def compare_with_people(results: Sequence[LegResult]) -> PeopleAgreement | None:
    """None without votes of people."""
    voted = [result for result in results if result.votes and result.judgments]
    people = [row for result in voted for row in vote_rows(result.judgments[0], result.votes)]
    if not people:
        return None
    rows = [row for result in voted for row in result.judgments]
    found = agreement_with_people(rows, people)
    known = [each for each in found if each.value is not None]
    ranked = tuple(sorted(known, key=lambda each: (-(each.value or 0.0), each.name)))
    single = [each for each in ranked if each.name != PANEL]
    decided = people_majorities(people)
    among = judge_agreement(people, each_pair=False)
    difference = None
    if len(single) > 1:
        difference = _difference(rows, decided, single[0].name, single[1].name)
    return PeopleAgreement(
        debates=len(decided),
        voters=len({row.judge for row in people}),
        judges=ranked,
        difference=difference,
        sentence=_sentence(single, difference),
        among=among if among.debates else None,
    )


def _difference(rows: Sequence[Judgment], people: dict[str, int], first: str, second: str) -> Estimate | None:
    """On the debates that both judged: how much more often the first names what most people named."""
    found = decisions(as_table(rows))
    same = same_as_people(found.debates, found.debate, found.shares, people)
    by_debate = np.full((2, len(found.debates)), np.nan)
    for at, name in enumerate((first, second)):
        own = found.judge == found.judges.index(name)
        by_debate[at, found.debate[own]] = same[own]
    difference = by_debate[0] - by_debate[1]
    common = ~np.isnan(difference)
    if not common.any():
        return None
    cluster = found.cluster_of_debates()[common]
    return mean_estimate("difference", cluster, difference[common], DIFFERENCE)


def _sentence(ranked: Sequence[Estimate], difference: Estimate | None) -> str:
    if not ranked:
        return "No judge decided a debate on which people voted."
    best = ranked[0]
    if len(ranked) == 1:
        return f"{best.name} is the only judge, so there is nothing to compare."
    if best.value == ranked[1].value:
        level = [each.name for each in ranked if each.value == best.value]
        return f"{' and '.join((', '.join(level[:-1]), level[-1]))} agree equally often with people."
    if difference is None:
        return f"{best.name} agrees most with people, but judged other debates than {ranked[1].name}."
    if difference.clear:
        return f"{best.name} agrees most with people; the difference to {ranked[1].name} is separable."
    return f"{best.name} agrees most with people, but it is not separable from {ranked[1].name}."
