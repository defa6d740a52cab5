"""Conversations of an older system at the terminal: import, list, show, undo, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.extensions.conversations.sources import open_conversations
from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import Terminal, environment
from tests.client.canned_server import answer, problem, serve_answers
from tests.support.old_rows import EACH, in_lines, in_sqlite, rows


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return in_sqlite(tmp_path / "old.db", rows(60))


def imported(moot: Moot) -> str:
    """The id of the only import."""
    return moot("import", "list")[1].splitlines()[1].split()[0]


def test_an_import_is_tried_made_listed_and_taken_back(moot: Moot, old: Path):
    code, out, err = moot("import", "legacy", str(old), "--dry-run")
    assert (code, err) == (0, "")
    assert "nothing was written" in out
    assert "Nothing was imported yet" in moot("import", "list")[1]
    code, out, _ = moot("import", "legacy", str(old), "--batch", "7")
    assert code == 0
    assert "60 new, 0 changed, 3 conversations" in out
    assert "100 % of what was found is kept." in out
    assert [line.split()[-2:] for line in out.splitlines() if line.startswith("rows")] == [["60", "60"]]
    assert "0 new, 0 changed" in moot("import", "legacy", str(old))[1]
    assert moot("import", "list")[1].splitlines()[1].split()[1] == "done"
    name = imported(moot)
    assert moot("import", "undo", name) == (0, f"Took {name} back: 60 events are gone.\n", "")
    assert moot("import", "undo", name)[0] == 2
    assert moot("conversations")[1] == "Nothing was imported yet.\n"


def test_rows_that_were_not_brought_are_listed_with_the_reason(moot: Moot, tmp_path: Path):
    given = [{**row, "role": ""} if n < 30 else row for n, row in enumerate(rows(60))]
    code, out, _ = moot("import", "legacy", str(in_lines(tmp_path / "old.jsonl", given)))
    assert code == 1
    assert "Not all of it is kept." in out
    assert "30 rows could not be brought:" in out
    assert out.count("role is missing") == 20
    assert "and 10 more. --report FILE lists all." in out


def test_all_rows_that_were_not_brought_are_listed_in_a_file(moot: Moot, tmp_path: Path):
    given = [{**row, "role": ""} if n < 230 else row for n, row in enumerate(rows(260))]
    source, report = in_lines(tmp_path / "old.jsonl", given), tmp_path / "bad.jsonl"
    report.write_text("of an earlier run\n" * 1000)
    code, out, _ = moot("import", "legacy", str(source), "--report", str(report))
    assert code == 1
    assert "and 210 more. All of them are in" in out
    told = [json.loads(line) for line in report.read_text().splitlines()]
    assert [one["row"] for one in told] == [row["id"] for row in given[:230]]
    assert {one["reason"].partition(",")[0] for one in told} == {"role is missing"}
    nowhere = str(tmp_path / "none" / "bad.jsonl")
    code, _, err = moot("import", "legacy", str(source), "--report", nowhere)
    assert code != 0
    assert "cannot be written" in err


def test_imported_conversations_are_read(moot: Moot, old: Path):
    moot("import", "legacy", str(old))
    first = rows(60)[0]["conversation_id"]
    _, out, err = moot("conversations", "--limit", "2")
    assert "2 of 3; the next ones: --offset 2" in err
    assert moot("conversations", "--search", "nowhere")[1] == "No conversation fits that.\n"
    code, out, _ = moot("conversations", "show", first)
    assert code == 0
    assert "Weighing" in out
    assert "→ search" in out
    assert "Weighing" not in moot("conversations", "show", first, "--no-reasoning")[1]
    lines = moot("conversations", "show", first, "--json")[1].splitlines()
    assert [json.loads(line)["role"] for line in lines][:3] == ["system", "user", "assistant"]
    assert len(lines) == EACH
    assert moot("conversations", "show", "nothing")[0] == 2
    assert moot("conversations", "--limit", "0")[0] == 2


def test_conversations_and_debates_are_exported(moot: Moot, hold: Hold, old: Path, tmp_path: Path):
    debate = hold(rounds=1)
    moot("import", "legacy", str(old))
    first = rows(60)[0]["conversation_id"]
    for name, options, count in (
        ("all", (), 60),
        ("one", ("--conversation", first), EACH),
        ("both", ("--conversation", first, "--conversation", debate), EACH + 3),
        ("more", ("--debates",), 63),
    ):
        file = tmp_path / f"{name}.jsonl"
        assert moot("export", "legacy", str(file), *options)[0] == 0
        assert len(file.read_text().splitlines()) == count, name
    assert "60 rows written" in moot("export", "legacy", str(tmp_path / "back.db"))[1]
    assert "60 were there already" in moot("export", "legacy", str(tmp_path / "back.db"))[1]
    assert (
        "There is no conversation"
        in moot("export", "legacy", str(tmp_path / "x.jsonl"), "--conversation", "x")[2]
    )


def test_a_debate_is_still_exported_as_a_document(moot: Moot, hold: Hold):
    assert "## Round 1" in moot("export", hold(rounds=1))[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.db"], "cannot be read"),
        (["mysql://me:hush-hush@host/x"], "none of PostgreSQL"),
        (["old.db", "--table", "a b"], "--table is the name of a table"),
        (["old.db", "--batch", "0"], "A batch has 1 to 100,000 rows"),
    ],
)
def test_a_source_that_is_none_is_one_clear_line(moot: Moot, old: Path, arguments: list[str], words: str):
    where = [str(old) if argument == "old.db" else argument for argument in arguments]
    code, out, err = moot("import", "legacy", *where)
    assert code in (1, 2)
    assert out == ""
    assert words in " ".join(err.split())
    assert "hush-hush" not in err


def test_on_a_terminal_an_import_shows_that_it_moves(data: Path, old: Path):
    with Terminal(environment(data), "import", "legacy", str(old), "--batch", "10") as terminal:
        assert terminal.ended() == 0
        assert "reading" in terminal.output
        assert "100 %" in terminal.output


async def test_a_server_that_counts_requests_is_waited_for():
    busy = problem("429 Too Many Requests", b'{"status": 429}', Retry_After="0")
    nothing = b'{"conversations": [], "total": 0, "limit": 20, "offset": 0, "hasMore": false}'
    async with (
        serve_answers(busy, busy, answer("200 OK", nothing)) as server,
        open_conversations(server.url) as source,
    ):
        assert (await source.listed(search="", limit=20, offset=0)).total == 0
