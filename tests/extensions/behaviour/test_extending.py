"""The extensions of docs/extending.md, run as they are written: the button, event, count, command and export
of applause; the setting, questions and report of crux."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from moot import AsyncClient, testing
from moot.extension import Extension, using
from moot.rules.commands import Abort
from tests.web.routes.served import serving

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "extending.md").read_text("utf-8")
SOURCE, CRUX = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
CRUX_DEBATES = "tests.extensions.behaviour.crux_debates"
QUOTING_MODELS = "tests.extensions.behaviour.quoting_models:MODELS"


@pytest.fixture
def applause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    (tmp_path / "applause.py").write_text(SOURCE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with using(import_module("applause").EXTENSION) as loaded:
        yield
        assert loaded.failures == {}
    del sys.modules["applause"]


def test_they_are_short() -> None:
    assert SOURCE.count("\n") < 100
    assert CRUX.count("\n") < 120


@pytest.mark.usefixtures("applause")
async def test_the_audience_applauds_and_everybody_sees_how_often(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        debate_id = await served.open(autoProgress=False)
        view = (await served.get(debate_id, "view")).json()
        assert "applaud" in view["view"]["now"]["open"]
        assert {"name": "applaud", "label": "Applaud"}.items() <= next(
            button for button in view["me"]["buttons"] if button["name"] == "applaud"
        ).items()
        assert "facts" not in view["view"]["now"]
        reply = await served.post(debate_id, "applause")
        assert reply.status_code == 200
        assert reply.json()["message"] == "Thank you."
        async with AsyncClient(served.url) as client:
            assert (await client.command(debate_id, "applause")).message == "Thank you."
        view = (await served.get(debate_id, "view")).json()
        assert view["view"]["now"]["facts"] == [{"label": "Applause", "text": "2 times"}]
        log = (await served.get(debate_id, "events")).json()["events"]
        assert [one["event"]["type"] for one in log].count("applause.given") == 2
        markdown = (await served.get(debate_id, "transcript", params={"format": "markdown"})).text
        assert "**Applause:** 2 times" in markdown
        html = (await served.get(debate_id, "transcript", params={"format": "html"})).text
        assert "Applause: 2 times" in html
        assert (await served.get(debate_id, "transcript")).json()["facts"] == {"Applause": "2 times"}
        described = (await served.http.get("/openapi.json")).json()
        assert "/api/v1/debates/{debateId}/applause" in described["paths"]
        listed = (await served.http.get("/api/v1/extensions")).json()["extensions"]
        assert [(one["name"], one["commands"]) for one in listed] == [("applause", ["applaud"])]
        with using(Extension("broken", "Breaks.", providers=lambda: {}["nothing"])) as found:
            assert not [*found.of(lambda each: each.providers)]
            [broken] = (await served.http.get("/api/v1/extensions")).json()["extensions"]
        assert (broken["problem"], broken["failedField"]) == ("KeyError: 'nothing'", "providers")
        await served.post(debate_id, "abort")
        assert (await served.post(debate_id, "applause")).status_code == 409


def process(folder: Path, extensions: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Python, which has these extensions from its start on."""
    environ = {
        **os.environ,
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "MOOT_EXTENSIONS": extensions,
        "MOOT_DATA": str(folder / "data"),
        "MOOT_SCRIPTED": "1",
    }
    return subprocess.run(
        [sys.executable, *command], env=environ, capture_output=True, text=True, check=False
    )


