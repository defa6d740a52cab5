"""Reads a format from TOML and reports all errors at once, each with its line.

It checks that the file is TOML, then that every key is known and every value valid, then that the format
makes sense as a debate (`checking`). Where a row has minutes and no words, 150 words a minute are assumed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Struct

from moot.core.errors import Invalid
from moot.core.terms import EXCHANGE_KINDS, WORDS_PER_MINUTE, Format, Phase, SeatTemplate
from moot.formats.checking import ROW_RANGES, FormatLocation, problems

ROWS: dict[str, type[Struct]] = {"chairs": SeatTemplate, "phases": Phase}
WORD_STEP = 10
"""Words that are reckoned from minutes come in tens."""

_HEADER = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")
_KEY = re.compile(r"\s*([\w-]+)\s*=")
_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_LONG = ('"""', "'''")


def parse(text: str, source: str = "format") -> Format:
    """Raises Invalid with a line for each problem: file, line, what is wrong and what would be right."""
    lines = _lines(text)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _invalid_format(source, [_toml_error(str(error), text)]) from error
    if errors := list(_key_errors(table, lines)):
        raise _invalid_format(source, errors)
    for row in table["phases"]:
        _words_from_minutes(row)
    fmt = msgspec.convert(table, Format)
    if errors := [(_line(lines, location), problem) for location, problem in problems(fmt)]:
        raise _invalid_format(source, errors)
    return fmt


def _invalid_format(source: str, errors: Iterable[tuple[int, str]]) -> Invalid:
    return Invalid("\n".join(f"{source}:{line}: {problem}" for line, problem in sorted(errors)))


def _toml_error(message: str, text: str) -> tuple[int, str]:
    """The message of the TOML reader, with its line in front."""
    at = _AT.search(message)
    line = int(at[1]) if at and at[1] else len(text.splitlines())
    return line, f"this is not TOML: {_AT.sub('', message)}"


# --- where things stand -------------------------------------------------------------------------------


def _lines(text: str) -> dict[FormatLocation, int]:
    """The line of every key and of every row's heading."""
    lines: dict[FormatLocation, int] = {}
    table, row = "", 0
    seen = dict.fromkeys(ROWS, 0)
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in line else inside
        elif header := _HEADER.match(line):
            table = header[1]
            row = seen[table] = seen.get(table, 0) + 1
            lines[table, row, ""] = number
        elif key := _KEY.match(line):
            lines.setdefault((table, row, key[1]), number)
            inside = next((mark for mark in _LONG if line.count(mark) == 1), "")
    return lines


def _line(lines: dict[FormatLocation, int], location: FormatLocation) -> int:
    """The line of a key; where the key is missing, that of its row or of the list that the row is in."""
    table, row, _ = location
    nearest = (location, (table, row, ""), ("", 0, table))
    return next((lines[one] for one in nearest if one in lines), 1)


# --- keys and values ----------------------------------------------------------------------------------


def _key_errors(document: dict[str, Any], lines: dict[FormatLocation, int]) -> Iterator[tuple[int, str]]:
    for location, problem in _row_errors(document, Format, ("", 0, "")):
        yield _line(lines, location), problem
    for table, kind in ROWS.items():
        rows: Any = document.get(table, [])
        if not isinstance(rows, list):
            yield _line(lines, ("", 0, table)), f"{table} are written as rows: [[{table}]]"
            continue
        for number, row in enumerate(cast("list[Any]", rows), 1):
            for location, problem in _row_errors(row, kind, (table, number, "")):
                yield _line(lines, location), problem


def _row_errors(
    values: Any, kind: type[Struct], location: FormatLocation
) -> Iterator[tuple[FormatLocation, str]]:
    table, row, _ = location
    if not isinstance(values, dict):
        yield location, "a row has keys and values: key = value"
        return
    values = cast("dict[str, Any]", values)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for key, value in values.items():
        if key not in fields:
            yield (table, row, key), _unknown(key, list(fields))
        elif key not in ROWS and (problem := _value_error(key, value, fields[key].type)):
            yield (table, row, key), problem
    for name, field in fields.items():
        needed = field.default is NODEFAULT and field.default_factory is NODEFAULT
        if needed and name not in values:
            where = f"this {table.removesuffix('s')}" if table else "a format"
            yield location, f"{where} needs {name}" + (f" ([[{name}]])" if name in ROWS else "")


def _unknown(key: str, known: list[str]) -> str:
    near = get_close_matches(key, known, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    return f"there is no {key}; {hint}"


def _value_error(key: str, value: Any, kind: Any) -> str:
    """Why the value is invalid; empty where it is valid."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        if choices := _choices(kind):
            return f"{key} = {_as_toml(value)} is none of: {', '.join(choices)}"
        return f"{key} = {_as_toml(value)} will not do: {_plain_message(str(error))}"
    return ""


def _choices(kind: Any) -> tuple[str, ...]:
    """The allowed values of a key, where there are few."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(word for part in get_args(kind) for word in _choices(part))


def _as_toml(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain_message(message: str) -> str:
    """A message such as `Expected `int`, got `str`` in words for people who do not program."""
    names = {"int": "a whole number", "float": "a number", "str": "text in quotes", "bool": "true or false"}
    expected = re.match(r"Expected `(\w+)", message)
    return f"it wants {names.get(expected[1], expected[1])}" if expected else message


# --- minutes ------------------------------------------------------------------------------------------


def _words_from_minutes(row: dict[str, Any]) -> None:
    """The words for so many minutes; in an exchange they are divided among its questions and answers."""
    minutes = row.get("minutes", 0)
    if "words" in row or not 0 < minutes <= ROW_RANGES["minutes"][1]:
        return
    words = minutes * WORDS_PER_MINUTE
    if row.get("kind") in EXCHANGE_KINDS:
        words /= 2 * max(1, row.get("exchanges", 1))
    row["words"] = max(WORD_STEP, round(words / WORD_STEP) * WORD_STEP)
