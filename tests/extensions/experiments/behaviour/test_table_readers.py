"""Programs that people use for data read our folders, also tables without rows, as docs/data.md says.

They are large (datasets 210 MB, polars 180 MB, DuckDB 70 MB), so `make peers` installs them beside .venv and
runs these tests; `make test` leaves them out.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from moot import Arena, Settings
from moot.extensions.experiments.measuring.data_tables import TABLES, TableName, columns_of
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.table_files import FileFormat
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.stored_tables import experiment_debates, table_paths, write_tables

pytestmark = pytest.mark.peers
FORMATS: tuple[FileFormat, ...] = ("jsonl", "csv", "parquet")
LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b"),
    motions=("Homework should be banned", 'Zoos do "more good" than harm, | or not'),
    rounds=1,
    judges=("scripted/owl",),
    options={"beliefs": True, "model_audience": True},
)


Folders = dict[FileFormat, tuple[Path, dict[TableName, int]]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """For each format a folder of tables, some of them without rows, and how many rows each has."""
    home = tmp_path_factory.mktemp("peers")

    async def export() -> Folders:
        found: Folders = {}
        async with Arena.open(Settings(data=home / "data", scripted=True)) as arena:
            await ExperimentRunner(arena, LEAGUE).run()
            for each in FORMATS:
                paths = table_paths(home / each / "league", each)
                counts = await write_tables(paths, experiment_debates(arena.store, "league"))
                found[each] = home / each, counts
        return found

    made = asyncio.run(export())
    assert [table for table, count in made["csv"][1].items() if not count] == ["rankings", "answers", "votes"]
    return made


def names(table: TableName) -> list[str]:
    return [column.name for column in columns_of(TABLES[table])]


@pytest.mark.parametrize("file_format", FORMATS)
def test_duckdb_has_a_view_of_every_table(
    folders: Folders, file_format: FileFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = importlib.import_module("duckdb")
    folder, counts = folders[file_format]
    monkeypatch.chdir(folder)
    with duckdb.connect() as database:
        database.execute("SET file_search_path = 'league'")
        database.execute(Path("league/tables.sql").read_text("utf-8"))
        for table, count in counts.items():
            found = database.sql(f"FROM {table}")
            assert (found.columns, len(found.to_arrow_table())) == (names(table), count), table
        told = "SELECT sum(pro_score) > 0, max(len(reason)) > 0 FROM ballots"
        assert database.sql(told).fetchall() == [(True, True)]
        assert database.sql("SELECT max(started_at) > TIMESTAMPTZ '2020-01-01' FROM calls").fetchall() == [
            (True,)
        ]


@pytest.mark.parametrize("file_format", FORMATS)
def test_datasets_knows_tables_and_types_by_the_card(
    folders: Folders, file_format: FileFormat, tmp_path: Path
) -> None:
    datasets = importlib.import_module("datasets")
    folder, counts = folders[file_format]
    for table, count in counts.items():
        options: dict[str, Any] = {"split": "train", "streaming": not count, "cache_dir": str(tmp_path)}
        found = datasets.load_dataset(str(folder / "league"), table, **options)
        assert list(found.features) == names(table), table
        assert len(list(found)) == count


@pytest.mark.parametrize("file_format", FORMATS)
def test_pandas_and_polars_read_tables_without_rows(folders: Folders, file_format: FileFormat) -> None:
    pandas, polars = importlib.import_module("pandas"), importlib.import_module("polars")
    folder, counts = folders[file_format]
    for table, count in counts.items():
        file = folder / "league" / f"{table}.{file_format}"
        if file_format == "csv":
            frames = pandas.read_csv(file), polars.read_csv(file, infer_schema_length=None)
        elif file_format == "parquet":
            frames = pandas.read_parquet(file), polars.read_parquet(file)
        else:
            continue
        for frame in frames:
            assert (list(frame.columns), len(frame)) == (names(table), count), table


def test_the_examples_of_the_page_run_as_written(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[4] / "docs/data.md").read_text("utf-8")
    section = page[page.index("## Other readers") : page.index("## debates")]
    monkeypatch.chdir(folders["jsonl"][0])
    for table in TABLES:
        for example in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
            used: dict[str, Any] = {}
            exec(example.replace('"votes', f'"{table}').replace("/votes.", f"/{table}."), used)  # noqa: S102
            if "pd" in used:
                assert used["votes"].columns == names(table)
                assert len(used["votes"]) == folders["jsonl"][1][table]
