"""An experiment's report as one document: what was found, then every table and figure, then the method.

`report_document` builds it from an `ExperimentReport`; each section is a function of its own that yields
blocks, and one without blocks is left out. To add a figure, yield a block in the section where it belongs:
HTML, Markdown and the page then show it alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from moot.extensions.experiments.measuring.report import ExperimentReport, ShownDebate
from moot.extensions.experiments.measuring.report_beliefs import belief_blocks, people_blocks
from moot.extensions.experiments.measuring.report_blocks import (
    Block,
    ReportDocument,
    Section,
    bullets,
    numbered,
    section,
    sentences,
)
from moot.extensions.experiments.measuring.report_costs import cost_blocks, reliability_blocks
from moot.extensions.experiments.measuring.report_judges import judge_blocks
from moot.extensions.experiments.measuring.report_limits import limits
from moot.extensions.experiments.measuring.report_method import method
from moot.extensions.experiments.measuring.report_models import (
    leaderboard_blocks,
    matchup_blocks,
    motion_blocks,
    style_blocks,
)
from moot.extensions.experiments.measuring.report_summary import citation, findings, made_with
from moot.extensions.experiments.measuring.report_text import cost_text, percent
from moot.extensions.experiments.measuring.report_truth import truth_blocks, truth_findings
from moot.views.report_blocks import Bullet, Bullets, Listing
from moot.views.text import plural


def report_document(report: ExperimentReport) -> ReportDocument:
    return ReportDocument(
        title=report.definition.name,
        over="Debate experiment",
        lead=_lead(report),
        sections=numbered(tuple(_sections(report))),
        closing=made_with(report),
    )


def _sections(report: ExperimentReport) -> Iterator[Section]:
    yield from section("What was found", bullets(_found(report)))
    if report.truth is not None:
        yield from section("Protocols", truth_blocks(report.truth))
        if report.judges is not None:
            yield from section("Judges", judge_blocks(report, report.judges))
    else:
        yield from _comparison(report)
    if report.people is not None:
        yield from section("Judges and people", people_blocks(report.people))
    if report.beliefs is not None:
        yield from section("Private beliefs", belief_blocks(report.beliefs))
    if report.reliability:
        yield from section("Reliability", reliability_blocks(report))
    yield from section("Costs", cost_blocks(report))
    yield from section("Debates to read", _shown(report))
    unknown = report.judges.notes if report.judges else ()
    doubts = [note for note in report.notes if note not in unknown]
    yield from section("Doubts", bullets(doubts or ("None that the data shows.",)))
    yield from section("What this design cannot tell", bullets(limits(report)))
    yield from section("Method", _method(report))
    yield from section("How to cite this run", sentences(*citation(report)))


def _comparison(report: ExperimentReport) -> Iterator[Section]:
    """Who won on motions. Whoever wins debates on questions has convinced the judges, of truth or of error:
    what debaters did there stands with the protocols."""
    if report.ratings is not None:
        yield from section("Leaderboard", leaderboard_blocks(report.ratings))
    if report.matchups:
        yield from section("Matchups", matchup_blocks(report))
    if report.judges is not None:
        yield from section("Judges", judge_blocks(report, report.judges))
    if report.ratings is not None and report.style_controlled is not None:
        yield from section("Style", style_blocks(report.ratings, report.style_controlled))
    if report.motions:
        yield from section("Motions", motion_blocks(report))


def _found(report: ExperimentReport) -> Iterator[str]:
    # Of questions the answers are the result; who won the debates on them says little.
    found = truth_findings(report.truth, report.doubts) if report.truth else findings(report)
    yield from found or (f"Nothing can be said yet: {held_text(report)}.",)


def _lead(report: ExperimentReport) -> str:
    definition = report.definition
    models = plural(len(definition.models), "model")
    held = f"{held_text(report).capitalize()}. Cost: {_total_cost(report)}."
    if report.truth is not None:
        judges = plural(len(definition.judges), "judge")
        questions = plural(len(definition.questions), "question")
        return f"{models} argued about {questions} whose answers are known, before {judges}. {held}"
    motions = plural(len(definition.motions), "motion")
    how = f"in the format {definition.format}, each pair with the sides swapped"
    return f"{models} argued {motions} {how}. {held}"


def held_text(report: ExperimentReport) -> str:
    failed = f", {report.failed:,} failed" if report.failed else ""
    return f"{report.held:,} of {plural(report.planned, 'debate')} are held{failed}"


def _total_cost(report: ExperimentReport) -> str:
    return cost_text(report.cost) if report.held or report.failed else "none yet"


def _shown(report: ExperimentReport) -> Iterator[Block]:
    for title, shown in (("Closest", report.closest), ("Clearest", report.clearest)):
        if shown:
            yield Bullets(tuple(_shown_debates(shown)), title)


def _shown_debates(shown: Iterable[ShownDebate]) -> Iterator[Bullet]:
    for each in shown:
        text = (
            f"{each.motion}: {each.pro} for, {each.con} against; "
            f"{percent(each.share)} of the ballots for the motion"
        )
        yield Bullet(text, each.debate)


def _method(report: ExperimentReport) -> Iterator[Block]:
    yield from sentences(*method(report))
    written = msgspec.json.format(report.definition.to_json(), indent=2)
    yield Listing("The experiment as it was run", written)
