"""Writes constraints.txt: one exact pin for everything that Moot and its extras need, for every Python.

uv resolves once for all Pythons from the oldest one that pyproject.toml allows; where one version does not
fit all of them, there are several lines with markers. The user's own index settings of pip count, and nothing
but names, versions and markers is written down.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "constraints.txt"
HEADER = "# Written by `make lock`; do not edit.\n"
UV_OPTIONS = {
    "global.index-url": "--default-index",
    "global.extra-index-url": "--index",
    "global.find-links": "--find-links",
}
"""What pip calls a place of packages, and what uv calls it, which does not read pip's configuration."""


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-qq", "uv"], check=True)
        pins = _resolve(Path(folder, "bin", "uv"), oldest, _index_options(python))
    TARGET.write_text(HEADER + pins, "utf-8")
    print(f"constraints.txt: {len(pins.splitlines())} pins for Python {oldest} and newer", file=sys.stderr)


def _resolve(uv: Path, oldest: str, index_options: list[str]) -> str:
    # The fewest versions: what is tested on one Python is then what runs on the others.
    command = [uv, "pip", "compile", "--quiet", "--no-annotate", "--no-header", "--system-certs"]
    command += ["--universal", "--python-version", oldest, "--all-extras", "--fork-strategy", "fewest"]
    command += ["--index-strategy", "unsafe-best-match", *index_options, "pyproject.toml"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def _index_options(python: Path) -> list[str]:
    """Where pip looks for packages on this machine, in the words of uv."""
    command = [python, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    options = list[str]()
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        for place in shlex.split(value.strip("'")) if name in UV_OPTIONS else ():
            options += [UV_OPTIONS[name], place]
    return options


if __name__ == "__main__":
    main()
