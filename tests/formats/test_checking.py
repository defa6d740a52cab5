"""What is wrong with a format is told with its line, all at once."""

from __future__ import annotations

import pytest

from moot import formats
from moot.core.errors import Invalid
from moot.core.terms import DebateSetup, Side
from moot.testing.event_factories import seats
from tests.formats.bare_format import BARE
from tests.support.for_each import for_each

# --- what is wrong with a bad one ---------------------------------------------------------------------


@for_each(
    ("change", "problem"),
    [
        (("[[phases]]", "[[phases"), "bare.toml:6: this is not TOML"),
        (('who = "each"', 'who = "all"'), 'bare.toml:9: who = "all" is none of: each, for, against'),
        (('who = "each"', 'who = "each"\nvolume = 11'), "bare.toml:10: there is no volume; there are: key"),
        (('who = "each"', 'who = "each"\nwrods = 1'), "bare.toml:10: there is no wrods; did you mean words?"),
        (('title = "Bare"', ""), "bare.toml:1: a format needs title"),
        (('key = "speech"', ""), "bare.toml:6: this phase needs key"),
        (('who = "each"', 'who = "each"\nwords = "many"'), 'words = "many" will not do: it wants a whole'),
        (('who = "each"', 'who = "each"\nround = true'), "round = true will not do: it wants a whole number"),
        (('side = "for"', 'side = "pro"'), 'bare.toml:4: side = "pro" is none of: for, against, neutral'),
        (('summary = "', 'repeat = 7\nsummary = "'), "bare.toml:3: repeat = 7, but no phase has round = 7"),
        (('summary = "', 'repeat = 1\nscripted = true\nsummary = "'), "scripted format cannot repeat"),
        (('summary = "', 'rounds = 12\nsummary = "'), "rounds must be between 1 and max_rounds (10)"),
        (('summary = "', 'min_seats = 5\nsummary = "'), "min_seats not more than max_seats"),
        (('summary = "', 'max_turns = 5\nsummary = "'), "max_turns = 5 needs turns"),
        (('summary = "', 'max_rounds = 5000000\nsummary = "'), "max_rounds is at most 100"),
        (('summary = "', 'turns = 5000000\nsummary = "'), "there are at most 400 turns"),
        (('summary = "', 'prep_words = -1\nsummary = "'), "prep_words cannot be less than 0"),
        (('summary = "', 'last_word = "for"\nsummary = "'), "the last speech is that of against"),
        (('summary = "', 'result = "ranking"\nsummary = "'), "a ranking needs three or more chairs"),
        ((', { name = "Against", side = "against" }', ""), "at least two [[chairs]]"),
        (('key = "speech"', 'kind = "crossfire"\nkey = "speech"'), "crossfire must say whom it questions"),
        (('key = "speech"', 'kind = "exchange"\nto = "for"\nkey = "speech"'), "exchange must say who asks"),
        (('who = "each"', 'who = "for"\nto = "for"\nkind = "exchange"'), 'their own side: to = "against"'),
        (('who = "each"', 'who = "for"\nto = "against"'), "bare.toml:10: to is only for rows of kind"),
        (('who = "each"', 'who = "each"\nclock = 900'), "clock is only for rows of kind"),
        (
            ('who = "each"', 'who = "for"\nkind = "crossfire"\nto = "against"\nclock = 900'),
            'only for kind = "exchange"',
        ),
        (
            ('who = "each"', 'who = "for"\nkind = "exchange"\nto = "against"\nclock = 90'),
            "clock = 90 is less than one turn of 180 words",
        ),
        (('who = "each"', 'who = "each"\nprotected = 30'), "protected needs points_of_information = true"),
        (
            ('who = "each"', 'who = "each"\npoints_of_information = true\nprotected = 90'),
            "bare.toml:11: protected = 90 at either end leaves no room for points in 180 words",
        ),
        (
            ('who = "each"', 'who = "each"\npoints_of_information = true\nsimultaneous = true'),
            "points of information interrupt a speech that the others hear",
        ),
        (('who = "each"', 'who = "for"\nteam = "OG"'), 'team = "OG" is the team of no chair; there are:'),
        (('who = "each"', 'who = "moderator"'), 'no chair has role = "moderator"'),
        (('who = "each"', 'who = "neutral"'), 'no chair has side = "neutral"'),
        (('who = "each"', 'who = "each"\nkind = "vote"'), "nobody speaks in this format"),
        (('who = "each"', 'who = "each"\nexchanges = 0'), "exchanges = 0 will not do: it is between 1"),
        (('who = "each"', 'who = "each"\nexchanges = 9000000000'), "it is between 1 and 50"),
        (('who = "each"', 'who = "each"\nminutes = -1'), "minutes = -1.0 will not do: it is between 0"),
        (('who = "each"', 'who = "each"\nminutes = nan'), "minutes = nan will not do"),
        (('who = "each"', 'who = "each"\nminutes = inf'), "minutes = inf will not do"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_format_is_said_with_its_line(change: tuple[str, str], problem: str) -> None:
    text = BARE.replace(*change)
    with pytest.raises(Invalid) as error:
        formats.parse(text, "bare.toml")
    assert problem in str(error.value)
    assert all(line.startswith("bare.toml:") for line in str(error.value).splitlines())


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_file() -> None:
    text = BARE.replace("each", "all").replace('"Bare"', "7").replace("summary", "sumary")
    with pytest.raises(Invalid) as error:
        formats.parse(text, "f")
    assert str(error.value).splitlines() == [
        "f:1: a format needs summary",
        "f:2: title = 7 will not do: it wants text in quotes",
        "f:3: there is no sumary; did you mean summary?",
        'f:9: who = "all" is none of: each, for, against, neutral, moderator',
    ]


def test_a_team_speaks_for_its_own_side() -> None:
    teams = BARE.replace('side = "against" }', 'side = "against", team = "OO" }')
    with pytest.raises(Invalid, match='"OO" speaks against, and this row is who = "for"'):
        formats.parse(teams.replace('who = "each"', 'who = "for"\nteam = "OO"'))


def test_a_key_is_used_once() -> None:
    again = BARE[BARE.index("[[phases]]") :]
    with pytest.raises(Invalid, match='f:11: key = "speech" is used twice'):
        formats.parse(BARE + again, "f")


def test_a_format_without_speeches_is_none() -> None:
    with pytest.raises(Invalid, match="at least one"):
        formats.parse(BARE[: BARE.index("[[phases]]")] + "phases = []")


@pytest.mark.parametrize("rows", ["phases = 3", "phases = [3]", 'phases = { key = "a" }'])
def test_rows_are_rows(rows: str) -> None:
    with pytest.raises(Invalid, match=r"f:\d+: "):
        formats.parse(BARE[: BARE.index("[[phases]]")] + rows, "f")


def test_what_looks_like_a_key_within_a_long_text_is_none() -> None:
    text = BARE.replace('title = "Speech"', 'guide = """\nwho = 3\n"""\ntitle = "Speech"').replace(
        "each", "all"
    )
    with pytest.raises(Invalid, match="f:12: who"):
        formats.parse(text, "f")


# --- what decides -------------------------------------------------------------------------------------


def ranking(*teams: tuple[str, Side], more: str = "") -> str:
    rows = ", ".join(f'{{ name = "{name}", side = "{side}", team = "{name}" }}' for name, side in teams)
    usual = BARE.splitlines()[3]
    return BARE.replace(usual, f"chairs = [{rows}]").replace(
        'summary = "', f'result = "ranking"\n{more}summary = "'
    )


FIVE: tuple[tuple[str, Side], ...] = (
    ("A", "for"), ("B", "against"), ("C", "for"), ("D", "against"), ("E", "for"),
)  # fmt: skip


@pytest.mark.parametrize("more", ["", "max_seats = 5\n"])
def test_five_teams_cannot_be_ranked_and_the_limit_is_named(more: str) -> None:
    with pytest.raises(Invalid, match="each of its 5 teams, and the API and the page take at most 4"):
        formats.parse(ranking(*FIVE, more=more), "bare.toml")


def test_teams_for_whom_there_is_no_seat_cannot_be_ranked() -> None:
    with pytest.raises(Invalid, match="each of its 4 teams, and max_seats = 3 allows fewer"):
        formats.parse(ranking(*FIVE[:4], more="max_seats = 3\n"), "bare.toml")
    with pytest.raises(Invalid, match="one chair for each team, on a side"):
        formats.parse(ranking(*FIVE[:3], ("D", "neutral")), "bare.toml")


@pytest.mark.parametrize("teams", [FIVE[:4], (*FIVE[:3], ("D", "for"))])
def test_four_teams_are_ranked_wherever_they_sit(teams: tuple[tuple[str, Side], ...]) -> None:
    fmt = formats.parse(ranking(*teams), "bare.toml")
    sitting = seats(*(side for _, side in teams))
    assert formats.fit_format(fmt, sitting, DebateSetup()).result == "ranking"
    assert formats.fit_format(fmt, sitting[:3], DebateSetup()).result == "majority"
