"""The table `answers`: what was believed about each question, with the question and its choices in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta, structs

from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion, choices_of


class AnswerRow(JudgeAnswer, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge, or a model by itself, believed about one question after one protocol."""

    question_text: Annotated[str, Meta(description="The question.")] = ""
    choices: Annotated[
        tuple[str, ...],
        Meta(description="The choices in play, in the order of `probabilities`; `answer` is the right one."),
    ] = ()
    correct: Annotated[
        float | None,
        Meta(description="1 where the right choice is the most probable, 0 where not; shared if equal."),
    ] = None


def answer_rows(
    answers: Iterable[JudgeAnswer], definition: ExperimentDefinition, leg: PlannedQuestion
) -> Iterator[AnswerRow]:
    """Answers of a leg, in words that its definition has."""
    question, playing = choices_of(definition, leg)
    for answer in answers:
        yield AnswerRow(
            **structs.asdict(answer),
            question_text=question.question,
            choices=playing.choices,
            correct=answer.right,
        )
