"""The speech table of a format as the terminal prints it, and formats of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot import formats
from tests.cli.conftest import Moot

MINE = """\
name = "mine"
title = "Mine"
summary = "Short."
chairs = [{ name = "A", side = "for" }, { name = "B", side = "against" }]

[[phases]]
key = "a"
title = "Say"
who = "each"
minutes = 2
"""


def shown(moot: Moot, name: str) -> list[list[str]]:
    """The rows of the table, each as the words between its gaps."""
    code, out, _ = moot("formats", "show", name)
    assert code == 0
    return [[cell for cell in row.split("\t") if cell] for row in out.splitlines()]


def test_a_row_tells_who_asks_whom_for_how_long_and_in_how_many_words(moot: Moot):
    rows = shown(moot, "policy")
    assert ["1", "First affirmative constructive", "first affirmative (1A)", "8", "1200"] in rows
    examined = ["Cross-examination of 1A by 2N", "Negative 2 asks Affirmative 1", "3", "110", "2 questions"]
    assert examined in rows
    assert ["4", "Second negative rebuttal", "second negative (2N)", "5", "750", "no new arguments"] in rows


def test_rules_stand_at_the_end_of_a_row(moot: Moot):
    house = next(row for row in shown(moot, "british-parliamentary") if row[:1] == ["1"])
    assert house[1:] == [
        "Prime Minister's speech",
        "Opening Government",
        "7",
        "1050",
        "points of information",
    ]
    free = next(row for row in shown(moot, "chinese") if "自由辩论" in " ".join(row))
    assert free[-1] == "in turn, 600 words a side"
    oxford = shown(moot, "oxford")
    assert ["1", "First vote, sealed", "the audience"] in oxford
    assert any(row[-1:] == ["if there are questions"] for row in oxford)


def test_what_decides_who_speaks_last_and_who_sits_there_is_told_below(moot: Moot):
    rows = shown(moot, "lincoln-douglas")
    assert ["result", "the majority of the judges"] in rows
    assert ["last word", "for"] in rows
    assert ["seats", "2 to 4: Affirmative, Negative"] in rows
    assert any(row[:1] == ["prep"] and row[1].startswith("600 words") for row in rows)


def test_all_that_is_wrong_with_a_file_is_told_line_by_line(moot: Moot, tmp_path: Path):
    bad = tmp_path / "bad.toml"
    bad.write_text(MINE.replace("each", "all").replace("minutes", "minuets"))
    code, _, err = moot("formats", "check", str(bad))
    assert code == 2
    assert err.splitlines() == [
        f'{bad}:9: who = "all" is none of: each, for, against, neutral, moderator',
        f"{bad}:10: there is no minuets; did you mean minutes?",
    ]


def test_formats_of_ones_own_are_listed_shown_and_debated(moot: Moot, data: Path):
    folder = data / "formats"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(MINE)
    (folder / "broken.toml").write_text("name = 3")
    _, out, _ = moot("formats")
    assert "\nmine\t" in out
    assert "broken.toml:1:" in out
    assert ["1", "Say", "A, B", "2", "300"] in shown(moot, "mine")
    code, out, _ = moot("A motion to try", "--format", "mine", "--model", "scripted/demo", "--plain")
    assert code == 0
    assert "Mine" in out


def test_the_folder_can_be_elsewhere(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "mine.toml").write_text(MINE)
    monkeypatch.setenv("MOOT_FORMATS", str(tmp_path))
    assert "\nmine\t" in moot("formats")[1]


def test_every_format_is_listed_and_can_be_shown(moot: Moot):
    _, out, _ = moot("formats")
    for name in formats.names():
        assert f"\n{name}\t" in out
        code, shown, _ = moot("formats", "show", name)
        assert code == 0
        assert formats.load(name).title in shown


def test_a_format_shows_its_rounds_and_speeches(moot: Moot):
    _, out, _ = moot("formats", "show", "lincoln-douglas")
    rows = [row.split("\t") for row in out.splitlines()]
    assert any(row[0] == "1" for row in rows)
    assert "Negative asks Affirmative" in out
    assert "2-4" in moot("formats", "show", "oxford")[1]


def test_a_file_of_ones_own_is_checked(moot: Moot, tmp_path: Path):
    good, bad = tmp_path / "mine.toml", tmp_path / "bad.toml"
    chairs = '[[chairs]]\nname = "A"\nside = "for"\n[[chairs]]\nname = "B"\nside = "against"\n'
    head = 'name = "mine"\ntitle = "Mine"\nsummary = "Short."\n'
    good.write_text(head + chairs + '[[phases]]\nkey = "a"\ntitle = "Say"\nwho = "each"\n')
    bad.write_text(head + "loud = true\n" + chairs)
    code, out, _ = moot("formats", "check", str(good))
    assert code == 0
    assert "The format is valid." in out
    code, _, err = moot("formats", "check", str(bad))
    assert code == 2
    assert "loud" in err
    assert moot("formats", "check", str(tmp_path / "none.toml"))[0] == 2
