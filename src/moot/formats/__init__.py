"""Formats as data: one TOML file each, here or wherever the user keeps theirs.

`load` reads and checks one; `plan` (in `formats.plan`) says what comes next in a debate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import msgspec

from moot.errors import Invalid
from moot.terms import Format

BUILT_IN = ("free", "oxford", "lincoln-douglas", "roundtable", "panel")


def parse(text: str, source: str = "format") -> Format:
    """A format from its TOML; what is wrong is said with the place where it is."""
    try:
        fmt = msgspec.convert(tomllib.loads(text), Format)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{source}: {error}") from error
    problems = [*_problems(fmt)]
    if problems:
        raise Invalid(f"{source}: " + "; ".join(problems))
    return fmt


@cache
def load(name: str) -> Format:
    """A built-in format, one from an installed package (entry point `moot.formats`), or a path to a file."""
    if name in BUILT_IN:
        return parse(files("moot.formats").joinpath(f"{name}.toml").read_text("utf-8"), name)
    for entry in entry_points(group="moot.formats"):
        if entry.name == name:
            return parse(str(entry.load()), name)
    if name.endswith(".toml") and Path(name).is_file():
        return parse(Path(name).read_text("utf-8"), name)
    raise Invalid(
        f"There is no format called {name!r}. Try one of: {', '.join(names())}, or a path to a .toml file.",
        {"format": [f"Must be one of: {', '.join(names())}"]},
    )


def names() -> tuple[str, ...]:
    return (*BUILT_IN, *(entry.name for entry in entry_points(group="moot.formats")))


def _problems(fmt: Format) -> Iterable[str]:
    if not fmt.phases:
        yield "at least one [[phases]] row is needed"
    if len(fmt.chairs) < 2:
        yield "at least two [[chairs]] are needed"
    keys = [phase.key for phase in fmt.phases]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        yield f"phase key {key!r} is used twice"
    if fmt.repeat is not None and fmt.repeat not in {phase.round for phase in fmt.phases}:
        yield f"repeat = {fmt.repeat}, but no phase has round = {fmt.repeat}"
    if fmt.scripted and fmt.repeat is not None:
        yield "a scripted format cannot repeat a round"
    for phase in fmt.phases:
        if phase.kind not in ("cross-examination", "crossfire", "exchange"):
            continue
        if phase.to in (None, "each"):
            yield f"phase {phase.key!r} must say whom it questions (to = ...)"
        if phase.who == "each":
            yield f"phase {phase.key!r} must say who asks (who = ...)"
