"""A backup that is made while others write is whole, sound, and goes on where it was made."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import StoreError
from moot.core.evolve import fold
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.settings import Settings
from moot.store.sqlite.connect import connect
from moot.store.sqlite.online_backup import back_up
from moot.store.sqlite.store import SqliteStore
from tests.cli.terminal import environment
from tests.store.other_process import remark
from tests.store.sqlite.test_store import mode, umask
from tests.support.moot_process import Moot

BACKUPS = 20


def quiet(done: int, total: int) -> None:
    pass


def writing(path: Path) -> subprocess.Popen[str]:
    """Another process that writes as fast as it can, for as long as it is let."""
    busy = subprocess.Popen(
        [sys.executable, "-m", "tests.store.other_process", str(path), "remark", "1000000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert busy.stdout
    assert busy.stdout.readline() == "1\n"
    return busy


def stop(busy: subprocess.Popen[str]) -> None:
    busy.kill()
    busy.communicate()


async def restored(file: Path, folder: Path) -> int:
    """Opened as a store, written to, and closed; how long the debate in it was."""
    folder.mkdir()
    path = folder / "moot.db"
    path.write_bytes(file.read_bytes())
    store = SqliteStore.open(path)
    records = await store.read("d1", limit=1_000_000)
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))
    assert await store.state("d1") == fold(records)
    assert (await store.record("d1", remark)).debate.seq == len(records) + 1
    await store.close()
    return len(records)


async def test_every_backup_of_a_busy_store_can_be_restored(tmp_path: Path) -> None:
    path, file = tmp_path / "moot.db", tmp_path / "backup.db"
    busy = writing(path)
    try:
        lengths: list[int] = []
        for i in range(BACKUPS):
            size = back_up(path, file, quiet)
            assert size == file.stat().st_size
            lengths.append(await restored(file, tmp_path / str(i)))
        assert busy.poll() is None
    finally:
        stop(busy)
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


async def test_a_debate_that_was_running_goes_on_from_its_backup(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    running = Moot(
        *("Cats are better than dogs", "--model", "scripted/demo", "--rounds", "2", "--json"),
        env=environment(data, pace_ms=5),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout
    try:
        while "call.delta" not in running.stdout.readline():
            pass
        copy.mkdir()
        back_up(data / "moot.db", copy / "moot.db", quiet)
        assert running.poll() is None
    finally:
        stop(running)
    settings = Settings(data=copy)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider()}, recover=True) as arena:
        debate_id = (await arena.list()).heads[0].id
        async for _ in arena.watch(debate_id):
            pass
        assert (await arena.state(debate_id)).status == "completed"


async def test_a_backup_is_one_private_file_and_tells_how_far_it_is(tmp_path: Path) -> None:
    path, folder = tmp_path / "moot.db", tmp_path / "backups"
    folder.mkdir()
    store = SqliteStore.open(path)
    await store.record("d1", remark, bodies={str(i): os.urandom(100_000) for i in range(50)})
    told: list[tuple[int, int]] = []
    with umask(0):
        back_up(path, folder / "backup.db", lambda done, total: told.append((done, total)))
    await store.close()
    assert [file.name for file in folder.iterdir()] == ["backup.db"]
    assert mode(folder / "backup.db") == 0o600
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1][0] == told[-1][1] > 1000
    with closing(sqlite3.connect(folder / "backup.db")) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert copy.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def test_a_backup_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path, folder = tmp_path / "moot.db", tmp_path / "backups"
    folder.mkdir()
    (folder / "backup.db").write_text("the old one")
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreError, match="not a store of Moot"):
        back_up(path, folder / "backup.db", quiet)
    assert {file.name: file.read_text() for file in folder.iterdir()} == {"backup.db": "the old one"}


async def test_a_copy_that_is_not_sound_is_not_kept(tmp_path: Path) -> None:
    path, folder = tmp_path / "moot.db", tmp_path / "backups"
    folder.mkdir()
    store = SqliteStore.open(path)
    await store.record("d1", remark, bodies={str(i): os.urandom(4000) for i in range(50)})
    await store.close()
    with closing(connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'bodies'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(StoreError):
        back_up(path, folder / "backup.db", quiet)
    assert list(folder.iterdir()) == []
