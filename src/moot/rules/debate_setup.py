"""The setup of a debate: checked, with all problems reported at once, and turned into `debate.opened`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Literal, assert_never, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from moot.core.choices import WinningRule
from moot.core.errors import Invalid
from moot.core.events import DebateOpened
from moot.core.setup_field import AtMost, Between, MoreThan, SetupField
from moot.core.setup_table import (
    DEFAULT_WINNING_RULE,
    ContractLimits,
    LimitFields,
    LocalFields,
    SetupFields,
    added_fields,
    setup_fields,
)
from moot.core.terms import (
    DEFAULT_CRITERIA,
    FREE,
    MAX_JUDGES,
    MAX_MOTION_CHARS,
    MIN_MOTION_CHARS,
    MOTION_LENGTH,
    SEAT_COLOURS,
    DebateLimits,
    DebateSetup,
    Format,
    Judge,
    Model,
    Money,
    PollSettings,
    Seat,
    SeatTemplate,
    Side,
    settings_struct,
)
from moot.core.text_normalization import fold_name
from moot.formats import assign_teams, fit_format
from moot.judging.recusal import recuse_biased
from moot.prompts.templates import VERSION
from moot.rules.cost_estimate import fitted_to_limit, smallest_limit

MAX_POLL_SECONDS = 86_400.0
Problems = dict[str, list[str]]
MakeId = Callable[[str, int], str]
"""The id of a seat or a judge, by its kind and its place."""


def numbered_id(kind: str, number: int) -> str:
    return f"{kind}_{number}"


class SeatSetup(Struct, frozen=True):
    """A seat as it is asked for. What is empty is filled in from the format's own suggestion."""

    model: Model
    name: str = ""
    side: Side | None = None
    persona: str = ""
    objective: str = ""
    system_prompt: str = ""
    colour: str = ""
    stand_in: Model | None = None
    """Where a person sits: the model that speaks when they do not."""


MAX_GUIDANCE_CHARS = 8000


class JudgeSetup(Struct, frozen=True):
    """A judge as it is asked for."""

    model: Model
    name: str = "Judge"
    criteria: tuple[str, ...] = ()
    """Without any, those of the format."""
    weights: dict[str, float] = {}
    variant: str = ""
    """The name of the guidance."""
    guidance: str = ""
    """How to judge, added to the prompt of this judge."""


if TYPE_CHECKING:

    class _Settings(DebateSetup, ContractLimits, LimitFields, SetupFields, LocalFields, frozen=True): ...
else:
    _Settings = settings_struct(
        "_Settings", ContractLimits, LimitFields, SetupFields, LocalFields, base=DebateSetup
    )


class SetupOptions(_Settings, frozen=True, kw_only=True):
    """All settings, where some may be left to the format."""

    rounds: int | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    winning: WinningRule | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    """Who decides; None: see `default_winning_rule`."""
    tools: Sequence[str] = ()  # pyright: ignore[reportIncompatibleVariableOverride]
    """Names of tools that the seats may use; `Arena.create` checks that they exist."""


class Setup(SetupOptions, frozen=True):
    """One debate before it is opened: motion, format, seats, judges, limits and options.

    `Arena.setup(motion, …)` returns one with defaults and checked models. With fewer `seats` than the format
    has, the format's own suggestions fill the others.
    """

    motion: str
    format: Format
    seats: tuple[SeatSetup, ...]
    judges: tuple[JudgeSetup, ...] = ()
    any_length: bool = False
    """The motion may have fewer than `MIN_MOTION_CHARS` characters: for the compatibility APIs alone."""


def opening_event(setup: Setup, naming: MakeId = numbered_id) -> DebateOpened:
    """Raises Invalid with all problems. The secret of the fences is added by the caller, which may be
    random."""
    problems: Problems = {}
    for field, problem in _problems(setup):
        problems.setdefault(field, []).append(problem)
    if problems:
        first = next(iter(problems.values()))[0]
        raise Invalid(f"Invalid debate configuration: {first}.", problems)
    fmt, seats, settings = setup.format, _seats(setup, naming), _settings(setup)
    opened = DebateOpened(
        motion=setup.motion.strip(),
        format=fit_format(fmt, seats, settings),
        seats=seats,
        judges=_judges(setup, seats, naming),
        limits=_limits(setup),
        setup=settings,
        prompts=VERSION,
    )
    _check_limit(opened)
    return fitted_to_limit(opened)


def _limits(setup: Setup) -> DebateLimits:
    fmt = setup.format
    limits = {
        field.name: getattr(setup, field.name) for field in (*ContractLimits.fields(), *LimitFields.fields())
    }
    limits["rounds"] = setup.rounds or fmt.rounds
    limits["turns"] = (setup.turns or fmt.turns) if fmt.turns else None
    return DebateLimits(**limits)


