"""What the design of an experiment cannot tell, in plain sentences, and which design would tell it."""

from __future__ import annotations

from collections.abc import Iterator

from moot.extensions.experiments.measuring.report import ExperimentReport
from moot.views.text import plural


def limits(report: ExperimentReport) -> Iterator[str]:
    """The most important first. What the data itself shows to be doubtful is not here, but in the notes."""
    if report.truth is None:
        yield "Ratings say whose speeches these judges prefer. Who is right, they do not say."
        yield from _of_motions(report)
    else:
        yield from _of_questions(report)
    yield from _of_judges(report)
    if report.people is None:
        yield (
            "No person voted, so nothing here says whether people would decide as these judges do; "
            "votes can be added (moot experiment votes)."
        )
    yield (
        "Models and judges are those that answered on these days under these names. A service may change "
        "what a name stands for."
    )


def _of_motions(report: ExperimentReport) -> Iterator[str]:
    definition = report.definition
    motions = plural(len(definition.motions), "motion")
    yield (
        f"The intervals stand for motions of the same kind as these {motions}. Other themes, other "
        f"languages, and formats other than {definition.format} were not tried."
    )
    if definition.repeats == 1:
        yield (
            "Each pair met once on each motion with each side, so the chance in a model's own answers cannot "
            "be told from what the motion did; repeats = 2 or more would tell."
        )
    if len(definition.models) > 2:
        yield (
            "Strength is one number. Models that beat each other in a circle, or that are strong on some "
            "themes and weak on others, are averaged."
        )


def _of_questions(report: ExperimentReport) -> Iterator[str]:
    questions = plural(len(report.definition.questions), "question")
    yield (
        f"The intervals stand for questions and passages of the same kind as these {questions}. What debate "
        "does for questions of another kind, or without a passage, was not tried."
    )
    yield (
        "Each question has two answers to choose from. With more, or with an answer to be written, judges "
        "may do worse."
    )


def _of_judges(report: ExperimentReport) -> Iterator[str]:
    judges = report.judges
    if judges is None:
        return
    yield from judges.notes
    names = {each.judge for each in judges.judges if each.own}
    if len(names) == 1:
        yield (
            "One judge decided everything, so its taste cannot be told from the strength of the models; two "
            "or more judges of different makers would tell."
        )
    else:
        yield f"What all {len(names)} judges share, be it taste or error, no figure here shows."
