"""`moot list` and `moot delete`."""

from __future__ import annotations

import json

from tests.cli.conftest import Hold, Moot


def test_an_empty_shelf_says_how_to_begin(moot: Moot):
    assert moot("list") == (0, 'No debates here yet. Begin with: moot "This house would ban homework"\n', "")
    code, _, err = moot("show")
    assert code == 2
    assert "There are no debates here yet." in err


def test_the_list_has_a_line_for_each_debate_newest_first(hold: Hold, moot: Moot):
    first, second = hold(), hold(motion="Tea is better than coffee", rounds=1)
    _, out, _ = moot("list")
    rows = out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [second, first]
    assert "Tea is better than coffee" in rows[0]
    assert "completed" in rows[0]
    assert moot("list", "--search", "coffee")[1].count("deb_") == 1
    assert moot("list", "--status", "paused")[1] == "No debate fits that.\n"
    assert "1 of 2; the next ones: --offset 1" in moot("list", "--limit", "1")[2]
    listed = [json.loads(line)["id"] for line in moot("list", "--json")[1].splitlines()]
    assert listed == [second, first]


def test_a_debate_is_found_by_any_unique_piece_of_its_id(hold: Hold, moot: Moot):
    first, second = hold(rounds=1), hold(rounds=1, motion="Tea is better than coffee")
    assert "Tea is better" in moot("show", second[-8:])[1]
    assert "Tea is better" in moot("show", second.lower())[1]
    assert "Cats are better" in moot("show", first)[1]
    assert moot("show", "last")[1] == moot("show")[1]
    code, _, err = moot("show", "deb_0")
    assert code == 2
    assert "fits 2 debates" in err


def test_a_debate_is_deleted_only_when_someone_agrees(hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    code, _, err = moot("delete", debate_id)
    assert code == 1
    assert "pass --yes" in err
    assert moot("delete", debate_id, "--yes") == (0, f"Deleted {debate_id}.\n", "")
    assert moot("list")[1].startswith("No debates here yet.")
