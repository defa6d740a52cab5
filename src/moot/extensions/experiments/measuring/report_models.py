"""The sections of a report about models: leaderboard, matchups, effects, style, and the motions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from moot.extensions.experiments.measuring.leaderboard import MEAN_RATING
from moot.extensions.experiments.measuring.matchup_shares import MatchupShare
from moot.extensions.experiments.measuring.rating_report import effect_name, effects_table, leaderboard_table
from moot.extensions.experiments.measuring.ratings import Ratings
from moot.extensions.experiments.measuring.report import ExperimentReport, MotionResult
from moot.extensions.experiments.measuring.report_blocks import (
    Block,
    ForestLine,
    ForestPlot,
    ShareMatrix,
    sentences,
)
from moot.extensions.experiments.measuring.report_text import NOTHING, estimate_text, interval_text, percent
from moot.views.report_blocks import ReportTable
from moot.views.text import plural

MAX_MATRIX = 20
"""With more models a matrix would not be readable; the table of matchups has them all."""


def leaderboard_blocks(ratings: Ratings) -> Iterator[Block]:
    yield ForestPlot(
        "Ratings with 95 % intervals",
        tuple(
            ForestLine(
                each.model, each.rating, each.low, each.high,
                f"{each.rating:.0f} ({interval_text(each.low, each.high)})",
            )
            for each in ratings.models
        ),
        MEAN_RATING,
        "400 points are odds of ten to one; the dashed line is the mean of all models.",
    )  # fmt: skip
    yield leaderboard_table(ratings)
    pairs = len(ratings.differences)
    told_apart = sum(each.separable for each in ratings.differences)
    if pairs:
        yield from sentences(
            f"{told_apart:,} of {plural(pairs, 'pair')} of models are separable by this data."
        )
    yield effects_table(ratings)


def matchup_blocks(report: ExperimentReport) -> Iterator[Block]:
    models = [each.model for each in report.ratings.models] if report.ratings else []
    if 2 < len(models) <= MAX_MATRIX:
        yield _matrix(tuple(models), report.matchups)
    places = {model: place for place, model in enumerate(models)}
    turned = [_stronger_first(each, places) for each in report.matchups]
    turned.sort(key=lambda each: (places.get(each.first, 0), places.get(each.second, 0)))
    yield ReportTable(
        "Each pair of models",
        ("model", "against", "won", "debates", "motions"),
        tuple(
            (
                each.first,
                each.second,
                f"{percent(each.share)} ({interval_text(each.low, each.high, percent)})",
                f"{each.debates:,}",
                f"{each.motions:,}",
            )
            for each in turned
        ),
        rests_on=f"{plural(len(turned), 'pair')}, {plural(sum(each.debates for each in turned), 'debate')}.",
        note="Of the debates, the share that the model won by the ballots, ties as halves; 95 % intervals by "
        "motion. Win shares depend on the sides and judges that a pair had; ratings take the side out.",
        words=(0, 1),
    )


def _stronger_first(matchup: MatchupShare, places: Mapping[str, int]) -> MatchupShare:
    if places.get(matchup.first, 0) <= places.get(matchup.second, 0):
        return matchup
    low, high = (None if end is None else 1 - end for end in (matchup.high, matchup.low))
    return replace(
        matchup, first=matchup.second, second=matchup.first, share=1 - matchup.share, low=low, high=high
    )


def _matrix(models: tuple[str, ...], matchups: tuple[MatchupShare, ...]) -> ShareMatrix:
    shares = dict[tuple[str, str], float]()
    for each in matchups:
        shares[each.first, each.second] = each.share
        shares[each.second, each.first] = 1 - each.share
    return ShareMatrix(
        "Who won against whom",
        models,
        tuple(tuple(shares.get((row, column)) for column in models) for row in models),
        "How often, in per cent, the model of the row won against that of the column.",
    )


def style_blocks(plain: Ratings, controlled: Ratings) -> Iterator[Block]:
    before = {each.model: each for each in plain.models}
    yield from sentences(
        "The same ratings with length, markup, order and last word taken out, as far as they are known."
    )
    yield ReportTable(
        "Ratings with style taken out",
        ("model", "rating", "style-controlled", "95 % interval"),
        tuple(
            (
                each.model,
                f"{before[each.model].rating:.0f}",
                f"{each.rating:.0f}",
                interval_text(each.low, each.high),
            )
            for each in controlled.models
            if each.model in before
        ),
    )
    yield ReportTable(
        "Effects of style",
        ("effect of", "log-odds", "could be none"),
        tuple(
            (effect_name(each.name), estimate_text(each, signed=True), "no" if each.clear else "yes")
            for each in controlled.effects
        ),
        rests_on=f"{plural(controlled.debates, 'debate')}, {plural(controlled.motions, 'motion')}.",
    )


def motion_blocks(report: ExperimentReport) -> Iterator[Block]:
    yield ReportTable(
        "Motions",
        ("motion", "debates", "won for it", "won against it", "tied", "share for it"),
        tuple(_motion_row(each) for each in report.motions),
        rests_on=f"{plural(sum(each.debates for each in report.motions), 'debate')} with a result.",
        note="Over all models and with the sides swapped; the share is that of the debates that were not "
        "tied. A motion that one side nearly always wins tells little about the models.",
    )


def _motion_row(result: MotionResult) -> tuple[str, ...]:
    balance = result.balance
    if balance is None:
        return (result.motion, f"{result.debates:,}", "0", "0", f"{result.debates:,}", NOTHING)
    share = balance.pro_wins / balance.decided
    return (
        result.motion,
        f"{result.debates:,}",
        f"{balance.pro_wins:,}",
        f"{balance.con_wins:,}",
        f"{balance.ties:,}",
        f"{percent(share)} ({interval_text(balance.low, balance.high, percent)})",
    )
