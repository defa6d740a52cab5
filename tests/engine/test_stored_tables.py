"""Experiments and stored debates as tables: the same rows from the store and from every kind of file."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest

from moot import Arena, Settings
from moot.core.errors import Invalid
from moot.engine.experiment_runner import ExperimentRunner
from moot.engine.stored_tables import (
    DebateData,
    experiment_debates,
    find_experiment,
    stored_debates,
    table_paths,
    write_inspect_log,
    write_tables,
)
from moot.experiments import load, rate_models, read_judgments
from moot.experiments.data_tables import TABLES, TableDescription, data_dictionary, dictionary_markdown
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.table_files import FileFormat
from moot.store.contract import DebateFilter

LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b", "scripted/c"),
    motions=("Homework should be banned", 'Zoos do "more good" than harm, | or not'),
    rounds=1,
    judges=("scripted/owl",),
    seed=7,
)
TEAMS = ExperimentDefinition(
    name="teams",
    models=("scripted/a", "scripted/b", "scripted/c", "scripted/d"),
    motions=("Homework should be banned",),
    format="british-parliamentary",
    judges=("scripted/owl",),
)
THOUGHT = "First the strongest point"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A store with two experiments, and one debate beside them."""
    settings = Settings(data=tmp_path_factory.mktemp("tables"), scripted=True, model="scripted/demo")

    async def hold() -> None:
        async with Arena.open(settings) as arena:
            await ExperimentRunner(arena, LEAGUE).run()
            await ExperimentRunner(arena, TEAMS).run()
            async for _ in arena.debate("Cats are better than dogs", format="oxford", rounds=1):
                pass

    asyncio.run(hold())
    return settings


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
async def test_a_folder_of_tables_is_read_back_without_loss(
    held: Settings, tmp_path: Path, file_format: FileFormat
) -> None:
    for name in ("league", "teams"):
        folder = tmp_path / name
        async with Arena.open(held) as arena:
            paths = table_paths(folder, file_format)
            counts = await write_tables(paths, experiment_debates(arena.store, name), experiment=name)
        stored, read = load(name, held), load(folder)
        for table in TABLES:
            assert read.rows(table) == stored.rows(table), table
            assert len(stored.rows(table)) == counts[table]
            frame = read.frame(table)
            assert list(frame.columns) == [
                column.name for each in data_dictionary() if each.table == table for column in each.columns
            ]
            assert len(frame) == counts[table]
        told = msgspec.json.decode(
            (folder / "dictionary.json").read_bytes(), type=tuple[TableDescription, ...]
        )
        assert told == data_dictionary()
        ballots = folder / f"ballots.{file_format}"
        assert read_judgments(ballots) == stored.ballots()


def test_the_tables_of_an_experiment_tell_who_spoke_how_long_and_who_won(held: Settings) -> None:
    league = load("league", held)
    assert repr(league) == "<ExperimentData league>"
    debates, speeches, ballots = league.debates(), league.speeches(), league.ballots()
    assert (len(debates), len(ballots)) == (12, 24)
    assert {row.seed for row in debates} == {7}
    assert all(row.cost == 0 and row.calls and row.output_tokens for row in debates)
    assert sum(row.speeches or 0 for row in debates) == len(speeches)
    for debate in debates:
        mine = [row for row in speeches if row.debate == debate.debate]
        assert [row.speech for row in mine] == sorted(row.speech for row in mine)
        assert {row.model for row in mine} == set(debate.models)
        assert debate.words == sum(row.heard_words for row in mine)
        assert {row.group for row in ballots if row.debate == debate.debate} == {debate.group}
    assert not any(THOUGHT in row.text for row in speeches)
    assert all(row.judge_cost == 0 and (row.judge_seconds or 0) >= 0 for row in ballots)
    assert [row.model for row in league.ratings()] == [each.model for each in rate_models(ballots).models]
    teams = load("teams", held)
    assert {len(row.models) for row in teams.rankings()} == {4}
    assert len(teams.ratings()) == 4
    with pytest.raises(Invalid, match="There are: teams, league"):
        load("leage", held)


