"""Who speaks when in the built-in formats. What any format must be good for is in its contract."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.core.schedule import schedule, seats_by_side, speaking_order, teams
from moot.core.terms import DebateLimits, DebateSetup, Format, Side, Slot
from moot.testing.event_factories import SCRIPTED, seats
from tests.rules.random_debates import LAW, blind
from tests.support.for_each import for_each

ROUNDS = range(1, 11)
TEAMS: tuple[tuple[Side, ...], ...] = (
    ("for", "against"),
    ("for", "against", "for"),
    ("for", "against", "for", "against"),
)


def laid_out(name: str, rounds: int, sides: tuple[Side, ...] = ("for", "against")) -> tuple[Slot, ...]:
    """As it is played before no audience."""
    return schedule(formats.without_audience(formats.load(name)), seats(*sides), DebateLimits(rounds))


def keys(fmt: Format, slots: tuple[Slot, ...]) -> list[str]:
    """The rows that are played, one for each stretch of speeches in them."""
    return [fmt.phases[phase].key for phase, _ in groupby(slot.phase for slot in slots)]


def by_round(slots: tuple[Slot, ...]) -> list[str]:
    """Who speaks in each round, as a word."""
    return ["".join(slot.seat for slot in group) for _, group in groupby(slots, lambda slot: slot.round)]


# --- every format -------------------------------------------------------------------------------------


@for_each("name", ["oxford", "roundtable", "panel"])
@for_each("sides", TEAMS, ids=len)
@for_each("rounds", ROUNDS)
def test_a_round_is_every_seat_speaking_once(name: str, sides: tuple[Side, ...], rounds: int) -> None:
    played = by_round(laid_out(name, rounds, sides))
    assert len(played) == rounds
    everybody = sorted(seat.id for seat in seats(*sides))
    assert all(sorted(speakers) == everybody for speakers in played)


@for_each("name", ["oxford", "roundtable", "panel"])
@for_each("rounds", ROUNDS)
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
    slots = schedule(fmt, table, DebateLimits(rounds, turns if fmt.turns else None))
    pro, con = seats_by_side(table)
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
    one, other = seats_by_side(seats(*sides))
    assert "".join(seat.id for seat in one) == pro
    assert "".join(seat.id for seat in other) == con


def test_the_sides_alternate() -> None:
    oxford = formats.load("oxford")
    order = speaking_order(oxford, seats("for", "for", "against", "against"))
    assert [seat.id for seat in order] == ["a", "c", "b", "d"]


def test_team_mates_share_their_sides_speeches() -> None:
    assert by_round(laid_out("oxford", 2, TEAMS[1])) == ["abc", "abc"]


# --- one by one ---------------------------------------------------------------------------------------


@for_each("turns", range(1, 21))
@for_each("sides", TEAMS, ids=len)
def test_a_free_debate_has_as_many_turns_as_asked_for(turns: int, sides: tuple[Side, ...]) -> None:
    slots = schedule(formats.load("free"), seats(*sides), DebateLimits(rounds=5, turns=turns))
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
    slots = schedule(panel, chaired, DebateLimits(rounds))
    assert slots[-1].seat == "m"
    assert slots[-1].tone == "summary"
    assert [slot.seat for slot in slots].count("m") == 1
    assert by_round(slots) == ["ab"] * (rounds - 1) + ["abm"]


def test_those_who_speak_at_the_same_time_are_one_group() -> None:
    slots = schedule(blind(), seats("for", "against", "for"), DebateLimits(2))
    assert [len(list(group)) for _, group in groupby(slots, lambda slot: slot.group)] == [3, 3]


def test_rows_side_by_side_are_given_at_the_same_time_too() -> None:
    fmt = formats.with_blind_openings(formats.load("lincoln-douglas"))
    slots = schedule(fmt, seats("for", "against"), DebateLimits(1))
    assert [slot.group == slots[0].group for slot in slots] == [True, True] + [False] * 8


def test_nobody_speaks_twice_at_the_same_time() -> None:
    fmt = formats.with_blind_openings(formats.load("british-parliamentary"))
    twice = replace(fmt, phases=tuple(replace(phase, round=1, simultaneous=True) for phase in fmt.phases))
    slots = schedule(twice, seats("for", "against"), DebateLimits(1))
    for _, group in groupby(slots, lambda slot: slot.group):
        speakers = [slot.seat for slot in group]
        assert sorted(speakers) == ["a", "b"]


# --- teams --------------------------------------------------------------------------------------------

HOUSE = "british-parliamentary"


def speeches(slots: tuple[Slot, ...]) -> str:
    """The speakers, each speech once."""
    return "".join(slot.seat for slot in slots if slot.tone != "continuation")


@pytest.mark.parametrize(
    ("sides", "order"),
    [
        (("for", "against"), "abababab"),
        (("for", "against", "for"), "ababcbcb"),
        (("for", "against", "for", "against"), "ababcdcd"),
        (("for", "for", "against", "against"), "acacbdbd"),
        (("against", "for", "against", "for"), "babadcdc"),
        (("for", "for", "for", "against"), "adcdbdbd"),
        (("neutral", "neutral", "neutral", "neutral"), "ababcdcd"),
    ],
)
def test_the_teams_of_a_side_keep_to_their_own_members(sides: tuple[Side, ...], order: str) -> None:
    assert speeches(laid_out(HOUSE, 4, sides)) == order


def test_a_bench_that_is_too_small_speaks_for_several_teams() -> None:
    house = formats.load(HOUSE)
    found = teams(house, seats("for", "against", "for"))
    assert {team: "".join(seat.id for seat in members) for team, members in found.items()} == {
        "OG": "a", "CG": "c", "OO": "b", "CO": "b",
    }  # fmt: skip


# --- points of information, the floor, the clock ------------------------------------------------------


@pytest.mark.parametrize("name", [HOUSE, "world-schools"])
def test_a_speech_with_points_of_information_has_its_break_between_the_protected_ends(name: str) -> None:
    fmt = formats.load(name)
    slots = laid_out(name, 1)
    for first, second in zip(slots[::2], slots[1::2], strict=True):
        phase = fmt.phases[first.phase]
        assert (first.seat, first.phase, second.tone) == (second.seat, second.phase, "continuation")
        assert first.words + second.words == phase.words
        assert phase.protected < first.words < phase.words - phase.protected
        assert first.group != second.group


def test_a_speech_without_points_is_one_slot_with_the_words_of_its_row() -> None:
    assert {slot.words for slot in laid_out("lincoln-douglas", 3)} == {0}


@pytest.mark.parametrize("sides", TEAMS, ids=len)
def test_every_debater_answers_the_floor_before_the_closings(sides: tuple[Side, ...]) -> None:
    last = [
        slot for slot in schedule(formats.load("oxford"), seats(*sides), DebateLimits(4)) if slot.round == 4
    ]
    tones = [slot.tone for slot in last]
    assert tones == ["floor"] * len(sides) + ["closing"] * len(sides)
    assert [slot.seat for slot in last[: len(sides)]] == [slot.seat for slot in last[len(sides) :]]


def test_in_a_free_debate_on_a_clock_the_sides_alternate_through_all_members() -> None:
    fmt = formats.load("chinese")
    slots = [slot for slot in laid_out("chinese", 5, TEAMS[2]) if fmt.phases[slot.phase].clock]
    assert speeches(tuple(slots)) == "abcd" * 4
    assert all(slot.to for slot in slots)


def test_in_the_grand_crossfire_everybody_asks_and_everybody_answers() -> None:
    fmt = formats.load("public-forum")
    slots = laid_out("public-forum", 4, TEAMS[2])
    grand = [slot for slot in slots if fmt.phases[slot.phase].key == "grand-crossfire"]
    for tone in ("question", "answer"):
        assert "".join(sorted(slot.seat for slot in grand if slot.tone == tone)) == "abcd"
    assert [(slot.seat, slot.to) for slot in grand[::2]] == [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]


def test_a_toss_turns_public_forum_round() -> None:
    table = formats.load("public-forum")
    turned = formats.fit_format(table, (), DebateSetup(opens="against"))
    said = [phase.key for phase in turned.phases]
    assert said[:3] == ["CC", "PC", "crossfire-1"]
    assert sorted(said) == sorted(phase.key for phase in table.phases)
    assert turned.last_word == "for"
    crossfire = turned.phases[2]
    assert (crossfire.who, crossfire.to) == ("against", "for")
