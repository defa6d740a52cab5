"""Formats as data: what the built-in ones say, what is wrong with a bad one, and what is played."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.core.schedule import schedule
from moot.core.terms import DebateLimits, DebateSetup, Format, PollSettings, Seat
from moot.testing.event_factories import SCRIPTED
from tests.formats.bare_format import BARE

# --- reading ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_built_in_formats_can_be_read_and_take_two_to_four(name: str) -> None:
    fmt = formats.load(name)
    assert fmt.name == name
    assert (fmt.min_seats, fmt.max_seats) == (2, 4)


def test_names_lists_the_built_in_formats_first() -> None:
    assert formats.names()[: len(formats.BUILT_IN)] == formats.BUILT_IN


def test_tables_of_real_debating_are_scripted_and_talks_are_not() -> None:
    open_ended = [name for name in formats.BUILT_IN if not formats.load(name).scripted]
    assert open_ended == ["free", "oxford", "roundtable", "panel"]


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_no_built_in_format_needs_more_rounds_than_a_debate_usually_has(name: str) -> None:
    assert formats.load(name).rounds <= 5


def test_a_format_can_be_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text(BARE)
    assert formats.load(str(path)).title == "Bare"


def test_an_unknown_format_is_answered_with_those_there_are() -> None:
    with pytest.raises(Invalid, match=r"free, oxford, .*lincoln-douglas, .*roundtable, panel") as error:
        formats.load("shouting")
    assert "format" in error.value.problems


# --- minutes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("minutes = 4", 600),
        ("minutes = 1.5", 220),
        ("minutes = 4\nwords = 90", 90),
        ("", 180),
        ('minutes = 3\nkind = "crossfire"\nto = "against"\nexchanges = 2', 110),
        ('minutes = 0.1\nkind = "crossfire"\nto = "against"\nexchanges = 2', 10),
    ],
)
def test_minutes_are_read_as_words_where_no_words_are_given(row: str, words: int) -> None:
    fmt = formats.parse(BARE.replace('who = "each"', f'who = "for"\n{row}'))
    assert fmt.phases[0].words == words


# --- formats of one's own -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bare.toml").write_text(BARE)
    return tmp_path


def test_a_folder_of_ones_own_is_looked_into(folder: Path) -> None:
    assert formats.load("bare", folder).title == "Bare"
    assert formats.names(folder) == (*formats.names(), "bare")


def test_a_file_that_is_changed_is_read_anew(folder: Path) -> None:
    formats.load("bare", folder)
    (folder / "bare.toml").write_text(BARE.replace('title = "Bare"', 'title = "Other"'))
    assert formats.load("bare", folder).title == "Other"


def test_a_folder_need_not_be_there(tmp_path: Path) -> None:
    assert formats.names(tmp_path / "none") == formats.names()


def test_a_name_is_not_a_path(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    for name in ("../bare", str(folder / "bare"), "inner/../bare", "*"):
        with pytest.raises(Invalid, match="no format called"):
            formats.load(name, inner)


def test_what_cannot_be_read_is_not_offered_and_does_not_hide_the_rest(folder: Path) -> None:
    (folder / "broken.toml").write_text("name = 3")
    (folder / "oxford.toml").write_text(BARE)
    (folder / "other.toml").write_text(BARE)
    (folder / "latin.toml").write_bytes(b"\xff")
    assert formats.names(folder) == (*formats.names(), "bare")
    found = {name: str(one) for name, one in formats.user_formats(folder) if isinstance(one, Invalid)}
    assert "broken.toml:1: name = 3 will not do" in found["broken"]
    assert "the name oxford is taken" in found["oxford"]
    assert 'name = "bare", but the file is called other.toml' in found["other"]
    assert "cannot be read" in found["latin"]
    assert formats.load("oxford", folder).title == "Oxford"


def test_an_installed_package_can_bring_a_format(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder / "ours-1.dist-info"
    package.mkdir()
    (folder / "ours.py").write_text(f"TABLE = {BARE.replace('bare', 'brought')!r}")
    (package / "METADATA").write_text("Name: ours\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[moot.formats]\nbrought = ours:TABLE\n")
    monkeypatch.syspath_prepend(str(folder))
    formats.clear_package_cache()
    try:
        assert "brought" in formats.names()
        assert formats.load("brought").title == "Bare"
    finally:
        monkeypatch.undo()
        formats.clear_package_cache()


# --- the tables of real debating ----------------------------------------------------------------------


def seated(*names: str) -> tuple[Seat, ...]:
    """One seat for each name, in turn for and against."""
    return tuple(
        Seat(name, name, "for" if place % 2 == 0 else "against", SCRIPTED) for place, name in enumerate(names)
    )


def spoken(fmt: Format, *names: str) -> list[str]:
    """Who speaks: questions as asker?answerer, the rest of a speech after its break as +."""
    said: list[str] = []
    for slot in schedule(fmt, seated(*names), DebateLimits(fmt.max_rounds)):
        if slot.tone == "question":
            said.append(f"{slot.seat}?{slot.to}")
        elif slot.tone == "continuation":
            said[-1] += "+"
        elif slot.tone != "answer":
            said.append(slot.seat)
    return [name for place, name in enumerate(said) if "?" not in name or said[place - 1] != name]


def minutes(fmt: Format) -> list[float]:
    return [phase.minutes for phase in fmt.phases]


def test_lincoln_douglas() -> None:
    fmt = formats.load("lincoln-douglas")
    assert [phase.key for phase in fmt.phases] == ["AC", "CX-1", "NC", "CX-2", "1AR", "NR", "2AR"]
    assert spoken(fmt, "A", "N") == ["A", "N?A", "N", "A?N", "A", "N", "A"]
    assert minutes(fmt) == [6, 3, 7, 3, 4, 6, 3]
    both = {
        side: sum(p.minutes for p in fmt.phases if p.kind == "speech" and p.who == side)
        for side in ("for", "against")
    }
    assert both == {"for": 13, "against": 13}
    assert (fmt.last_word, fmt.prep_words) == ("for", 600)


def test_policy() -> None:
    fmt = formats.load("policy")
    assert spoken(fmt, "1A", "1N", "2A", "2N") == [
        "1A", "2N?1A", "1N", "1A?1N", "2A", "1N?2A", "2N", "2A?2N", "1N", "1A", "2N", "2A",
    ]  # fmt: skip
    assert minutes(fmt) == [8, 3, 8, 3, 8, 3, 8, 3, 5, 5, 5, 5]
    assert [phase.key for phase in fmt.phases if not phase.new_arguments and phase.kind == "speech"] == [
        "1NR", "1AR", "2NR", "2AR",
    ]  # fmt: skip
    assert (fmt.last_word, fmt.prep_words) == ("for", 1200)


def test_public_forum() -> None:
    fmt = formats.load("public-forum")
    assert spoken(fmt, "P1", "C1", "P2", "C2") == [
        "P1", "C1", "P1?C1", "C1?P1", "P2", "C2", "P2?C2", "C2?P2", "P1", "C1",
        "P1?C1", "C1?P1", "P2?C2", "C2?P2", "P2", "C2",
    ]  # fmt: skip
    assert minutes(fmt) == [4, 4, 3, 4, 4, 3, 3, 3, 3, 2, 2]
    assert fmt.prep_words == 450


def test_british_parliamentary() -> None:
    fmt = formats.load("british-parliamentary")
    teams = ("OG", "OO", "CG", "CO")
    assert spoken(fmt, *teams) == [
        "OG+", "OO+", "OG+", "OO+", "CG+", "CO+", "CG+", "CO+",
    ]  # fmt: skip
    assert [phase.speaks_as for phase in fmt.phases] == [
        "Prime Minister", "Leader of the Opposition", "Deputy Prime Minister",
        "Deputy Leader of the Opposition", "Member of the Government", "Member of the Opposition",
        "Government Whip", "Opposition Whip",
    ]  # fmt: skip
    assert minutes(fmt) == [7] * 8
    assert all(phase.points_of_information and phase.protected == 150 for phase in fmt.phases)
    assert [phase.key for phase in fmt.phases if not phase.new_arguments] == ["OW"]
    assert (fmt.result, fmt.parties) == ("ranking", "seats")


def test_world_schools() -> None:
    fmt = formats.load("world-schools")
    assert spoken(fmt, "P1", "O1", "P2", "O2", "P3", "O3") == [
        "P1+", "O1+", "P2+", "O2+", "P3+", "O3+", "O1", "P1",
    ]  # fmt: skip
    assert minutes(fmt) == [8] * 6 + [4] * 2
    assert [phase.points_of_information for phase in fmt.phases] == [True] * 6 + [False] * 2
    assert fmt.last_word == "for"


def test_karl_popper() -> None:
    fmt = formats.load("karl-popper")
    assert spoken(fmt, "A1", "N1", "A2", "N2", "A3", "N3") == [
        "A1", "N3?A1", "N1", "A3?N1", "A2", "N1?A2", "N2", "A1?N2", "A3", "N3",
    ]  # fmt: skip
    assert minutes(fmt) == [6, 3, 6, 3, 5, 3, 5, 3, 5, 5]
    assert fmt.prep_words == 1200


def test_chinese_four_against_four_with_its_free_debate() -> None:
    fmt = formats.load("chinese")
    assert spoken(fmt, "正一", "反一", "正二", "反二", "正三", "反三", "正四", "反四") == [
        "正一", "反四?正一", "反一", "正四?反一", "正二", "反二",
        *["正二", "反二"] * 3,
        "正三?反一", "正三?反二", "反三?正一", "反三?正二", "正三", "反三",
        *["正一", "反一", "正二", "反二", "正三", "反三", "正四", "反四"] * 2,
        "反四", "正四",
    ]  # fmt: skip
    free = next(phase for phase in fmt.phases if phase.key == "free-debate")
    assert free.clock <= free.exchanges * free.words
    assert fmt.last_word == "for"


def test_oxford_before_an_audience() -> None:
    fmt = formats.load("oxford")
    kinds = [phase.kind for phase in fmt.phases]
    assert kinds == ["vote", "speech", "speech", "questions", "speech", "vote"]
    slots = schedule(fmt, seated("P", "O"), DebateLimits(3))
    assert [slot.tone for slot in slots] == ["opening"] * 2 + ["rebuttal"] * 2 + ["floor"] * 2 + [
        "closing"
    ] * 2
    assert (fmt.result, fmt.parties) == ("swing", "sides")


def test_oxford_union() -> None:
    fmt = formats.load("oxford-union")
    assert spoken(fmt, "P1", "O1", "P2", "O2") == [
        "P1", "O1", "P1", "O1", "P2", "O2", "P2", "O2", "P1", "O1",
    ]  # fmt: skip
    assert [phase.kind for phase in fmt.phases].index("questions") == 2
    assert fmt.result == "majority"


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_every_speech_of_a_team_says_whose_it_is(name: str) -> None:
    fmt = formats.load(name)
    speakers = {(phase.who, phase.speaker) for phase in fmt.phases if phase.kind == "speech"}
    if max(speaker for _, speaker in speakers) > 1 and name != "lincoln-douglas":
        assert all(phase.speaks_as for phase in fmt.phases if phase.kind == "speech")


# --- rows ---------------------------------------------------------------------------------------------


def written(*rows: str, chairs: str = "") -> Format:
    """A scripted format with these rows: `key who more`."""
    text = BARE[: BARE.index("[[phases]]")].replace("]\n", f"{chairs}]\nscripted = true\n")
    for number, row in enumerate(rows, 1):
        key, who, *more = row.split(maxsplit=2)
        text += f'[[phases]]\nkey = "{key}"\ntitle = "{key}"\nwho = "{who}"\nround = {number}\n'
        text += "".join(more).replace("; ", "\n") + "\n"
    return formats.parse(text)


def test_a_row_for_a_seat_that_nobody_holds_is_left_out() -> None:
    chairs = ', { name = "N", side = "neutral" }, { name = "M", side = "neutral", role = "moderator" }'
    fmt = written("plea for", "testimony neutral", "summary moderator", "answer against", chairs=chairs)
    assert spoken(fmt, "F", "A") == ["F", "A"]
    witness = Seat("N", "N", "neutral", SCRIPTED)
    slots = schedule(fmt, (*seated("F", "A"), witness), DebateLimits(9))
    assert [slot.seat for slot in slots] == ["F", "N", "A"]


def test_a_row_can_be_given_by_all_at_the_same_time() -> None:
    fmt = written('opening each simultaneous = true; tone = "opening"')
    first, second = schedule(fmt, seated("F", "A"), DebateLimits(1))
    assert first.group == second.group


# --- a format as it is played -------------------------------------------------------------------------


def played(name: str, count: int = 2, **setup: Any) -> Format:
    return formats.fit_format(formats.load(name), seated(*"abcd"[:count]), DebateSetup(**setup))


def test_without_an_audience_there_is_no_vote_and_no_floor() -> None:
    assert {phase.kind for phase in played("oxford").phases} == {"speech"}
    assert played("oxford", polls=PollSettings()) == formats.load("oxford")


def test_four_teams_are_ranked_and_fewer_seats_are_two_sides() -> None:
    assert played("british-parliamentary", 4) == formats.load("british-parliamentary")
    for count in (2, 3):
        fmt = played("british-parliamentary", count)
        assert (fmt.result, fmt.parties) == ("majority", "sides")


def test_a_seat_knows_the_teams_that_it_speaks_for() -> None:
    house = formats.load("british-parliamentary")
    for count, teams in ((2, ["OG, CG", "OO, CO"]), (4, ["OG", "OO", "CG", "CO"])):
        assert [seat.team for seat in formats.assign_teams(house, seated(*"abcd"[:count]))] == teams
    apart = [
        replace(seat, side=side)
        for seat, side in zip(seated(*"abcd"), ("for", "for", "against", "against"), strict=True)
    ]
    assert [seat.team for seat in formats.assign_teams(house, apart)] == ["OG", "CG", "OO", "CO"]
    assert formats.assign_teams(formats.load("policy"), seated("a", "b")) == seated("a", "b")


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_blind_openings_are_given_at_the_same_time_before_anything_else(name: str) -> None:
    fmt = played(name, blind=True)
    first, second, third, *_ = schedule(fmt, seated("F", "A"), DebateLimits(fmt.rounds, fmt.turns))
    assert first.tone == second.tone == "opening"
    assert {first.seat, second.seat} == {"F", "A"}
    assert first.group == second.group != third.group
    assert sorted(p.key for p in fmt.phases) == sorted(p.key for p in played(name).phases)


def test_an_audience_votes_before_blind_openings_too() -> None:
    fmt = played("oxford", blind=True, polls=PollSettings())
    assert [phase.kind for phase in fmt.phases][:2] == ["vote", "speech"]


def test_no_built_in_summary_promises_what_depends_on_the_audience_or_the_seats() -> None:
    for name in formats.BUILT_IN:
        fmt = formats.load(name)
        assert not re.search("vote|swing|majority|ranking|ranked|judges", fmt.summary), name
    assert "larger swing wins; else the judges decide" in formats.described(formats.load("oxford"))
    assert "a plain majority wins; else the judges" in formats.described(formats.load("oxford-union"))
    assert formats.described(formats.load("free")) == formats.load("free").summary
