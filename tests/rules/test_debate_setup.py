"""The setup of a debate: defaults are filled in, and all errors are reported at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.core.events import DebateOpened, decode_event, encode
from moot.core.schedule import schedule
from moot.core.terms import (
    DEFAULT_CRITERIA,
    FREE,
    HUMAN,
    Model,
    ModelPrice,
    Money,
    PollSettings,
    PriceTier,
    Seat,
)
from moot.rules.cost_estimate import smallest_limit
from moot.rules.debate_setup import JudgeSetup, SeatSetup, Setup, opening_event
from moot.testing.event_factories import SCRIPTED
from tests.rules.random_debates import LAW
from tests.rules.simulate import WORDS, Reply, Sent, Simulation, speak
from tests.support.for_each import for_each

PAIR = (SeatSetup(SCRIPTED), SeatSetup(SCRIPTED))
PERSON = Model(HUMAN, "ada")


def opened(format: str = "oxford", **changes: Any) -> DebateOpened:
    usual: dict[str, Any] = {"motion": "Cats are better than dogs", "seats": PAIR}
    return opening_event(Setup(format=formats.load(format), **{**usual, **changes}))


def problems(format: str = "oxford", **changes: Any) -> dict[str, list[str]]:
    with pytest.raises(Invalid) as error:
        opened(format, **changes)
    return error.value.problems


# --- defaults -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_seats_sit_down_where_the_format_suggests(name: str) -> None:
    fmt = formats.load(name)
    event = opened(name, seats=(SeatSetup(SCRIPTED),) * len(fmt.chairs))
    assert [(seat.name, seat.side, seat.role, seat.persona) for seat in event.seats] == [
        (chair.name, chair.side, chair.role, chair.persona) for chair in fmt.chairs
    ]
    assert event.limits.rounds == fmt.rounds
    assert event.limits.turns == fmt.turns


def test_seats_have_ids_and_colours_of_their_own() -> None:
    event = opened(seats=PAIR * 2)
    assert [seat.id for seat in event.seats] == ["part_1", "part_2", "part_3", "part_4"]
    assert len({seat.colour for seat in event.seats}) == 4


def test_further_seats_join_the_sides_in_turn() -> None:
    event = opened(seats=PAIR * 2)
    assert [(seat.name, seat.side) for seat in event.seats[2:]] == [
        ("Proposition 2", "for"),
        ("Opposition 2", "against"),
    ]


def test_what_is_said_about_a_seat_counts() -> None:
    given_seat = SeatSetup(SCRIPTED, " Ada ", "against", "calm", "win over the bank", "Be brief.", "#000000")
    seat = opened(seats=(given_seat, SeatSetup(SCRIPTED))).seats[0]
    assert (seat.name, seat.side, seat.persona, seat.objective) == (
        "Ada",
        "against",
        "calm",
        "win over the bank",
    )
    assert (seat.system_prompt, seat.colour) == ("Be brief.", "#000000")


def test_the_third_seat_of_a_panel_moderates_unless_it_takes_a_side() -> None:
    assert opened("panel", seats=(SeatSetup(SCRIPTED),) * 3).seats[2].role == "moderator"
    sided = (*PAIR, SeatSetup(SCRIPTED, side="for"))
    assert opened("panel", seats=sided).seats[2].role == "debater"


def test_a_suggested_name_gives_way_to_one_that_somebody_chose() -> None:
    event = opened(seats=(SeatSetup(SCRIPTED), SeatSetup(SCRIPTED, name="proposition")))
    assert [seat.name for seat in event.seats] == ["Proposition 2", "proposition"]


def test_a_seed_gives_every_seat_and_judge_its_own() -> None:
    event = opened(seed=7, judges=(JudgeSetup(SCRIPTED),))
    seeds = [player.model.seed for player in (*event.seats, *event.judges)]
    assert seeds == [7, 8, 107]
    fixed = SeatSetup(replace(SCRIPTED, seed=1))
    assert opened(seed=7, seats=(fixed, fixed)).seats[0].model.seed == 1


def test_only_free_debates_are_counted_in_turns() -> None:
    assert opened("free", turns=4).limits.turns == 4
    assert opened("free").limits.turns == 10
    assert opened("oxford").limits.turns is None


def test_a_person_costs_nothing_and_throws_no_dice() -> None:
    event = opened(
        seats=(SeatSetup(PERSON, stand_in=SCRIPTED), SeatSetup(SCRIPTED)), seed=7, cost_limit=Money(1)
    )
    seat = event.seats[0]
    assert (seat.model.price, seat.model.seed) == (FREE, None)
    assert seat.stand_in == replace(SCRIPTED, seed=7)


def test_people_have_five_minutes_unless_somebody_says_otherwise() -> None:
    assert opened().limits.person_seconds == 300
    assert opened(person_seconds=45).limits.person_seconds == 45


def test_where_the_audience_decides_it_votes() -> None:
    assert opened().setup.polls is None
    assert opened(winning="audience").setup.polls == PollSettings()
    once = PollSettings(before=False, seconds=30)
    assert opened(winning="audience", polls=once).setup.polls == once


def test_blind_openings_are_given_at_the_same_time() -> None:
    event = opened(blind=True)
    assert event.setup.blind
    slots = [slot for slot in schedule(event.format, event.seats, event.limits) if slot.tone == "opening"]
    assert len({slot.group for slot in slots}) == 1 < len(slots)


def test_what_the_debate_is_to_settle_is_written_down() -> None:
    setup = opened(objective=" Decide by Friday. ", prep=True).setup
    assert (setup.objective, setup.prep) == ("Decide by Friday.", True)


def test_the_motion_is_trimmed() -> None:
    assert opened(motion="  Cats are best!  ").motion == "Cats are best!"


# --- mistakes -----------------------------------------------------------------------------------------


@for_each(
    ("changes", "field"),
    [
        ({"motion": ""}, "topic"),
        ({"motion": "   "}, "topic"),
        ({"motion": "x" * 501}, "topic"),
        ({"motion": "one\ntwo"}, "topic"),
        ({"motion": "nul\0"}, "topic"),
        ({"motion": "half a pair \ud800"}, "topic"),
        ({"seats": ()}, "participants"),
        ({"seats": PAIR[:1]}, "participants"),
        ({"seats": PAIR * 3}, "participants"),
        ({"seats": (SeatSetup(SCRIPTED, "Ada"), SeatSetup(SCRIPTED, " ADA "))}, "participants"),
        ({"seats": (SeatSetup(SCRIPTED, "Ada"), SeatSetup(SCRIPTED, "Ａda"))}, "participants"),
        ({"seats": (SeatSetup(SCRIPTED, "A\nda"), SeatSetup(SCRIPTED))}, "participants"),
        ({"rounds": 0}, "maxRounds"),
        ({"rounds": 11}, "maxRounds"),
        ({"turns": 4}, "maxTurns"),
        ({"intensity": 0}, "intensity"),
        ({"intensity": 6}, "intensity"),
        ({"turn_seconds": 0}, "timeoutPerRound"),
        ({"turn_seconds": float("nan")}, "timeoutPerRound"),
        ({"turn_seconds": float("inf")}, "timeoutPerRound"),
        ({"person_seconds": 0}, "personSeconds"),
        ({"person_seconds": 3601}, "personSeconds"),
        ({"person_seconds": float("nan")}, "personSeconds"),
        ({"polls": PollSettings(seconds=0)}, "polls.seconds"),
        ({"polls": PollSettings(seconds=float("inf"))}, "polls.seconds"),
        ({"objective": "x" * 2001}, "objective"),
        ({"reading": "backwards"}, "reading"),
        ({"seats": (SeatSetup(SCRIPTED, stand_in=SCRIPTED), SeatSetup(SCRIPTED))}, "participants"),
        ({"seats": (SeatSetup(PERSON, stand_in=PERSON), SeatSetup(SCRIPTED))}, "participants"),
        ({"cost_limit": Money(0)}, "costLimit"),
        ({"cost_limit": Money("NaN")}, "costLimit"),
        ({"cost_limit": Money("Infinity")}, "costLimit"),
        ({"warn_at": Money(-1)}, "warnAtCost"),
        ({"warn_at": Money(2), "cost_limit": Money(1)}, "warnAtCost"),
    ],
)
def test_a_mistake_is_named(changes: dict[str, Any], field: str) -> None:
    assert list(problems(**changes)) == [field]


@pytest.mark.parametrize("turns", [0, 21])
def test_a_free_debate_has_one_to_twenty_turns(turns: int) -> None:
    assert problems("free", turns=turns) == {"maxTurns": ["Must be between 1 and 20"]}


def test_all_mistakes_are_named_at_once() -> None:
    found = problems(motion="", seats=PAIR[:1], rounds=99, intensity=9)
    assert set(found) == {"topic", "participants", "maxRounds", "intensity"}


def test_names_left_blank_are_not_alike() -> None:
    assert opened(seats=(SeatSetup(SCRIPTED, " "), SeatSetup(SCRIPTED, " ")))


def test_a_format_may_need_more_seats() -> None:
    four = replace(formats.load("oxford"), min_seats=4)
    with pytest.raises(Invalid) as error:
        opening_event(Setup("Cats are best!", four, PAIR))
    assert error.value.problems == {"participants": ["Minimum 4 participants required"]}


def test_a_limit_cannot_be_held_where_a_price_is_not_known() -> None:
    mystery = Model("acme", "oracle")
    found = problems(seats=(SeatSetup(mystery), SeatSetup(SCRIPTED)), cost_limit=Money(1))
    assert "acme/oracle" in found["costLimit"][0]
    judge = problems(judges=(JudgeSetup(mystery),), cost_limit=Money(1))
    assert "acme/oracle" in judge["costLimit"][0]
    stand_in = problems(seats=(SeatSetup(PERSON, stand_in=mystery), SeatSetup(SCRIPTED)), cost_limit=Money(1))
    assert "acme/oracle" in stand_in["costLimit"][0]
    assert opened(seats=(SeatSetup(mystery), SeatSetup(SCRIPTED)))


# --- the smallest limit -------------------------------------------------------------------------------

DEAR = ModelPrice(input=(PriceTier(0, Money(3)),), output=(PriceTier(0, Money(15)),))
TALKER = Model("acme", "talker", price=DEAR, thinks=False)
THINKER = Model("acme", "thinker", max_tokens=16384, price=DEAR)
SETUPS: dict[str, dict[str, Any]] = {
    "oxford": {},
    "free": {"format": "free"},
    "roundtable": {"format": "roundtable", "seats": (SeatSetup(TALKER),) * 3},
    "policy, with notes": {"format": "policy", "prep": True},
    "points of information": {"format": "world-schools"},
    "at the same time": {"format": "free", "blind": True},
    "thinkers": {"seats": (SeatSetup(THINKER),) * 2, "judges": (JudgeSetup(THINKER),)},
    "a panel": {"judges": (JudgeSetup(TALKER), JudgeSetup(THINKER, "Other"))},
    "Chinese": {"motion": "应该禁止家庭作业吗？"},
    "a free model": {"seats": (SeatSetup(SCRIPTED), SeatSetup(TALKER))},
    "a few tokens": {"seats": (SeatSetup(replace(TALKER, max_tokens=150)),) * 2},
    "a person": {"seats": (SeatSetup(PERSON, stand_in=TALKER), SeatSetup(TALKER))},
    "nobody judges": {"winning": "user-decides"},
}


def costly(name: str, **changes: Any) -> DebateOpened:
    usual = {"seats": (SeatSetup(TALKER),) * 2, "judges": (JudgeSetup(TALKER),)}
    return opened(**{**usual, **SETUPS[name], **changes})


def smallest(name: str) -> Money:
    least = smallest_limit(costly(name))
    assert least is not None
    return least.total


def greedy(sent: Sent) -> Reply:
    """Says a quarter more than its words, and bills all that it may."""
    turn = sent.debate.turn(sent.purpose.turn) if sent.purpose.turn else None
    if turn is None:
        return replace(speak(sent), reported="worst")
    count = int(sent.debate.word_budget(turn.slot) * 1.25)
    text = " ".join(WORDS[(sent.call + place) % len(WORDS)] for place in range(count))
    return Reply(text + ".", reported="worst", piece=1000)


@pytest.mark.parametrize("name", SETUPS)
def test_under_the_smallest_limit_the_first_round_is_held_and_judged_whatever_it_costs(name: str) -> None:
    opening = costly(name, cost_limit=smallest(name))
    held = replace(opening, seats=tuple(_seated(seat) for seat in opening.seats))
    debate = Simulation(held, greedy).start().run().debate
    assert debate.rounds_done >= 1
    first = [slot.index for slot in debate.schedule if slot.round == 1 and slot.index not in debate.skipped]
    assert {turn.slot for turn in debate.turns if turn.state == "completed"} >= set(first)
    assert debate.counted <= smallest(name)
    assert debate.verdict is not None or debate.setup.winning == "user-decides"


def _seated(seat: Seat) -> Seat:
    return replace(seat, model=seat.stand_in) if seat.stand_in else seat


@pytest.mark.parametrize("name", SETUPS)
def test_a_smaller_limit_is_refused_and_says_what_would_do(name: str) -> None:
    least = smallest(name)
    if least <= Money("0.01"):
        pytest.skip("a cent will do")
    with pytest.raises(Invalid) as error:
        costly(name, cost_limit=least - Money("0.01"))
    (problem,) = error.value.problems["costLimit"]
    assert problem.startswith(f"Must be at least {least} for this setup: ")


def test_what_costs_nothing_has_no_smallest_limit() -> None:
    assert opened(cost_limit=Money("0.0001"))


def test_under_a_limit_calls_are_given_what_their_words_need() -> None:
    def most(name: str, **changes: Any) -> tuple[int, int]:
        sent = Simulation(costly(name, **changes), speak).start().run().sent
        speech = next(one for one in sent if one.purpose.turn)
        return speech.request.max_tokens, sent[-1].request.max_tokens

    assert most("oxford") == (4096, 4096)
    assert most("oxford", cost_limit=Money(5)) == (625, 1500)
    assert most("thinkers", cost_limit=Money(5)) == (625 + 4096, 1500 + 4096)
    assert most("Chinese", cost_limit=Money(5)) == (1250, 3000)
    assert most("a few tokens", cost_limit=Money(5))[0] == 150


@given(st.text(max_size=30), st.text(max_size=20), st.floats())
@LAW
def test_whatever_is_accepted_can_be_written_down(motion: str, name: str, seconds: float) -> None:
    named = (SeatSetup(SCRIPTED, name), SeatSetup(SCRIPTED))
    with suppress(Invalid):
        event = opened(motion=motion, seats=named, turn_seconds=seconds)
        assert decode_event(encode(event)) == event


def test_an_audience_decides_where_the_format_goes_by_the_swing() -> None:
    two = (SeatSetup(SCRIPTED), SeatSetup(SCRIPTED))
    swing = Setup("A motion to try", formats.load("oxford"), two, polls=PollSettings(seconds=60))
    assert opening_event(swing).setup.winning == "audience"
    assert opening_event(replace(swing, winning="ai-judge")).setup.winning == "ai-judge"
    assert opening_event(replace(swing, polls=None)).setup.winning == "ai-judge"
    assert opening_event(replace(swing, format=formats.load("policy"))).setup.winning == "ai-judge"


def test_a_division_is_one_vote() -> None:
    two = (SeatSetup(SCRIPTED), SeatSetup(SCRIPTED))
    union = Setup("A motion to try", formats.load("oxford-union"), two, polls=PollSettings(seconds=60))
    assert opening_event(union).setup.polls == PollSettings(before=False, seconds=60)


def test_judges_without_criteria_go_by_those_of_the_format() -> None:
    two = (SeatSetup(SCRIPTED), SeatSetup(SCRIPTED))
    schools = Setup("A motion to try", formats.load("world-schools"), two, (JudgeSetup(SCRIPTED),))
    judge = opening_event(schools).judges[0]
    assert (judge.criteria, judge.weights) == (
        ("content", "style", "strategy"),
        {"content": 40, "style": 40, "strategy": 20},
    )
    own = replace(schools, judges=(JudgeSetup(SCRIPTED, criteria=("wit",)),))
    assert (opening_event(own).judges[0].criteria, opening_event(own).judges[0].weights) == (("wit",), {})
    usual = replace(schools, format=formats.load("oxford"))
    assert opening_event(usual).judges[0].criteria == DEFAULT_CRITERIA


def test_who_opens_is_only_asked_where_a_toss_decides() -> None:
    two = (SeatSetup(SCRIPTED), SeatSetup(SCRIPTED))
    forum = Setup("A motion to try", formats.load("public-forum"), two, opens="against")
    assert opening_event(forum).format.phases[0].who == "against"
    with pytest.raises(Invalid) as refused:
        opening_event(replace(forum, format=formats.load("policy")))
    assert refused.value.problems == {"opens": ["This format says by itself who opens"]}
