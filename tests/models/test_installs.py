"""Installs go on by themselves, one after the other, and tell how far they have come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.core.errors import Unavailable
from moot.models.catalogue import CatalogueEntry
from moot.models.installs import InstallManager
from moot.models.model_files import InstallProgress, ModelFiles, OnInstallProgress
from tests.models.conftest import TOY, Managing, place


class Slow(ModelFiles):
    """Puts a model in place when it is told to, and reports without end until then."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, environ={}, catalogue={"toy": TOY})
        self.begun = 0
        self.wanted = False

    def install_entry(self, entry: CatalogueEntry, progress: OnInstallProgress = lambda _: None) -> Path:
        self.begun += 1
        while not self.wanted:
            time.sleep(0.001)
            progress(InstallProgress(entry.name, "fetching", 1, 2, 1000, TOY.size))
        return place(self)


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncGenerator[tuple[Slow, InstallManager]]:
    manager = Slow(tmp_path / "models")
    installs = InstallManager(manager)
    yield manager, installs
    await installs.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - a thread makes it so
            await asyncio.sleep(0.005)


async def test_an_install_is_joined_told_and_remembered(slow: tuple[Slow, InstallManager]) -> None:
    manager, installs = slow
    assert installs.status("toy").state == "absent"
    assert installs.start("toy").state == "installing"
    await until(lambda: installs.status("toy").done == 1000)
    assert installs.start("toy").done == 1000
    manager.wanted = True
    await until(lambda: installs.status("toy").state == "installed")
    assert (manager.begun, installs.finished, installs.status("toy").done) == (1, 1, TOY.size)
    assert installs.start("toy").state == "installed"


async def test_an_install_that_is_called_off_can_be_begun_again(slow: tuple[Slow, InstallManager]) -> None:
    manager, installs = slow
    installs.start("toy")
    await until(lambda: manager.begun == 1)
    assert await installs.stop("toy")
    assert installs.status("toy").state == "absent"
    assert not await installs.stop("toy")
    installs.start("toy")
    await until(lambda: manager.begun == 2)
    await installs.close()
    assert installs.status("toy").state == "absent"


async def test_what_goes_wrong_is_told_with_what_to_do(managing: Managing) -> None:
    installs = InstallManager(managing(offline=True))
    installs.start("toy")
    await until(lambda: installs.status("toy").state == "failed")
    assert "downloads are forbidden. Try again, or put toy.gguf into" in installs.status("toy").error
    with pytest.raises(Unavailable, match="no model owl to install"):
        installs.start("owl")


async def test_one_that_waits_for_its_turn_is_called_off_at_once(slow: tuple[Slow, InstallManager]) -> None:
    manager, installs = slow
    manager.catalogue = {"toy": TOY, "other": replace(TOY, name="other")}
    installs.start("toy")
    await until(lambda: manager.begun == 1)
    assert installs.start("other").state == "installing"
    assert await installs.stop("other")
    assert [install.state for install in installs.all()] == ["installing", "absent"]
    await installs.close()
    assert manager.begun == 1
