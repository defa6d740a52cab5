"""The tools: each calls the arena and answers with data and with text.

A debate runs by itself once it is started; `follow_debate` reports what is new. A failure is an error of the
tool, with one sentence.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from functools import wraps
from math import inf
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from moot import formats
from moot.core.errors import Invalid, MootError, Refused, Unavailable, UnknownDebate
from moot.core.events import CallDelta, SegmentCompleted
from moot.core.evolve import evolve
from moot.core.setup_field import AtMost, Between, MoreThan, SetupField
from moot.core.setup_table import setup_fields
from moot.core.state import Debate
from moot.core.statuses import Status
from moot.core.terms import HUMAN, MAX_MOTION_CHARS, MIN_MOTION_CHARS, Money
from moot.core.visibility import OWNER
from moot.core.word_count import count_words
from moot.engine.arena import Arena
from moot.extensions.mcp import answers
from moot.providers.redaction import redact
from moot.rules.commands import (
    Abort,
    AddRemark,
    Command,
    JudgeNow,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipTurn,
    Stop,
)
from moot.rules.debate_setup import opening_event
from moot.rules.runner_decisions import wants_runner
from moot.views import exports

MAX_WAIT = 60
PROGRESS_SECONDS = 0.5
"""How often a client that waits gets a progress report."""
MAX_LISTED = 50
COST_LIMIT = 1.0
"""The default: programs start debates here, perhaps many."""
BY = "mcp"
NOBODY = "none"
PARAMETER_NAMES = {"topic": "motion", "participants": "models"}
"""Fields of a debate's setup that start_debate names differently, besides the settings."""

Id = Annotated[str, Field(description="The debate's id, as start_debate and list_debates give it.")]
Action = Literal["pause", "resume", "skip", "retry", "judge", "stop", "abort", "inject"]


