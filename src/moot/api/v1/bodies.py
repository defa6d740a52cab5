"""The bodies that v1 takes. `read_body` makes one from bytes, or says everything that is wrong with it at
once.

Strict throughout: no unknown member, no null for something left out, no number for a string. What only the
server knows (formats, providers, keys, models) it is asked through a `Capabilities`, in the same pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)
from pydantic import field_validator as checks
from pydantic.alias_generators import to_camel

from moot.api import strict_json
from moot.api.problems import Problem
from moot.api.v1.fields import (
    PROVIDERS,
    Capabilities,
    Criterion,
    Decision,
    ModelId,
    Name,
    Reason,
    SeatId,
    Tokens,
    Weight,
    capabilities_of,
    contract_first,
)
from moot.api.v1.validation_messages import (
    REQUIRED,
    Errors,
    FixedMessage,
    OptionalField,
    between,
    error_messages,
    invalid,
    lines,
    one_of,
)
from moot.core.terms import (
    DEFAULT_CRITERIA,
    MAX_CRITERIA,
    StepSize,
)
from moot.judging.ballots import TIES

Example = Mapping[str, Any]
LEFT_OUT: Any = Field(default_factory=lambda: None)
"""The default of a member that may be left out; the description shows none."""


class Body(BaseModel):
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        field_title_generator=lambda name, _: to_camel(name),
    )
    detail: ClassVar[str] = "Invalid request"
    optional: ClassVar[bool] = False
    """An empty body will do."""
    missing: ClassVar[Mapping[str, str]] = {}
    """What is said of members left out, where it is not "Field required"."""
    example: ClassVar[Example] = {}
    """What the description of the API shows."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """What is wrong with the body as a whole, of which any part may be wrong in itself."""
        return ()


class ModelChoice(Body):
    provider: Annotated[str, Field(examples=list(PROVIDERS))]
    """Who is asked."""
    model_id: Annotated[ModelId, Field(examples=["claude-3-5-sonnet-20241022"])]
    """The model, as its provider names it."""
    temperature: Annotated[float, between(0.0, 1.0)] = 0.7
    """How freely it chooses its words. Models that take none are sent none."""
    max_tokens: Tokens = 4096
    """The most that it may write in one speech."""

    @checks("provider")
    @classmethod
    def _is_offered(cls, name: str, info: ValidationInfo) -> str:
        capabilities = capabilities_of(info)
        if capabilities and name not in capabilities.providers:
            raise invalid(one_of(contract_first(capabilities.providers, PROVIDERS)))
        if capabilities and not capabilities.has_key(name):
            raise invalid("No API key configured for this provider")
        return name

    @checks("model_id")
    @classmethod
    def _is_known(cls, name: str, info: ValidationInfo) -> str:
        capabilities, provider = capabilities_of(info), info.data.get("provider")
        if capabilities and provider and not capabilities.knows(provider, name):
            raise invalid("Unknown model")
        return name


class JudgeChoice(Body):
    name: Name
    model: ModelChoice
    evaluation_criteria: Annotated[list[Criterion], Field(max_length=MAX_CRITERIA)] = Field(
        default_factory=list[str]
    )
    """By what the speeches are weighed; argument, evidence, rebuttal and clarity where none are given."""
    weights: Annotated[dict[str, Weight], Field(max_length=MAX_CRITERIA)] = Field(
        default_factory=dict[str, float]
    )
    """What each criterion counts, where they do not all count the same: 1 for those that are not named."""

    @checks("weights")
    @classmethod
    def _weighs_what_is_judged(cls, weights: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        criteria = info.data.get("evaluation_criteria")
        if criteria is not None and not weights.keys() <= {*(criteria or DEFAULT_CRITERIA)}:
            raise invalid("Must name criteria of this judge")
        return weights


MOST_TURN = 100_000
"""No turn has a higher number."""


class SubmitRound(Body):
    example: ClassVar[Example] = {"action": "next_round"}
    action: Annotated[
        Literal["next_round", "skip_to_judge"], FixedMessage(one_of(("next_round", "skip_to_judge")))
    ]


class TriggerJudge(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"reason": "Both sides have made their case."}
    reason: Reason = ""
    """Why the debate is judged before its last round."""


class Inject(Body):
    example: ClassVar[Example] = {"text": "What about open-source models?"}
    text: Annotated[str, lines(1, 2_000)]
    """Heard by the next speaker after the turn that is under way."""
    to: SeatId = LEFT_OUT
    """The one participant who hears it; everybody where it is left out."""
    question: bool = False
    """It wants an answer, and everybody hears it: of the one in `to`, or of all."""


class InjectContext(Body):
    """`Inject` as it is sent over a WebSocket: a remark for everybody."""

    additional_context: Annotated[str, lines(1, 2_000)]

    to: ClassVar[None] = None
    question: ClassVar[bool] = False

    @property
    def text(self) -> str:
        return self.additional_context


class Decide(Body):
    example: ClassVar[Example] = {"winner": "part_1", "reason": "The better answer to every question."}
    winner: Decision
    """A participant by its id, or by the letter of its place (`A`, `B`, …); or `draw`."""
    reason: Reason = ""

    @property
    def seat(self) -> str | None:
        return None if self.winner in TIES else self.winner


class Pause(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"now": False}
    now: bool = False
    """Cut the turn that is under way; it is given again on resume."""


class Resume(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"step": "turn"}
    step: Annotated[StepSize | None, OptionalField(StepSize), FixedMessage(one_of(get_args(StepSize)))] = (
        LEFT_OUT
    )
    """Go on for one speech (or those that are given together), or to the end of the round; then it pauses."""


class Ending(Body):
    """What may be said with stop and abort."""

    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"reason": "Time is up."}
    reason: Reason = ""


class Skip(Body):
    """Names the speech that is meant; without a name it is whatever is being said."""

    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"turn": 3}
    turn: Annotated[int | None, OptionalField(int), between(1, MOST_TURN)] = LEFT_OUT
    """The `turn` of a speech that has begun. Sent again, it does nothing to the next speech."""
    speech: Annotated[int | None, OptionalField(int), between(1, MOST_TURN)] = LEFT_OUT
    """The `speech`, its place in the order: also one that is still to come."""

    @property
    def slot(self) -> int | None:
        return None if self.speech is None else self.speech - 1

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if "turn" in shape and "speech" in shape:
            yield "speech", "Give turn or speech, not both"


class Nothing(Body):
    """Retry and the like need no more than their address."""

    optional: ClassVar[bool] = True


B = TypeVar("B", bound=Body)
BODIES: tuple[type[Body], ...] = (
    SubmitRound,
    TriggerJudge,
    Inject,
    Decide,
    Pause,
    Resume,
    Ending,
    Skip,
    Nothing,
)


def read_body(model: type[B], data: bytes, capabilities: Capabilities | None = None) -> B:
    if not data and model.optional:
        return model()
    return check_body(model, strict_json.loads(data), capabilities)


def check_body(model: type[B], shape: object, capabilities: Capabilities | None = None) -> B:
    errors: Errors = {}
    body: B | None = None
    if not isinstance(shape, dict):
        raise Problem("validation", model.detail, errors={"body": ["Must be an object"]})
    try:
        body = model.model_validate(shape, context=capabilities)
    except ValidationError as error:
        _add_errors(errors, _contract_messages(model, error))
    _add_errors(errors, model.together(cast("dict[str, Any]", shape)))
    if errors or body is None:
        raise Problem("validation", model.detail, errors=errors)
    return body


def _contract_messages(model: type[Body], error: ValidationError) -> Iterable[tuple[str, str]]:
    for field, message in error_messages(error):
        name = field.rpartition(".")[2]
        yield field, model.missing.get(name, message) if message == REQUIRED else message


def _add_errors(errors: Errors, problems: Iterable[tuple[str, str]]) -> None:
    for field, message in problems:
        errors.setdefault(field, []).append(message)
