"""The commands that steer a debate: each gives one command, whichever process runs the debate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import Id, Json, Output, Plain, Reason, Reasoning, Server, Step
from moot.cli.run_command import run_command, run_on_debate

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource


def pause(
    id: Id = "last",
    /,
    *,
    now: Annotated[
        bool, Parameter(negative="", help="Cut the running speech; it is repeated later.")
    ] = False,
    server: Server = None,
) -> int:
    """Pause after the running speech, or at once with --now."""
    from moot.rules.commands import PauseDebate

    return run_command(server, id, PauseDebate(now=now), "Paused.")


def inject(
    id: Id,
    text: Annotated[str, Parameter(help="What to say, in quotation marks.")],
    /,
    *,
    to: Annotated[
        str | None, Parameter(help="Only this speaker hears it: a seat by name, side or id.")
    ] = None,
    server: Server = None,
) -> int:
    """Add a remark that every later speaker hears."""
    from moot.cli.lookup import seat_id
    from moot.rules.commands import AddRemark

    return run_command(
        server,
        id,
        lambda debate: AddRemark(text, to=seat_id(debate, to) if to else None),
        f"Only {to} will hear it." if to else "Every speaker will hear it from now on.",
    )


def question(
    id: Id,
    text: Annotated[str, Parameter(help="The question, in quotation marks.")],
    /,
    *,
    to: Annotated[
        str | None,
        Parameter(help="Who is to answer: a seat by name, side or id. [default: all]"),
    ] = None,
    server: Server = None,
) -> int:
    """Ask a question that all hear: it is answered in the next speech, or when the floor is heard."""
    from moot.cli.lookup import seat_id
    from moot.rules.commands import AddRemark

    return run_command(
        server,
        id,
        lambda debate: AddRemark(text, to=seat_id(debate, to) if to else None, question=True),
        "The question is put.",
    )


def extend(
    id: Id = "last",
    /,
    *,
    seconds: Annotated[float, Parameter(help="Give the current speech this many more seconds.")] = 0.0,
    rounds: Annotated[int, Parameter(help="Add this many rounds.")] = 0,
    server: Server = None,
) -> int:
    """Give the current speech more time, or add rounds."""
    from moot.core.errors import Invalid
    from moot.rules.commands import ExtendDebate

    if not (seconds or rounds):
        raise Invalid("Say by how much: --seconds 60, or --rounds 1.")
    return run_command(server, id, ExtendDebate(seconds, rounds), "Extended.")


def skip(
    id: Id = "last",
    /,
    *,
    speech: Annotated[
        int | None, Parameter(help="Its number in the order of speeches: also one that is still to come.")
    ] = None,
    server: Server = None,
) -> int:
    """Skip the running speech, or another one with --speech."""
    from moot.core.state import Debate
    from moot.rules.commands import SkipTurn

    def command(debate: Debate) -> SkipTurn:
        if speech is not None:
            return SkipTurn(slot=speech - 1)
        # The one that is being given as we look, and not the one that follows it a moment later.
        return SkipTurn(turn=debate.live[0].number if len(debate.live) == 1 else None)

    return run_command(server, id, command, "Skipped.")


def next_round(id: Id = "last", /, *, server: Server = None) -> int:
    """Start the next round of a debate that was opened with --manual."""
    from moot.rules.commands import NextRound

    return run_command(server, id, NextRound(), "The next round begins.")


def judge(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the speeches and judge now."""
    from moot.rules.commands import JudgeNow

    return run_command(server, id, JudgeNow(reason), "The judge is asked.")


def decide(
    id: Id,
    winner: Annotated[str, Parameter(help="A seat by name, side or id, or draw.")],
    /,
    *,
    reason: Reason = "",
    server: Server = None,
) -> int:
    """Name the winner by hand, or a draw."""
    from moot.cli.lookup import winner_id
    from moot.rules.commands import DecideWinner

    return run_command(
        server,
        id,
        lambda debate: DecideWinner(winner_id(debate, winner), reason),
        "Decided.",
    )


def stop(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the debate and judge what was said."""
    from moot.rules.commands import Stop

    return run_command(server, id, Stop(reason), "Stopped.")


def abort(id: Id = "last", /, *, reason: Reason = "", server: Server = None) -> int:
    """End the debate without a verdict."""
    from moot.rules.commands import Abort

    return run_command(server, id, Abort(reason), "Aborted.")


def resume(
    id: Id = "last",
    /,
    *,
    step: Step = None,
    reasoning: Reasoning = True,
    output: Output = None,
    plain: Plain = False,
    json: Json = False,
    server: Server = None,
) -> int:
    """Resume a debate that was paused, failed or interrupted by a crash."""
    from moot.views.exports import format_of_file

    if output is not None:
        format_of_file(output)

    async def carry_out(source: DebateSource, debate_id: str) -> int:
        from moot.cli import follow
        from moot.cli.commands.export import write_export
        from moot.cli.debate_source import server_option
        from moot.cli.render import screens
        from moot.cli.visible_records import all_people

        before = await source.state(debate_id)
        # A person who resumes a debate of people on a server is taken to be one of them, and is asked here.
        elsewhere = await source.is_running(debate_id) and not (server and all_people(before))
        hint = screens.HINT_WATCHING if elsewhere else screens.HINT_PLAYING
        ending = server_option(server)
        with screens.open_screen(
            json=json, plain=plain, reasoning=reasoning, hint=hint, ending=ending
        ) as view:
            await continue_debate(source, debate_id, step)
            if elsewhere:
                code = await follow.watch(source, debate_id, view, server=server)
            else:
                code = await follow.show_and_run(source, debate_id, view, begun=before, server=server)
        if output is not None:
            await write_export(source, debate_id, output)
        return code

    return run_on_debate(server, id, carry_out)


async def continue_debate(source: DebateSource, debate_id: str, step: Step = None) -> None:
    """Give the command that makes this debate continue. Raises Refused where none does."""
    from moot.core.errors import Refused
    from moot.rules.commands import JudgeNow, ResumeDebate, Retry, Start

    debate = await source.state(debate_id)
    if debate.final and not debate.being_judged:
        raise Refused("The debate is over.", debate.status)
    match debate.status:
        case "created":
            await source.ask(debate_id, Start())
        case "paused":
            await source.ask(debate_id, ResumeDebate(step))
        case "error" if debate.failure == "judge_failed":
            await source.ask(debate_id, JudgeNow())
        case "error":
            await source.ask(debate_id, Retry())
        case _:
            source.run(debate_id)
