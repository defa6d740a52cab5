"""Beliefs and votes of people as sentences and tables, which the reports in Markdown and HTML share."""

from __future__ import annotations

from moot.experiments.belief_measures import BeliefMeasures, NamedTurn
from moot.experiments.people_agreement import PeopleAgreement
from moot.experiments.resampling import Estimate

BELIEF_HEADS = ("model", "debates", "at first", "in the end", "won", "overconfidence")
PEOPLE_HEADS = ("judge", "agreement with people", "matchups")


def share_text(found: Estimate | None, *, signed: bool = False) -> str:
    if found is None or found.value is None:
        return "–"
    mark = "+" if signed else ""
    value = f"{100 * found.value:{mark}.0f} %"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({100 * found.low:{mark}.0f} to {100 * found.high:{mark}.0f})"


def belief_sentences(measures: BeliefMeasures) -> list[str]:
    overall = measures.overall
    lines = [
        f"Asked privately, debaters gave themselves {share_text(overall.opening)} at first and "
        f"{share_text(overall.closing)} in the end; they won {share_text(overall.won)}. The difference is "
        f"{share_text(overall.overconfidence, signed=True)}.",
        f"In {share_text(measures.both_sure)} of {measures.debates:,} debates both gave themselves 75 % or "
        "more in the end.",
    ]
    lead = measures.audience_lead
    if lead is not None and lead.value is not None:
        between = "" if lead.low is None or lead.high is None else f" ({lead.low:+.0f} to {lead.high:+.0f})"
        lines.append(
            f"The model audience moved by {lead.value:+.0f} points{between} towards the side for the motion."
        )
    return lines


def belief_table(measures: BeliefMeasures) -> list[tuple[str, ...]]:
    return [
        (
            each.model,
            f"{each.debates:,}",
            share_text(each.opening),
            share_text(each.closing),
            share_text(each.won),
            share_text(each.overconfidence, signed=True),
        )
        for each in measures.models
    ]


def turning_text(turn: NamedTurn) -> str:
    return (
        f"{turn.motion}: after S{turn.turn} ({turn.speaker}, {turn.title}) the judge's belief in "
        f"{turn.toward} rose from {100 * turn.before:.0f} % to {100 * turn.after:.0f} %"
    )


def people_sentence(found: PeopleAgreement) -> str:
    return f"{found.voters:,} people voted on {found.debates:,} debates with a majority. {found.sentence}" + (
        f" Difference: {share_text(found.difference, signed=True)}." if found.difference else ""
    )


def people_table(found: PeopleAgreement) -> list[tuple[str, ...]]:
    return [(each.name, share_text(each), f"{each.groups:,}") for each in found.judges]
