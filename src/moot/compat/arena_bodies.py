"""What is sent to `/api/debates`: who debates what, and what those who watch want done.

A model may be named in any way that people use; which one is meant, a `ModelResolver` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Protocol, cast, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic import field_validator as checks

from moot.api.v1.bodies import MOST_TURN, Body
from moot.api.v1.fields import (
    PROVIDERS,
    Capabilities,
    Character,
    ModelId,
    Name,
    Prompt,
    capabilities_of,
    contract_first,
)
from moot.api.v1.validation_messages import (
    FixedMessage,
    OptionalField,
    between,
    folded,
    invalid,
    line,
    lines,
    one_of,
    trimmed,
)
from moot.core.terms import Model

TURNS, MAX_TURNS = 10, 20
TYPE = "turn-based"
DEFAULT_NAMES = {"debaterA": "Debater A", "debaterB": "Debater B"}
Action = Literal["pause", "resume", "skip", "inject"]
Condition = Literal["self-terminate", "user-decides", "ai-judge"]
_WORD = "[A-Za-z0-9_:@-]+(?:[./][A-Za-z0-9_:@-]+)*"
_NAMED: dict[str, Any] = {"type": "string", "pattern": f"^{_WORD}$", "minLength": 1, "maxLength": 99}


class ModelResolver(Capabilities, Protocol):
    def resolve(self, name: str) -> Model | None:
        """A model by any name that people use for it."""
        ...


def resolver_of(info: ValidationInfo) -> ModelResolver | None:
    return cast("ModelResolver | None", capabilities_of(info))


def _spelt(value: object) -> object:
    """Also an object of provider and modelId, as v1 has it."""
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, object]", value)
    provider, model = given.get("provider"), given.get("modelId")
    if given.keys() != {"provider", "modelId"} or not (isinstance(provider, str) and isinstance(model, str)):
        raise invalid("Must be a name, or an object of provider and modelId")
    return f"{provider}/{model}"


def _check_model(name: str, info: ValidationInfo) -> str:
    """In full, where whoever is to be asked was named apart."""
    registry, provider = resolver_of(info), info.data.get("provider")
    full = f"{provider}/{name}" if provider else name
    if registry is None:
        return full
    model = registry.resolve(full)
    if model is None:
        raise invalid(f"Model not found: {name}")
    if not registry.has_key(model.provider):
        raise invalid("No API key configured for this provider")
    return full


ModelName = Annotated[
    ModelId,
    BeforeValidator(_spelt),
    AfterValidator(_check_model),
    WithJsonSchema(
        {
            "anyOf": [
                _NAMED,
                {
                    "type": "object",
                    "properties": {"provider": _NAMED, "modelId": _NAMED},
                    "required": ["provider", "modelId"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


class Debater(Body):
    provider: Annotated[str | None, OptionalField(str)] = Field(default_factory=lambda: None)
    """Who is asked, where the name of the model does not say it."""
    model: ModelName
    """`provider/model`, a bare id that the price list knows, or a name as OpenRouter has it."""
    name: Annotated[str | None, OptionalField(Name)] = Field(default_factory=lambda: None)
    """Shown to everybody; "Debater A" and "Debater B" where it is left out."""
    system_prompt: Prompt = ""
    """Added to what the model is told about its part."""
    objective: Character = ""
    """Secret: told to this debater, to owners and moderators."""

    @checks("provider")
    @classmethod
    def _is_offered(cls, name: str | None, info: ValidationInfo) -> str | None:
        registry = resolver_of(info)
        if registry and name not in registry.providers:
            raise invalid(one_of(contract_first(registry.providers, PROVIDERS)))
        return name


class BoutJudge(Body):
    model: ModelName


class NewBout(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "topic": "Best algorithm for sorting 1M items",
                    "debaterA": {"model": "anthropic/claude-3.5-sonnet"},
                    "debaterB": {"model": "gpt-4-turbo"},
                    "maxTurns": 10,
                    "winningCondition": "self-terminate",
                }
            ]
        }
    )
    detail: ClassVar[str] = "Invalid debate configuration"

    topic: Annotated[str, line(1, 500)]
    """What is debated."""
    debater_a: Debater
    debater_b: Debater
    max_turns: Annotated[int, between(1, MAX_TURNS), FixedMessage(f"Must be between 1 and {MAX_TURNS}")] = (
        TURNS
    )
    format: Annotated[Literal["turn-based"], FixedMessage(one_of((TYPE,)))] = TYPE
    winning_condition: Annotated[Condition, FixedMessage(one_of(get_args(Condition)))] = "self-terminate"
    """`self-terminate`: it also ends when one gives way or both go in circles. `user-decides`: nobody judges,
    and it waits for `POST /api/v1/debates/{debateId}/decide`."""
    judge: Annotated[BoutJudge | None, OptionalField(BoutJudge)] = Field(default_factory=lambda: None)
    """Where it is left out, a model that is kin to neither debater, if there is one. Nobody, where the user
    decides."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        first, second = (_name_of(shape.get(seat), name) for seat, name in DEFAULT_NAMES.items())
        if first and first == second:
            yield "debaterB.name", "Names must be unique"
        if "judge" in shape and shape.get("winningCondition") == "user-decides":
            yield "judge", "Nobody judges where the user decides"


class UserAction(Body):
    type: Annotated[Action, FixedMessage(one_of(get_args(Action)))]
    payload: Annotated[str, lines(0, 2_000)] = ""
    """For `inject`: the comment, heard by the next speaker after the turn that is under way."""
    turn_number: Annotated[int | None, OptionalField(int), between(1, MOST_TURN)] = Field(
        default_factory=lambda: None
    )
    """For `skip`: the turn that is meant. Sent again, it does nothing to the next turn."""

    @property
    def slot(self) -> int | None:
        return None if self.turn_number is None else self.turn_number - 1

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        said = shape.get("payload", "")
        if "turnNumber" in shape and shape.get("type") != "skip":
            yield "turnNumber", "Only for skip"
        if shape.get("type") == "inject" and isinstance(said, str) and not trimmed(said):
            yield "payload", "Needed for inject"


BODIES: tuple[type[Body], ...] = (NewBout, UserAction)


def _name_of(debater: Any, otherwise: str) -> str:
    name: Any = cast("dict[str, Any]", debater).get("name") if isinstance(debater, dict) else None
    return folded(name[:200] if isinstance(name, str) else otherwise)
