"""Formats as data: what the built-in ones say, what is wrong with a bad one, and what the schema can say."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from moot import formats
from moot.errors import Invalid
from moot.schedule import schedule
from moot.terms import Format, Limits, Seat, Slot
from tests.factories import SCRIPTED

BARE = """
name = "bare"
title = "Bare"
summary = "As little as a format can say."
chairs = [{ name = "For", side = "for" }, { name = "Against", side = "against" }]

[[phases]]
key = "speech"
title = "Speech"
who = "each"
"""


# --- reading ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", formats.BUILT_IN)
def test_built_in_formats_can_be_read_and_take_two_to_four(name: str) -> None:
    fmt = formats.load(name)
    assert fmt.name == name
    assert (fmt.min_seats, fmt.max_seats) == (2, 4)


def test_names_lists_the_built_in_formats_first() -> None:
    assert formats.names()[: len(formats.BUILT_IN)] == formats.BUILT_IN


def test_only_lincoln_douglas_is_scripted() -> None:
    assert [name for name in formats.BUILT_IN if formats.load(name).scripted] == ["lincoln-douglas"]


def test_a_format_can_be_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text(BARE)
    assert formats.load(str(path)).title == "Bare"


def test_an_unknown_format_is_answered_with_those_there_are() -> None:
    with pytest.raises(Invalid, match=r"free, oxford, lincoln-douglas, roundtable, panel") as error:
        formats.load("shouting")
    assert "format" in error.value.problems


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("[[phases]]", "[[phases"), "bare.toml:"),
        (('who = "each"', 'who = "all"'), "Invalid enum value 'all'"),
        (('who = "each"', 'who = "each"\nvolume = 11'), "unknown field `volume`"),
        (('title = "Bare"', ""), "missing required field `title`"),
        (('summary = "', 'repeat = 7\nsummary = "'), "repeat = 7, but no phase has round = 7"),
        (('summary = "', 'repeat = 1\nscripted = true\nsummary = "'), "scripted format cannot repeat"),
        ((', { name = "Against", side = "against" }', ""), "at least two [[chairs]]"),
        (('key = "speech"', 'kind = "crossfire"\nkey = "speech"'), "must say whom it questions"),
        (('key = "speech"', 'kind = "exchange"\nto = "for"\nkey = "speech"'), "must say who asks"),
    ],
)
def test_what_is_wrong_with_a_format_is_said(change: tuple[str, str], problem: str) -> None:
    text = BARE.replace(*change)
    assert text != BARE
    with pytest.raises(Invalid) as error:
        formats.parse(text, "bare.toml")
    assert problem in str(error.value)


def test_a_key_is_used_once() -> None:
    again = BARE[BARE.index("[[phases]]") :]
    with pytest.raises(Invalid, match="'speech' is used twice"):
        formats.parse(BARE + again)


def test_a_format_without_speeches_is_none() -> None:
    with pytest.raises(Invalid, match="at least one"):
        formats.parse(BARE[: BARE.index("[[phases]]")] + "phases = []")


# --- what the schema can say --------------------------------------------------------------------------
# The speech tables of real debating, row by row: key, who, and what is particular about it.

HEAD = """
name = "{name}"
title = "{name}"
summary = "A table from the rule book."
scripted = true
min_seats = {size}
max_seats = {size}
"""


def written(name: str, teams: str, rows: list[str], **head: str) -> Format:
    """TOML as a person would write it: `teams` are chairs as name:side or name:side:team."""
    parts = [HEAD.format(name=name, size=len(teams.split()))]
    parts += [f"{key} = {value}" for key, value in head.items()]
    for chair in teams.split():
        title, side, *team = chair.split(":")
        parts.append(f'[[chairs]]\nname = "{title}"\nside = "{side}"')
        parts += [f'team = "{team[0]}"'] if team else []
    for number, row in enumerate(rows):
        key, who, *more = row.split(maxsplit=2)
        side, _, speaker = who.partition("/")
        parts.append(f'[[phases]]\nkey = "{key}"\ntitle = "{key}"\nwho = "{side}"\nspeaker = {speaker or 1}')
        parts.append(f"round = {number + 1}")
        parts += [" ".join(more).replace("; ", "\n")]
    return formats.parse("\n".join(parts), name)


def table_of(fmt: Format) -> tuple[Slot, ...]:
    chairs = [
        Seat(f"{chair.side[0]}{place}", chair.name, chair.side, SCRIPTED)
        for place, chair in enumerate(fmt.chairs, 1)
    ]
    return schedule(fmt, chairs, Limits(rounds=len(fmt.phases)))


def names(fmt: Format) -> list[str]:
    """Who speaks, by the name of the chair; questions as asker?answerer."""
    seats = {f"{chair.side[0]}{place}": chair.name for place, chair in enumerate(fmt.chairs, 1)}
    spoken: list[str] = []
    for _, group in groupby(table_of(fmt), lambda slot: (slot.phase, slot.group)):
        slot = next(group)
        if slot.tone == "question":
            spoken.append(f"{seats[slot.seat]}?{seats[slot.to or '']}")
        elif slot.tone != "answer":
            spoken.append(seats[slot.seat])
    return spoken


CX = 'kind = "cross-examination"; words = 450; new_arguments = false; '


def test_policy() -> None:
    fmt = written(
        "policy",
        "1A:for 1N:against 2A:for 2N:against",
        [
            '1AC for/1 words = 1200; tone = "opening"',
            f'CX-1 against/2 {CX}to = "for"; to_speaker = 1',
            '1NC against/1 words = 1200; tone = "opening"',
            f'CX-2 for/1 {CX}to = "against"; to_speaker = 1',
            "2AC for/2 words = 1200",
            f'CX-3 against/1 {CX}to = "for"; to_speaker = 2',
            "2NC against/2 words = 1200",
            f'CX-4 for/2 {CX}to = "against"; to_speaker = 2',
            "1NR against/1 words = 750; new_arguments = false",
            "1AR for/1 words = 750; new_arguments = false",
            '2NR against/2 words = 750; new_arguments = false; tone = "closing"',
            '2AR for/2 words = 750; new_arguments = false; tone = "closing"',
        ],
        prep_words="1200",
        last_word='"for"',
    )
    assert names(fmt) == [
        "1A", "2N?1A", "1N", "1A?1N", "2A", "1N?2A", "2N", "2A?2N", "1N", "1A", "2N", "2A",
    ]  # fmt: skip
    assert fmt.prep_words == 1200


def test_public_forum() -> None:
    fire = 'kind = "crossfire"; words = 110; '
    fmt = written(
        "public-forum",
        "P1:for C1:against P2:for C2:against",
        [
            'pro for/1 tone = "opening"; words = 600',
            'con against/1 tone = "opening"; words = 600',
            f'crossfire-1 for/1 {fire}to = "against"; exchanges = 2',
            "rebuttal-pro for/2 words = 600",
            "rebuttal-con against/2 words = 600",
            f'crossfire-2 for/2 {fire}to = "against"; to_speaker = 2; exchanges = 2',
            "summary-pro for/1 words = 450",
            "summary-con against/1 words = 450",
            f'grand for/0 {fire}to = "against"; to_speaker = 0; exchanges = 4',
            'focus-pro for/2 tone = "closing"; words = 300; new_arguments = false',
            'focus-con against/2 tone = "closing"; words = 300; new_arguments = false',
        ],
    )
    assert names(fmt) == [
        "P1", "C1", "P1?C1", "C1?P1", "P2", "C2", "P2?C2", "C2?P2", "P1", "C1",
        "P1?C1", "C2?P2", "P1?C1", "C2?P2", "P2", "C2",
    ]  # fmt: skip


def test_british_parliamentary() -> None:
    seven = "words = 1050; points_of_information = true; protected = 150"
    fmt = written(
        "british-parliamentary",
        "PM:for:OG LO:against:OO DPM:for:OG DLO:against:OO MG:for:CG MO:against:CO GW:for:CG OW:against:CO",
        [
            f'PM for/1 {seven}; tone = "opening"',
            f'LO against/1 {seven}; tone = "opening"',
            f"DPM for/2 {seven}",
            f"DLO against/2 {seven}",
            f'MG for/3 {seven}; guide = "Extend without contradicting the opening government."',
            f'MO against/3 {seven}; guide = "Extend without contradicting the opening opposition."',
            f'GW for/4 {seven}; tone = "closing"',
            f'OW against/4 {seven}; tone = "closing"; new_arguments = false',
        ],
        result='"ranking"',
    )
    assert names(fmt) == ["PM", "LO", "DPM", "DLO", "MG", "MO", "GW", "OW"]
    assert [chair.team for chair in fmt.chairs] == ["OG", "OO", "OG", "OO", "CG", "CO", "CG", "CO"]
    assert all(phase.points_of_information and phase.protected == 150 for phase in fmt.phases)
    assert fmt.result == "ranking"


def test_world_schools() -> None:
    eight = "words = 1200; points_of_information = true; protected = 150"
    reply = 'words = 600; tone = "closing"; new_arguments = false'
    fmt = written(
        "world-schools",
        "P1:for O1:against P2:for O2:against P3:for O3:against",
        [
            f'P1 for/1 {eight}; tone = "opening"',
            f'O1 against/1 {eight}; tone = "opening"',
            f"P2 for/2 {eight}",
            f"O2 against/2 {eight}",
            f"P3 for/3 {eight}",
            f"O3 against/3 {eight}",
            f"OR against/1 {reply}",
            f"PR for/1 {reply}",
        ],
        last_word='"for"',
    )
    assert names(fmt) == ["P1", "O1", "P2", "O2", "P3", "O3", "O1", "P1"]
    assert not fmt.phases[-1].points_of_information


def test_karl_popper() -> None:
    fmt = written(
        "karl-popper",
        "A1:for N1:against A2:for N2:against A3:for N3:against",
        [
            'A1 for/1 words = 900; tone = "opening"',
            f'CX-1 against/3 {CX}to = "for"; to_speaker = 1',
            'N1 against/1 words = 900; tone = "opening"',
            f'CX-2 for/3 {CX}to = "against"; to_speaker = 1',
            "A2 for/2 words = 750",
            f'CX-3 against/1 {CX}to = "for"; to_speaker = 2',
            "N2 against/2 words = 750",
            f'CX-4 for/1 {CX}to = "against"; to_speaker = 2',
            'A3 for/3 words = 750; tone = "closing"; new_arguments = false',
            'N3 against/3 words = 750; tone = "closing"; new_arguments = false',
        ],
    )
    assert names(fmt) == ["A1", "N3?A1", "N1", "A3?N1", "A2", "N1?A2", "N2", "A1?N2", "A3", "N3"]


def test_chinese_four_against_four_with_its_free_debate() -> None:
    fmt = written(
        "hua-bian",
        "正一:for 反一:against 正二:for 反二:against 正三:for 反三:against 正四:for 反四:against",
        [
            '立论-正 for/1 tone = "opening"; words = 450',
            f'质询-反 against/4 {CX}to = "for"; to_speaker = 1',
            '立论-反 against/1 tone = "opening"; words = 450',
            f'质询-正 for/4 {CX}to = "against"; to_speaker = 1',
            "驳论-正 for/2 words = 300",
            "驳论-反 against/2 words = 300",
            '对辩 for/2 kind = "exchange"; to = "against"; to_speaker = 2; exchanges = 2; words = 60',
            f'盘问-正 for/3 {CX}to = "against"; to_speaker = 1',
            f'盘问-反 against/3 {CX}to = "for"; to_speaker = 1',
            "小结-正 for/3 words = 220",
            "小结-反 against/3 words = 220",
            '自由辩论 for/0 kind = "exchange"; to = "against"; to_speaker = 0; exchanges = 4; words = 40;'
            " clock = 600",
            '总结-反 against/4 tone = "closing"; words = 450; new_arguments = false',
            '总结-正 for/4 tone = "closing"; words = 450; new_arguments = false',
        ],
    )
    assert names(fmt) == [
        "正一", "反四?正一", "反一", "正四?反一", "正二", "反二",
        "正二", "反二", "正二", "反二",
        "正三?反一", "反三?正一", "正三", "反三",
        "正一", "反一", "正二", "反二", "正三", "反三", "正四", "反四",
        "反四", "正四",
    ]  # fmt: skip
    assert next(phase.clock for phase in fmt.phases if phase.key == "自由辩论") == 600


def test_oxford_before_an_audience() -> None:
    fmt = written(
        "open-to-debate",
        "F1:for A1:against F2:for A2:against",
        [
            'vote-1 each kind = "vote"',
            'opening each tone = "opening"; words = 600',
            'discussion for/0 kind = "exchange"; to = "against"; to_speaker = 0; exchanges = 2',
            'floor each kind = "questions"',
            'closing each tone = "closing"; words = 300',
            'vote-2 each kind = "vote"',
        ],
        result='"swing"',
    )
    assert names(fmt) == ["F1", "A1", "F2", "A2"] * 3
    assert fmt.result == "swing"


def test_a_row_can_belong_to_the_neutral_voice() -> None:
    fmt = written("witness", "F:for A:against N:neutral", ["plea for", "testimony neutral", "answer against"])
    assert names(fmt) == ["F", "N", "A"]


def test_a_row_for_a_seat_that_nobody_holds_is_left_out() -> None:
    fmt = written(
        "chaired", "F:for A:against", ["plea for", "testimony neutral", "summary moderator", "answer against"]
    )
    assert names(fmt) == ["F", "A"]


def test_a_row_can_be_given_by_all_at_the_same_time() -> None:
    fmt = written("blind", "F:for A:against", ['opening each simultaneous = true; tone = "opening"'])
    first, second = table_of(fmt)
    assert first.group == second.group
