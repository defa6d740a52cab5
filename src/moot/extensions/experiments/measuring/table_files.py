"""Tables in files: JSON lines, CSV and Parquet, written row by row and read back.

`open_table` returns a writer that keeps at most a page of rows in memory. In CSV a list of fixed words
(issues) is separated by spaces, other lists are JSON, and what is missing is empty; a text that a spreadsheet
would take for a formula has an apostrophe before it, which is taken away when it is read. In JSON lines every
row has every column. Parquet has the types of the columns, and needs pyarrow (the extra `parquet`). A folder
of tables has one file for each, named like the table, and `dictionary.json`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Literal, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid, Unavailable
from moot.extensions.experiments.measuring.data_tables import (
    Column,
    ColumnType,
    columns_of,
    data_dictionary,
    with_all_members,
)
from moot.installation import install_command

FileFormat = Literal["jsonl", "csv", "parquet"]
DICTIONARY_FILE = "dictionary.json"
PAGE_ROWS = 1000
"""Rows of a Parquet file that are written at a time."""
FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a text begins that a spreadsheet would compute, or that is quoted so that it does not."""
Row = TypeVar("Row", bound=Struct)


class TableWriter(Protocol):
    def add(self, row: Struct) -> None: ...

    def close(self) -> None: ...


def open_table(path: Path, row: type[Struct]) -> TableWriter:
    """A writer for rows of this struct, in the format that the ending of the file names. Raises Invalid for
    another ending or a file that cannot be written, and Unavailable without pyarrow."""
    writers = {".jsonl": _JsonLines, ".csv": _Csv, ".parquet": _Parquet}
    if path.suffix not in writers:
        raise Invalid(f"A table is a .jsonl, .csv or .parquet file, not {path.name}.")
    try:
        return writers[path.suffix](path, row)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from None


def write_table(path: Path, row: type[Struct], rows: Iterable[Struct]) -> None:
    """Write rows of this struct to a .jsonl, .csv or .parquet file. Raises as `open_table`."""
    writer = open_table(path, row)
    try:
        for each in rows:
            writer.add(each)
    finally:
        writer.close()


def write_dictionary(folder: Path) -> None:
    text = msgspec.json.format(msgspec.json.encode(data_dictionary()), indent=2)
    (folder / DICTIONARY_FILE).write_bytes(text + b"\n")


def read_table(path: Path, row: type[Row]) -> Iterator[Row]:
    """The rows of a table that was written here. Raises Invalid with the row that is wrong."""
    for number, values in enumerate(read_mappings(path), 1):
        present = {name: value for name, value in values.items() if value is not None and value != ""}
        try:
            yield msgspec.convert(_with_lists(present, row), row, strict=False)
        except msgspec.ValidationError as error:
            raise Invalid(f"{path}, row {number}: {error}.") from error


def find_table(folder: Path, table: str) -> Path | None:
    """The file of a table in a folder."""
    found = (folder / f"{table}.{ending}" for ending in ("parquet", "jsonl", "csv"))
    return next((path for path in found if path.exists()), None)


