"""From the body of a request to the setup of a debate."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from moot.errors import Invalid
from moot.setup import COLOURS, JudgeSetup, SeatSetup, Setup
from moot.terms import Effort, Format, Model, Money, Polls
from moot.wire.v1.bodies import CreateDebate, House, JudgeChoice, ModelChoice


def setup_of(body: CreateDebate, house: House) -> Setup:
    """Raises Invalid where the format has no room for so many rounds, or a cost limit could not be held."""
    fmt, config = house.format(body.format), body.config
    setup = Setup(
        motion=body.topic,
        format=fmt,
        seats=_seats(body, house),
        judges=tuple(judge_of(given, house) for given in (body.judge, *body.judges)),
        rounds=config.max_rounds,
        turns=_turns(fmt, config.max_rounds, len(body.participants)),
        turn_seconds=config.timeout_per_round,
        cost_limit=_money(config.cost_limit),
        warn_at=_money(config.warn_at_cost),
        auto=config.auto_progress,
        auto_judge=config.auto_judge,
        winning=config.winning_condition if "winning_condition" in config.model_fields_set else None,
        intensity=config.intensity,
        show_reasoning=config.show_reasoning,
        person_seconds=config.person_seconds,
        objective=config.objective,
        prep=config.prep,
        blind=config.blind,
        opens=config.opens,
        recuse=config.recuse,
        polls=Polls(config.polls.before, config.polls.seconds) if config.polls else None,
    )
    _check_prices(setup)
    return setup


def _check_prices(setup: Setup) -> None:
    """Models without a price are told by their places: what was sent is not repeated."""
    if setup.cost_limit is None:
        return
    models = {f"participants.{place}.model": seat.model for place, seat in enumerate(setup.seats)}
    models |= {
        f"participants.{place}.standIn": seat.stand_in
        for place, seat in enumerate(setup.seats)
        if seat.stand_in
    }
    models["judge.model"] = setup.judges[0].model
    models |= {f"judges.{place}.model": judge.model for place, judge in enumerate(setup.judges[1:])}
    unknown = [place for place, model in models.items() if model.price is None]
    if unknown:
        problem = f"The price of {', '.join(unknown)} is not known, so a limit cannot be held"
        raise Invalid("Invalid debate configuration.", {"costLimit": [problem]})


def _seats(body: CreateDebate, house: House) -> tuple[SeatSetup, ...]:
    seats = tuple(
        SeatSetup(
            model=_model(given.model, house, body.config.effort),
            name=given.name,
            side=given.position,
            persona=given.persona,
            objective=given.objective,
            system_prompt=given.system_prompt,
            colour=given.color or "",
            stand_in=_model(given.stand_in, house, body.config.effort) if given.stand_in else None,
        )
        for given in body.participants
    )
    free = _free_colours(seats)
    return tuple(seat if seat.colour else replace(seat, colour=next(free)) for seat in seats)


def _free_colours(seats: tuple[SeatSetup, ...]) -> Iterator[str]:
    """Those that nobody has asked for; there are as many as there can be seats."""
    taken = {seat.colour.upper() for seat in seats}
    return (colour for colour in COLOURS if colour not in taken)


def judge_of(given: JudgeChoice, house: House) -> JudgeSetup:
    # How hard the participants are told to think is no affair of the judge's.
    criteria = tuple(dict.fromkeys(given.evaluation_criteria))
    return JudgeSetup(_model(given.model, house, None), given.name, criteria, given.weights)


def _model(choice: ModelChoice, house: House, effort: Effort | None) -> Model:
    room = choice.max_tokens if "max_tokens" in choice.model_fields_set else 0
    return house.model(choice.provider, choice.model_id, choice.temperature, room, effort)


def _turns(fmt: Format, rounds: int, speakers: int) -> int | None:
    """A debate that is counted in turns has a round when everybody has spoken once."""
    if not fmt.turns:
        return None
    most = fmt.max_turns or fmt.turns
    if rounds * speakers > most:
        problem = f"Must be between 1 and {most // speakers}"
        raise Invalid("Invalid debate configuration.", {"maxRounds": [problem]})
    return rounds * speakers


def _money(amount: float | None) -> Money | None:
    """As it was written: 0.11 and not the fraction next to it."""
    return None if amount is None else Money(str(amount))
