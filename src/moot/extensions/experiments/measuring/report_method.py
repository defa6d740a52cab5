"""How the figures of a report were made, in one page: design, judging, ratings, intervals, judges, costs."""

from __future__ import annotations

from collections.abc import Iterator

from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.extensions.experiments.measuring.truth_report import TRUTH_METHOD


def method(report: ExperimentReport) -> Iterator[str]:
    """A paragraph for each step."""
    if report.truth is not None:
        yield TRUTH_METHOD
    if report.ratings is not None or report.truth is None:
        yield _design(report)
        yield _judging(report)
        yield _ratings(report)
    yield _intervals(report)
    if report.judges is not None:
        yield JUDGES
    yield (
        "Issues (refusals, blank speeches, speeches for the wrong side, timeouts) never change a rating; "
        "they are counted by debate, with Wilson's interval. Costs are those that the services reported, at "
        "the prices of the day, in US dollars; where a price is not known, neither is any sum with it."
    )


def _design(report: ExperimentReport) -> str:
    repeats = report.definition.repeats
    often = f" {repeats} times" if repeats > 1 else ""
    if _ranked(report):
        return (
            f"Design. A matchup is a set of models on one motion, held{often} so that every model has each "
            "position once. Debates that are the same word for word count once."
        )
    return (
        f"Design. A matchup is two models on one motion, held{often} with the sides swapped, so that neither "
        "model has the easier side more often. Debates that are the same word for word count once."
    )


def _judging(report: ExperimentReport) -> str:
    by_side = report.definition.options.get("reading") == "by-side"
    swapped = "the labels and the order of the sides" if by_side else "the labels of the sides"
    return (
        "Judging. A judge is a model with its prompt and its settings. It reads the speeches under neutral "
        f"labels, twice, the second time with {swapped} swapped. Its decision on a debate is the majority of "
        "its ballots. Ratings rest on the experiment's own panel; whoever judged the debates again has "
        "figures of its own."
    )


def _ratings(report: ExperimentReport) -> str:
    model = (
        "Plackett-Luce strengths with a term for the position"
        if _ranked(report)
        else "Bradley-Terry strengths with a term for the side; a tie is half a win for both"
    )
    return (
        f"Ratings are {model}. 400 points are odds of ten to one, and the mean of all models is 1500. A "
        "debate counts once, shared by its ballots. Two models are separable if the interval of their "
        "difference does not hold zero; the rank range counts only separable models as better or worse. A "
        "model that never lost, or never won, has a rating that a weak prior sets, and an interval without "
        "an end on that side."
    )


def _intervals(report: ExperimentReport) -> str:
    over = report.ratings.options.over if report.ratings else "motions"
    judges = "the same judges" if over == "motions" else "other judges, of whom these are a sample"
    return (
        "Intervals hold the true figure in 95 of 100 repetitions with other motions (passages) of the same "
        f"kind and {judges}. They come from leaving out one motion at a time, with all its debates (the "
        "cluster jackknife, CR3, with Student's t), so that few motions make them wide. Shares have Wilson's "
        "interval for the effective number of observations. ≥ and ≤ mark an interval without another end."
    )


JUDGES = (
    "Judges. Flips are debates on which a judge decides otherwise in its second reading. Biases are effects "
    "in log-odds of the fit that rates the models, one for each judge, so that a judge who saw stronger "
    "models on one side is not blamed for it. Krippendorff's alpha is 1 if judges always agree, 0 if they "
    "agree as by chance."
)


def _ranked(report: ExperimentReport) -> bool:
    effects = report.ratings.effects if report.ratings else ()
    return any(each.name.startswith("position:") for each in effects)