def _check_limit(opened: DebateOpened) -> None:
    """Raises Invalid where the cost limit could not hold the first round and have it judged."""
    least = None if opened.limits.cost_limit is None else smallest_limit(opened)
    if least is not None and opened.limits.cost_limit is not None and opened.limits.cost_limit < least.total:
        problem = f"Must be at least {least.total} for this setup: {least}"
        raise Invalid(f"Invalid debate configuration: {problem}.", {"costLimit": [problem]})


def _settings(setup: Setup) -> DebateSetup:
    winning = setup.winning or default_winning_rule(setup.format, setup.polls)
    polls = setup.polls or (PollSettings() if winning == "audience" else None)
    options = {name: getattr(setup, name) for name in DebateSetup.__struct_fields__}
    options |= {name: value.strip() for name, value in options.items() if isinstance(value, str)}
    options["extensions"] = {
        field.name: value
        for field in added_fields()
        if field.in_extensions and (value := setup.extensions.get(field.name, field.default)) != field.default
    }
    options["winning"] = winning
    options["polls"] = replace(polls, before=False) if polls and _has_one_vote(setup.format) else polls
    options["tools"] = tuple(dict.fromkeys(setup.tools))
    return DebateSetup(**options)


def default_winning_rule(fmt: Format, polls: PollSettings | None) -> WinningRule:
    """Where the format goes by the swing of its audience and there is one, the audience decides."""
    return "audience" if polls is not None and fmt.result == "swing" else DEFAULT_WINNING_RULE


def _has_one_vote(fmt: Format) -> bool:
    """Its table has one vote, after the speeches."""
    return sum(phase.kind == "vote" for phase in fmt.phases) == 1


def _problems(setup: Setup) -> Iterable[tuple[str, str]]:
    fmt, motion = setup.format, setup.motion.strip()
    fewest_chars = 1 if setup.any_length else MIN_MOTION_CHARS
    if not fewest_chars <= len(motion) <= MAX_MOTION_CHARS:
        yield "topic", MOTION_LENGTH
    if _has_controls(motion):
        yield "topic", "Control characters are not allowed"
    fewest = fmt.min_seats if setup.question else max(2, fmt.min_seats)
    if len(setup.seats) < fewest:
        yield "participants", f"Minimum {fewest} participants required"
    if len(setup.seats) > fmt.max_seats:
        yield "participants", f"Maximum {fmt.max_seats} participants allowed"
    names = [fold_name(seat.name) for seat in setup.seats if seat.name.strip()]
    if len(set(names)) < len(names):
        yield "participants", "Names must be unique"
    if any(_has_controls(seat.name) for seat in setup.seats):
        yield "participants", "Control characters are not allowed"
    if setup.rounds is not None and not 1 <= setup.rounds <= fmt.max_rounds:
        yield "maxRounds", f"Must be between 1 and {fmt.max_rounds}"
    if setup.turns is not None and not (fmt.turns and 1 <= setup.turns <= (fmt.max_turns or fmt.turns)):
        yield "maxTurns", f"Must be between 1 and {fmt.max_turns}" if fmt.turns else "Only for free debates"
    if setup.opens is not None and not fmt.either_first:
        yield "opens", "This format says by itself who opens"
    yield from _field_problems(setup)
    yield from _people_problems(setup)
    yield from judge_problems(with_default_criteria(setup.judges, fmt))
    yield from _money_problems(setup)


def _field_problems(setup: Setup) -> Iterable[tuple[str, str]]:
    """What is wrong with the value of a single setting."""
    for field in setup_fields():
        value = setup.extensions.get(field.name) if field.in_extensions else getattr(setup, field.name, None)
        problem = "" if value is None else field_problem(field, value)
        if problem:
            yield field.wire, problem


def field_problem(field: SetupField, value: Any) -> str:
    choices = get_args(field.kind) if get_origin(field.kind) is Literal else ()
    if choices and value not in choices:
        return f"Must be one of: {', '.join(choices)}"
    match field.limit:
        case None:
            return ""
        case Between(low, high):
            return "" if low <= value <= high else f"Must be between {low} and {high}"
        case MoreThan(floor, most):
            at_most = "" if most == inf else f" and at most {most:g}"
            held = Money(value).is_finite() and floor < value <= most
            return "" if held else f"Must be greater than {floor:g}{at_most}"
        case AtMost(most, unit):
            length = len(value.strip() if isinstance(value, str) else value)
            return "" if length <= most else f"At most {most} {unit}"
        case _:
            assert_never(field.limit)


def _people_problems(setup: Setup) -> Iterable[tuple[str, str]]:
    """Problems with the settings for people."""
    if setup.polls and setup.polls.seconds is not None and not 0 < setup.polls.seconds <= MAX_POLL_SECONDS:
        yield "polls.seconds", f"Must be greater than 0 and at most {MAX_POLL_SECONDS:g}"
    for seat in setup.seats:
        if seat.stand_in is not None and seat.stand_in.human:
            yield "participants", "Only a model can stand in for a person"
        if seat.stand_in is not None and not seat.model.human:
            yield "participants", "Only a person needs a stand-in"


