"""Everything that an experiment shows, as one value: ratings, matchups, judges, reliability, costs, doubts.

`make_report` is pure and computes it from the stored results alone; no log is read. `report_html.py` and
`report_markdown.py` write it down, and the page shows it. What cannot be computed from the data (too few
debates, one judge only) is left out, and a note says why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version as installed_version
from platform import python_version

from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.belief_measures import BeliefMeasures, measure_beliefs
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.headline_doubts import (
    AddressedJudges,
    HeadlineDoubts,
    addressed_judges,
    headline_doubts,
)
from moot.extensions.experiments.measuring.judge_identity import EVERY_JUDGE, JudgeFilter, own_rows
from moot.extensions.experiments.measuring.judge_measures import JudgeReport, judge_report
from moot.extensions.experiments.measuring.judgments import SCORES, Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult, filter_results
from moot.extensions.experiments.measuring.matchup_shares import MatchupShare, matchup_shares
from moot.extensions.experiments.measuring.motion_balance import MotionBalance, balance_of_shares
from moot.extensions.experiments.measuring.people_agreement import PeopleAgreement, compare_with_people
from moot.extensions.experiments.measuring.rankings import rate_rankings
from moot.extensions.experiments.measuring.ratings import (
    Population,
    Ratings,
    rate_models,
    rate_style_controlled,
)
from moot.extensions.experiments.measuring.reliability import ModelReliability, model_reliability
from moot.extensions.experiments.measuring.sensitivity import (
    JudgeRatings,
    RatingShift,
    leave_one_judge_out,
    leave_one_motion_out,
    ratings_by_judge,
)
from moot.extensions.experiments.measuring.transcripts import TranscriptCount
from moot.extensions.experiments.measuring.truth_report import TruthReport, make_truth_report
from moot.prompts import templates
from moot.views.text import plural

SHOWN_DEBATES = 5


class ShownDebate(Struct, frozen=True):
    """A debate that is worth reading."""

    debate: str
    motion: str
    pro: str
    con: str
    share: float
    """The share of ballots for the side of the motion."""


class MotionResult(Struct, frozen=True):
    """What came of one motion: which side won how often, sides swapped."""

    motion: str
    debates: int
    balance: MotionBalance | None
    """None where no debate on it was decided."""


class JudgeCost(Struct, frozen=True):
    """What one judge cost and took."""

    judge: str
    ballots: int
    cost: float | None
    """US dollars for all its ballots; None where it is not known of all."""
    seconds: float | None
    """Of a ballot."""


class ExperimentReport(Struct, frozen=True, kw_only=True):
    definition: ExperimentDefinition
    version: str
    """Of Moot."""
    made_at: datetime
    planned: int
    held: int
    failed: int
    cost: float | None
    """US dollars; None where a price is not known."""
    seconds: float
    """Of all debates together."""
    truth: TruthReport | None = None
    """Where the experiment has questions with a known answer."""
    ratings: Ratings | None = None
    style_controlled: Ratings | None = None
    matchups: tuple[MatchupShare, ...] = ()
    judges: JudgeReport | None = None
    without_judge: tuple[RatingShift, ...] = ()
    without_motion: tuple[RatingShift, ...] = ()
    by_judge: tuple[JudgeRatings, ...] = ()
    """The ratings by each judge alone, where some judged the debates again."""
    addressed: AddressedJudges = AddressedJudges(0, 0, 0)
    doubts: HeadlineDoubts = HeadlineDoubts()
    """What stands before the first sentence."""
    judge_costs: tuple[JudgeCost, ...] = ()
    motions: tuple[MotionResult, ...] = ()
    reliability: tuple[ModelReliability, ...] = ()
    closest: tuple[ShownDebate, ...] = ()
    clearest: tuple[ShownDebate, ...] = ()
    failures: tuple[LegResult, ...] = ()
    beliefs: BeliefMeasures | None = None
    people: PeopleAgreement | None = None
    notes: tuple[str, ...] = ()
    """What to beware of, in sentences."""
    digest: str = ""
    """sha256 of the manifest, or of the definition and the results where there is none."""
    manifest: bool = False
    """Whether the digest is that of a manifest."""
    versions: dict[str, str] = {}
    """Of the libraries that the figures depend on, and of the prompts."""


def make_report(
    definition: ExperimentDefinition,
    results: Sequence[LegResult],
    *,
    planned: int,
    version: str,
    made_at: datetime,
    versions: Mapping[str, str] | None = None,
    manifest: str = "",
    judges_of: JudgeFilter = EVERY_JUDGE,
    over: Population = "motions",
) -> ExperimentReport:
    """Measure the results, by all judges or by those that `judges_of` names. `manifest` is the sha256 of the
    manifest of an export, where there is one. With `over="judges"` the intervals of the ratings speak of
    other judges too."""
    results = filter_results(results, judges_of)
    truth = None
    if definition.questions:
        truth = make_truth_report(definition, results, planned=planned)
    against_itself = bool(definition.questions) and definition.pairing == "self"
    ballots = [] if against_itself else [row for result in results for row in result.judgments]
    rows = own_rows(ballots)
    notes = list[str](truth.notes if truth else ())
    ratings = style = judges = None
    shifts: tuple[RatingShift, ...] = ()
    motion_shifts: tuple[RatingShift, ...] = ()
    by_judge: tuple[JudgeRatings, ...] = ()
    try:
        ranked = own_rows(row for result in results for row in result.rankings)
        if ranked:
            ratings = rate_rankings(ranked, over=over)
        else:
            ratings = rate_models(rows, over=over)
            style = rate_style_controlled(rows, over=over)
        notes += ratings.notes
    except Invalid as error:
        notes += [] if against_itself else [f"No ratings: {error}"]
    try:
        judges = judge_report(ballots)
        notes += judges.notes
        if len(judges.judges) > 1:
            shifts = leave_one_judge_out(rows)
        motion_shifts = leave_one_motion_out(rows)
        if len(rows) < len(ballots):
            by_judge = ratings_by_judge(ballots)
    except Invalid as error:
        notes += [] if against_itself else [f"No figures about judges: {error}"]
    beliefs = measure_beliefs(results)
    notes += beliefs.notes if beliefs else ()
    costs = [result.cost for result in results]
    shown = _shown(rows)
    addressed = addressed_judges(results)
    failures = tuple(result for result in results if result.status == "error")
    return ExperimentReport(
        definition=definition,
        version=version,
        made_at=made_at,
        planned=planned,
        held=len(results) - len(failures),
        failed=len(failures),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=sum(result.seconds for result in results),
        truth=truth,
        ratings=ratings,
        style_controlled=style,
        matchups=matchup_shares(rows),
        judges=judges,
        without_judge=shifts,
        without_motion=motion_shifts,
        by_judge=by_judge,
        addressed=addressed,
        doubts=_headline(ratings, judges, addressed),
        judge_costs=_judge_costs(ballots),
        motions=_motions(results),
        reliability=model_reliability(rows),
        closest=tuple(sorted(shown, key=lambda each: (abs(each.share - 0.5), each.debate))[:SHOWN_DEBATES]),
        clearest=tuple(sorted(shown, key=lambda each: (-abs(each.share - 0.5), each.debate))[:SHOWN_DEBATES]),
        failures=failures[:SHOWN_DEBATES],
        beliefs=beliefs,
        people=compare_with_people(results),
        notes=(*dict.fromkeys(notes), *_own_notes(definition, results, planned)),
        digest=manifest or _digest(definition, results),
        manifest=bool(manifest),
        versions=dict(versions or {}),
    )


def _headline(
    ratings: Ratings | None, judges: JudgeReport | None, addressed: AddressedJudges
) -> HeadlineDoubts:
    if ratings is None or judges is None:
        return HeadlineDoubts()
    models = [each.model for each in ratings.models]
    leading = [each.model for each in ratings.models if each.best_rank == 1]
    return headline_doubts(judges, models, leading, addressed)


def library_versions() -> dict[str, str]:
    """Of what the figures of a report depend on beside Moot itself."""
    libraries = {name: installed_version(name) for name in ("numpy", "evalica")}
    return {"prompts": str(templates.VERSION), "Python": python_version(), **libraries}


def _digest(definition: ExperimentDefinition, results: Sequence[LegResult]) -> str:
    """Of what the figures are computed from, whatever the order in which debates were finished."""
    held = sorted(sha256(result.to_json().encode()).digest() for result in results)
    return sha256(b"".join([definition.to_json().encode(), *held])).hexdigest()


def _judge_costs(rows: Sequence[Judgment]) -> tuple[JudgeCost, ...]:
    ballots = defaultdict[str, list[Judgment]](list)
    for row in rows:
        ballots[row.judge].append(row)
    return tuple(_judge_cost(judge, ballots[judge]) for judge in sorted(ballots))


def _judge_cost(judge: str, rows: Sequence[Judgment]) -> JudgeCost:
    costs = [row.judge_cost for row in rows if row.judge_cost is not None]
    seconds = [row.judge_seconds for row in rows if row.judge_seconds is not None]
    return JudgeCost(
        judge,
        len(rows),
        sum(costs) if len(costs) == len(rows) else None,
        sum(seconds) / len(rows) if len(seconds) == len(rows) else None,
    )


def _motions(results: Sequence[LegResult]) -> tuple[MotionResult, ...]:
    shares = defaultdict[str, list[float]](list)
    for result in results:
        if result.pro_share is not None:
            shares[result.motion].append(result.pro_share)
    return tuple(
        MotionResult(motion, len(each), balance_of_shares(each)) for motion, each in sorted(shares.items())
    )


def _shown(rows: Sequence[Judgment]) -> list[ShownDebate]:
    ballots = defaultdict[str, list[Judgment]](list)
    for row in rows:
        if row.winner != "none":
            ballots[row.debate].append(row)
    return [
        ShownDebate(
            debate, each[0].motion, each[0].pro, each[0].con,
            sum(SCORES[row.winner] for row in each) / len(each),
        )
        for debate, each in ballots.items()
    ]  # fmt: skip


def _own_notes(definition: ExperimentDefinition, results: Sequence[LegResult], planned: int) -> list[str]:
    notes = list[str]()
    if len(results) < planned:
        notes.append(f"{planned - len(results):,} of {planned:,} planned debates have not been held yet.")
    own = definition.judging_debaters if any(result.judgments for result in results) else ()
    if own:
        notes.append(f"{', '.join(own)} judged debates in which it may have argued itself.")
    unread = sum(row.winner == "none" for result in results for row in result.judgments)
    if unread:
        count = "counts" if unread == 1 else "count"
        notes.append(f"{plural(unread, 'ballot')} could not be read, and {count} for no side.")
    transcripts = TranscriptCount()
    for result in results:
        transcripts.add(result)
    notes += [transcripts.note] if transcripts.note else []
    legs = Counter((row.group, row.repeat) for result in results for row in result.judgments[:1])
    if alone := sum(count == 1 for count in legs.values()):
        have = "has" if alone == 1 else "have"
        notes.append(f"{plural(alone, 'matchup')} {have} been held with one order of the sides only.")
    if definition.pairing == "adaptive":
        notes.append(
            "Pairs were chosen by the results so far. Win shares depend on that choice; ratings much less, "
            "because they are fitted to who met whom."
        )
    return notes
