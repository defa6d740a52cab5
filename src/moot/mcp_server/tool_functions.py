"""The tools themselves: each asks the arena and answers as data and in words.

A debate goes on by itself from the moment it is started; whoever holds it looks in from time to time. What
cannot be done is said in a sentence, as an error of the tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from moot import formats
from moot.core.errors import Invalid, MootError, Refused, Unavailable, UnknownDebate
from moot.core.events import CallDelta, SegmentCompleted
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.terms import Status
from moot.core.word_count import count_words
from moot.engine.arena import Arena
from moot.engine.placement import wants_runner
from moot.mcp_server import answer_texts, results
from moot.providers.redaction import redact
from moot.rules.commands import Abort, Command, Inject, JudgeNow, Pause, Resume, Retry, SkipTurn, Stop
from moot.rules.debate_setup import opening_event
from moot.views import exports
from moot.views.transcript import transcript

MAX_WAIT = 60
PROGRESS_SECONDS = 0.5
"""How often somebody who waits is told how far the speech is."""
MAX_LISTED = 50
COST_LIMIT = 1.0
"""Whoever starts a debate here is a program, and may start many."""
BY = "mcp"
NOBODY = "none"
PARAMETER_NAMES = {
    "topic": "motion",
    "participants": "models",
    "maxRounds": "rounds",
    "costLimit": "cost_limit",
}
"""What a debate's setup calls otherwise than start_debate does."""

Id = Annotated[str, Field(description="The debate's id, as start_debate and list_debates give it.")]
Action = Literal["pause", "resume", "skip", "retry", "judge", "stop", "abort", "inject"]


