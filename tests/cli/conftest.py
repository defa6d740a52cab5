from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.command_line import run
from moot.engine.arena import Arena
from moot.providers.scripted import Script, ScriptedProvider
from moot.settings import Settings
from tests.cli.terminal import environment
from tests.support.restore_logging import log_as_it_was  # noqa: F401 - a fixture

Hold = Callable[..., str]
Moot = Callable[..., tuple[int, str, str]]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder for this process and those it starts."""
    folder = tmp_path / "data"
    for name, value in environment(folder).items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "MOOT_MODEL", "MOOT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def hold(data: Path) -> Hold:
    """Hold a debate in the data folder, whatever its speakers say, and return its id."""

    def hold_it(script: Script | None = None, **options: object) -> str:
        async def debate() -> str:
            motion = str(options.pop("motion", "Cats are better than dogs"))
            given = {"format": "oxford", "rounds": 2, "model": "scripted/demo"}
            async with Arena.open(
                Settings(data=data), providers={"scripted": ScriptedProvider(script)}
            ) as arena:
                async for recorded in arena.debate(motion, **{**given, **options}):
                    last = recorded
            return last.debate

        return asyncio.run(debate())

    return hold_it


@pytest.fixture
def moot(
    data: Path,
    capsys: pytest.CaptureFixture[str],
    log_as_it_was: None,  # noqa: F811 - the fixture
) -> Moot:
    """The command in this process: its exit code, and what it printed on either stream."""

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
