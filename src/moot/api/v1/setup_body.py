"""Converts the body of a request to the setup of a debate, and a debate to the body that opens it again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, cycle
from typing import Any, cast

from msgspec.structs import replace

from moot.api.v1.bodies import Capabilities, JudgeChoice, ModelChoice
from moot.api.v1.create_debate import Config, CreateDebate
from moot.core.choices import Effort
from moot.core.errors import Invalid
from moot.core.events import DebateOpened
from moot.core.setup_table import SpeakerFields, setup_fields
from moot.core.terms import (
    HUMAN,
    SEAT_COLOURS,
    SESSION_FORMAT,
    Format,
    Judge,
    Model,
    Money,
    PollSettings,
    Seat,
    settings_of,
)
from moot.judging.recusal import recuse_biased
from moot.rules.debate_setup import JudgeSetup, SeatSetup, Setup


def setup_from_body(body: CreateDebate, capabilities: Capabilities) -> Setup:
    """Raises Invalid if the format allows fewer rounds, or a cost limit could not be kept."""
    fmt, config = capabilities.format(body.format), body.config
    setup = Setup(
        motion=body.topic,
        format=fmt,
        seats=_seats(body, capabilities),
        judges=tuple(judge_from_body(judge, capabilities) for judge in body.panel.values()),
        **_settings(fmt, config, len(body.participants)),
    )
    _check_prices(setup, tuple(body.panel))
    return setup


def _settings(fmt: Format, config: Config, speakers: int) -> dict[str, Any]:
    """The keywords of `Setup`."""
    given = {field: getattr(config, field.name) for field in setup_fields() if field.request}
    values = {
        field.name: _money(value) if field.kind is Money else value
        for field, value in given.items()
        if not (field.in_extensions or field.owner is SpeakerFields)
    }
    return values | {
        "rounds": _rounds(fmt, config),
        "turns": _turns(fmt, config.rounds, speakers),
        "winning": config.winning if "winning" in config.model_fields_set else None,
        "polls": PollSettings(config.polls.before, config.polls.seconds) if config.polls else None,
        "extensions": {field.name: value for field, value in given.items() if field.in_extensions},
    }


def _check_prices(setup: Setup, judges: tuple[str, ...]) -> None:
    """The fields of models without a price; their names are not repeated."""
    if setup.cost_limit is None:
        return
    models = {f"participants.{field}.model": seat.model for field, seat in enumerate(setup.seats)}
    models |= {
        f"participants.{field}.standIn": seat.stand_in
        for field, seat in enumerate(setup.seats)
        if seat.stand_in
    }
    models |= {f"{field}.model": judge.model for field, judge in zip(judges, setup.judges, strict=True)}
    unknown = [field for field, model in models.items() if model.price is None]
    if unknown:
        problem = f"The price of {', '.join(unknown)} is not known, so a limit cannot be held"
        raise Invalid("Invalid debate configuration.", {"costLimit": [problem]})


def _seats(body: CreateDebate, capabilities: Capabilities) -> tuple[SeatSetup, ...]:
    seats = tuple(
        SeatSetup(
            model=_model(participant.model, capabilities, body.config.effort),
            name=participant.name,
            side=participant.position,
            persona=participant.persona,
            objective=participant.objective,
            system_prompt=participant.system_prompt,
            colour=participant.color or "",
            stand_in=_model(participant.stand_in, capabilities, body.config.effort)
            if participant.stand_in
            else None,
        )
        for participant in body.participants
    )
    free = _free_colours(seats)
    return tuple(seat if seat.colour else replace(seat, colour=next(free)) for seat in seats)


def _free_colours(seats: tuple[SeatSetup, ...]) -> Iterator[str]:
    """Yield without end: first the colours that no seat has, then all of them repeatedly."""
    taken = {seat.colour.upper() for seat in seats}
    return chain((colour for colour in SEAT_COLOURS if colour not in taken), cycle(SEAT_COLOURS))


def judge_from_body(choice: JudgeChoice, capabilities: Capabilities) -> JudgeSetup:
    # The effort of the participants does not apply to the judge.
    criteria = tuple(dict.fromkeys(choice.evaluation_criteria))
    return JudgeSetup(_model(choice.model, capabilities, None), choice.name, criteria, choice.weights)


def _model(choice: ModelChoice, capabilities: Capabilities, effort: Effort | None) -> Model:
    max_tokens = choice.max_tokens if "max_tokens" in choice.model_fields_set else 0
    return capabilities.model(choice.provider, choice.model_id, choice.temperature, max_tokens, effort)


def _rounds(fmt: Format, config: Config) -> int | None:
    """The rounds that the client asked for; None: as many as the format's fixed table has."""
    return config.rounds if "rounds" in config.model_fields_set or not fmt.scripted else None


