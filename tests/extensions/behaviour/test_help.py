"""The commands of extensions have help of their own, with examples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from moot.cli.command_line import terminal_commands
from moot.extension import TerminalCommand, load
from tests.cli.conftest import data, moot
from tests.support.restore_logging import log_as_it_was

__all__ = ["data", "log_as_it_was", "moot"]

Moot = Callable[..., tuple[int, str, str]]
BROUGHT = [command for extension in load() for command in extension.commands]


@pytest.mark.parametrize("row", BROUGHT, ids=lambda row: f"{row.parent} {row.name}".strip())
def test_a_command_has_help_of_its_own(moot: Moot, row: TerminalCommand):
    words = [word for word in (row.parent, row.name) if word]
    code, out, _ = moot(*words, "--help")
    assert code == 0
    assert out.startswith(f"Usage: moot {' '.join(words)}")
    assert "\x1b" not in out


@pytest.mark.parametrize("row", BROUGHT, ids=lambda row: f"{row.parent} {row.name}".strip())
def test_an_example_is_of_its_command_and_in_its_help(moot: Moot, row: TerminalCommand):
    name = row.parent or row.name
    _, out, _ = moot(name, "--help")
    assert all(f"  {example}\n" in out for example in row.examples)
    assert all(f"{example} ".startswith(f"moot {name} ") for example in row.examples)
    assert row.examples or row.parent


def test_every_command_is_in_the_help(moot: Moot):
    _, out, _ = moot("--help")
    assert all(f"\n  {row.name} " in out for row in terminal_commands())
    assert {row.name for row in BROUGHT if not row.parent} <= {row.name for row in terminal_commands()}
