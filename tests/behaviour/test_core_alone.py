"""Moot without any extension: the tests of the core run so, and a server that is started so holds debates."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import httpx
import pytest

from moot.client import Client, DebateConfig, DebaterConfig
from moot.extension import load, loaded
from tests.cli.terminal import MOOT, SECONDS, environment, piped
from tests.support.extensions import MARKER, WHOLE

TESTS = Path(__file__).parents[1]
OURS = load()
MODEL = "scripted/demo"


# --- the tests of the core ----------------------------------------------------------------------------


def test_a_test_of_the_core_has_no_extension(tmp_path: Path) -> None:
    assert list(loaded()) == []
    listed = piped(environment(tmp_path), "extensions").stdout
    assert re.findall(r"^(\w+)\tleft out", listed, re.MULTILINE) == [extension.name for extension in OURS]


@pytest.mark.needs_extensions("mcp")
def test_a_test_may_ask_for_an_extension(tmp_path: Path) -> None:
    assert [extension.name for extension in loaded()] == ["mcp"]
    assert "\n  mcp " in piped(environment(tmp_path), "--help").stdout


def test_tests_of_the_core_import_nothing_of_an_extension() -> None:
    found = {
        str(path.relative_to(TESTS)): names
        for path in TESTS.rglob("test_*.py")
        if not f"tests/{path.relative_to(TESTS)}".startswith(WHOLE)
        and MARKER not in (text := path.read_text("utf-8"))
        and (names := sorted(_imports_of_extensions(text)))
    }
    assert found == {}


def _imports_of_extensions(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if module.startswith(("moot.extensions.", "moot.experiments", "tests.extensions")):
            yield module


# --- a server -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Its address. It is no fork of a process that has imported everything, which would have more."""
    env = environment(tmp_path_factory.mktemp("alone") / "data", MOOT_EXTENSIONS="", MOOT_MODEL=MODEL)
    with Popen([*MOOT, "serve", "--port", "0"], env=env, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found, process.communicate(timeout=SECONDS)
        yield found[0]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)


def test_a_debate_is_held_streamed_judged_and_exported(server: str) -> None:
    with Client(server) as client:
        two = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
        debate = client.create(
            "Cats are better", participants=two, judge=MODEL, config=DebateConfig(max_rounds=1)
        )
        told = [event.name for event in client.stream(debate.id)]
        assert told.index("participant") < told.index("verdict")
        assert told[-1] == "complete"
        assert len(client.verdicts(debate.id).verdicts) == 1
        assert "Ada" in client.transcript(debate.id, "markdown")


def test_the_page_is_there(server: str) -> None:
    reply = httpx.get(server)
    assert reply.status_code == 200
    assert not [one.name for one in OURS if f"/static/extensions/{one.name}/" in reply.text]


def test_nothing_of_the_extensions_is_described(server: str) -> None:
    described = httpx.get(f"{server}/openapi.json").json()
    brought = [added for _, added in OURS.of(lambda extension: extension.http)]
    paths = {
        f"{added.prefix}{route.path}"
        for added in brought
        for router in added.routers
        for route in router.routes
    }
    tags = {name for added in brought for name in added.tags}
    assert paths
    assert tags
    assert paths & described["paths"].keys() == set()
    assert tags & {tag["name"] for tag in described["tags"]} == set()
    settings = {row.wire for _, rows in OURS.of(lambda extension: extension.settings) for row in rows}
    assert settings & described["components"]["schemas"]["Config"]["properties"].keys() == set()


def test_the_help_names_no_command_of_an_extension(tmp_path: Path) -> None:
    shown = piped(environment(tmp_path), "--help").stdout
    brought = {command.parent or command.name for extension in OURS for command in extension.commands}
    assert "\n  list " in shown
    assert [name for name in brought - {"export"} if f"\n  {name} " in shown] == []
