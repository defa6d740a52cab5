"""Between the terminal and the shapes of v1: errors, lists, tallies, and a new debate from its options."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from moot import formats
from moot.api.shapes.debates import DebateSummary
from moot.api.v1.states import STATES
from moot.cli.commands.debate import (
    DEFAULT_FORMAT,
    DEFAULT_ROUNDS,
    NO_JUDGE,
    DebateCliOptions,
)
from moot.client import ApiError, AudiencePolls, DebateConfig, DebaterConfig, JudgeConfig, Tallied
from moot.client.shapes import Position
from moot.core.errors import Invalid, MootError, Refused, Unavailable, UnknownDebate
from moot.core.setup_table import setup_fields
from moot.core.statuses import Status
from moot.core.terms import HUMAN, Money
from moot.judging.audience_votes import AudienceTally
from moot.store.contract import DebateHead
from moot.views.summary import StoredSummary

SEAT_OPTIONS = ("for", "against")
"""What the options call the first two seats."""
SEAT_FIELDS = ("persona", "objective")
INDISTINCT_STATUSES: tuple[Status, ...] = ("created", "aborted")
"""Statuses that v1 does not distinguish from others."""
STATUS_BY_STATE: dict[str, Status] = {
    state: status for status, state in STATES.items() if status not in INDISTINCT_STATUSES
}


@contextmanager
def translate_api_errors() -> Generator[None]:
    """Raise the errors of a server as if they had been raised here."""
    try:
        yield
    except ApiError as error:
        raise local_error(error) from error


def local_error(error: ApiError) -> MootError:
    problem = error.problem
    match problem.status:
        case 401:
            return Unavailable(_sentence(problem.detail), "Put a token of this server into MOOT_TOKEN.")
        case 403:
            return Unavailable(_sentence(problem.detail), "")
        case 404:
            return UnknownDebate("There is no such debate on this server.")
        case 409 if problem.current_status:
            state = problem.current_status
            return Refused(_sentence(problem.detail), STATUS_BY_STATE.get(state, state))
        case 422 | 400:
            return Invalid(_sentence(problem.detail), problem.errors)
        case 429 | 503:
            wait = f"Try again in {error.retry_after:.0f} seconds." if error.retry_after else ""
            return Unavailable(_sentence(problem.detail), wait)
        case _:
            log_reference = f"The server's log has it as {problem.request_id}." if problem.request_id else ""
            return Unavailable(_sentence(problem.detail or problem.title), log_reference)


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."


def parse_dollars(amount: str) -> float:
    try:
        return float(amount)
    except ValueError as error:
        raise Invalid(f"{amount!r} is not an amount of money.") from error


def tally_from_reply(rule: Literal["swing", "majority"], reply: Tallied) -> AudienceTally:
    return AudienceTally(
        rule=rule,
        choices=reply.choices,
        sealed=reply.sealed,
        counts=reply.polls,
        pairs=reply.pairs or 0,
        table=reply.table or (),
        changes=reply.changes or (),
        leader=reply.leader or None,
        lead=reply.lead or 0.0,
        interval=reply.interval or None,
    )


def head_from_listing(one: DebateSummary) -> DebateHead:
    status = STATUS_BY_STATE.get(one.status, "completed")
    seats = one.participants
    summary = StoredSummary(
        id=one.id,
        motion=one.topic,
        format=one.format,
        status=status,
        seats=tuple(seat.name for seat in seats),
        models=tuple(seat.model for seat in seats),
        sides=tuple(seat.position for seat in seats),
        winner_side=next((seat.position for seat in seats if seat.name == one.winner), ""),
        headline=one.headline,
        round=one.current_round,
        rounds=one.max_rounds,
        turns=0,
        cost=format(one.total_cost, "f"),
        unpriced=one.unpriced,
        winner=one.winner,
        outcome=one.outcome,
    )
    return DebateHead(
        id=one.id,
        owner="",
        status=status,
        motion=one.topic,
        format=one.format,
        version=0,
        epoch=0,
        runner="",
        created_at=one.created_at,
        updated_at=one.completed_at or one.created_at,
        summary=msgspec.json.encode(summary),
    )


# --- a debate as the command line describes it, for a server ----------------------------------------------


class FormatSeating(Struct, frozen=True):
    """The seats of a format and its usual number of rounds."""

    chairs: tuple[tuple[str, Position], ...] = (("Proposition", "for"), ("Opposition", "against"))
    rounds: int | None = None


def local_seating(format: str) -> FormatSeating:
    fmt = formats.load(format)
    rounds = DEFAULT_ROUNDS if format == DEFAULT_FORMAT else fmt.rounds
    return FormatSeating(tuple((chair.name, chair.side) for chair in fmt.chairs), rounds)


def seating_on_server(format: str, offered: list[dict[str, Any]]) -> FormatSeating:
    """`offered` are the formats that the server lists. It says itself that it lacks one."""
    for fmt in offered:
        if fmt["name"] == format:
            chairs = tuple((chair["name"], chair["position"]) for chair in fmt["chairs"])
            return FormatSeating(chairs, fmt["rounds"])
    return FormatSeating()


def refuse_local_options(options: DebateCliOptions) -> None:
    """Raise Invalid for options that a server cannot take."""
    local_only = {
        "--effort-for": options.effort_for,
        "--effort-against": options.effort_against,
        "--verbosity": options.verbosity or options.verbosity_for or options.verbosity_against,
        **{
            field.option.names[-1]: field.name in options.settings
            for field in setup_fields()
            if field.option and not field.request
        },
        "--judge none": NO_JUDGE in options.judges,
        "--format FILE": (options.format or "").endswith(".toml"),
    }
    if names := [name for name, value in local_only.items() if value]:
        raise Invalid(f"Not possible with --server: {', '.join(names)}.")


def judges_of(options: DebateCliOptions, default: str) -> list[JudgeConfig]:
    if not options.judges:
        return [JudgeConfig(options.speaker or default)]
    alone = len(options.judges) == 1
    return [
        JudgeConfig(model, "Judge" if alone else f"Judge {number}")
        for number, model in enumerate(options.judges, 1)
    ]


def debaters(options: DebateCliOptions, seating: FormatSeating, models: list[str]) -> Iterable[DebaterConfig]:
    for index, ((name, side), model) in enumerate(zip(seating.chairs, models, strict=True)):
        seat = options.seat(index)
        yield DebaterConfig(
            name=name,
            model=model,
            position=side,
            persona=seat.persona or UNSET,
            objective=seat.objective or UNSET,
            stand_in=(options.stand_in if model == HUMAN else None) or UNSET,
        )


def config_of(options: DebateCliOptions, seating: FormatSeating) -> DebateConfig:
    settings: dict[str, Any] = {
        "rounds": seating.rounds,
        "auto": False if options.manual else None,
        "winning": options.winning_rule,
        "polls": None if options.audience is None else AudiencePolls(seconds=options.audience),
        "effort": options.effort,
        **options.settings,
    }
    given: dict[str, Any] = {}
    for field in setup_fields():
        value = settings.get(field.name)
        if value is not None:
            given[field.keyword] = parse_dollars(value) if field.kind is Money else value
    return DebateConfig(**given)


def by_option(error: Invalid) -> Invalid:
    """Return the same error, with its problems under the options of the command line."""
    problems: dict[str, list[str]] = {}
    for field, messages in error.problems.items():
        problems.setdefault(_option(field), []).extend(messages)
    return Invalid(str(error), problems)


def _option(field: str) -> str:
    match field.split("."):
        case ["participants", ("0" | "1") as place, "model", *_]:
            return f"--{SEAT_OPTIONS[int(place)]}"
        case ["participants", ("0" | "1") as place, what] if what in SEAT_FIELDS:
            return f"--{what}-{SEAT_OPTIONS[int(place)]}"
        case ["judge", "model", *_] | ["judges", _, "model", *_]:
            return "--judge"
        case ["participants", _, "standIn", *_]:
            return "--stand-in"
        case ["effort"]:
            return "--effort"
        case ["tools", *_]:
            return "--tool"
        case _:
            return field
