"""The environment of the tests, the same whoever starts them, on whatever machine.

`tests/conftest.py` imports this first. Of the variables only a few are kept: no key, address or setting of
the person at the machine reaches a test. The home folder is empty, so what a test finds was made by the tests
or by set-up. Temporary files are in a folder with a long name and a space in it, as some people have.

The process that starts the workers makes the folders and removes them; workers inherit its environment.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / ".cache" / "models"
"""Where set-up puts the local model of the tests (scripts/set_up.py)."""
KEPT = {"PATH", "CI", "MOOT_RECORDINGS", "MOOT_JUDGMENTS", "MOOT_SHOW_PATHS", "TRACED", "PYTHONTRACEMALLOC"}
KEPT_PREFIXES = ("PYTEST_", "COV_", "COVERAGE_")
LONG_NAME = "a folder with a long name, as people have who keep their work in the cloud of a big company"
OURS = "PYTEST_MOOT_HOME"
"""Set in the environment of workers: the folders are there."""


def prepare() -> None:
    """Replace the environment of this process."""
    kept = {
        name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)
    }
    if OURS not in kept:
        kept[OURS] = _make_folders()
    home = Path(kept[OURS])
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(
        HOME=str(home / "home"),
        TMPDIR=str(home / LONG_NAME),
        LANG="C.UTF-8",
        LC_ALL="C.UTF-8",
        TERM="dumb",
    )
    # The system's own programs, wherever this was started from.
    os.environ["PATH"] = f"{kept.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin"
    tempfile.tempdir = None  # it may have been asked for before


def _is_kept(name: str) -> bool:
    return name in KEPT or name.startswith(KEPT_PREFIXES)


def _make_folders() -> str:
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    folder.chmod(0o755)  # PostgreSQL runs as another user where we are root
    for name in ("home", LONG_NAME):
        (folder / name).mkdir()
    atexit.register(_remove, folder, os.getpid())
    return str(folder)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
