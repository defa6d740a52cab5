"""Every command in a pipe: no line is wrapped, padded or coloured, however narrow COLUMNS says it is.

`LINES` has a command line for each command and subcommand; the parser is asked which there are. Those of
extensions are in `tests/extensions/behaviour/test_pipes.py`.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from moot.cli.parser import make_app
from tests.cli.terminal import SECONDS, environment, piped
from tests.support.moot_process import Moot

FOLDER = "a folder with a long name and blanks in it, so that a path that is broken at 80 columns is found"
MOTION = (
    "This house believes that every municipal library should lend out tools, seeds and musical instruments"
    " as freely as it lends out books, even where that means fewer books"
)
WAITING = MOTION.replace("library", "archive")
NO_SERVER = "--server http://127.0.0.1:9"

LINES: dict[str, tuple[tuple[str, int], ...]] = {
    "": (("--help", 0), ("'{motion}' --model scripted/demo --rounds 1 -o '{folder}/debate.html'", 0)),
    "debate": (("'{motion}' --model scripted/demo --rounds 1 --judge none --plain", 0), ("Cats", 2)),
    "list": (("", 0), ("--limit 1", 0), ("--json", 0), ("--search nothing", 0), ("--limit 0", 2)),
    "show": (("{done}", 0), ("{waiting}", 0), ("{done} --json", 0), ("nothing", 2)),
    "watch": (("{done}", 0), ("{waiting}", 0), ("{done} --as nobody", 2)),
    "replay": (("{done} --speed max", 0), ("{done} --speed fast", 2)),
    "export": (("{done}", 0), ("{done} -o '{folder}/debate.md'", 0), ("{done} -o '{folder}/no/a.md'", 1)),
    "verdicts": (("{done}", 0), ("{waiting}", 0)),
    "stats": (("", 0), ("--json", 0)),
    "delete": (("{done}", 1), ("{done} --yes", 0)),
    "resume": (("{done}", 1), ("nothing", 2)),
    "pause": (("{waiting}", 0), ("{done}", 1)),
    "inject": (("{waiting} '{motion}'", 0),),
    "extend": (("{waiting} --rounds 1", 0), ("{waiting} --seconds 60", 1)),
    "skip": (("{waiting} --speech 4", 0), ("{done}", 1)),
    "retry": (("{waiting}", 1),),
    "next-round": (("{waiting}", 0),),
    "judge": (("{waiting}", 1),),
    "decide": (("{waiting} for --reason '{motion}'", 0),),
    "rejudge": (("{done} --judge scripted/demo", 0), ("{waiting}", 1)),
    "stop": (("{waiting}", 0),),
    "abort": (("{waiting}", 0),),
    "take": (("{waiting} against --name '{motion}'", 0), ("{waiting} nobody", 2)),
    "leave": (("{waiting}", 2),),
    "say": (("{waiting} 'A speech.'", 2),),
    "draft": (("{waiting} 'A draft.'", 2),),
    "point": (("{waiting} 'A point.'", 2),),
    "ask": (("{waiting} '{motion}'", 0),),
    "vote": (("{waiting} for", 1),),
    "polls": (("{waiting}", 0), ("{done}", 0)),
    "polls close": (("{waiting}", 1),),
    "ballot": (("{done} for 'A reason.'", 2),),
    "invite": (("{done}", 0), (f"{{done}} {NO_SERVER}", 1)),
    "join": (("{done}", 2), (f"{{done}} {NO_SERVER}", 1)),
    "serve": (("--host no.such.host.example --port 0", 1), ("--port 0", 0)),
    "work": (("", 2),),
    "cluster status": (("", 2),),
    "token new": (("a-token-with-a-long-name-that-is-not-cut-in-a-pipe", 0), ("'{motion}'", 2)),
    "token list": (("", 0),),
    "token revoke": (("zoe", 0), ("none", 2)),
    "backup": (("'{folder}/copy of all debates.db'", 0), ("'{file}'", 2)),
    "migrate-store": (("'sqlite:{folder}/none.db' 'sqlite:{folder}/other.db'", 1),),
    "models": (("", 0), ("--prices", 0), ("nothing", 2)),
    "models test": (("scripted/demo", 0), ("local/nothing", 2)),
    "models install": (("qwen3-4b", 1), ("nothing", 2)),
    "models remove": (("qwen3-4b", 0),),
    "keys": (("", 0),),
    "keys list": (("", 0),),
    "keys set": (("nothing", 2),),
    "keys remove": (("openai", 0),),
    "keys test": (("openai", 1),),
    "formats": (("", 0),),
    "formats show": (("oxford", 0), ("british-parliamentary", 0), ("'{folder}/none.toml'", 2)),
    "formats check": (("'{folder}/none.toml'", 2), ("'{file}'", 2)),
    "tools": (("", 0),),
    "extensions": (("", 0),),
    "tools try": (("files/read", 2),),
    "doctor": (("", 1),),
}  # fmt: skip
"""Arguments for each command, with the exit code."""


def all_commands(app: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the commands and subcommands that the parser knows."""
    names = [name for name in app if not name.startswith("-")]
    if app.default_command is not None or not names:
        yield " ".join(path)
    for name in names:
        yield from all_commands(app[name], (*path, name))