class ToolFunctions:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def start_debate(
        self,
        motion: Annotated[
            str,
            Field(
                description="What to debate, as a sentence.",
                json_schema_extra={"minLength": MIN_MOTION_CHARS, "maxLength": MAX_MOTION_CHARS},
            ),
        ],
        format: Annotated[str, Field(description="A name from list_formats.")] = "oxford",
        models: Annotated[
            list[str] | None,
            Field(description="provider/model for each chair, or one for all. Without: the best one here."),
        ] = None,
        judges: Annotated[
            list[str] | None,
            Field(description='provider/model of each judge, or ["none"]. Without: one is chosen.'),
        ] = None,
        **settings: Any,
    ) -> Annotated[CallToolResult, answers.StartResult]:
        with errors_as_text():
            speakers, panel = models or [], judges or []
            nobody = panel == [NOBODY]
            self._check(format, [*speakers, *(() if nobody else panel)], settings.get("tools") or [])
            setup = await self._arena.setup(
                motion,
                format=format,
                models=speakers if len(speakers) > 1 else (),
                model=speakers[0] if len(speakers) == 1 else None,
                judge=NOBODY if nobody else None,
                judges=() if nobody else panel,
                **{name: value for name, value in settings.items() if value is not None},
            )
            planned = opening_event(
                setup
            )  # before anything is downloaded: it raises if the debate is not valid
            await self._arena.providers.prepare([seat.model for seat in (*setup.seats, *setup.judges)])
            debate = (await self._arena.create(setup, start=True)).debate
        answer = answers.start_result(debate, answers.forecast(planned))
        return tool_result(answer, answers.start_text(answer))

    async def follow_debate(
        self,
        id: Id,
        context: Context,
        after: Annotated[int, Field(ge=0, description="`next` of the last look; 0: from the start.")] = 0,
        wait: Annotated[
            float, Field(ge=0, le=MAX_WAIT, description="Seconds to wait where there is no news yet.")
        ] = 20,
    ) -> Annotated[CallToolResult, answers.FollowResult]:
        with errors_as_text():
            await self._arena.head(id)
            before = await self._arena.store.state(id, after) if after else None
            debate = await self._wait(before, id, after, wait, context)
        answer = answers.follow_result(before, debate)
        return tool_result(answer, answers.news_text(answer, debate))

    async def debate_verdict(self, id: Id) -> Annotated[CallToolResult, answers.VerdictResult]:
        with errors_as_text():
            debate = await self._arena.state(id)
        answer = answers.verdict_result(debate)
        if answer is None:
            raise ToolError(answers.no_verdict_text(debate))
        return tool_result(answer, answers.verdict_text(answer))

    async def debate_transcript(
        self,
        id: Id,
        form: Annotated[answers.TranscriptForm, Field(description="How it is written.")] = "markdown",
        reasoning: Annotated[bool, Field(description="With what the models thought.")] = False,
    ) -> Annotated[CallToolResult, answers.TranscriptResult]:
        with errors_as_text():
            text = exports.render(form, await self._arena.state(id), OWNER, reasoning=reasoning).decode()
        return tool_result(answers.TranscriptResult(id=id, form=form, transcript=text), text)

    async def list_debates(
        self,
        search: Annotated[str, Field(description="Only motions that have this in them.")] = "",
        status: Annotated[Status | None, Field(description="Only those in this state.")] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 10,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> Annotated[CallToolResult, answers.DebateListResult]:
        with errors_as_text():
            page = await self._arena.list(
                search=search, statuses=(status,) if status else (), limit=limit, offset=offset
            )
        rows = [
            answers.ListedDebate(
                id=head.id,
                motion=head.motion,
                format=head.format,
                status=head.status,
                created=head.created_at.isoformat(timespec="seconds"),
            )
            for head in page.heads
        ]
        text = "\n".join(f"- {row.id} ({row.status}): {row.motion}" for row in rows) or "No debates."
        return tool_result(answers.DebateListResult(debates=rows, total=page.total), text)

    async def list_formats(self) -> Annotated[CallToolResult, answers.FormatListResult]:
        with errors_as_text():
            folder = self._arena.settings.formats
            loaded = [formats.load(name, folder) for name in formats.names(folder)]
        rows = [
            answers.FormatInfo(
                name=fmt.name,
                title=fmt.title,
                summary=fmt.summary,
                chairs=[f"{chair.name} ({chair.side})" for chair in fmt.chairs],
                rounds=fmt.rounds,
                most_rounds=fmt.max_rounds,
            )
            for fmt in loaded
        ]
        return tool_result(
            answers.FormatListResult(formats=rows), "\n".join(f"- {row.name}: {row.summary}" for row in rows)
        )

    async def list_models(self) -> Annotated[CallToolResult, answers.ModelListResult]:
        with errors_as_text():
            available = await self._arena.providers.usable()
            default = await self._arena.providers.default_model()
        rows = [
            answers.ModelInfo(
                name=model.name, usable=model.usable, what=model.why if model.usable else model.todo
            )
            for model in available
        ]
        lines = [f"- {row.name}{'' if row.usable else ' (not now)'}: {row.what}" for row in rows]
        return tool_result(
            answers.ModelListResult(models=rows, default=default),
            "\n".join([*lines, f"By default: {default}"]),
        )

    async def steer_debate(
        self,
        id: Id,
        action: Annotated[Action, Field(description="What is to be done.")],
        text: Annotated[
            str, Field(description="For inject: what all later speakers hear.", max_length=2_000)
        ] = "",
    ) -> Annotated[CallToolResult, answers.SteerResult]:
        command, done = _command(action, text)
        with errors_as_text():
            debate = (await self._arena.ask(id, command)).debate
        return tool_result(answers.SteerResult(id=id, status=debate.status, done=done), done)

    def _check(self, format: str, names: list[str], tools: list[str]) -> None:
        """Raises Invalid for unknown names: paths and people are not accepted here."""
        if format not in (known := formats.names(self._arena.settings.formats)):
            raise Invalid(f"There is no format of that name. Known: {', '.join(known)}.")
        if not all(self._arena.tools.knows(name) for name in tools):
            known = self._arena.tools.names()
            raise Invalid(f"There is no tool of that name. Known: {', '.join(known)}.")
        model_files = self._arena.providers.model_files
        local_names = {*model_files.catalogue, *model_files.installed()}
        for name in names:
            provider, slash, model = name.partition("/")
            if provider == HUMAN:
                raise Invalid("Only models can take part in a debate that is held through a tool.")
            # A name without a provider is that of a local model. Checked here, so that no file is looked for.
            if (provider == "local" or not slash) and (model if slash else name) not in local_names:
                raise Invalid(
                    "There is no local model of that name. Others are written as provider/model: list_models "
                    "tells which there are."
                )
            self._arena.providers.model(name)

    # --- waiting --------------------------------------------------------------------------------------

    async def _wait(
        self, before: Debate | None, id: str, after: int, seconds: float, context: Context
    ) -> Debate:
        """The debate as soon as there is news, it waits, or the time is up."""
        head = await self._arena.state(id)
        if answers.news(before, head) or not wants_runner(head):
            return head
        debate = head
        reporting = asyncio.create_task(_report_progress(context, lambda: debate), name="progress")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds), aclosing(self._arena.follow(id, head.seq)) as records:
                    async for recorded in records:
                        debate = evolve(debate, recorded)
                        if isinstance(recorded.event, CallDelta | SegmentCompleted):
                            continue
                        if answers.news(before, debate) or not wants_runner(debate):
                            break
        finally:
            reporting.cancel()
            await asyncio.gather(reporting, return_exceptions=True)
        # Read again: the events recorded with the news belong to it, such as the end after the verdict.
        return await self._arena.state(id)