def _money_problems(setup: Setup) -> Iterable[tuple[str, str]]:
    limit, warn = setup.cost_limit, setup.warn_at
    if warn is not None and limit is not None and not (warn.is_nan() or limit.is_nan()) and warn >= limit:
        yield "warnAtCost", "Must be less than costLimit"
    if limit is None:
        return
    models = [player.model for player in (*setup.seats, *setup.judges)]
    models += [seat.stand_in for seat in setup.seats if seat.stand_in]
    for label in sorted({model.label for model in models if model.price is None and not model.human}):
        yield (
            "costLimit",
            f"The price of {label} is not known, so a limit cannot be held; price it in moot.toml",
        )


def _seats(setup: Setup, naming: MakeId) -> tuple[Seat, ...]:
    chairs = _seat_templates(setup.format, setup.seats)
    taken = {fold_name(seat.name) for seat in setup.seats if seat.name.strip()}
    seats: list[Seat] = []
    for index, (seat, chair) in enumerate(zip(setup.seats, chairs, strict=True)):
        name = seat.name.strip() or _free_name(chair.name, taken)
        taken.add(fold_name(name))
        side = seat.side or chair.side
        seats.append(
            Seat(
                id=naming("part", index + 1),
                name=name,
                side=side,
                model=_seeded(seat.model, setup.seed, index),
                role=chair.role if seat.side in (None, chair.side) else "debater",
                persona=seat.persona or chair.persona,
                objective=seat.objective,
                system_prompt=seat.system_prompt,
                colour=seat.colour or SEAT_COLOURS[index % len(SEAT_COLOURS)],
                stand_in=_seeded(seat.stand_in, setup.seed, index) if seat.stand_in else None,
            )
        )
    return assign_teams(setup.format, seats)


def _seat_templates(fmt: Format, seats: Sequence[SeatSetup]) -> list[SeatTemplate]:
    """The format's chairs in order; further seats sit down beside the first ones of their side."""
    debaters = [chair for chair in fmt.chairs if chair.role == "debater"]
    chairs = list(fmt.chairs[: len(seats)])
    while len(chairs) < len(seats):
        chairs.append(debaters[len(chairs) % len(debaters)])
    return chairs


def _judges(setup: Setup, seats: Sequence[Seat], naming: MakeId) -> tuple[Judge, ...]:
    ids = [naming("judge", index + 1) for index in range(len(setup.judges))]
    judges = make_judges(with_default_criteria(setup.judges, setup.format), ids, setup.seed)
    return recuse_biased(judges, seats) if setup.recuse else judges


def with_default_criteria(judges: Sequence[JudgeSetup], fmt: Format) -> tuple[JudgeSetup, ...]:
    """Judges who were told no criteria go by those of the format, or by the usual ones."""
    usual = (tuple(fmt.criteria) or DEFAULT_CRITERIA, fmt.criteria)
    return tuple(
        judge if judge.criteria else replace(judge, criteria=usual[0], weights=judge.weights or usual[1])
        for judge in judges
    )


def make_judges(
    setups: Sequence[JudgeSetup], ids: Sequence[str], seed: int | None = None
) -> tuple[Judge, ...]:
    """The judges under these ids; where several have one name, the later ones get a number."""
    judges: list[Judge] = []
    taken: set[str] = set()
    for index, (judge, judge_id) in enumerate(zip(setups, ids, strict=True)):
        name = _free_name(judge.name, taken)
        taken.add(fold_name(name))
        model = _seeded(judge.model, seed, 100 + index)
        judges.append(
            Judge(
                judge_id,
                name,
                model,
                judge.criteria,
                judge.weights,
                variant=judge.variant,
                guidance=judge.guidance,
            )
        )
    return tuple(judges)


def judge_problems(judges: Sequence[JudgeSetup]) -> Iterable[tuple[str, str]]:
    if len(judges) > MAX_JUDGES:
        yield "judges", f"Maximum {MAX_JUDGES} judges allowed"
    for judge in judges:
        if not set(judge.weights) <= set(judge.criteria):
            yield "judges", f"Only criteria have weights: {', '.join(judge.criteria)}"
        if not all(0 < weight < inf for weight in judge.weights.values()):
            yield "judges", "Weights must be greater than 0"
        if len(judge.guidance) > MAX_GUIDANCE_CHARS:
            yield "judges", f"A judge prompt may have at most {MAX_GUIDANCE_CHARS:,} characters"


def _seeded(model: Model, base: int | None, offset: int) -> Model:
    """With a seed of its own, unless it has one. A person has none, and costs nothing."""
    if model.human:
        return replace(model, price=FREE)
    if base is None or model.seed is not None:
        return model
    return replace(model, seed=base + offset)


def _free_name(name: str, taken: set[str]) -> str:
    if fold_name(name) not in taken:
        return name
    return next(f"{name} {n}" for n in range(2, 10) if fold_name(f"{name} {n}") not in taken)


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in text)