async def test_any_stored_debates_are_exported_by_what_a_list_shows(held: Settings, tmp_path: Path) -> None:
    async with Arena.open(held) as arena:
        cats = DebateFilter(search="cats are")
        path = tmp_path / "speeches.jsonl"
        counts = await write_tables({"speeches": path}, stored_debates(arena.store, cats))
        assert counts["speeches"] == len(path.read_text().splitlines()) == 2
        everything = [data async for data in stored_debates(arena.store, DebateFilter())]
        assert len(everything) == 12 + 4 + 1
        assert {data.experiment for data in everything} == {"league", "teams", ""}


async def test_a_debate_that_was_deleted_keeps_its_ballots_and_its_line(tmp_path: Path) -> None:
    own = Settings(data=tmp_path / "data", scripted=True, model="scripted/demo")
    small = msgspec.structs.replace(LEAGUE, models=("scripted/a", "scripted/b"), motions=LEAGUE.motions[:1])
    async with Arena.open(own) as arena:
        await ExperimentRunner(arena, small).run()
        gone = (await arena.store.experiments.legs("league"))[0].debate
        await arena.delete(gone)
        paths = table_paths(tmp_path / "out", "jsonl")
        counts = await write_tables(paths, experiment_debates(arena.store, "league"))
    assert (counts["debates"], counts["ballots"]) == (2, 4)
    row = next(each for each in load(tmp_path / "out").debates() if each.debate == gone)
    assert (row.models, row.status, row.speeches) == (("scripted/a", "scripted/b"), "completed", None)


async def test_an_inspect_log_has_a_sample_for_each_debate(held: Settings, tmp_path: Path) -> None:
    path = tmp_path / "league.eval"
    async with Arena.open(held) as arena:
        stored = await find_experiment(arena.store, "league")
        debates: list[DebateData] = [data async for data in experiment_debates(arena.store, "league")]
        assert await write_inspect_log(path, experiment_debates(arena.store, "league"), stored) == 12
    with ZipFile(path) as archive:
        header, summaries = (json.loads(archive.read(f"{name}.json")) for name in ("header", "summaries"))
        first = json.loads(archive.read(f"samples/{debates[0].result.debate}_epoch_1.json"))
        whole = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert (header["version"], header["status"], header["eval"]["task"]) == (2, "success", "league")
    assert header["results"]["total_samples"] == len(summaries) == 12
    assert {score["name"] for score in header["results"]["scores"]} == {"verdict", "scripted/owl"}
    assert [message["role"] for message in first["messages"]] == ["user", "assistant", "assistant"]
    assert [event["event"] for event in first["events"]] == ["model", "model", "score", "score"]
    assert set(first["model_usage"]) == {"scripted/a", "scripted/b", "scripted/owl"} or "scripted/c" in str(
        first
    )
    assert THOUGHT not in whole


@pytest.mark.inspect
async def test_inspect_itself_reads_the_log(held: Settings, tmp_path: Path) -> None:
    log = importlib.import_module("inspect_ai.log")
    path = tmp_path / "league.eval"
    async with Arena.open(held) as arena:
        await write_inspect_log(path, experiment_debates(arena.store, "league"))
    read = log.read_eval_log(str(path))
    assert (read.status, len(read.samples)) == ("success", 12)
    assert {message.role for message in read.samples[0].messages} == {"user", "assistant"}


def test_every_column_is_explained_and_the_page_says_the_same() -> None:
    for table in data_dictionary():
        assert table.description
        assert all(column.description for column in table.columns), table.table
    page = (Path(__file__).parents[2] / "docs/data.md").read_text("utf-8")
    told = "docs/data.md must end with what `dictionary_markdown()` of moot.experiments.data_tables returns"
    assert page.endswith(dictionary_markdown()), told