async def _report_progress(context: Context, debate: Callable[[], Debate]) -> None:
    """Without progress reports clients give up on a call that takes long."""
    progress = 0
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        progress += 1
        live = debate().live
        message = ", ".join(
            f"{debate().seat(turn.seat).name}: {count_words(turn.text)} words" for turn in live
        )
        await context.report_progress(progress, message=message or "Waiting")


def _command(action: Action, text: str) -> tuple[Command, str]:
    if (action == "inject") != bool(text.strip()):
        raise ToolError("Give a text with inject, and only with inject.")
    match action:
        case "pause":
            return PauseDebate(by=BY), "It pauses after the speech that is being given."
        case "resume":
            return ResumeDebate(), "It goes on."
        case "skip":
            return SkipTurn(by=BY), "The speech is skipped."
        case "retry":
            return Retry(), "The last speech that failed is given again."
        case "judge":
            return JudgeNow(), "The judges are asked now."
        case "stop":
            return Stop(), "It ends here, and what was said is judged."
        case "abort":
            return Abort(), "It ends here, without a verdict."
        case "inject":
            return AddRemark(redact(text), by=BY), "Every later speaker will hear it."


def _parameter_name(field: str) -> str:
    settings = {row.wire: row.name for row in setup_fields()}
    return PARAMETER_NAMES.get(field) or settings.get(field, field)


def with_settings(start: Callable[..., Any]) -> Callable[..., Any]:
    """Describe the settings of a debate as arguments of their own: the SDK reads the signature."""
    signature = inspect.signature(start, eval_str=True)
    fixed = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    own = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for field in setup_fields()
        if field.argument is not None
        for kind, default in [_argument(field)]
    ]

    @wraps(start)
    async def described(*given: Any, **named: Any) -> Any:
        usual = {one.name: one.default for one in own}
        return await start(*given, **usual | named)

    vars(described)["__signature__"] = signature.replace(parameters=[*fixed, *own])
    return described


def _argument(field: SetupField) -> tuple[Any, Any]:
    """The type of an argument, with its limits, and its default."""
    kind = {Money: float, tuple[str, ...]: list[str]}.get(field.kind, field.kind)
    limits: dict[str, Any] = {}
    match field.limit:
        case Between(low, high):
            limits = {"ge": low, "le": high}
        case MoreThan(floor, most):
            limits = {"gt": floor, "allow_inf_nan": False, **({} if most == inf else {"le": most})}
        case AtMost() | None:
            pass
    default: Any = {"cost_limit": COST_LIMIT, "rounds": None}.get(field.name, field.default)
    optional = default in (None, ()) or field.optional
    described = Annotated[kind | None if optional else kind, Field(description=field.argument, **limits)]
    return described, None if default == () else default


@contextmanager
def errors_as_text() -> Generator[None, None, None]:
    """Errors of Moot as a ToolError with a sentence."""
    try:
        yield
    except Invalid as error:
        problems = [
            f"{_parameter_name(field)}: {problem}"
            for field, field_problems in error.problems.items()
            for problem in field_problems
        ]
        raise ToolError("\n".join(problems) or str(error)) from None
    except Unavailable as error:
        raise ToolError(f"{error} {error.fix}".strip()) from None
    except Refused as error:
        raise ToolError(f"{error} It is {answers.status_text(error.status)}.") from None
    except UnknownDebate:
        raise ToolError("There is no debate of that id: list_debates tells which there are.") from None
    except MootError as error:
        raise ToolError(str(error)) from None


def tool_result(answer: answers.ToolAnswer, text: str) -> Any:
    return CallToolResult(content=[TextContent(text=text)], structured_content=answer.model_dump(mode="json"))