def ran(folder: Path, extensions: str, *command: str) -> str:
    """What it prints."""
    done = process(folder, extensions, *command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_terminal_applauds(tmp_path: Path) -> None:
    (tmp_path / "applause.py").write_text(SOURCE, "utf-8")

    def moot(*arguments: str) -> str:
        return ran(tmp_path, "+applause:EXTENSION", "-m", "moot", *arguments)

    assert "applaud" in moot("--help")
    moot("Homework should be banned", "--model", "scripted/demo", "--manual", "--plain")
    moot("applaud", "last")
    assert "**Applause:** once" in moot("export", "last")
    moot("abort", "last")
    assert "\n  Applause: once\n" in moot("show", "last")
    refused, stopped = (
        process(tmp_path, "+applause:EXTENSION", "-m", "moot", command, "last")
        for command in ("applaud", "stop")
    )
    assert (refused.returncode, refused.stderr) == (1, "moot: The debate is over. (status: aborted)\n")
    assert "`moot show ID` shows it." in stopped.stderr


@pytest.fixture(scope="module")
def told_of_crux(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server tells of a debate without the setting and of one with it."""
    folder = tmp_path_factory.mktemp("crux")
    (folder / "crux.py").write_text(CRUX, "utf-8")
    return json.loads(ran(folder, "+crux:EXTENSION", "-m", CRUX_DEBATES, str(folder)))


def test_nothing_is_asked_where_the_setting_is_off(told_of_crux: dict[str, Any]) -> None:
    off = told_of_crux["off"]
    assert off["asked"] == []
    assert off["owner"]["view"] == {}
    assert "crux" not in off["owner"]["json"]
    assert "What each speech rests on" not in off["owner"]["markdown"]
    assert off["config"]["crux"] is False


def test_each_speech_is_asked_about_once_and_the_estimate_knows_it(told_of_crux: dict[str, Any]) -> None:
    on, off = told_of_crux["on"], told_of_crux["off"]
    assert on["config"]["crux"] is True
    assert on["asked"] == on["speeches"] == [1, 2, 3, 4]
    assert on["answered"] == [1, 2, 3]
    assert on["calls"] - off["calls"] == len(on["speeches"])


def test_the_owner_reads_the_claims_and_an_observer_nothing(told_of_crux: dict[str, Any]) -> None:
    """The fourth quotation is not in its speech, and so it is no answer."""
    on = told_of_crux["on"]
    (section,) = on["owner"]["view"]["sections"]
    rows = section["blocks"][1]["rows"]
    assert [row[:3] for row in rows] == [
        ["S1", "Pro", "Its first sentence."],
        ["S2", "Con", "Its first sentence."],
        ["S3", "Pro", "Its first sentence."],
    ]
    (exported,) = on["owner"]["json"]["crux"]
    assert exported["blocks"][1]["rows"] == rows
    assert f"| S1 | Pro | Its first sentence. | {rows[0][3]} |" in on["owner"]["markdown"]
    assert "Its first sentence." in on["owner"]["html"]
    assert on["observer"]["view"] == {}
    assert "crux" not in on["observer"]["json"]
    assert "Its first sentence." not in json.dumps(on["observer"])
    assert on["observer"]["asked"] == []


def test_the_terminal_has_the_option_and_the_report(tmp_path: Path) -> None:
    (tmp_path / "crux.py").write_text(CRUX, "utf-8")

    def moot(*arguments: str) -> str:
        return ran(tmp_path, f"+crux:EXTENSION +{QUOTING_MODELS}", "-m", "moot", *arguments)

    debate = "Homework should be banned", "--model", "quoting/demo", "--rounds", "1", "--plain"
    assert "--crux" in moot("--help")
    assert "Its first sentence." not in moot(*debate)
    printed = moot(*debate, "--crux")
    assert "the crux of each speech" in printed
    assert printed.count("Its first sentence.") == 2


@pytest.mark.usefixtures("applause")
async def test_the_terminal_shows_the_count_of_a_debate_on_a_server(tmp_path: Path) -> None:
    from moot.cli.follow import log_of, show_all
    from moot.cli.remote import RemoteSource
    from moot.cli.render.live import DebateView
    from moot.cli.render.output import Terminal

    out = io.StringIO()
    terminal = Terminal(Console(file=out, width=80, color_system=None, force_terminal=False))
    async with testing.serving(tmp_path) as served, RemoteSource.open(served.url) as source:
        setup = await served.arena.setup("Cats are better than dogs", rounds=1, model="scripted/demo")
        debate_id = (await served.arena.create(setup)).debate.id
        await served.client.command(debate_id, "applause")
        await served.arena.ask(debate_id, Abort())
        show_all(await log_of(source, debate_id), DebateView(terminal, lambda: datetime.now(UTC)))
    assert "\n  Applause: once\n" in out.getvalue()
