"""From a body to a setup that opens: every member arrives where the engine looks for it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.api.v1 import setup_body
from moot.api.v1.setup_body import body_from_event, setup_from_body
from moot.core.errors import Invalid
from moot.core.terms import SEAT_COLOURS, Model, Money, PollSettings
from moot.rules.debate_setup import opening_event
from tests.api.setup_bodies import LEFT_OUT, PRICE, Inn, asked, changed
from tests.api.v1.test_bodies import OWL, PERSON, many


def test_the_contracts_example_opens_a_debate() -> None:
    opened = opening_event(setup_from_body(asked(changed()), Inn()))
    assert opened.motion == "Should AI development be regulated by government?"
    assert [(seat.name, seat.side, seat.colour, seat.model.label) for seat in opened.seats] == [
        ("Pro-Regulation (Claude)", "for", "#FF6B6B", "anthropic/claude-3-5-sonnet-20241022"),
        ("Anti-Regulation (GPT-4)", "against", "#4ECDC4", "openai/gpt-4-turbo-preview"),
    ]
    assert [judge.name for judge in opened.judges] == ["Judge Claude"]
    assert (opened.limits.rounds, opened.limits.turn_seconds) == (5, 90)
    assert (opened.limits.cost_limit, opened.limits.warn_at) == (Money(5), Money(3))
    assert opened.seats[1].model.temperature == 0.8
    assert opened.seats[0].model.price == PRICE


def test_every_addition_arrives() -> None:
    shape = changed(
        participants__0__persona="A retired judge",
        participants__0__objective="Win the neutral over",
        participants__0__systemPrompt="Speak plainly.",
        participants__0__model__maxTokens=321,
        judge__evaluationCriteria=["wit", "wit", " honesty "],
        config__autoProgress=False,
        config__autoJudge=False,
        config__winningCondition="self-terminate",
        config__intensity=5,
        config__showReasoning=False,
        config__effort="low",
        config__personSeconds=45,
        config__objective="Whether to regulate at all.",
        config__prep=True,
        config__blind=True,
        config__reading="by-side",
        config__polls={"before": False, "seconds": 30},
    )
    opened = opening_event(setup_from_body(asked(shape), Inn()))
    seat, judge, setup = opened.seats[0], opened.judges[0], opened.setup
    assert (seat.persona, seat.objective) == ("A retired judge", "Win the neutral over")
    assert (seat.system_prompt, seat.model.max_tokens) == ("Speak plainly.", 321)
    assert (seat.model.effort, judge.model.effort) == ("low", None)
    assert judge.criteria == ("wit", "honesty")
    assert (setup.auto, setup.auto_judge, setup.winning) == (False, False, "self-terminate")
    assert (setup.intensity, setup.show_reasoning) == (5, False)
    assert (setup.objective, setup.prep, setup.blind) == ("Whether to regulate at all.", True, True)
    assert setup.reading == "by-side"
    assert (setup.polls, opened.limits.person_seconds) == (PollSettings(before=False, seconds=30), 45)


def test_people_and_a_panel_arrive() -> None:
    shape = changed(
        participants__0__model=PERSON,
        participants__0__standIn=OWL,
        judge__evaluationCriteria=["wit", "truth"],
        judge__weights={"wit": 2},
        judges=[{"name": "Zoë", "model": PERSON}, {"name": "Bea", "model": OWL}],
    )
    opened = opening_event(setup_from_body(asked(shape), Inn()))
    assert opened.seats[0].model.human
    assert opened.seats[0].stand_in
    assert [(judge.name, judge.model.human) for judge in opened.judges] == [
        ("Judge Claude", False),
        ("Zoë", True),
        ("Bea", False),
    ]
    assert opened.judges[0].weights == {"wit": 2.0}


def test_judges_step_aside_unless_it_is_not_wanted() -> None:
    own = {"name": "Own", "model": {"provider": "openai", "modelId": "gpt-4-turbo-preview"}}
    shape = changed(judge__model={"provider": "google", "modelId": "gemini-pro"}, judges=[own])
    assert [bool(judge.recused) for judge in opening_event(setup_from_body(asked(shape), Inn())).judges] == [
        False,
        True,
    ]
    shape["config"]["recuse"] = False
    assert [bool(judge.recused) for judge in opening_event(setup_from_body(asked(shape), Inn())).judges] == [
        False,
        False,
    ]


def test_money_is_taken_as_it_was_written() -> None:
    setup = setup_from_body(asked(changed(config__costLimit=0.11, config__warnAtCost=0.1)), Inn())
    assert (setup.cost_limit, setup.warn_at) == (Money("0.11"), Money("0.1"))


class Unpriced(Inn, frozen=True):
    def model(self, *given: Any) -> Model:
        return replace(super().model(*given), price=None)


def test_a_limit_that_cannot_be_held_is_refused_without_repeating_the_model() -> None:
    with pytest.raises(Invalid) as caught:
        setup_from_body(asked(changed()), Unpriced())
    told = "participants.0.model, participants.1.model, judge.model is not known, so a limit cannot be held"
    assert caught.value.problems == {"costLimit": [f"The price of {told}"]}
    shape = changed(config__costLimit=LEFT_OUT, config__warnAtCost=LEFT_OUT)
    assert setup_from_body(asked(shape), Unpriced()).cost_limit is None


def test_a_colour_left_out_is_one_that_nobody_has() -> None:
    shape = changed(participants=many(4))
    for place in (1, 2, 3):
        del shape["participants"][place]["color"]
    shape["participants"][0]["color"] = SEAT_COLOURS[2].lower()
    colours = [seat.colour.upper() for seat in setup_from_body(asked(shape), Inn()).seats]
    assert len(set(colours)) == 4


def test_colours_repeat_where_there_are_more_seats_than_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_body, "SEAT_COLOURS", SEAT_COLOURS[:2])
    shape = changed(participants=many(4))
    for participant in shape["participants"][1:]:
        del participant["color"]
    shape["participants"][0]["color"] = "#123456"
    colours = [seat.colour for seat in setup_from_body(asked(shape), Inn()).seats]
    assert colours == ["#123456", SEAT_COLOURS[0], SEAT_COLOURS[1], SEAT_COLOURS[0]]


def test_rounds_of_a_debate_counted_in_turns_are_turns_of_everybody() -> None:
    setup = setup_from_body(asked(changed(format="free", config__maxRounds=3)), Inn())
    assert opening_event(setup).limits.turns == 6


def test_more_rounds_than_a_format_has_turns_for_are_refused() -> None:
    body = asked(changed(format="free", participants=many(4), config__maxRounds=6))
    with pytest.raises(Invalid) as caught:
        setup_from_body(body, Inn())
    assert caught.value.problems == {"maxRounds": ["Must be between 1 and 5"]}


@pytest.mark.parametrize("name", Inn().formats)
def test_every_format_opens_with_the_contracts_defaults(name: str) -> None:
    opened = opening_event(setup_from_body(asked(changed(format=name, config=LEFT_OUT)), Inn()))
    # A fixed table has as many rounds as it has.
    assert (opened.format.name, opened.limits.rounds) == (name, 3 if opened.format.scripted else 5)


# --- and back -------------------------------------------------------------------------------------------

ALIKE = {"provider": "openai", "modelId": "gpt-4-turbo-preview"}
SHAPES: tuple[dict[str, Any], ...] = (
    changed(),
    changed(config=LEFT_OUT),
    changed(format="free", participants=many(3), config__maxRounds=4, config__effort="high"),
    changed(
        participants__0__model=PERSON,
        participants__0__standIn={**OWL, "temperature": 0.1, "maxTokens": 77},
        participants__1__persona="A retired judge",
        participants__1__objective="Win the neutral over",
        participants__1__systemPrompt="Speak plainly.",
        judge__model=PERSON,
        judge__evaluationCriteria=["wit", "truth"],
        judge__weights={"wit": 2.5},
        judges=[{"name": "Judge Claude", "model": OWL}],
        config__winningCondition="audience",
        config__polls={"before": False, "seconds": 30},
        config__autoJudge=False,
        config__autoProgress=False,
    ),
    changed(judge__model={"provider": "google", "modelId": "g"}, judges=[{"name": "Own", "model": ALIKE}]),
    changed(
        judge__model={"provider": "google", "modelId": "g"},
        judges=[{"name": "Own", "model": ALIKE}],
        config__recuse=False,
    ),
    changed(config__tools=["search/lookup", "web_search"]),
    changed(config__blind=True, config__prep=True, config__objective="Whether at all.", config__intensity=5),
)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_body_of_a_debate_opens_the_same_debate_again(shape: dict[str, Any]) -> None:
    opened = opening_event(setup_from_body(asked(shape), Inn()))
    body = body_from_event(opened)
    assert opening_event(setup_from_body(asked(body), Inn())) == opened
    assert body_from_event(opening_event(setup_from_body(asked(body), Inn()))) == body


@pytest.mark.parametrize("name", Inn().formats)
def test_every_format_is_opened_again_as_it_was(name: str) -> None:
    opened = opening_event(setup_from_body(asked(changed(format=name, config__maxRounds=3)), Inn()))
    assert opening_event(setup_from_body(asked(body_from_event(opened)), Inn())) == opened


def test_where_nobody_judged_a_judge_is_named_who_is_not_asked() -> None:
    opened = replace(opening_event(setup_from_body(asked(changed()), Inn())), judges=())
    body = body_from_event(opened)
    assert body["config"]["autoJudge"] is False
    again = opening_event(setup_from_body(asked(body), Inn()))
    assert (again.seats, again.limits) == (opened.seats, opened.limits)
