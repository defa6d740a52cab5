"""The programs in the library guide and in the tutorial run; the guide has every method of the clients."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from moot.client import AsyncClient, Client
from tests.cli.terminal import environment
from tests.client.serving import Served, served

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "library.md").read_text("utf-8")
TUTORIAL = (DOCS / "tutorials/build-a-client.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE + TUTORIAL, re.DOTALL)
EVERY_CLIENT = {"close", "disconnected", "server"}
OUTPUTS = (
    "Stored: Cats make better pets than dogs",
    "Outcome:",
    "Parrot 2: 12 words",
    "Ada has spoken",
    "The winner:",
    "Judged.",
    "422 Invalid debate configuration req_",
    "Winner: ",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.mark.parametrize(("program", "output"), list(zip(PROGRAMS, OUTPUTS, strict=True)))
def test_the_programs_run(server: Served, tmp_path: Path, program: str, output: str):
    env = {**environment(tmp_path), "MOOT_SERVER": server.url}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert output in done.stdout
    assert done.stderr == ""


def test_every_method_is_documented_and_both_clients_have_it():
    methods = {name for name in dir(AsyncClient) if not name.startswith("_")} - EVERY_CLIENT
    assert methods == {name for name in dir(Client) if not name.startswith("_")} - EVERY_CLIENT
    table = PAGE.partition("| method of the clients |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert methods == set(re.findall(r"`(\w+)", "".join(rows)))
