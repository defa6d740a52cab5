"""Debate formats, one TOML file each: built in, from installed packages, or the user's own.

`load` finds a format by name or path: a built-in one, one of an installed package (entry point
`moot.formats`), one in the user's folder, or any file. `fit_format` adapts it to the seats of a debate;
`rules.plan` decides what comes next.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path

from moot.core.errors import Invalid
from moot.core.terms import Format
from moot.extension import loaded
from moot.formats.fitting import assign_teams, described, fit_format, with_blind_openings, without_audience
from moot.formats.reading import parse

__all__ = [
    "BUILT_IN",
    "assign_teams",
    "clear_package_cache",
    "described",
    "fit_format",
    "load",
    "names",
    "parse",
    "user_formats",
    "with_blind_openings",
    "without_audience",
]

BUILT_IN = (
    "free",
    "oxford",
    "oxford-union",
    "lincoln-douglas",
    "public-forum",
    "policy",
    "british-parliamentary",
    "world-schools",
    "karl-popper",
    "chinese",
    "roundtable",
    "panel",
)
ENTRY_POINT_GROUP = "moot.formats"


def load(name: str, folder: Path | None = None) -> Format:
    """Return the format. Raises Invalid with the errors in its file, or with the known names.

    `folder` holds the user's own formats: `mine.toml` there is called `mine`. It cannot replace a built-in or
    an installed format of the same name.
    """
    if name in BUILT_IN:
        return _built_in(name)
    if name in _packages():
        return _from_package(name)
    if text := _of_extensions().get(name):
        return parse(text, name)
    if folder is not None and (path := _file(folder, name)):
        return _read_named(path)
    if name.endswith(".toml") and Path(name).is_file():
        return _read(Path(name))
    all_names = names(folder)
    known = ", ".join(all_names)
    close = get_close_matches(name.lower(), all_names, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"Known: {known}; or give the path of a .toml file."
    raise Invalid(f"There is no format called {name!r}. {hint}", {"format": [f"Must be one of: {known}"]})


def names(folder: Path | None = None) -> tuple[str, ...]:
    """The names of all formats; those in the user's folder only if they are valid."""
    own = (name for name, loaded in user_formats(folder) if isinstance(loaded, Format))
    return (*BUILT_IN, *_packages(), *_of_extensions(), *own)


def clear_package_cache() -> None:
    """Forget which packages are installed; the next call looks again."""
    _packages.cache_clear()
    _from_package.cache_clear()


def user_formats(folder: Path | None) -> Iterator[tuple[str, Format | Invalid]]:
    """Each format in the user's folder, or the error that makes it unusable."""
    for path in sorted(folder.glob("*.toml")) if folder is not None else ():
        if path.stem in BUILT_IN or path.stem in _packages():
            yield path.stem, Invalid(f"{path}: the name {path.stem} is taken; call the file otherwise.")
            continue
        try:
            yield path.stem, _read_named(path)
        except Invalid as error:
            yield path.stem, error


def _read_named(path: Path) -> Format:
    fmt = _read(path)
    if fmt.name != path.stem:
        raise Invalid(f'{path}: name = "{fmt.name}", but the file is called {path.name}.')
    return fmt


def _file(folder: Path, name: str) -> Path | None:
    """The path of a format in this folder; a name is never used as a path, so it cannot leave the folder."""
    return next((path for path in folder.glob("*.toml") if path.stem == name), None)


def _read(path: Path) -> Format:
    try:
        return parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from error


@cache
def _built_in(name: str) -> Format:
    return parse(files("moot.formats").joinpath(f"{name}.toml").read_text("utf-8"), f"{name}.toml")


@cache
def _packages() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _of_extensions() -> dict[str, str]:
    """The formats that extensions bring, as TOML."""
    brought = loaded().of(lambda extension: extension.formats)
    return {name: text for _, formats in brought for name, text in formats.items()}


@cache
def _from_package(name: str) -> Format:
    return parse(str(_packages()[name].load()), name)
