"""An installation without the libraries of the page, or without the manual, says so."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.cli.terminal import environment

SOURCES = Path(__file__).parents[3] / "src" / "moot"


@pytest.fixture
def incomplete(tmp_path: Path) -> dict[str, str]:
    """The environment of a Moot that was copied out of git, without npm's files and the Markdown files."""
    left_out = shutil.ignore_patterns("vendor", "__pycache__")
    shutil.copytree(SOURCES, tmp_path / "copy" / "moot", ignore=left_out)
    return {**environment(tmp_path / "data"), "PYTHONPATH": str(tmp_path / "copy")}


def test_the_doctor_says_what_is_missing(incomplete: dict[str, str]) -> None:
    command = [sys.executable, "-m", "moot", "doctor"]
    told = subprocess.run(command, env=incomplete, capture_output=True, text=True, check=False, cwd="/")
    assert told.returncode == 1
    assert "This installation has no page: the libraries of the page are missing." in told.stdout
    assert "This installation has no manual" in told.stdout


def test_a_server_says_what_is_missing_when_it_starts_and_when_it_is_asked(
    incomplete: dict[str, str],
) -> None:
    command = [sys.executable, "-m", "moot", "serve", "--port", "0"]
    with subprocess.Popen(command, env=incomplete, stdout=subprocess.PIPE, text=True, cwd="/") as server:
        try:
            assert server.stdout is not None
            first, second, third = (server.stdout.readline() for _ in range(3))
            address = re.search(r"http://[\d.:]+\d", first)
            assert address is not None
            assert "has no page" in second
            assert "has no manual" in third
            with pytest.raises(HTTPError, match="503") as refused:
                urlopen(address[0] + "/")  # noqa: S310 - our own server
            assert b"make setup" in refused.value.read()
            refused.value.close()
        finally:
            server.terminate()
