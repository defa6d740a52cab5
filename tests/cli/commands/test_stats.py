"""`moot stats`: who wins, and what is debated."""

from __future__ import annotations

import json

from tests.cli.conftest import Hold, Moot


def test_statistics_of_nothing_say_how_to_begin(moot: Moot):
    assert moot("stats") == (0, 'No debates here yet. Begin with: moot "This house would ban homework"\n', "")
    assert json.loads(moot("stats", "--json")[1])["totals"]["debates"] == 0


def test_statistics_tell_who_wins_and_what_is_debated(hold: Hold, moot: Moot):
    hold(rounds=1)
    hold(rounds=1, motion="cats  are better than DOGS")
    hold(rounds=1, motion="Tea is better than coffee", judge="none")
    code, out, _ = moot("stats")
    assert code == 0
    assert out.startswith("3 debates (3 completed) · 6 speeches · $0.00\n")
    assert "cats are better than DOGS\t2" in out
    found = json.loads(moot("stats", "--json")[1])
    assert [(model["name"], model["debates"], model["wins"]) for model in found["models"]] == [
        ("scripted/demo", 2, 0)
    ]
    assert sum(side["wins"] + side["draws"] for side in found["sides"]) >= 2
    assert found["formats"][0]["format"] == "oxford"


def test_without_a_verdict_nobody_has_won(hold: Hold, moot: Moot):
    hold(rounds=1, judge="none")
    out = moot("stats")[1]
    assert "No debate has been judged yet" in out
    assert "won" not in out.splitlines()[0]