def read_mappings(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a JSON lines, JSON, CSV, TSV or Parquet file as mappings. Raises Invalid."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        yield from _parquet_rows(path)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if suffix in (".csv", ".tsv"):
                csv.field_size_limit(2**31 - 1)
                rows = csv.DictReader(file, delimiter="\t" if suffix == ".tsv" else ",")
                yield from ({name: _unquoted(value) for name, value in each.items()} for each in rows)
            else:
                yield from _json_rows(file, path)
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from error


def _json_rows(file: IO[str], path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file, 1):
        if number == 1 and line.lstrip().startswith("["):
            yield from _objects(_decoded(line + file.read(), path, number), path)
            return
        if line.strip():
            yield from _objects([_decoded(line, path, number)], path)


def _decoded(text: str, path: Path, number: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid(f"{path}, line {number} is not JSON: {error}.") from error


def _objects(values: Any, path: Path) -> Iterator[Mapping[str, Any]]:
    for value in cast("list[Any]", values):
        if not isinstance(value, dict):
            raise Invalid(f"{path} holds something that is no row: {str(value)[:60]}.")
        yield cast("dict[str, Any]", value)


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    parquet = _pyarrow().parquet
    try:
        file = parquet.ParquetFile(path)
        for batch in file.iter_batches(PAGE_ROWS):
            yield from batch.to_pylist()
    except (OSError, _pyarrow().ArrowException) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from error


def _with_lists(values: dict[str, Any], row: type[Struct]) -> dict[str, Any]:
    for column in columns_of(row):
        value = values.get(column.name)
        if column.type == "list" and isinstance(value, str):
            values[column.name] = value.split() if column.values else json.loads(value)
    return values


# --- writers ------------------------------------------------------------------------------------------


class _JsonLines:
    def __init__(self, path: Path, row: type[Struct]) -> None:
        self._file = path.open("wb")

    def add(self, row: Struct) -> None:
        self._file.write(msgspec.json.encode(with_all_members(row)) + b"\n")

    def close(self) -> None:
        self._file.close()


class _Csv:
    def __init__(self, path: Path, row: type[Struct]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._rows = CsvRows(self._file, row)

    def add(self, row: Struct) -> None:
        self._rows.add(row)

    def close(self) -> None:
        self._file.close()


class CsvRows:
    """Rows of a struct as CSV, under a heading."""

    def __init__(self, file: IO[str], row: type[Struct]) -> None:
        self._columns = columns_of(row)
        self._writer = csv.writer(file, lineterminator="\n")
        # Python before 3.13 does not quote a text for a carriage return in it, at which readers end the row.
        self._quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        self._writer.writerow([column.name for column in self._columns])

    def add(self, row: Struct) -> None:
        cells = [_cell(getattr(row, column.name), column) for column in self._columns]
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (self._quoting if returns else self._writer).writerow(cells)


def _cell(value: Any, column: Column) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if column.type != "list":
        return _quoted(value) if isinstance(value, str) else value
    if column.values and column.of == "text":
        return _quoted(" ".join(value))
    return msgspec.json.encode(value).decode()


def _quoted(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) else text


def _unquoted(value: Any) -> Any:
    """Undoes `_quoted`. What follows the last column has no name and is a list."""
    is_quoted = isinstance(value, str) and value.startswith("'") and FORMULA.match(value)
    return value[1:] if is_quoted else value


class _Parquet:
    def __init__(self, path: Path, row: type[Struct]) -> None:
        self._columns = columns_of(row)
        arrow = _pyarrow()
        self._arrow = arrow
        self._schema = arrow.schema(
            [
                arrow.field(
                    column.name, _arrow_type(arrow, column), metadata={"description": column.description}
                )
                for column in self._columns
            ]
        )
        self._writer = arrow.parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._page: list[dict[str, Any]] = []

    def add(self, row: Struct) -> None:
        self._page.append({column.name: _arrow_value(row, column) for column in self._columns})
        if len(self._page) >= PAGE_ROWS:
            self._write_page()

    def close(self) -> None:
        self._write_page()
        self._writer.close()

    def _write_page(self) -> None:
        if self._page:
            self._writer.write_table(self._arrow.Table.from_pylist(self._page, self._schema))
            self._page.clear()


def _arrow_value(row: Struct, column: Column) -> Any:
    value = getattr(row, column.name)
    return [list(each) for each in value] if column.of == "list" else value


def _arrow_type(arrow: Any, column: Column) -> Any:
    types: Mapping[ColumnType, Any] = {
        "text": arrow.string(),
        "whole number": arrow.int64(),
        "number": arrow.float64(),
        "yes or no": arrow.bool_(),
        "time": arrow.timestamp("us", tz="UTC"),
        "list": arrow.list_(arrow.string()),
    }
    return arrow.list_(types[column.of]) if column.of else types[column.type]


def _pyarrow() -> Any:
    """pyarrow has no types, so it is one name that is not checked."""
    try:
        import pyarrow as arrow  # pyright: ignore[reportMissingTypeStubs]
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
    except ModuleNotFoundError:
        raise Unavailable("Parquet needs pyarrow.", install_command("parquet")) from None
    return arrow


def as_frame(rows: Sequence[Struct], row: type[Struct]) -> Any:
    """A pandas DataFrame with every column of the table, also if there are no rows. Raises Unavailable."""
    try:
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
    except ModuleNotFoundError:
        raise Unavailable("A DataFrame needs pandas.", install_command("experiments")) from None
    names = [column.name for column in columns_of(row)]
    frame: Any = pd.DataFrame([with_all_members(each) for each in rows], columns=names)
    return frame
