"""Conversations of a running server, read and exported in the terminal."""

from __future__ import annotations

from pathlib import Path

from tests.cli.terminal import piped
from tests.cli.test_remote import env, held, on, server
from tests.client.serving import Served
from tests.support.old_rows import in_lines, rows

__all__ = ["env", "server"]


def test_conversations_of_a_server_are_read_and_exported(server: Served, env: dict[str, str], tmp_path: Path):
    given = rows(30)
    assert piped(server.env, "import", "legacy", str(in_lines(tmp_path / "old.jsonl", given))).returncode == 0
    debate, first = held(server, env), given[0]["conversation_id"]
    assert first in on(server, env, "conversations").stdout
    for name in (first, debate):
        there = on(server, env, "conversations", "show", name, "--json")
        assert there.stdout == piped(server.env, "conversations", "show", name, "--json").stdout != ""
    lost = on(server, env, "conversations", "show", "x/y")
    assert (lost.returncode, "There is no conversation 'x/y'" in lost.stderr) == (2, True)
    wanted = ("--conversation", first, "--conversation", debate)
    for place in ("there", "here"):
        file = str(tmp_path / f"{place}.jsonl")
        done = (
            on(server, env, "export", "legacy", file, *wanted)
            if place == "there"
            else piped(server.env, "export", "legacy", file, *wanted)
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert on(server, env, "export", "legacy", str(tmp_path / "all.db"), "--debates").returncode == 0
    everything = tmp_path / "everything.jsonl"
    assert on(server, env, "export", "legacy", str(everything)).returncode == 0
    of_debate = (tmp_path / "there.jsonl").read_text().splitlines()[-1]
    assert of_debate in everything.read_text().splitlines()