def test_every_command_is_piped():
    assert set(all_commands(make_app())) == LINES.keys()


class Data:
    """A data folder with a debate that has ended, one that waits, and a file that is not ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder, COLUMNS="80", FORCE_COLOR="1", CLICOLOR_FORCE="1")

    def fill(self, options: str = "") -> dict[str, str]:
        """Fill it, and return what the arguments in `LINES` name. The first debate has these options."""
        self.folder.mkdir(parents=True)
        (self.folder / "file.toml").write_text('name = "file"\n')
        judges = f"--judge scripted/demo --judge scripted/owl --rounds 1 {options}"
        self.run(
            f"'{MOTION}' --model scripted/demo {judges}",
            f"'{WAITING}' --model scripted/demo --manual --rounds 2 --judge none",
            "token new zoe",
        )
        debates = self.moot("list --search municipal").stdout
        return {"motion": MOTION, "done": _id_of(debates, MOTION), "waiting": _id_of(debates, WAITING)}

    def run(self, *lines: str) -> None:
        for line in lines:
            done = self.moot(line)
            assert done.returncode == 0, (line, done.stderr)

    def moot(self, line: str) -> subprocess.CompletedProcess[str]:
        return piped(self.env, *shlex.split(line))


def _id_of(debates: str, motion: str) -> str:
    return next(row[0] for row in map(_cells, debates.splitlines()) if row[4] == motion)


def _cells(line: str) -> list[str]:
    return line.split("\t")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    data = Data(tmp_path_factory.mktemp("pipes") / "data")
    return data.folder, data.fill()


@pytest.fixture
def copy(filled: tuple[Path, Mapping[str, str]], tmp_path: Path) -> tuple[Data, dict[str, str]]:
    """The data folder at a long path."""
    template, names = filled
    data = Data(tmp_path / FOLDER)
    shutil.copytree(template, data.folder)
    return data, {**names, "folder": str(data.folder), "file": str(data.folder / "file.toml")}


@pytest.mark.parametrize("command", LINES)
def test_a_command_in_a_pipe_lays_nothing_out(copy: tuple[Data, dict[str, str]], command: str):
    data, names = copy
    check_lines(data, names, command, LINES[command])


def check_lines(
    data: Data, names: Mapping[str, str], command: str, lines: Iterable[tuple[str, int]], *whole: str
) -> None:
    """Run these arguments of a command, and its help. `whole` are names that no line may break."""
    for arguments, code in (*lines, *([("--help", 0)] if command else [])):
        line = f"{command} {arguments.format(**names)}"
        done = _served(data) if (command, code) == ("serve", 0) and "--help" not in line else data.moot(line)
        assert done.returncode == code, (line, done.stdout, done.stderr)
        assert done.stdout or done.stderr or command == "mcp", line
        for text in (done.stdout, done.stderr):
            assert_not_laid_out(text, line, *whole)


def _served(data: Data) -> subprocess.CompletedProcess[str]:
    with Moot(
        "serve", "--port", "0", env=data.env, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
    ) as server:
        ready = server.stdout.readline()
        server.send_signal(signal.SIGINT)
        said, complained = server.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess(server.args, server.returncode, ready + said, complained)


def assert_not_laid_out(text: str, command: str, *names: str) -> None:
    lines = text.splitlines()
    assert not re.search("[\x1b\r\b\x07]", text), (command, text)
    assert not [line for line in lines if line != line.rstrip()], command
    # What begins is whole: long names occur on one line, or not at all.
    for whole in (FOLDER, MOTION, WAITING, *names):
        beginning = whole[:40]
        assert text.count(beginning) == text.count(whole) + text.count(_other(whole)), (command, text)
    for line, following in pairwise(lines):
        assert not _is_broken(line, following), (command, line, following)


def _other(whole: str) -> str:
    """What begins alike."""
    return {MOTION: WAITING, WAITING: MOTION}.get(whole, "\0")


def _is_broken(line: str, following: str) -> bool:
    """Whether a sentence goes on in the following line, because this one had reached a width."""
    begins = following.strip()
    sentence = 60 <= len(line) <= 92 and line[-1] not in ".:!?)…”\"'`" and "\t" not in line
    return sentence and begins[:1].islower() and not begins.startswith(("moot ", "-"))


BREAKING = ("list", "list --json", "show {done}", "formats show oxford", "--help", "models --help")


@pytest.mark.parametrize("line", BREAKING)
def test_a_reader_who_leaves_ends_a_command_quietly(copy: tuple[Data, dict[str, str]], line: str):
    data, names = copy
    code, complaint = _unread(data, line.format(**names), stderr=PIPE)
    assert (code, complaint) == (141, "")


def test_an_error_that_nobody_reads_ends_quietly(copy: tuple[Data, dict[str, str]]):
    data, _ = copy
    assert _unread(data, "show nothing", stderr=subprocess.STDOUT)[0] == 141


def _unread(data: Data, line: str, stderr: int) -> tuple[int, str]:
    """Run a command whose output has no reader."""
    ours, theirs = os.pipe()
    os.close(ours)
    with Moot(*shlex.split(line), env=data.env, stdout=theirs, stderr=stderr, text=True) as process:
        os.close(theirs)
        _, complaint = process.communicate(timeout=SECONDS)
    return process.returncode, complaint or ""


def test_an_error_names_a_long_path_whole(tmp_path: Path):
    """Each kind of error: a store that cannot be opened, a setting, a service, a wrong option."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "a file").touch()
    (folder / "moot.toml").write_text("nonsense = [")
    for data, line, code in (
        (folder / "a file", "list", 1),
        (folder, "list", 2),
        (tmp_path / "new", f"formats check '{folder}/none.toml'", 2),
        (tmp_path / "new", f"'A motion to try' --model scripted/demo -o '{folder}/none/debate.pdf'", 2),
        (tmp_path / "new", f"'A motion to try' --rounds many --objective '{MOTION}'", 2),
    ):
        done = Data(data).moot(line)
        assert done.returncode == code, (line, done.stderr)
        assert done.stdout == ""
        assert_not_laid_out(done.stderr, line)


def test_each_stream_is_laid_out_for_itself(copy: tuple[Data, dict[str, str]]):
    data, _ = copy
    ours, theirs = pty.openpty()
    with Moot("list", "--limit", "1", env=data.env, stdout=PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        said, _ = process.communicate(timeout=SECONDS)
    screen = os.read(ours, 4096).decode()
    os.close(ours)
    assert_not_laid_out(said, "list")
    assert "\x1b" in screen
    assert "the next ones: --offset 1" in screen


def test_the_columns_of_a_table_have_tabs_between_them(copy: tuple[Data, dict[str, str]]):
    data, names = copy
    heads, *debates = map(_cells, data.moot("list").stdout.splitlines())
    assert heads == ["id", "when", "state", "models", "motion", "result", "cost"]
    [waiting] = [row for row in debates if row[0] == names["waiting"]]
    assert waiting[4] == WAITING
    more = data.moot("list --limit 1")
    assert len(more.stdout.splitlines()) == 2
    assert "the next ones: --offset 1" in more.stderr
