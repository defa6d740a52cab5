"""The sections of a report about private beliefs and about votes of people, as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from moot.extensions.experiments.measuring.agreement import JudgeAgreement
from moot.extensions.experiments.measuring.belief_measures import BeliefMeasures, NamedTurn
from moot.extensions.experiments.measuring.people_agreement import PeopleAgreement
from moot.extensions.experiments.measuring.report_blocks import Block, sentences
from moot.extensions.experiments.measuring.report_text import estimate_text, interval_text
from moot.views.report_blocks import Bullet, Bullets, ReportTable
from moot.views.text import plural


def belief_blocks(measures: BeliefMeasures) -> Iterator[Block]:
    yield from sentences(*belief_sentences(measures))
    yield belief_table(measures)
    if measures.turning:
        turns = (Bullet(turning_text(each), each.debate, each.turn) for each in measures.turning)
        yield Bullets(tuple(turns), "Turning points")


def people_blocks(found: PeopleAgreement) -> Iterator[Block]:
    yield from sentences(people_sentence(found))
    yield people_table(found)


def belief_sentences(measures: BeliefMeasures) -> tuple[str, ...]:
    overall, lead = measures.overall, measures.audience_lead
    moved = ""
    if lead is not None and lead.value is not None:
        write = "{:+.0f}".format
        moved = (
            f"The model audience moved by {write(lead.value)} points "
            f"({interval_text(lead.low, lead.high, write)}) towards the side for the motion."
        )
    said = (
        "Asked privately, debaters gave themselves "
        f"{estimate_text(overall.opening, share=True)} at first and "
        f"{estimate_text(overall.closing, share=True)} in the end; they won "
        f"{estimate_text(overall.won, share=True)}. The difference is "
        f"{estimate_text(overall.overconfidence, share=True, signed=True)}.",
        f"In {estimate_text(measures.both_sure, share=True)} of {plural(measures.debates, 'debate')} both "
        "gave themselves 75 % or more in the end.",
        moved,
    )
    return tuple(text for text in said if text)


def belief_table(measures: BeliefMeasures) -> ReportTable:
    return ReportTable(
        "Private beliefs and results",
        ("model", "debates", "at first", "in the end", "won", "overconfidence"),
        tuple(
            (
                each.model,
                f"{each.debates:,}",
                estimate_text(each.opening, share=True),
                estimate_text(each.closing, share=True),
                estimate_text(each.won, share=True),
                estimate_text(each.overconfidence, share=True, signed=True),
            )
            for each in measures.models
        ),
        rests_on=f"{plural(measures.debates, 'debate')} with an answer of both debaters at the end.",
        note="The chance that a model gave itself before its first speech and after its last; overconfidence "
        "is the latter less how often it won.",
    )


def turning_text(turn: NamedTurn) -> str:
    return (
        f"{turn.motion}: after S{turn.turn} ({turn.speaker}, {turn.title}) the judge's belief in "
        f"{turn.toward} rose from {100 * turn.before:.0f} % to {100 * turn.after:.0f} %"
    )


def people_sentence(found: PeopleAgreement) -> str:
    people = "1 person" if found.voters == 1 else f"{found.voters:,} people"
    difference = estimate_text(found.difference, share=True, signed=True)
    return (
        f"{people} voted on {plural(found.debates, 'debate')} with a majority. {found.sentence}"
        + (f" Difference: {difference}." if found.difference else "")
        + (f" {_among_people(found.among)}" if found.among else "")
    )  # fmt: skip


def _among_people(among: JudgeAgreement) -> str:
    return (
        f"Two people name the same result in {estimate_text(among.raw, share=True)} of "
        f"{plural(among.debates, 'debate')}; Krippendorff's alpha of the voters is "
        f"{estimate_text(among.alpha)} (1: always the same, 0: as by chance)."
    )


def people_table(found: PeopleAgreement) -> ReportTable:
    return ReportTable(
        "Judges and people",
        ("judge", "agreement with people", "matchups"),
        tuple((each.name, estimate_text(each, share=True), f"{each.groups:,}") for each in found.judges),
        rests_on=f"{plural(found.debates, 'debate')} on which most people voted for one side.",
    )