class ToolFunctions:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def start_debate(
        self,
        motion: Annotated[str, Field(description="What to debate, as a sentence.", max_length=500)],
        format: Annotated[str, Field(description="A name from list_formats.")] = "oxford",
        models: Annotated[
            list[str] | None,
            Field(description="provider/model for each chair, or one for all. Without: the best one here."),
        ] = None,
        judges: Annotated[
            list[str] | None,
            Field(description='provider/model of each judge, or ["none"]. Without: one is chosen.'),
        ] = None,
        rounds: Annotated[int | None, Field(description="As many as the format has, unless told.")] = None,
        intensity: Annotated[int, Field(ge=1, le=5, description="From courteous to fierce.")] = 3,
        objective: Annotated[str, Field(description="What the debate is to settle; all are told.")] = "",
        cost_limit: Annotated[
            float | None,
            Field(
                gt=0,
                allow_inf_nan=False,
                description="US dollars, never exceeded, the judging included; null: none.",
            ),
        ] = COST_LIMIT,
        tools: Annotated[
            list[str] | None, Field(description="What the speakers may use, of the tools this server has.")
        ] = None,
    ) -> Annotated[CallToolResult, results.StartResult]:
        with errors_as_text():
            speakers, panel = models or [], judges or []
            nobody = panel == [NOBODY]
            self._check(format, [*speakers, *(() if nobody else panel)], tools or [])
            setup = await self._arena.setup(
                motion,
                format=format,
                models=speakers if len(speakers) > 1 else (),
                model=speakers[0] if len(speakers) == 1 else None,
                judge=NOBODY if nobody else None,
                judges=() if nobody else panel,
                rounds=rounds,
                intensity=intensity,
                objective=objective,
                cost_limit=cost_limit,
                tools=tools or (),
            )
            planned = opening_event(setup)  # nothing is fetched for a debate that cannot be held
            await self._arena.providers.prepare([one.model for one in (*setup.seats, *setup.judges)])
            debate = (await self._arena.create(setup, start=True)).debate
        answer = answer_texts.start_result(debate, answer_texts.cost_forecast(planned))
        return tool_result(answer, answer_texts.start_text(answer))

    async def follow_debate(
        self,
        id: Id,
        context: Context,
        after: Annotated[int, Field(ge=0, description="`next` of the last look; 0: from the start.")] = 0,
        wait: Annotated[
            float, Field(ge=0, le=MAX_WAIT, description="Seconds to wait where there is no news yet.")
        ] = 20,
    ) -> Annotated[CallToolResult, results.FollowResult]:
        with errors_as_text():
            await self._arena.head(id)
            before = await self._arena.store.state(id, after) if after else None
            debate = await self._wait(before, id, after, wait, context)
        answer = answer_texts.follow_result(before, debate)
        return tool_result(answer, answer_texts.news_text(answer, debate))

    async def debate_verdict(self, id: Id) -> Annotated[CallToolResult, results.VerdictResult]:
        with errors_as_text():
            debate = await self._arena.state(id)
        answer = answer_texts.verdict_result(debate)
        if answer is None:
            raise ToolError(answer_texts.no_verdict_text(debate))
        return tool_result(answer, answer_texts.verdict_text(answer))

    async def debate_transcript(
        self,
        id: Id,
        form: Annotated[Literal["markdown", "json"], Field(description="How it is written.")] = "markdown",
        reasoning: Annotated[bool, Field(description="With what the models thought.")] = False,
    ) -> Annotated[CallToolResult, results.TranscriptResult]:
        with errors_as_text():
            page = transcript(await self._arena.state(id), reasoning=reasoning)
        text = exports.render(form, page).decode()
        return tool_result(results.TranscriptResult(id=id, form=form, transcript=text), text)

    async def list_debates(
        self,
        search: Annotated[str, Field(description="Only motions that have this in them.")] = "",
        status: Annotated[Status | None, Field(description="Only those in this state.")] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 10,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> Annotated[CallToolResult, results.DebateListResult]:
        with errors_as_text():
            page = await self._arena.list(
                search=search, statuses=(status,) if status else (), limit=limit, offset=offset
            )
        rows = [
            results.ListedDebate(
                id=head.id,
                motion=head.motion,
                format=head.format,
                status=head.status,
                created=head.created_at.isoformat(timespec="seconds"),
            )
            for head in page.heads
        ]
        text = "\n".join(f"- {row.id} ({row.status}): {row.motion}" for row in rows) or "No debates."
        return tool_result(results.DebateListResult(debates=rows, total=page.total), text)

    async def list_formats(self) -> Annotated[CallToolResult, results.FormatListResult]:
        with errors_as_text():
            folder = self._arena.settings.formats
            loaded = [formats.load(name, folder) for name in formats.names(folder)]
        rows = [
            results.FormatInfo(
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
            results.FormatListResult(formats=rows), "\n".join(f"- {row.name}: {row.summary}" for row in rows)
        )

    async def list_models(self) -> Annotated[CallToolResult, results.ModelListResult]:
        with errors_as_text():
            available = await self._arena.providers.usable()
            default = await self._arena.providers.default_model()
        rows = [
            results.ModelInfo(name=one.name, usable=one.usable, what=one.why if one.usable else one.todo)
            for one in available
        ]
        lines = [f"- {row.name}{'' if row.usable else ' (not now)'}: {row.what}" for row in rows]
        return tool_result(
            results.ModelListResult(models=rows, default=default),
            "\n".join([*lines, f"By default: {default}"]),
        )

    async def steer_debate(
        self,
        id: Id,
        action: Annotated[Action, Field(description="What is to be done.")],
        text: Annotated[
            str, Field(description="For inject: what all later speakers hear.", max_length=2_000)
        ] = "",
    ) -> Annotated[CallToolResult, results.SteerResult]:
        command, done = _command(action, text)
        with errors_as_text():
            debate = (await self._arena.ask(id, command)).debate
        return tool_result(results.SteerResult(id=id, status=debate.status, done=done), done)

    def _check(self, format: str, names: list[str], tools: list[str]) -> None:
        """What is named must be here: a path is no name, and nobody sits at this table in person."""
        if format not in (known := formats.names(self._arena.settings.formats)):
            raise Invalid(f"There is no format of that name. There are: {', '.join(known)}.")
        if not all(self._arena.tools.knows(name) for name in tools):
            known = self._arena.tools.names()
            raise Invalid(f"There is no tool of that name. There are: {', '.join(known)}.")
        manager = self._arena.providers.manager
        for name in names:
            # A bare name is a local model's.
            model = self._arena.providers.model(name)
            if model.human:
                raise Invalid("Only models can take part in a debate that is held through a tool.")
            if model.provider == "local" and model.name not in {*manager.catalogue, *manager.installed()}:
                raise Invalid(
                    "There is no local model of that name. Others are written as provider/model: list_models "
                    "tells which there are."
                )

    # --- waiting --------------------------------------------------------------------------------------

    async def _wait(
        self, before: Debate | None, id: str, after: int, seconds: float, context: Context
    ) -> Debate:
        """The debate as soon as there is news, it comes to rest, or the time is up."""
        head = await self._arena.state(id)
        if answer_texts.news(before, head) or not wants_runner(head):
            return head
        debate = head
        beating = asyncio.create_task(_beat(context, lambda: debate), name="progress")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds), aclosing(self._arena.follow(id, head.seq)) as coming:
                    async for recorded in coming:
                        debate = evolve(debate, recorded)
                        if isinstance(recorded.event, CallDelta | SegmentCompleted):
                            continue
                        if answer_texts.news(before, debate) or not wants_runner(debate):
                            break
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
        # What was written together with the news belongs to it: after the verdict, that the debate is over.
        return await self._arena.state(id)


async def _beat(context: Context, debate: Callable[[], Debate]) -> None:
    """Clients give up on those who are silent for long, unless they hear that something goes on."""
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
            return Pause(by=BY), "It pauses after the speech that is being given."
        case "resume":
            return Resume(), "It goes on."
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
            return Inject(redact(text), by=BY), "Every later speaker will hear it."


@contextmanager
def errors_as_text() -> Generator[None, None, None]:
    """What goes wrong, as a sentence that says whose move it is."""
    try:
        yield
    except Invalid as error:
        problems = [
            f"{PARAMETER_NAMES.get(field, field)}: {each}"
            for field, found in error.problems.items()
            for each in found
        ]
        raise ToolError("\n".join(problems) or str(error)) from None
    except Unavailable as error:
        raise ToolError(f"{error} {error.fix}".strip()) from None
    except Refused as error:
        raise ToolError(f"{error} It is {answer_texts.status_text(error.status)}.") from None
    except UnknownDebate:
        raise ToolError("There is no debate of that id: list_debates tells which there are.") from None
    except MootError as error:
        raise ToolError(str(error)) from None


def tool_result(answer: results.ToolAnswer, text: str) -> Any:
    return CallToolResult(content=[TextContent(text=text)], structured_content=answer.model_dump(mode="json"))
