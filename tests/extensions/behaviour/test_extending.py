"""The extension of docs/extending.md, run as it is written: button, event, count, command and export."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Generator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest
from rich.console import Console

from moot import testing
from moot.extension import Extension, using
from moot.rules.commands import Abort
from tests.web.routes.served import serving

DOCUMENT = (Path(__file__).parents[3] / "docs" / "extending.md").read_text("utf-8")
SOURCE = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)[0]


@pytest.fixture
def applause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    (tmp_path / "applause.py").write_text(SOURCE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with using(import_module("applause").EXTENSION) as loaded:
        yield
        assert loaded.failures == {}
    del sys.modules["applause"]


def test_it_is_short() -> None:
    assert SOURCE.count("\n") < 100


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
        for _ in range(2):
            reply = await served.post(debate_id, "applause")
            assert reply.status_code == 200
            assert reply.json()["message"] == "Thank you."
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


def test_the_terminal_applauds(tmp_path: Path) -> None:
    (tmp_path / "applause.py").write_text(SOURCE, "utf-8")
    environ = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "MOOT_EXTENSIONS": "+applause:EXTENSION",
        "MOOT_DATA": str(tmp_path / "data"),
        "MOOT_SCRIPTED": "1",
    }

    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "moot", *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    def moot(*arguments: str) -> str:
        done = ran(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "applaud" in moot("--help")
    moot("Homework should be banned", "--model", "scripted/demo", "--manual", "--plain")
    moot("applaud", "last")
    assert "**Applause:** once" in moot("export", "last")
    moot("abort", "last")
    assert "\n  Applause: once\n" in moot("show", "last")
    refused = ran("applaud", "last")
    assert (refused.returncode, refused.stderr) == (1, "moot: The debate is over. (status: aborted)\n")
    assert "`moot show ID` shows it." in ran("stop", "last").stderr


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
