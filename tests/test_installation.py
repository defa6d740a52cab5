"""The command that adds an extra fits how Moot was installed, and can be typed as it is printed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from moot.installation import (
    Installation,
    Origin,
    command_for,
    find_installer,
    find_origin,
    install_command,
)

PYTHON = "/opt/my tools/bin/python"
WHEEL = "/home/zoe/My files/moot-0.1.0-py3-none-any.whl"
REPOSITORY = "git+https://example.org/moot@main"


@pytest.mark.parametrize(
    ("here", "words"),
    [
        (
            Installation(PYTHON, origin=Origin("/src/moot", editable=True)),
            [PYTHON, "-m", "pip", "install", "-e", "/src/moot[local]"],
        ),
        (
            Installation(PYTHON, origin=Origin(WHEEL), extras=("mcp",)),
            [PYTHON, "-m", "pip", "install", f"{WHEEL}[local]"],
        ),
        (
            Installation(PYTHON, "uv", Origin(WHEEL)),
            ["uv", "pip", "install", "--python", PYTHON, f"{WHEEL}[local]"],
        ),
        (
            Installation(PYTHON, "pipx", Origin(WHEEL), ("mcp",)),
            ["pipx", "install", "--force", f"{WHEEL}[local,mcp]"],
        ),
        (
            Installation(PYTHON, "uv tool", Origin(url=REPOSITORY), ("cluster",)),
            ["uv", "tool", "install", "--force", f"moot[cluster,local] @ {REPOSITORY}"],
        ),
    ],
)
def test_the_command_names_what_moot_was_installed_from(here: Installation, words: list[str]):
    assert shlex.split(command_for("local", here)) == words


def test_where_the_origin_is_not_known_it_says_how_to_make_a_wheel():
    command = command_for("mcp", Installation("/usr/bin/python3"))
    assert command.startswith('/usr/bin/python3 -m pip install "$(echo dist/moot-*.whl)[mcp]"')
    assert "`make wheel`" in command


def test_an_origin_is_a_checkout_or_a_wheel_that_is_still_there(tmp_path: Path):
    wheel = tmp_path / "my moot.whl"
    origin = {"url": wheel.as_uri(), "archive_info": {}}
    assert find_origin(origin) == Origin()
    wheel.touch()
    assert find_origin(origin) == Origin(str(wheel))
    checkout = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    assert find_origin(checkout) == Origin(str(tmp_path), editable=True)
    assert find_origin({"url": tmp_path.as_uri(), "dir_info": {}}) == Origin(str(tmp_path))
    assert find_origin({}) == Origin()


def test_an_origin_is_an_archive_or_a_repository_at_its_revision():
    archive = {"url": "https://example.org/moot.whl", "archive_info": {}}
    assert find_origin(archive) == Origin(url="https://example.org/moot.whl")
    repository = {"url": "https://example.org/moot", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    assert find_origin(repository) == Origin(url="git+https://example.org/moot@abc")
    branch = {"vcs": "git", "commit_id": "abc", "requested_revision": "main"}
    nested = {"url": "https://example.org/all", "vcs_info": branch, "subdirectory": "moot"}
    assert find_origin(nested) == Origin(url="git+https://example.org/all@main#subdirectory=moot")


def test_the_installer_is_the_one_that_made_the_environment(tmp_path: Path):
    assert find_installer(tmp_path, has_pip=True) == "pip"
    assert find_installer(tmp_path, has_pip=False) == "uv"
    (tmp_path / "uv-receipt.toml").touch()
    assert find_installer(tmp_path, has_pip=False) == "uv tool"
    (tmp_path / "pipx_metadata.json").touch()
    assert find_installer(tmp_path, has_pip=True) == "pipx"


def test_this_moot_is_an_editable_checkout():
    checkout = Path(__file__).parents[1]
    command = [sys.executable, "-m", "pip", "install", "-e", f"{checkout}[parquet]"]
    assert shlex.split(install_command("parquet")) == command
