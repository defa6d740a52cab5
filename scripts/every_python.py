"""Tries Moot with every Python from 3.11 on that this machine has, as a newcomer would.

    python3 scripts/every_python.py          all of them
    python3 scripts/every_python.py 3.12     those of this version

For each: set-up for running in an environment of its own, `moot doctor`, a debate, and `moot serve` with the
page and the manual. Prints a table and fails if one fails.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
PLACES = (
    *os.environ.get("PATH", "").split(os.pathsep),
    "~/.pyenv/versions/*/bin",
    "~/.local/share/uv/python/*/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
)
NAME = re.compile(r"python3(\.\d+)?")
ABOUT = "import sys; print(*sys.version_info[:3], sys.base_prefix)"
SECONDS = 300
Check = Callable[[Path, dict[str, str]], None]


class Failed(Exception):
    """What went wrong."""


def main() -> None:
    pythons = {
        version: path for version, path in find_pythons() if version.startswith(tuple(sys.argv[1:]) or "")
    }
    failed = False
    for version, python in pythons.items():
        with tempfile.TemporaryDirectory(prefix="moot-python-") as folder:
            began = time.monotonic()
            result = try_python(python, Path(folder))
        failed = failed or result != "works"
        print(f"Python {version:8} {time.monotonic() - began:4.0f} s  {result}  ({python})", flush=True)
    print(f"{len(pythons)} Pythons tried.")
    sys.exit(failed or not pythons)


def find_pythons() -> Iterator[tuple[str, Path]]:
    """Each installed Python once, by its version and the place where it is installed."""
    seen = set[tuple[str, str]]()
    for place in PLACES:
        for path in sorted(_programs(place)):
            about = subprocess.run([path, "-c", ABOUT], capture_output=True, text=True)
            *version, prefix = about.stdout.split() or ("0", "")
            if tuple(map(int, version[:2])) >= OLDEST and (key := (".".join(version), prefix)) not in seen:
                seen.add(key)
                yield key[0], path


def _programs(place: str) -> Iterator[Path]:
    absolute = Path(place).expanduser()
    folders = Path("/").glob(str(absolute).lstrip("/")) if "*" in place else (absolute,)
    for folder in folders:
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if NAME.fullmatch(path.name))


def try_python(python: Path, folder: Path) -> str:
    """Returns "works", or what does not."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MOOT_", "PYTHON"))}
    environ |= {"MOOT_DATA": str(folder / "data"), "MOOT_SCRIPTED": "1", "MOOT_MODEL": "scripted/demo"}
    venv = folder / "venv"
    try:
        _run([str(python), "scripts/set_up.py", "run", "--venv", str(venv)], environ)
        moot = str(venv / "bin" / "moot")
        _run([moot, "doctor"], environ)
        debate = _run([moot, "Homework should be banned", "--rounds", "1"], environ)
        if "Verdict" not in debate:
            raise Failed(f"the debate has no verdict: {debate[-300:]}")
        with _serving(moot, environ) as address:
            for path, expected in (("/", "<title>Moot"), ("/manual/", "make run"), ("/health/ready", "ok")):
                with urlopen(address + path, timeout=60) as reply:
                    if expected not in reply.read().decode():
                        raise Failed(f"{path} is not what it should be")
    except (Failed, OSError) as error:
        return f"FAILS: {error}"
    return "works"


def _run(command: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise Failed(
            f"{shutil.which(command[0]) or command[0]} {command[1]}: {done.stdout[-800:]}{done.stderr[-800:]}"
        )
    return done.stdout


@contextlib.contextmanager
def _serving(moot: str, environ: dict[str, str]) -> Iterator[str]:
    """The address of a server that runs while the block lasts."""
    process = subprocess.Popen(
        [moot, "serve", "--port", "0"],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in process.stdout or ():
            if found := re.search(r"http://\S+:\d+", line):
                yield found[0]
                return
        raise Failed("the server did not start")
    finally:
        process.terminate()
        process.wait(60)


if __name__ == "__main__":
    main()
