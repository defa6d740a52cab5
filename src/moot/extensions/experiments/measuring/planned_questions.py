"""The legs of an experiment with questions: each question under each protocol, with the answers swapped.

A protocol is how the judge, or the model that answers, is informed. Debates have a debater for each of the
two answers, a consultancy has one, the others have a single model that answers by itself. Every leg is a
debate with a format of its own (`protocols/*.toml`). It is held twice: in the swapped leg the answers change
places, so that each debater argues for both, and neither place nor order favours the right one. In the open
protocols a speaker argues for the answer that it gave by itself; those legs follow from its single shot.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING, Literal, get_args

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import DebateQuestion, Format
from moot.extensions.experiments import measuring
from moot.extensions.experiments.measuring.pairing import MAX_DEBATES, draw
from moot.extensions.experiments.measuring.questions import ChoicesInPlay, Question, in_play

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.definition import ExperimentDefinition
    from moot.extensions.experiments.measuring.leg_results import LegResult

ProtocolName = Literal[
    "debate",
    "sequential-debate",
    "interactive-debate",
    "open-debate",
    "consultancy",
    "open-consultancy",
    "naive",
    "expert",
    "single-shot",
    "self-consistency",
]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
DEBATES: tuple[ProtocolName, ...] = ("debate", "sequential-debate", "interactive-debate", "open-debate")
OPEN: tuple[ProtocolName, ...] = ("open-debate", "open-consultancy")
"""The protocols in which a speaker argues for the answer that it thinks right."""
JUDGES_ALONE: tuple[ProtocolName, ...] = ("naive", "expert")
ALONE: tuple[ProtocolName, ...] = (*JUDGES_ALONE, "single-shot", "self-consistency")
"""The protocols in which a model answers by itself."""
READINGS = 2
"""How often every protocol asks for an answer in each leg, with the answers in both orders."""
JUDGED: tuple[ProtocolName, ...] = (*DEBATES, "consultancy", "open-consultancy", *JUDGES_ALONE)
"""The protocols for which `judges` are needed."""


class PlannedQuestion(Struct, frozen=True, omit_defaults=True):
    question: str
    """Its id."""
    protocol: ProtocolName
    models: tuple[str, ...]
    """The debaters, the first of whom speaks first; else the model that answers."""
    swapped: bool = False
    """The answers have changed places. In an open debate: the second debater chooses its answer, not the
    first. In an open consultancy: the same once more."""
    repeat: int = 1
    judge: str = ""
    """The only judge of an interactive debate, who asks between the rounds."""

    @property
    def leg(self) -> str:
        return msgspec.json.encode(self).decode()

    @property
    def group(self) -> str:
        """Both legs of a question under a protocol, with their repeats."""
        judge = [self.judge] if self.judge else []
        return " | ".join((self.question, self.protocol, *self.models, *judge))


def planned_question(leg: str) -> PlannedQuestion:
    """The leg of this name."""
    return msgspec.json.decode(leg, type=PlannedQuestion)


@cache
def protocol_format(protocol: ProtocolName) -> Format:
    name = "answer" if protocol in ALONE else protocol.removeprefix("open-")
    text = files(measuring).joinpath("protocols").joinpath(f"{name}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Format)


def question_legs(definition: ExperimentDefinition) -> list[PlannedQuestion]:
    """All legs, question by question, without the open protocols: those follow from the answers chosen.
    Raises Invalid where there are too many."""
    kinds = len([*_held(definition)]) + len([*_open(definition)])
    debates = 2 * definition.repeats * len(definition.questions) * kinds
    if debates > MAX_DEBATES:
        raise Invalid(
            f"This would be up to {debates:,} debates; an experiment has at most {MAX_DEBATES:,}. Name fewer "
            "models or questions, or lower `repeats`."
        )
    return [
        PlannedQuestion(question.id, protocol, models, swapped, repeat, judge)
        for repeat in range(1, definition.repeats + 1)
        for question in in_random_order(definition)
        for protocol, models, judge in _held(definition)
        for swapped in ((False,) if _is_only_choice(definition, protocol) else (False, True))
    ]


def open_legs(definition: ExperimentDefinition) -> list[PlannedQuestion]:
    """The debates and consultancies whose chooser must have answered the question before."""
    return [
        PlannedQuestion(question.id, protocol, models, swapped, repeat)
        for repeat in range(1, definition.repeats + 1)
        for question in in_random_order(definition)
        for protocol, models in _open(definition)
        for swapped in (False, True)
    ]


def choice_leg(leg: PlannedQuestion) -> PlannedQuestion:
    """Where the chooser of an open protocol has said which answer it thinks right: its single shot."""
    chooser = leg.models[leg.swapped if leg.protocol == "open-debate" else 0]
    return PlannedQuestion(leg.question, "single-shot", (chooser,), False, leg.repeat)


def chosen_answer(leg: PlannedQuestion, results: Mapping[str, LegResult]) -> int | None:
    """The answer that the chooser of an open protocol thinks right, by its index among those in play; None
    where it has not answered or thinks both equally probable, and for other protocols."""
    if leg.protocol not in OPEN:
        return None
    result = results.get(choice_leg(leg).leg)
    if result is None or not result.answers:
        return None
    chances = result.answers[0].probabilities
    return None if chances[0] == chances[1] else int(chances[1] > chances[0])


def cannot_be_held(leg: PlannedQuestion, results: Mapping[str, LegResult]) -> bool:
    """Whether the chooser of an open protocol was asked and has chosen nothing."""
    return choice_leg(leg).leg in results and chosen_answer(leg, results) is None


def in_random_order(definition: ExperimentDefinition) -> Sequence[Question]:
    return sorted(definition.questions, key=lambda each: draw(definition.seed, each.id))


def debater_pairs(definition: ExperimentDefinition) -> Sequence[tuple[str, str]]:
    """Who debates whom: all pairs; a single model, or each with `pairing = "self"`, against itself."""
    models = definition.models
    if definition.pairing == "self" or len(models) == 1:
        return [(model, model) for model in models]
    return [
        pair if draw(definition.seed, *pair) < draw(definition.seed, *pair[::-1]) else (pair[1], pair[0])
        for pair in combinations(sorted(models), 2)
    ]


def _held(definition: ExperimentDefinition) -> Iterator[tuple[ProtocolName, tuple[str, ...], str]]:
    """Each protocol with the models that take part, and the judge that takes part; first the choices for the
    open protocols, so that those need not wait."""
    asked: list[ProtocolName] = [name for name in definition.protocols if name not in OPEN]
    if len(asked) < len(definition.protocols):
        asked = ["single-shot", *(name for name in asked if name != "single-shot")]
    for protocol in asked:
        judges = definition.judges if protocol == "interactive-debate" else ("",)
        for models in _taking_part(definition, protocol):
            for judge in judges:
                yield protocol, models, judge


def _open(definition: ExperimentDefinition) -> Iterator[tuple[ProtocolName, tuple[str, ...]]]:
    for protocol in OPEN:
        if protocol in definition.protocols:
            for models in _taking_part(definition, protocol):
                yield protocol, models


def _taking_part(definition: ExperimentDefinition, protocol: ProtocolName) -> Sequence[tuple[str, ...]]:
    if protocol in DEBATES:
        return debater_pairs(definition)
    return [(name,) for name in (definition.judges if protocol in JUDGES_ALONE else definition.models)]


def _is_only_choice(definition: ExperimentDefinition, protocol: ProtocolName) -> bool:
    """Single shots that serve open protocols alone are needed once."""
    return protocol == "single-shot" and "single-shot" not in definition.protocols


# --- one leg ----------------------------------------------------------------------------------------------


def choices_of(definition: ExperimentDefinition, leg: PlannedQuestion) -> tuple[Question, ChoicesInPlay]:
    """The question of a leg with its answers in play. Raises Invalid where the definition has it not."""
    question = next((each for each in definition.questions if each.id == leg.question), None)
    if question is None:
        raise Invalid(f"There is no question {leg.question!r} in this experiment.")
    return question, in_play(question, definition.seed)


def debate_question(
    definition: ExperimentDefinition, leg: PlannedQuestion, chosen: int | None = None
) -> tuple[str, DebateQuestion]:
    """The question as the debate of this leg has it: the first answer is that of the first debater. The
    passage is left out where a judge answers without it."""
    question, playing = choices_of(definition, leg)
    reads = "" if leg.protocol == "naive" else definition.passages.get(question.passage, "")
    choices = playing.choices[::-1] if is_reversed(leg, chosen) else playing.choices
    both_orders = leg.protocol in ALONE
    quoted = definition.quote_words if reads and not both_orders else None
    revise = definition.revise and not both_orders
    return question.question, DebateQuestion((choices[0], choices[1]), reads, both_orders, quoted, revise)


def is_reversed(leg: PlannedQuestion, chosen: int | None = None) -> bool:
    """Whether the first debater has the second answer in play: in open protocols as the chooser wished."""
    if leg.protocol not in OPEN:
        return leg.swapped
    by_second = leg.protocol == "open-debate" and leg.swapped
    return chosen == (0 if by_second else 1)
