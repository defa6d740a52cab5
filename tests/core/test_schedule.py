"""Who speaks when: every format with two to four seats and every number of rounds."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot import formats
from moot.schedule import benches, schedule, speaking_order
from moot.terms import Format, Limits, Side, Slot
from tests.core.plots import LAW, blind
from tests.factories import SCRIPTED, seats

ROUNDS = range(1, 11)
TEAMS: tuple[tuple[Side, ...], ...] = (
    ("for", "against"),
    ("for", "against", "for"),
    ("for", "against", "for", "against"),
)


def laid_out(name: str, rounds: int, sides: tuple[Side, ...] = ("for", "against")) -> tuple[Slot, ...]:
    return schedule(formats.load(name), seats(*sides), Limits(rounds))


def keys(fmt: Format, slots: tuple[Slot, ...]) -> list[str]:
    """The rows that are played, one for each stretch of speeches in them."""
    return [fmt.phases[phase].key for phase, _ in groupby(slot.phase for slot in slots)]


def by_round(slots: tuple[Slot, ...]) -> list[str]:
    """Who speaks in each round, as a word."""
    return ["".join(slot.seat for slot in group) for _, group in groupby(slots, lambda slot: slot.round)]


# --- every format -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", formats.BUILT_IN)
@pytest.mark.parametrize("sides", TEAMS, ids=len)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_slots_are_numbered_rounds_rise_and_everybody_sits_in_the_debate(
    name: str, sides: tuple[Side, ...], rounds: int
) -> None:
    slots = laid_out(name, rounds, sides)
    assert [slot.index for slot in slots] == list(range(len(slots)))
    numbers = [slot.round for slot in slots]
    assert sorted(set(numbers)) == list(range(1, numbers[-1] + 1))
    assert numbers == sorted(numbers)
    assert {slot.seat for slot in slots} <= {seat.id for seat in seats(*sides)}
    assert len({slot.group for slot in slots}) == len(slots)


@pytest.mark.parametrize("name", ["oxford", "roundtable", "panel"])
@pytest.mark.parametrize("sides", TEAMS, ids=len)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_round_is_every_seat_speaking_once(name: str, sides: tuple[Side, ...], rounds: int) -> None:
    played = by_round(laid_out(name, rounds, sides))
    assert len(played) == rounds
    everybody = sorted(seat.id for seat in seats(*sides))
    assert all(sorted(speakers) == everybody for speakers in played)


@pytest.mark.parametrize("name", ["oxford", "roundtable", "panel"])
@pytest.mark.parametrize("rounds", ROUNDS)
def test_openings_come_first_closings_last_and_the_middle_repeats(name: str, rounds: int) -> None:
    tones = [slot.tone for slot in laid_out(name, rounds)]
    opening, closing = ["opening"] * 2, ["closing"] * 2 if rounds > 1 else []
    assert tones == opening + ["rebuttal"] * 2 * max(0, rounds - 2) + closing


@given(
    st.sampled_from((*formats.BUILT_IN, "blind")),
    st.lists(st.sampled_from(("for", "against", "neutral")), min_size=2, max_size=4),
    st.integers(1, 10),
    st.integers(1, 20),
)
@LAW
def test_whatever_the_sides_two_of_them_meet(name: str, sides: list[Side], rounds: int, turns: int) -> None:
    fmt = blind() if name == "blind" else formats.load(name)
    table = seats(*sides)
    slots = schedule(fmt, table, Limits(rounds, turns if fmt.turns else None))
    pro, con = benches(table)
    assert slots
    if len(slots) > 1:
        speakers = {slot.seat for slot in slots}
        assert speakers & {seat.id for seat in pro}
        assert speakers & {seat.id for seat in con}


# --- benches ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "pro", "con"),
    [
        (("for", "against"), "a", "b"),
        (("against", "for"), "b", "a"),
        (("for", "against", "for"), "ac", "b"),
        (("for", "for"), "a", "b"),
        (("against", "against"), "a", "b"),
        (("for", "for", "for"), "ab", "c"),
        (("against", "against", "against"), "a", "bc"),
        (("neutral", "neutral"), "a", "b"),
        (("neutral", "neutral", "neutral"), "ac", "b"),
        (("for", "neutral"), "a", "b"),
        (("neutral", "against"), "a", "b"),
        (("for", "against", "neutral"), "ac", "b"),
        (("for", "for", "neutral", "neutral"), "ab", "cd"),
    ],
)
def test_everybody_finds_a_bench(sides: tuple[Side, ...], pro: str, con: str) -> None:
    one, other = benches(seats(*sides))
    assert "".join(seat.id for seat in one) == pro
    assert "".join(seat.id for seat in other) == con


def test_the_sides_alternate() -> None:
    oxford = formats.load("oxford")
    order = speaking_order(oxford, seats("for", "for", "against", "against"))
    assert [seat.id for seat in order] == ["a", "c", "b", "d"]


def test_team_mates_share_their_sides_speeches() -> None:
    assert by_round(laid_out("oxford", 2, TEAMS[1])) == ["abc", "abc"]


# --- one by one ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", range(1, 21))
@pytest.mark.parametrize("sides", TEAMS, ids=len)
def test_a_free_debate_has_as_many_turns_as_asked_for(turns: int, sides: tuple[Side, ...]) -> None:
    slots = schedule(formats.load("free"), seats(*sides), Limits(rounds=5, turns=turns))
    assert len(slots) == turns
    assert all(slot.tone == ("opening" if slot.round == 1 else "rebuttal") for slot in slots)
    assert all(one.seat != other.seat for one, other in pairwise(slots))


def test_a_free_debate_has_ten_turns_where_nobody_says_otherwise() -> None:
    assert len(laid_out("free", 5, TEAMS[1])) == 10


@pytest.mark.parametrize("rounds", ROUNDS)
def test_lincoln_douglas_follows_its_table_and_is_only_cut_short(rounds: int) -> None:
    rows = [["AC", "CX-1", "NC", "CX-2"], ["1AR", "NR"], ["2AR"]]
    slots = laid_out("lincoln-douglas", rounds)
    assert keys(formats.load("lincoln-douglas"), slots) == [key for row in rows[:rounds] for key in row]
    assert max(slot.round for slot in slots) == min(rounds, 3)


def test_lincoln_douglas_questions_and_answers() -> None:
    first = laid_out("lincoln-douglas", 1)
    assert by_round(first) == ["a" + "baba" + "b" + "abab"]
    assert [slot.tone for slot in first][:5] == ["opening", "question", "answer", "question", "answer"]
    assert [(slot.seat, slot.to) for slot in first[1:3]] == [("b", "a"), ("a", "b")]


def test_in_lincoln_douglas_the_affirmative_speaks_first_and_last() -> None:
    slots = laid_out("lincoln-douglas", 3)
    assert (slots[0].seat, slots[-1].seat) == ("a", "a")


def test_in_a_team_the_second_speaker_gives_the_first_rebuttals() -> None:
    slots = laid_out("lincoln-douglas", 3, TEAMS[2])
    assert by_round(slots)[1:] == ["cd", "a"]


@pytest.mark.parametrize("sides", TEAMS, ids=len)
def test_at_a_round_table_another_seat_opens_each_round(sides: tuple[Side, ...]) -> None:
    order = "".join(seat.id for seat in seats(*sides))
    played = by_round(laid_out("roundtable", 6, sides))
    assert played == [order[n % len(order) :] + order[: n % len(order)] for n in range(6)]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_panel_ends_with_its_moderator(rounds: int) -> None:
    panel = formats.load("panel")
    chaired = seats("for", "against", "neutral")
    chaired = (*chaired[:2], type(chaired[2])("m", "Moderator", "neutral", SCRIPTED, role="moderator"))
    slots = schedule(panel, chaired, Limits(rounds))
    assert slots[-1].seat == "m"
    assert slots[-1].tone == "summary"
    assert [slot.seat for slot in slots].count("m") == 1
    assert by_round(slots) == ["ab"] * (rounds - 1) + ["abm"]


def test_those_who_speak_at_the_same_time_are_one_group() -> None:
    slots = schedule(blind(), seats("for", "against", "for"), Limits(2))
    assert [len(list(group)) for _, group in groupby(slots, lambda slot: slot.group)] == [3, 3]
