"""Errors as one clear line, what to do next, and an exit code."""

from __future__ import annotations

import os

from moot.errors import (
    Invalid,
    MootError,
    NewerSchema,
    Refused,
    StoreError,
    Unavailable,
    UnknownDebate,
)

ENDED, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

OPTIONS = {
    "topic": "motion",
    "participants": "seats",
    "format": "--format",
    "maxRounds": "--rounds",
    "maxTurns": "--turns",
    "timeoutPerRound": "--timeout",
    "intensity": "--intensity",
    "costLimit": "--cost-limit",
    "warnAtCost": "--warn-at",
    "personSeconds": "--person-seconds",
    "polls.seconds": "--audience",
    "objective": "--objective",
    "prep": "--prep",
    "blind": "--blind",
    "winningCondition": "--winning",
    "judges": "--judge",
}
"""What the fields of a request are called on the command line."""


def debugging() -> bool:
    """Read here and not in the settings, which would load the whole engine for a help text."""
    return os.environ.get("MOOT_DEBUG", "") not in ("", "0")


def explain(error: MootError) -> tuple[list[str], int]:
    """The lines to print, the first of them the error itself, and the exit code."""
    match error:
        case Invalid():
            problems = [
                f"{OPTIONS.get(field, field)}: {problem}"
                for field, found in error.problems.items()
                for problem in found
            ]
            if not problems or "format" in error.problems:
                return [str(error)], USAGE
            return ["This debate cannot be held:", *problems], USAGE
        case UnknownDebate():
            fix = "`moot list` shows the debates that are here, and with --server URL those of a server."
            return [str(error), fix], USAGE
        case Refused():
            return [f"{error.reason} (It is {words(error.status)}.)"], FAILED
        case Unavailable():
            return [str(error), *([error.fix] if error.fix else [])], FAILED
        case NewerSchema():
            return [str(error)], FAILED
        case StoreError():
            return [str(error), "`moot doctor` looks at what is wrong."], FAILED
        case _:
            return [str(error)], FAILED


def words(status: str) -> str:
    return status.replace("_", " ")
