"""A report in a few sentences: what the data shows, how sure that is, and how the figures were made."""

from __future__ import annotations

from collections.abc import Iterator

from moot.extensions.experiments.measuring.estimates import Estimate
from moot.extensions.experiments.measuring.headline_doubts import BY_CHANCE
from moot.extensions.experiments.measuring.ratings import Ratings
from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.extensions.experiments.measuring.report_text import even_share, interval_text, percent
from moot.views.text import plural


def findings(report: ExperimentReport) -> tuple[str, ...]:
    """The main results, a sentence or two each; none before anything can be rated."""
    return tuple(_findings(report))


def _findings(report: ExperimentReport) -> Iterator[str]:
    ratings, judges = report.ratings, report.judges
    if ratings is None:
        return
    yield report.doubts.before(_order(ratings))
    side = ratings.effect("side")
    if side is not None and side.value is not None:
        yield _side(side)
    if judges is not None and judges.agreement.debates and judges.agreement.raw.value is not None:
        yield _agreement(judges.agreement.raw.value, judges.agreement.alpha.value)
    if judges is not None:
        flips = [
            (each.flips.value, each.judge)
            for each in judges.judges
            if each.own and each.flips.value is not None
        ]
        if flips:
            share, judge = max(flips)
            yield f"In its second reading, {judge} changes {percent(share)} of its decisions."
    troubled = [each for each in report.reliability if each.with_issues]
    if troubled:
        worst = max(troubled, key=lambda each: each.issue_share)
        yield f"{worst.model} has issues in {percent(worst.issue_share)} of its debates, the most of all."


def _agreement(raw: float, alpha: float | None) -> str:
    said = f"Two judges of a debate name the same result in {percent(raw)} of cases"
    if alpha is None:
        return f"{said}."
    alpha = round(alpha, 2)
    chance = " That is no more than by chance." if alpha <= 0 else ""
    if 0 < alpha < BY_CHANCE:
        chance = " That is hardly more than by chance."
    return f"{said} (Krippendorff's alpha {alpha:.2f}).{chance}"


def _order(ratings: Ratings) -> str:
    models, pairs = ratings.models, len(ratings.differences)
    apart = sum(each.separable for each in ratings.differences)
    first = [each.model for each in models if each.best_rank == 1]
    if not apart:
        return f"This data does not tell any two of the {len(models)} models apart."
    if len(first) == 1:
        lead = f"{first[0]} ranks first, apart from all others."
    else:
        lead = f"{', '.join(first[:-1])} and {first[-1]} may each be the best; this data does not tell which."
    return f"{lead} {apart} of {pairs} pairs of models are separable."


def _side(side: Estimate) -> str:
    wins = percent(even_share(side.value or 0.0))
    if side.low is None and side.high is None:
        return (
            f"The side for the motion wins {wins} against an even opponent; too little data for an interval."
        )
    span = interval_text(side.low, side.high, lambda log_odds: percent(even_share(log_odds)))
    doubt = "" if side.clear else ", so neither side may have an advantage"
    return f"The side for the motion wins {wins} ({span}) against an even opponent{doubt}."


def citation(report: ExperimentReport) -> tuple[str, ...]:
    """How to cite the run, and the digest by which it can be told from any other."""
    definition = report.definition
    digested = "the manifest" if report.manifest else "the definition and the results"
    about = (
        plural(len(definition.questions), "question")
        if report.truth
        else plural(len(definition.motions), "motion")
    )
    return (
        f"“{definition.name}”: {plural(len(definition.models), 'model')}, {about}, "
        f"{plural(report.held, 'debate')}, measured {report.made_at:%Y-%m-%d} with Moot {report.version}, "
        f"sha256 {report.digest[:16]}.",
        f"sha256 of {digested}: {report.digest}",
    )


def made_with(report: ExperimentReport) -> str:
    """Versions and seeds, with which the same debates give the same figures."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return (
        f"Moot {report.version}{f' ({versions})' if versions else ''}. Seed of pairs and models: "
        f"{report.definition.seed}. {report.made_at:%Y-%m-%d %H:%M} UTC."
    )
