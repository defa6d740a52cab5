"""`/api/debates`: two debaters take turns, and viewers may pause, skip and comment. Bodies and routes.

A model may be given by any name that people use for it; a `ModelResolver` finds the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Protocol, assert_never, cast, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic import field_validator as checks
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.v1 import bodies
from moot.api.v1.bodies import MOST_TURN, Body
from moot.api.v1.fields import (
    PROVIDERS,
    SEAT_ID,
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
    invalid,
    line,
    lines,
    one_of,
)
from moot.core.state import Debate
from moot.core.terms import MAX_MOTION_CHARS, Model
from moot.core.text_normalization import fold_name, trim
from moot.engine.arena import Arena
from moot.extensions.arena_api import frames
from moot.extensions.arena_api.frames import TYPE
from moot.extensions.arena_api.shapes import Action, Bout, BoutActed, BoutEvent
from moot.judging.ballots import TIES
from moot.providers.redaction import redact
from moot.rules.commands import AddRemark, Command, DecideWinner, PauseDebate, ResumeDebate, SkipTurn
from moot.rules.debate_setup import SeatSetup, Setup
from moot.web.app_context import identity_of
from moot.web.model_names import ServerModelResolver
from moot.web.responses import json_reply
from moot.web.route_docs import COMMANDED, READ, api_router, documented
from moot.web.routes.command_routes import run_command
from moot.web.routes.handlers import (
    Context,
    DebateId,
    check_not_stopping,
    open_debate,
)
from moot.web.server_capabilities import lent_keys
from moot.web.streaming.plain_streams import follow_plainly, follow_route, opened_headers

TURNS, MAX_TURNS = 10, 20
DEFAULT_NAMES = {"debaterA": "Debater A", "debaterB": "Debater B"}
Condition = Literal["self-terminate", "user-decides", "ai-judge"]
_DECISION = re.compile(f"[A-D]|{'|'.join(TIES)}|{SEAT_ID}")
_WORD = "[A-Za-z0-9_:@-]+(?:[./][A-Za-z0-9_:@-]+)*"
_NAMED: dict[str, Any] = {"type": "string", "pattern": f"^{_WORD}$", "minLength": 1, "maxLength": 99}


class ModelResolver(Capabilities, Protocol):
    def resolve(self, name: str) -> Model | None:
        """Finds a model by any name that people use for it."""
        ...


def resolver_of(info: ValidationInfo) -> ModelResolver | None:
    return cast("ModelResolver | None", capabilities_of(info))


def _joined_name(value: object) -> object:
    """`provider/model` from an object with `provider` and `modelId`, as in v1; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    shape = cast("dict[str, object]", value)
    provider, model = shape.get("provider"), shape.get("modelId")
    if shape.keys() != {"provider", "modelId"} or not (isinstance(provider, str) and isinstance(model, str)):
        raise invalid("Must be a name, or an object of provider and modelId")
    return f"{provider}/{model}"


def _check_model(name: str, info: ValidationInfo) -> str:
    """The name with its provider, where that was given in a field of its own. Raises for unknown models."""
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
    BeforeValidator(_joined_name),
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

    topic: Annotated[str, line(1, MAX_MOTION_CHARS)]
    """What is debated."""
    debater_a: Debater
    debater_b: Debater
    max_turns: Annotated[int, between(1, MAX_TURNS), FixedMessage(f"Must be between 1 and {MAX_TURNS}")] = (
        TURNS
    )
    format: Annotated[Literal["turn-based"], FixedMessage(one_of((TYPE,)))] = TYPE
    winning_condition: Annotated[Condition, FixedMessage(one_of(get_args(Condition)))] = "self-terminate"
    """`self-terminate`: it also ends when one gives way or both go in circles. `user-decides`: nobody judges,
    and after the last turn it waits for the action `decide`."""
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
    """For `inject`: the comment, heard by the next speaker after the turn that is under way. For `decide`:
    the winner, `A` or `B`, or `draw`."""
    turn_number: Annotated[int | None, OptionalField(int), between(1, MOST_TURN)] = Field(
        default_factory=lambda: None
    )
    """For `skip`: the turn that is meant. Sent again, it does nothing to the next turn."""

    @property
    def slot(self) -> int | None:
        return None if self.turn_number is None else self.turn_number - 1

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        payload = shape.get("payload", "")
        if "turnNumber" in shape and shape.get("type") != "skip":
            yield "turnNumber", "Only for skip"
        if shape.get("type") == "inject" and isinstance(payload, str) and not trim(payload):
            yield "payload", "Needed for inject"
        if shape.get("type") == "decide" and isinstance(payload, str) and not _DECISION.fullmatch(payload):
            yield "payload", "Must be A, B or draw"


