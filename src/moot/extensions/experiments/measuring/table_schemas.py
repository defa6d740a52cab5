"""The columns of a folder of tables in the words of other programs, so that they read empty tables as well.

A JSON lines file without rows has no columns, and one whose first rows lack a value has the wrong types for
whoever guesses. `README.md` is a dataset card, by which `datasets` knows tables and types; `tables.sql` makes
a view of each table in DuckDB. Both are made from the data dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from moot.extensions.experiments.measuring.data_tables import (
    Column,
    ColumnType,
    TableDescription,
    data_dictionary,
)
from moot.extensions.experiments.measuring.table_files import FileFormat

CARD_FILE, SQL_FILE = "README.md", "tables.sql"
CARD_MARK = "These tables were written by `moot experiment export`."
FEATURES: Mapping[ColumnType, str] = {
    "text": "string",
    "whole number": "int64",
    "number": "float64",
    "yes or no": "bool",
    "time": "timestamp[us, tz=UTC]",
}
SQL_TYPES: Mapping[ColumnType, str] = {
    "text": "VARCHAR",
    "whole number": "BIGINT",
    "number": "DOUBLE",
    "yes or no": "BOOLEAN",
    "time": "TIMESTAMPTZ",
    "list": "VARCHAR[]",
}
CARD = """---
configs: {configs}
dataset_info: {features}
---

# Debates as tables

{mark} `dictionary.json` explains every column. Times are UTC, costs US dollars; what is missing is null.

| table | what a row is |
|---|---|
{tables}

- `datasets`: `load_dataset("FOLDER", "ballots", split="train")`; a table without rows with `streaming=True`.
- DuckDB: `SET file_search_path = 'FOLDER'`, then run `tables.sql`: every table is a view of its name.
- pandas and polars: see the page "Data and tables" of Moot's manual (docs/data.md).
"""


def write_schemas(folder: Path, format: FileFormat) -> None:
    """Write `tables.sql`, and `README.md` unless there is one that was not written here."""
    (folder / SQL_FILE).write_text(duckdb_views(format), "utf-8")
    card = folder / CARD_FILE
    if not card.exists() or CARD_MARK in card.read_text("utf-8", errors="replace"):
        card.write_text(dataset_card(format), "utf-8")


def dataset_card(format: FileFormat) -> str:
    """A page for people with the tables and their types for `datasets` above it, as YAML that is JSON too."""
    tables = data_dictionary()
    configs = [{"config_name": each.table, "data_files": f"{each.table}.{format}"} for each in tables]
    features = [{"config_name": each.table, "features": _features(each, format)} for each in tables]
    return CARD.format(
        configs=msgspec.json.encode(configs).decode(),
        features=msgspec.json.encode(features).decode(),
        mark=CARD_MARK,
        tables="\n".join(f"| `{each.table}` | {each.description} |" for each in tables),
    )


def _features(table: TableDescription, format: FileFormat) -> list[dict[str, Any]]:
    return [_feature(column, format) for column in table.columns]


def _feature(column: Column, format: FileFormat) -> dict[str, Any]:
    if format == "csv" and column.type in ("list", "time"):
        return {"name": column.name, "dtype": "string"}
    if format == "csv" and column.type == "whole number" and column.optional:
        return {"name": column.name, "dtype": "float64"}
    if column.of == "list":
        return {"name": column.name, "sequence": {"sequence": "string"}}
    if column.of is not None:
        return {"name": column.name, "sequence": FEATURES[column.of]}
    return {"name": column.name, "dtype": FEATURES[column.type]}


def duckdb_views(format: FileFormat) -> str:
    """SQL for DuckDB that makes a view of each table in the folder where its files are searched."""
    views = (f"CREATE OR REPLACE VIEW {each.table} AS {_source(each, format)};" for each in data_dictionary())
    return "\n".join(("-- DuckDB: SET file_search_path = 'FOLDER' and run this file.", *views)) + "\n"


def _source(table: TableDescription, format: FileFormat) -> str:
    file = f"'{table.table}.{format}'"
    if format == "parquet":
        return f"FROM read_parquet({file})"
    types = ", ".join(f"\"{column.name}\": '{_sql_type(column, format)}'" for column in table.columns)
    if format == "jsonl":
        return f"FROM read_json({file}, format = 'newline_delimited', columns = {{{types}}})"
    options = "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"'"
    return f"FROM read_csv({file}, {options}, columns = {{{types}}})"


def _sql_type(column: Column, format: FileFormat) -> str:
    if column.type != "list":
        return SQL_TYPES[column.type]
    return "VARCHAR" if format == "csv" else f"{SQL_TYPES[column.of or 'text']}[]"
