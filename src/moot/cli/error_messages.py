"""Errors as one clear line, what to do next, and an exit code."""

from __future__ import annotations

import os

from moot.core.errors import (
    Invalid,
    MootError,
    NewerSchema,
    Refused,
    StoreError,
    Unavailable,
    UnknownDebate,
)
from moot.core.setup_table import setup_fields

ENDED, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

OPTION_NAMES = {
    "topic": "motion",
    "participants": "seats",
    "format": "--format",
    "polls.seconds": "--audience",
    "judges": "--judge",
    "seconds": "--seconds",
    "rounds": "--rounds",
    "cites": "--speeches",
    "ranking": "--ranking",
}
"""What the fields of a request are called on the command line, besides the settings."""
SETUP_ERROR = "Invalid debate configuration"
"""How the error about a new debate begins."""


STATUS_HINTS = {
    "paused": ("`moot resume ID` continues it.",),
    "error": ("`moot retry ID` tries again, `moot judge ID` judges what was said, `moot stop ID` ends it.",),
    "completed": ("`moot show ID` shows it, `moot rejudge ID` judges it again.",),
    "aborted": ("`moot show ID` shows it.",),
    "judging": ("`moot watch ID` shows the judging.",),
}
"""What one can do with a debate in a state in which something else was refused."""


def debugging() -> bool:
    """Read here and not in the settings, which would load the whole engine for a help text."""
    return os.environ.get("MOOT_DEBUG", "") not in ("", "0")


def explain(error: MootError, *, hints: bool = True) -> tuple[list[str], int]:
    """The lines to print, the first of them the error itself, and the exit code. `hints`: whether to say of a
    refusal which of our commands are possible now."""
    match error:
        case Invalid():
            return _wrong(error), USAGE
        case UnknownDebate():
            fix = "`moot list` shows the debates that are here, and with --server URL those of a server."
            return [str(error), fix], USAGE
        case Refused():
            return _refusal(error, hints=hints), FAILED
        case Unavailable():
            return [str(error), *([error.fix] if error.fix else [])], FAILED
        case NewerSchema():
            return [str(error)], FAILED
        case StoreError():
            return [str(error), "`moot doctor` looks at what is wrong."], FAILED
        case _:
            return [str(error)], FAILED


def _refusal(error: Refused, *, hints: bool) -> list[str]:
    """What is not possible, and which commands are in this state of the debate."""
    reason = f"{error.reason} (status: {status_text(error.status)})"
    return [reason, *(STATUS_HINTS.get(error.status, ()) if hints else ())]


def _wrong(error: Invalid) -> list[str]:
    of_a_setup = str(error).startswith(SETUP_ERROR)
    problems = [
        f"{_option(field)}: {problem}"
        for field, field_problems in error.problems.items()
        for problem in field_problems
        if of_a_setup or problem not in str(error)
    ]
    # The message about a format file names all that is wrong with it.
    if not problems or ("format" in error.problems and not of_a_setup):
        return [str(error)]
    return ["This debate cannot be held:" if of_a_setup else str(error), *problems]


def _option(field: str) -> str:
    """Return the option of a field. Tools are fields by number, but one option."""
    settings = {row.wire: row.option.names[-1] for row in setup_fields() if row.option}
    name = field.partition(".")[0] if field.startswith("tools.") else field
    return OPTION_NAMES.get(name) or settings.get(name, name)


def status_text(status: str) -> str:
    return "failed" if status == "error" else status.replace("_", " ")
