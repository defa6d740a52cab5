"""The library that the engine needs and some machines lack."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from moot.core.errors import Unavailable
from moot.models import openmp
from moot.models.local_provider import load_error
from moot.models.model_files import ModelFiles
from tests.models.conftest import PIECES, Managing, Shelf, part

NOWHERE = "libmoot-nowhere.so.1"
WHEELS = {platform.machine(): part(1, PIECES[0])}


def test_a_library_that_the_system_lacks_is_taken_out_of_a_wheel(managing: Managing) -> None:
    files = managing()
    openmp.install(files, NOWHERE, WHEELS)
    assert (openmp.folder(files) / NOWHERE).read_bytes() == PIECES[0]
    assert openmp.search_path(files, NOWHERE) == {"LD_LIBRARY_PATH": str(openmp.folder(files))}


def test_it_is_fetched_once(managing: Managing, shelf: Shelf) -> None:
    files = managing()
    openmp.install(files, NOWHERE, WHEELS)
    shelf.take(1)
    openmp.install(files, NOWHERE, WHEELS)


def test_a_wheel_with_other_bytes_in_it_is_not_taken(managing: Managing, shelf: Shelf) -> None:
    files = managing()
    shelf.put(1, b"something else")
    with pytest.raises(Unavailable, match=f"{NOWHERE}.*does not hold what it should") as refused:
        openmp.install(files, NOWHERE, WHEELS)
    assert "apt-get install libgomp1" in refused.value.fix
    assert not (openmp.folder(files) / NOWHERE).exists()


def test_without_downloads_or_on_an_unknown_processor_the_library_is_named(managing: Managing) -> None:
    for files, wheels in ((managing(offline=True), WHEELS), (managing(), {})):
        with pytest.raises(Unavailable, match=NOWHERE) as refused:
            openmp.install(files, NOWHERE, wheels)
        assert "apt-get install libgomp1" in refused.value.fix


def test_nothing_is_fetched_that_the_system_has(tmp_path: Path) -> None:
    files = ModelFiles(tmp_path, environ={}, offline=True)
    openmp.install(files, "libc.so.6", {})
    assert openmp.search_path(files, "libc.so.6") == {}


def test_a_missing_library_is_named_when_a_model_cannot_be_loaded() -> None:
    log = "ImportError: libgomp.so.1: cannot open shared object file: No such file or directory"
    error = load_error("smol.gguf", log)
    assert "no libgomp.so.1" in str(error)
    assert "apt-get install libgomp1" in error.fix
    other = load_error("smol.gguf", log.replace("libgomp.so.1", "libstdc++.so.6"))
    assert "libstdc++.so.6" in other.fix
    assert "GGUF" in load_error("smol.gguf", "failed to load model").fix
