"""The body with which a debate is created; its `config` is made of the table of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
)
from pydantic import field_validator as checks

from moot.api.v1.bodies import LEFT_OUT, Body, JudgeChoice, ModelChoice
from moot.api.v1.fields import (
    CREATE_DEBATE,
    FORMATS,
    Character,
    Colour,
    Name,
    Prompt,
    ToolName,
    capabilities_of,
    contract_first,
    more_than,
)
from moot.api.v1.validation_messages import (
    REQUIRED,
    FixedMessage,
    OptionalField,
    between,
    invalid,
    line,
    lines,
    one_of,
)
from moot.core.setup_field import AtMost, Between, Limit, MoreThan, SetupField
from moot.core.setup_table import setup_fields
from moot.core.terms import (
    HUMAN,
    MAX_JUDGES,
    MAX_MOTION_CHARS,
    MAX_PARTICIPANTS,
    MIN_MOTION_CHARS,
    Money,
    PollSettings,
    Side,
)
from moot.core.text_normalization import fold_name

MIN_PARTICIPANTS = 2


def _first_participants(value: object) -> object:
    """Leave out participants beyond the limit: too many are refused anyway, so none of them is checked."""
    return cast("list[object]", value)[:MAX_PARTICIPANTS] if isinstance(value, list) else value


def _known_tool(name: str, info: ValidationInfo) -> str:
    capabilities = capabilities_of(info)
    if capabilities and not capabilities.has_tool(name):
        raise invalid("Unknown tool")
    return name


def _not_a_person(choice: ModelChoice) -> ModelChoice:
    if choice.provider == HUMAN:
        raise invalid("Must be a model")
    return choice


class Participant(Body):
    name: Name
    """Shown to everybody, and unlike all other names."""
    model: ModelChoice
    position: Annotated[Side, FixedMessage(one_of(get_args(Side)))]
    """The side that is argued."""
    system_prompt: Prompt = ""
    """Added to what the model is told about its part."""
    color: Colour = LEFT_OUT
    """Where it is left out, a colour that no other participant has."""
    objective: Character = ""
    """Secret: told to this participant, to owners and moderators."""
    persona: Character = ""
    """Who the participant is, in a few words."""
    stand_in: Annotated[ModelChoice | None, OptionalField(ModelChoice), AfterValidator(_not_a_person)] = (
        LEFT_OUT
    )
    """Speaks where the person of this seat (provider `human`) is not there."""

    @checks("stand_in")
    @classmethod
    def _replaces_a_person(cls, model: ModelChoice | None, info: ValidationInfo) -> ModelChoice | None:
        choice = info.data.get("model")
        if model is not None and choice is not None and choice.provider != HUMAN:
            raise invalid("Only for a seat whose provider is human")
        return model


class Polls(Body):
    """The audience votes after the speeches and, with `before`, before them: then the change counts."""

    before: bool = True
    seconds: Annotated[float | None, OptionalField(float), between(5, 86_400)] = LEFT_OUT
    """How long each vote is open; without it, until it is closed by hand."""


Tools = list[Annotated[ToolName, AfterValidator(_known_tool)]]
REQUEST_TYPES: dict[Any, Any] = {Money: float, PollSettings: Polls, tuple[str, ...]: Tools}
"""What a request has for a setting, where that is another type."""


def _config_members() -> dict[str, Any]:
    return {field.name: _member(field) for field in setup_fields() if field.request}


def _member(field: SetupField) -> Any:
    kind = REQUEST_TYPES.get(field.kind, field.kind)
    rules = [OptionalField(kind)] if field.optional else []
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    rules += [FixedMessage(one_of(choices))] if choices else _limit_rules(field.request_limit)
    described = kind | None if field.optional else kind
    for rule in rules:
        described = Annotated[described, rule]
    usual = field.request_default
    default: Any = {"default": int(usual) if isinstance(usual, float) and usual.is_integer() else usual}
    if usual is None or usual == ():
        default = {"default_factory": list[str] if usual == () else lambda: None}
    return described, Field(**default, alias=field.wire, title=field.wire, description=field.sentence)


def _limit_rules(limit: Limit | None) -> list[Any]:
    match limit:
        case None:
            return []
        case Between(low, high):
            return [between(low, high)]
        case MoreThan(floor, most):
            return [more_than(floor, f"{floor:.2f}" if floor else "0", None if most == inf else most)]
        case AtMost(most, "characters"):
            return [lines(0, most)]
        case AtMost(most, _):
            return [Field(max_length=most)]


class Config(create_model("Settings", __base__=Body, __module__=__name__, **_config_members())):
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class CreateDebate(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [CREATE_DEBATE]})
    detail: ClassVar[str] = "Invalid debate configuration"
    missing: ClassVar[Mapping[str, str]] = {
        "participants": f"Minimum {MIN_PARTICIPANTS} participants required",
        "position": one_of(get_args(Side)),
    }

    topic: Annotated[str, line(MIN_MOTION_CHARS, MAX_MOTION_CHARS)]
    """The motion."""
    format: Annotated[str, Field(examples=list(FORMATS))]
    participants: Annotated[
        list[Participant],
        BeforeValidator(_first_participants),
        Field(json_schema_extra={"minItems": MIN_PARTICIPANTS, "maxItems": MAX_PARTICIPANTS}),
    ]
    judge: Annotated[JudgeChoice | None, OptionalField(JudgeChoice)] = LEFT_OUT
    """May be left out where `judges` has at least one."""
    judges: Annotated[list[JudgeChoice], Field(max_length=MAX_JUDGES - 1)] = Field(
        default_factory=list[JudgeChoice]
    )
    """Further judges, who make a panel with the first."""
    config: Config = Field(default_factory=Config)

    @checks("format")
    @classmethod
    def _is_installed(cls, name: str, info: ValidationInfo) -> str:
        capabilities = capabilities_of(info)
        if capabilities and name not in capabilities.formats:
            raise invalid(one_of(contract_first(capabilities.formats, FORMATS)))
        return name

    @property
    def panel(self) -> dict[str, JudgeChoice]:
        """The judges by the member that each was given in."""
        first = {"judge": self.judge} if self.judge else {}
        return {**first, **{f"judges.{index}": judge for index, judge in enumerate(self.judges)}}

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if "judge" not in shape and not shape.get("judges"):
            yield "judge", REQUIRED
        config: Any = shape.get("config")
        if isinstance(config, dict):
            yield from cls._amounts(cast("dict[str, Any]", config))
        participants: Any = shape.get("participants")
        if isinstance(participants, list):
            yield from cls._table(cast("list[Any]", participants))

    @classmethod
    def _amounts(cls, config: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """As they were sent: also where the limit is wrong in itself."""
        warning: Any = config.get("warnAtCost")
        limit: Any = config.get("costLimit")
        if type(warning) in (int, float) and type(limit) in (int, float) and warning >= limit and warning > 0:
            yield "warnAtCost", "Must be less than costLimit"

    @classmethod
    def _table(cls, table: list[Any]) -> Iterable[tuple[str, str]]:
        if len(table) < MIN_PARTICIPANTS:
            yield "participants", f"Minimum {MIN_PARTICIPANTS} participants required"
        if len(table) > MAX_PARTICIPANTS:
            yield "participants", f"Maximum {MAX_PARTICIPANTS} participants allowed"
        seated = [
            cast("dict[str, Any]", seat).get("name")
            for seat in table[:MAX_PARTICIPANTS]
            if isinstance(seat, dict)
        ]
        names = [name for value in seated if isinstance(value, str) and (name := fold_name(value[:200]))]
        if len(set(names)) < len(names):
            yield "participants", "Names must be unique"
