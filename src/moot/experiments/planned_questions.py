"""The legs of an experiment with questions: each question under each protocol, with the answers swapped.

A protocol is how the judge, or the model that answers, is informed. Debates have a debater for each of the
two answers, a consultancy has one, the others have a single model that answers by itself. Every leg is a
debate with a format of its own (`protocols/*.toml`). It is held twice: in the swapped leg the answers change
places, so that each debater argues for both, and neither place nor order favours the right one.
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
from moot.experiments.pairing import MAX_DEBATES, draw
from moot.experiments.questions import ChoicesInPlay, Question, in_play

if TYPE_CHECKING:
    from moot.experiments.definition import ExperimentDefinition
    from moot.experiments.leg_results import LegResult

ProtocolName = Literal[
    "debate", "sequential-debate", "open-debate", "consultancy", "naive", "single-shot", "self-consistency"
]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
FORMATS: Mapping[ProtocolName, str] = {
    "debate": "debate",
    "sequential-debate": "sequential-debate",
    "open-debate": "debate",
    "consultancy": "consultancy",
    "naive": "answer",
    "single-shot": "answer",
    "self-consistency": "answer",
}
DEBATES: tuple[ProtocolName, ...] = ("debate", "sequential-debate", "open-debate")
ALONE: tuple[ProtocolName, ...] = ("naive", "single-shot", "self-consistency")
"""The protocols in which a model answers by itself."""
READINGS = 2
"""How often every protocol asks for an answer in each leg, with the answers in both orders."""
JUDGED: tuple[ProtocolName, ...] = (*DEBATES, "consultancy", "naive")
"""The protocols for which `judges` are needed."""


class PlannedQuestion(Struct, frozen=True, omit_defaults=True):
    question: str
    """Its id."""
    protocol: ProtocolName
    models: tuple[str, ...]
    """The debaters, the first of whom speaks first; else the model that answers."""
    swapped: bool = False
    """The answers have changed places. In an open debate: the second debater chooses its answer, not the
    first."""
    repeat: int = 1

    @property
    def leg(self) -> str:
        return msgspec.json.encode(self).decode()

    @property
    def group(self) -> str:
        """Both legs of a question under a protocol, with their repeats."""
        return " | ".join((self.question, self.protocol, *self.models))


def planned_question(leg: str) -> PlannedQuestion:
    """The leg of this name."""
    return msgspec.json.decode(leg, type=PlannedQuestion)


@cache
def protocol_format(protocol: ProtocolName) -> Format:
    name = f"{FORMATS[protocol]}.toml"
    text = files("moot.experiments").joinpath("protocols").joinpath(name).read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Format)


def question_legs(definition: ExperimentDefinition) -> list[PlannedQuestion]:
    """All legs, question by question, without the open debates: those follow from the answers chosen. Raises
    Invalid where there are too many."""
    kinds = len([*_held(definition)])
    if "open-debate" in definition.protocols:
        kinds += len(debater_pairs(definition))
    debates = 2 * definition.repeats * len(definition.questions) * kinds
    if debates > MAX_DEBATES:
        raise Invalid(
            f"This would be up to {debates:,} debates; an experiment has at most {MAX_DEBATES:,}. Name fewer "
            "models or questions, or lower `repeats`."
        )
    return [
        PlannedQuestion(question.id, protocol, models, swapped, repeat)
        for repeat in range(1, definition.repeats + 1)
        for question in in_random_order(definition)
        for protocol, models in _held(definition)
        for swapped in ((False,) if _is_only_choice(definition, protocol) else (False, True))
    ]


def open_legs(definition: ExperimentDefinition) -> list[PlannedQuestion]:
    """The open debates, whose chooser must have answered the question before."""
    if "open-debate" not in definition.protocols:
        return []
    return [
        PlannedQuestion(question.id, "open-debate", pair, swapped, repeat)
        for repeat in range(1, definition.repeats + 1)
        for question in in_random_order(definition)
        for pair in debater_pairs(definition)
        for swapped in (False, True)
    ]


def choice_leg(leg: PlannedQuestion) -> PlannedQuestion:
    """Where the chooser of an open debate has said which answer it thinks right: its single shot."""
    return PlannedQuestion(leg.question, "single-shot", (leg.models[leg.swapped],), False, leg.repeat)


def chosen_answer(leg: PlannedQuestion, results: Mapping[str, LegResult]) -> int | None:
    """The answer that the chooser of an open debate thinks right, by its index among those in play; None
    where it has not answered or thinks both equally probable, and for other protocols."""
    if leg.protocol != "open-debate":
        return None
    result = results.get(choice_leg(leg).leg)
    if result is None or not result.answers:
        return None
    chances = result.answers[0].probabilities
    return None if chances[0] == chances[1] else int(chances[1] > chances[0])


def cannot_be_held(leg: PlannedQuestion, results: Mapping[str, LegResult]) -> bool:
    """Whether the chooser of an open debate was asked and has chosen nothing."""
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


def _held(definition: ExperimentDefinition) -> Iterator[tuple[ProtocolName, tuple[str, ...]]]:
    """Each protocol with the models that take part; first the choices for open debates, so that those need
    not wait."""
    asked: list[ProtocolName] = [name for name in definition.protocols if name != "open-debate"]
    if "open-debate" in definition.protocols:
        asked = ["single-shot", *(name for name in asked if name != "single-shot")]
    for protocol in asked:
        if protocol in DEBATES:
            taking_part: Sequence[tuple[str, ...]] = debater_pairs(definition)
        else:
            taking_part = [
                (name,) for name in (definition.judges if protocol == "naive" else definition.models)
            ]
        for models in taking_part:
            yield protocol, models


def _is_only_choice(definition: ExperimentDefinition, protocol: ProtocolName) -> bool:
    """Single shots that serve an open debate alone are needed once."""
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
    passage is left out where a judge answers by itself."""
    question, playing = choices_of(definition, leg)
    reads = "" if leg.protocol == "naive" else definition.passages.get(question.passage, "")
    choices = playing.choices[::-1] if is_reversed(leg, chosen) else playing.choices
    both_orders = leg.protocol in ALONE
    return question.question, DebateQuestion((choices[0], choices[1]), reads, both_orders)


def is_reversed(leg: PlannedQuestion, chosen: int | None = None) -> bool:
    """Whether the first debater has the second answer in play: in an open debate as its chooser wished."""
    if leg.protocol != "open-debate":
        return leg.swapped
    return chosen == (0 if leg.swapped else 1)