def _name_of(debater: Any, otherwise: str) -> str:
    name: Any = cast("dict[str, Any]", debater).get("name") if isinstance(debater, dict) else None
    return fold_name(name[:200] if isinstance(name, str) else otherwise)


router = api_router()


async def _setup(arena: Arena, body: NewBout, resolver: ServerModelResolver) -> Setup:
    judge = body.judge and resolver.resolve(body.judge.model)
    return await arena.setup(
        body.topic,
        format=frames.FORMAT,
        seats=tuple(
            _seat(debater, name, resolver)
            for debater, name in zip((body.debater_a, body.debater_b), DEFAULT_NAMES.values(), strict=True)
        ),
        judge="none" if body.winning_condition == "user-decides" else judge,
        turns=body.max_turns,
        winning=body.winning_condition,
        any_length=True,
    )


def _seat(debater: Debater, name: str, resolver: ServerModelResolver) -> SeatSetup:
    model = resolver.resolve(debater.model)
    if model is None:
        # The body was valid a moment ago.
        raise Problem("provider-unavailable")
    return SeatSetup(
        model=model,
        name=debater.name or name,
        objective=debater.objective,
        system_prompt=debater.system_prompt,
    )


def _command(action: UserAction, by: str) -> Command:
    match action.type:
        case "pause":
            return PauseDebate(by=by)
        case "resume":
            return ResumeDebate()
        case "skip":
            return SkipTurn(by=by, slot=action.slot)
        case "inject":
            return AddRemark(redact(action.payload), by=by)
        case "decide":
            return DecideWinner(None if action.payload in TIES else action.payload)
        case _:
            assert_never(action.type)


# --- routes -------------------------------------------------------------------------------------------


@router.post(
    "/debates",
    **documented(
        "open",
        tag="Compatibility APIs",
        summary="Set two models against each other",
        status=201,
        reply=Bout,
        says="The debate.",
        body=NewBout,
        once=True,
        keys=True,
        headers=("Location", "Idempotent-Replayed", "X-Debate-Id"),
        refusals=(403, 409, 415, 422),
    ),
)
async def create_arena_debate(request: Request, context: Context) -> Response:
    """Opens a debate of two models that take turns; it starts at once. A model is named as `provider/model`,
    by a bare id, as OpenRouter names it, or as an object with `provider` and `modelId`.
    """
    raw = await request.body()
    check_not_stopping(context)
    async with context.idempotency.in_flight(request, raw) as once:
        keys = lent_keys(request.headers, context.arena)
        resolver = ServerModelResolver(context.arena, keys)
        setup = await _setup(context.arena, bodies.read_body(NewBout, raw, resolver), resolver)
        outcome = await open_debate(context, request, setup, keys, once)
    reply = frames.debate_reply(outcome.debate, identity_of(request).viewer)
    return json_reply(reply, 201, opened_headers(outcome))


@router.get(
    "/debates/{debateId}",
    **documented(
        "watch",
        tag="Compatibility APIs",
        summary="Look at a debate of turns",
        reply=Bout,
        says="The state of the debate, as far as the client may see it.",
        refusals=READ,
    ),
)
async def get_arena_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns any debate with its turns, transcript, summary and figures. Seats are called A, B, C and D in
    the order of the format.
    """
    debate = await context.arena.state(debate_id)
    return json_reply(frames.debate_reply(debate, identity_of(request).viewer))


@router.get(
    "/debates/{debateId}/stream",
    **follow_route("Follow a debate of turns", BoutEvent),
)
async def stream_arena_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams any debate from its beginning or after the last `seq` that the client has seen. Events have
    an id and no name. The stream ends after `debate.completed`; a browser that then reconnects gets 204.
    Where you decide, it waits after `decision.awaited`.
    """
    return await follow_plainly(context, request, debate_id, frames.ArenaFrames, frames.deleted())


@router.post(
    "/debates/{debateId}/turn",
    **documented(
        "steer",
        tag="Compatibility APIs",
        summary="Pause, resume, skip, comment or decide",
        status=202,
        reply=BoutActed,
        says="The action is recorded.",
        body=UserAction,
        once=True,
        keys=True,
        refusals=COMMANDED,
    ),
)
async def steer_arena_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Carries out the action; `action.processed` on the stream tells when it has taken effect. An action that
    is not possible now is refused with 409, such as a skip while no one is speaking. A skip with `turnNumber`
    affects only that turn, so it can safely be repeated. `decide` names the winner in `payload` and ends the
    debate; where you decide, the stream tells by `decision.awaited` when the turns are over.
    """
    received = UserAction(type="resume")

    def command(action: UserAction) -> Command:
        nonlocal received
        received = action
        return _command(action, identity_of(request).name)

    def answer(debate: Debate) -> BoutActed:
        return frames.action_reply(debate, received.type, received.payload)

    return await run_command(context, request, debate_id, UserAction, command, answer, status=202)
