"""What a judge, or a model by itself, believed about a question: rows, and how they are read from a debate.

Probabilities are those of the answers in play, in the order of the unswapped leg, whichever way they were
shown. A judge counts with the ballots of both readings, as in every debate; several answers of one model are
counted as votes. A reply that cannot be read is no answer, and is counted as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.state import Debate
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.planned_questions import PlannedQuestion, choices_of
from moot.judging.verdicts import counted_judges
from moot.prompts.answer_replies import UnreadableReply, read_answer_reply
from moot.prompts.question_prompts import ANSWER_NAMES


class JudgeAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge, or a model by itself, believed about one question after one protocol."""

    question: Annotated[str, Meta(description="The id of the question.")]
    protocol: Annotated[
        str, Meta(description="How the judge was informed: `debate`, `consultancy`, `naive` and so on.")
    ]
    probabilities: Annotated[
        tuple[float, ...],
        Meta(description="How probable each choice was thought; a judge that only names one gives it 1."),
    ]
    answer: Annotated[int, Meta(description="The index of the right choice, from 0.")]
    judge: Annotated[str, Meta(description="The model that judged or answered.")] = ""
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    group: Annotated[
        str,
        Meta(description="Questions that belong together, such as those on one passage."),
    ] = ""
    cost: Annotated[float | None, Meta(description="US dollars; missing where a price is not known.")] = None
    seconds: Annotated[float | None, Meta(description="From the first event of its log to the last.")] = None
    debate: Annotated[str, Meta(description="The id of the debate in which it was given.")] = ""
    models: Annotated[tuple[str, ...], Meta(description="Who argued, or answered by itself.")] = ()
    argued: Annotated[
        int | None,
        Meta(description="The choice of the consultant, or of the debater that chose in an open debate."),
    ] = None
    samples: Annotated[int, Meta(description="How many replies it is made of.")] = 1
    repeat: Annotated[int, Meta(description="Which of the repeats, from 1.")] = 1

    @property
    def right(self) -> float:
        """1 where the right choice is the most probable; choices that are equally probable share."""
        best = [index for index, chance in enumerate(self.probabilities) if chance == max(self.probabilities)]
        return 1 / len(best) if self.answer in best else 0.0


class AnswersFound(Struct, frozen=True):
    answers: tuple[JudgeAnswer, ...]
    missing: int
    """Answers that were asked for and not given, or given unreadably."""


def answers_from_debate(
    debate: Debate, definition: ExperimentDefinition, leg: PlannedQuestion, cost: float | None
) -> AnswersFound:
    """The answers of all judges of a leg, or of the models that answered by themselves."""
    question, playing = choices_of(definition, leg)
    asked = debate.manner.question
    backwards = asked is not None and asked.choices != playing.choices
    base = JudgeAnswer(
        question=question.id,
        protocol=leg.protocol,
        probabilities=(),
        answer=playing.right,
        experiment=definition.name,
        group=question.passage or question.id,
        seconds=round((debate.updated_at - debate.created_at).total_seconds(), 3),
        debate=debate.id,
        models=leg.models,
        argued=_argued(leg, backwards),
        repeat=leg.repeat,
    )
    if debate.format.result == "none":
        return _own_answer(base, debate, backwards, cost)
    judged = list(_judged(debate))
    asked_judges = max(len(definition.judges), len(judged)) or 1
    share = None if cost is None else cost / asked_judges
    rows = tuple(
        replace(base, judge=judge, probabilities=_turned(chances, backwards), cost=share)
        for judge, chances in judged
    )
    return AnswersFound(rows, asked_judges - len(rows))


def _judged(debate: Debate) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Each judge with the mean of its ballots of both readings, by the latest judging of each."""
    found: dict[str, tuple[float, ...]] = {}
    for judging in debate.judgings:
        for judged in counted_judges(judging):
            given = [ballot.probabilities for ballot in judged.ballots if ballot.probabilities]
            if len(given) == len(judged.ballots):
                found[judged.judge.model.label] = _mean(given)
    yield from found.items()


def _own_answer(base: JudgeAnswer, debate: Debate, backwards: bool, cost: float | None) -> AnswersFound:
    """The answer of one model by itself; of several answers the share of the votes."""
    given: list[tuple[float, ...]] = []
    for turn in debate.turns:
        if turn.has_words:
            try:
                given.append(read_answer_reply(turn.text, ANSWER_NAMES)[1])
            except UnreadableReply:
                continue
    if not given:
        return AnswersFound((), 1)
    chances = given[0] if len(debate.seats) == 1 else _mean([_vote(each) for each in given])
    answer = replace(
        base,
        judge=debate.seats[0].model.label,
        probabilities=_turned(chances, backwards),
        cost=cost,
        samples=len(given),
    )
    return AnswersFound((answer,), 0)


def _argued(leg: PlannedQuestion, backwards: bool) -> int | None:
    """The place, among the answers in play, of the answer that the consultant or the chooser argued for."""
    if leg.protocol == "consultancy":
        return int(backwards)
    if leg.protocol == "open-debate":
        return int(backwards) ^ int(leg.swapped)
    return None


def _vote(chances: Sequence[float]) -> tuple[float, ...]:
    best = [index for index, chance in enumerate(chances) if chance == max(chances)]
    return tuple(1 / len(best) if index in best else 0.0 for index in range(len(chances)))


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(round(sum(column) / len(rows), 6) for column in zip(*rows, strict=True))


def _turned(chances: Sequence[float], backwards: bool) -> tuple[float, ...]:
    return tuple(chances[::-1] if backwards else chances)
