"""What a judge, or a model by itself, believed about a question: rows, and how they are read from a debate.

Probabilities are those of the answers in play, in the order of the unswapped leg, whichever way they were
shown. Everybody is asked twice, with the answers listed in both orders: a judge counts with the ballots of
both readings, as in every debate, a model by itself with both of its answers. Several answers of one model
are counted as votes. A reply that cannot be read is no answer, and is counted as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from moot.core.state import Debate
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.extensions.experiments.measuring.planned_questions import ALONE, PlannedQuestion, choices_of
from moot.judging.verdicts import counted_judges
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.question_answers import read_answer_reply
from moot.prompts.question_prompts import ANSWER_NAMES, listed_backwards


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
        Meta(description="The choice of the consultant, or of the one that chose in an open protocol."),
    ] = None
    first_argued: Annotated[
        int | None, Meta(description="The choice for which the first of `models` argued.")
    ] = None
    samples: Annotated[int, Meta(description="How many replies it is made of.")] = 1
    repeat: Annotated[int, Meta(description="Which of the repeats, from 1.")] = 1
    readings: Annotated[
        tuple[float, ...],
        Meta(
            description="How probable the right one of two choices was thought in each reading by itself; "
            "`probabilities` are their mean. Votes of one order are one reading."
        ),
    ] = ()
    listed_first: Annotated[
        tuple[int, ...], Meta(description="The choice that was listed first in each reading.")
    ] = ()
    own: Annotated[bool, Meta(description="No: it was judged again, by others or with another prompt.")] = (
        True
    )

    @property
    def right(self) -> float:
        """1 where the right choice is the most probable; choices that are equally probable share."""
        best = [index for index, chance in enumerate(self.probabilities) if chance == max(self.probabilities)]
        return 1 / len(best) if self.answer in best else 0.0


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


class RoundBelief(Struct, frozen=True, omit_defaults=True):
    """What a judge believed before the first speech (round 0), or after a round of a debate."""

    question: str
    protocol: str
    judge: str
    round: int
    chance: float
    """How probable it thought the right answer."""
    group: str


class Reading(Struct, frozen=True):
    """What was believed after one reading; `first` is the choice that was listed first."""

    probabilities: tuple[float, ...]
    first: int


class AnswersFound(Struct, frozen=True):
    answers: tuple[JudgeAnswer, ...]
    missing: int
    """Answers that were asked for and not given, or given unreadably."""


def answers_from_debate(
    debate: Debate, definition: ExperimentDefinition, leg: PlannedQuestion, cost: float | None
) -> AnswersFound:
    """The answers of all judges of a leg, or of the models that answered by themselves."""
    question, playing = choices_of(definition, leg)
    asked = debate.setup.question
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
        first_argued=None if leg.protocol in ALONE else int(backwards),
        repeat=leg.repeat,
    )
    if debate.format.result == "none":
        return _own_answer(base, debate, backwards, cost)
    panel = {contestant_name(judge.model) for judge in debate.panel}
    judged = dict(_judged(debate, backwards))
    missing = len(panel - judged.keys()) if judged else max(1, len(panel))
    share = None if cost is None else cost / (len(judged) + missing)
    rows = tuple(
        replace(_with_readings(base, readings), judge=judge, cost=share, own=judge in panel)
        for judge, readings in judged.items()
    )
    return AnswersFound(rows, missing)


def _judged(debate: Debate, backwards: bool) -> Iterator[tuple[str, tuple[Reading, ...]]]:
    """Each judge with its ballots of both readings; the latest judging comes last."""
    for judging in debate.judgings:
        for judged in counted_judges(judging):
            if all(ballot.probabilities for ballot in judged.ballots):
                judge = judged.judge
                name = contestant_name(judge.model)
                name = f"{name} [{judge.variant}]" if judge.variant else name
                yield (
                    name,
                    tuple(
                        _reading(ballot.probabilities, ballot.order % 2 == 1, backwards)
                        for ballot in sorted(judged.ballots, key=lambda ballot: ballot.order)
                    ),
                )


def _own_answer(base: JudgeAnswer, debate: Debate, backwards: bool, cost: float | None) -> AnswersFound:
    """The answer of one model by itself, with the answers in both orders; of more answers the share of the
    votes, those of each order being one reading."""
    given: list[Reading] = []
    for turn in sorted(debate.turns, key=lambda turn: turn.number):
        if turn.has_words:
            try:
                chances = read_answer_reply(turn.text, ANSWER_NAMES)[1]
            except UnreadableReply:
                continue
            turned = listed_backwards(debate, turn.seat)
            given.append(_reading(chances[::-1] if turned else chances, turned, backwards))
    is_vote = base.protocol == "self-consistency"
    if not given or (len(given) < len(debate.seats) and not is_vote):
        return AnswersFound((), 1)
    counted = _votes(given) if is_vote else given
    answer = replace(
        _with_readings(base, counted),
        judge=contestant_name(debate.seats[0].model),
        cost=cost,
        samples=len(given),
    )
    if is_vote:
        answer = replace(answer, probabilities=_mean([_vote(each.probabilities) for each in given]))
    return AnswersFound((answer,), 0)


def _reading(chances: Sequence[float], listed_backwards: bool, backwards: bool) -> Reading:
    """`chances` are those of the answers of the leg, whose order may differ from that of the question."""
    return Reading(tuple(chances[::-1] if backwards else chances), int(listed_backwards != backwards))


def _with_readings(base: JudgeAnswer, readings: Sequence[Reading]) -> JudgeAnswer:
    return replace(
        base,
        probabilities=_mean([each.probabilities for each in readings]),
        readings=tuple(each.probabilities[base.answer] for each in readings),
        listed_first=tuple(each.first for each in readings),
    )


def _votes(given: Sequence[Reading]) -> list[Reading]:
    """The share of the votes for each order of the answers."""
    return [
        Reading(_mean([_vote(each.probabilities) for each in given if each.first == first]), first)
        for first in sorted({each.first for each in given})
    ]


def answer_rows(
    answers: Iterable[JudgeAnswer], definition: ExperimentDefinition, leg: PlannedQuestion
) -> Iterator[AnswerRow]:
    """Answers of a leg as the table `answers` has them, in words that its definition has."""
    question, playing = choices_of(definition, leg)
    for answer in answers:
        yield AnswerRow(
            **asdict(answer),
            question_text=question.question,
            choices=playing.choices,
            correct=answer.right,
        )


def single_readings(answers: Iterable[JudgeAnswer]) -> Iterator[JudgeAnswer]:
    """Each reading as an answer of its own, of the answers whose readings are known."""
    for answer in answers:
        share = None if answer.cost is None else answer.cost / max(1, len(answer.readings))
        for chance, first in zip(answer.readings, answer.listed_first, strict=True):
            wrong = round(1 - chance, 6)
            chances = (wrong, chance) if answer.answer else (chance, wrong)
            yield replace(
                answer, probabilities=chances, readings=(chance,), listed_first=(first,), cost=share
            )


def round_beliefs(
    debate: Debate, definition: ExperimentDefinition, leg: PlannedQuestion
) -> tuple[RoundBelief, ...]:
    """What the judges believed in each round, where they were asked (`options = {beliefs = true}`)."""
    question, playing = choices_of(definition, leg)
    asked = debate.setup.question
    first = next((seat.id for seat in debate.seats if seat.side == "for"), "")
    if asked is None or not first:
        return ()
    is_first_right = asked.choices[0] == playing.choices[playing.right]
    rounds = {turn.number: turn.round for turn in debate.turns}
    return tuple(
        RoundBelief(
            question=question.id,
            protocol=leg.protocol,
            judge=contestant_name(debate.judge(aside.judge).model),
            round=rounds.get(aside.turn or 0, 0),
            chance=aside.chances[first] if is_first_right else round(1 - aside.chances[first], 4),
            group=question.passage or question.id,
        )
        for aside in debate.asides
        if aside.kind == "belief" and aside.judge is not None and first in aside.chances
    )


def _argued(leg: PlannedQuestion, backwards: bool) -> int | None:
    """The place, among the answers in play, of the answer that the consultant or the chooser argued for."""
    if leg.protocol in ("consultancy", "open-consultancy"):
        return int(backwards)
    if leg.protocol == "open-debate":
        return int(backwards) ^ int(leg.swapped)
    return None


def _vote(chances: Sequence[float]) -> tuple[float, ...]:
    best = [index for index, chance in enumerate(chances) if chance == max(chances)]
    return tuple(1 / len(best) if index in best else 0.0 for index in range(len(chances)))


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(round(sum(column) / len(rows), 6) for column in zip(*rows, strict=True))