def _turns(fmt: Format, rounds: int, speakers: int) -> int | None:
    """The number of turns for these rounds, in a format that counts turns; None in others. Raises Invalid."""
    if not fmt.turns:
        return None
    most = fmt.max_turns or fmt.turns
    if rounds * speakers > most:
        problem = f"Must be between 1 and {most // speakers}"
        raise Invalid("Invalid debate configuration.", {"maxRounds": [problem]})
    return rounds * speakers


def _money(amount: float | None) -> Money | None:
    """The decimal that was written: 0.11, not the nearest binary fraction."""
    return None if amount is None else Money(str(amount))


# --- and back -----------------------------------------------------------------------------------------


def body_from_event(opened: DebateOpened) -> dict[str, Any]:
    """The body that opens the same debate again, also with the people who took a seat later.

    A body has to name a judge: for a debate without one it names a judge that is not asked automatically.
    """
    judges = [_judge_choice(judge) for judge in opened.judges] or [_placeholder_judge(opened)]
    return {
        "topic": opened.motion,
        # Only the sessions API asks for turns one by one; opened here, the debate runs by itself.
        "format": "free" if opened.format.name == SESSION_FORMAT else opened.format.name,
        "participants": [_participant(seat) for seat in opened.seats],
        "judge": judges[0],
        **({"judges": judges[1:]} if judges[1:] else {}),
        "config": _config(opened),
    }


def _participant(seat: Seat) -> dict[str, Any]:
    texts = {"persona": seat.persona, "objective": seat.objective, "systemPrompt": seat.system_prompt}
    return {
        "name": seat.name,
        "model": _choice(seat.model),
        "position": seat.side,
        "color": seat.colour,
        **{name: text for name, text in texts.items() if text},
        **({"standIn": _choice(seat.stand_in)} if seat.stand_in else {}),
    }


def _judge_choice(judge: Judge) -> dict[str, Any]:
    return {
        "name": judge.name,
        "model": _choice(judge.model),
        "evaluationCriteria": list(judge.criteria),
        **({"weights": judge.weights} if judge.weights else {}),
    }


def _placeholder_judge(opened: DebateOpened) -> dict[str, Any]:
    models = [seat.stand_in or seat.model for seat in opened.seats]
    return {"name": "Judge", "model": _choice(next((m for m in models if not m.human), models[0]))}


def _choice(model: Model) -> dict[str, Any]:
    if model.human:
        return {"provider": HUMAN, "modelId": HUMAN}
    warmth = {} if model.temperature is None else {"temperature": model.temperature}
    return {"provider": model.provider, "modelId": model.name, **warmth, "maxTokens": model.max_tokens}


def _config(opened: DebateOpened) -> dict[str, Any]:
    limits, speakers = opened.limits, len(opened.seats)
    efforts = [seat.model.effort for seat in opened.seats if seat.model.effort]
    values = settings_of(limits, opened.setup) | {
        "rounds": -(-limits.turns // speakers) if limits.turns else limits.rounds,
        "auto_judge": opened.setup.auto_judge and bool(opened.judges),
        "effort": next(iter(efforts), None),
        "recuse": _recuses(opened),
    }
    shape = {field.wire: _sent(values[field.name]) for field in setup_fields() if field.request}
    return {name: value for name, value in shape.items() if value is not None}


def _sent(value: Any) -> Any:
    """As a request has it; None where it is left out."""
    match value:
        case PollSettings(before=before, seconds=seconds):
            return {"before": before, **({} if seconds is None else {"seconds": seconds})}
        case Money():
            return float(value)
        case "" | ():
            return None
        case tuple():
            return list(cast("tuple[Any, ...]", value))
        case _:
            return value


def _recuses(opened: DebateOpened) -> bool:
    """Whether judges of a debater's family were excluded: False if such a judge is on the panel."""
    sitting = tuple(replace(judge, recused="") for judge in opened.judges)
    return recuse_biased(sitting, opened.seats) == opened.judges
