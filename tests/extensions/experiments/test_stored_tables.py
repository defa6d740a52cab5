"""Experiments and stored debates as tables: the same rows from the store and from every kind of file."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest

from moot import Arena, Settings
from moot.core.errors import Invalid
from moot.experiments import load, rate_models, read_judgments
from moot.extensions.experiments.measuring.data_tables import (
    TABLES,
    TableDescription,
    data_dictionary,
    dictionary_markdown,
)
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.loading import ExperimentData
from moot.extensions.experiments.measuring.questions import Question
from moot.extensions.experiments.measuring.table_files import FileFormat
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.stored_tables import (
    DebateData,
    experiment_debates,
    find_experiment,
    stored_debates,
    table_paths,
    write_inspect_log,
    write_tables,
)
from moot.extensions.experiments.tables import EXPERIMENTS as STORED
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
OBJECTIVE = "Make the other side lose its temper"
MINDS = ExperimentDefinition(
    name="minds",
    models=("scripted/a", "scripted/b"),
    motions=("Homework should be banned",),
    rounds=1,
    judges=("scripted/owl", "scripted/coin"),
    options={"beliefs": True, "model_audience": True, "objective": OBJECTIVE},
)
TRUTH = ExperimentDefinition(
    name="truth",
    models=("scripted/a",),
    judges=("scripted/owl",),
    format="",
    pairing="self",
    questions=(Question("lantern", "What colour was the lantern?", ("Red", "Blue"), 1, "p"),),
    passages={"p": "The keeper carried a blue lantern to the boat."},
    protocols=("debate", "naive"),
)
EXPERIMENTS = (LEAGUE, TEAMS, MINDS, TRUTH)
THOUGHT = "First the strongest point"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A store with four experiments, and one debate beside them."""
    settings = Settings(data=tmp_path_factory.mktemp("tables"), scripted=True, model="scripted/demo")

    async def hold() -> None:
        async with Arena.open(settings) as arena:
            for definition in EXPERIMENTS:
                runner = ExperimentRunner(arena, definition)
                await runner.run()
                if definition is MINDS:
                    legs = await arena.store.tables(STORED).legs("minds")
                    await runner.add_votes({legs[0].debate: (("ann", "for"), ("bob", "tie"))})
            async for _ in arena.debate("Cats are better than dogs", format="oxford", rounds=1):
                pass

    asyncio.run(hold())
    return settings


@pytest.fixture(scope="module")
def stored(held: Settings) -> dict[str, ExperimentData]:
    """The experiments, whose tables are read from the store once."""
    return {each.name: load(each.name, held) for each in EXPERIMENTS}


def without_reasons(row: Judgment) -> Judgment:
    return Judgment(**{name: getattr(row, name) for name in Judgment.__struct_fields__})


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
async def test_a_folder_of_tables_is_read_back_without_loss(
    held: Settings, stored: dict[str, ExperimentData], tmp_path: Path, file_format: FileFormat
) -> None:
    for name, kept in stored.items():
        folder = tmp_path / name
        async with Arena.open(held) as arena:
            paths = table_paths(folder, file_format)
            counts = await write_tables(paths, experiment_debates(arena.store, name), experiment=name)
        read = load(folder)
        for table in TABLES:
            assert read.rows(table) == kept.rows(table), table
            assert len(kept.rows(table)) == counts[table]
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
        assert read_judgments(ballots) == tuple(map(without_reasons, kept.ballots()))


def test_the_tables_of_an_experiment_tell_who_spoke_how_long_and_who_won(
    held: Settings, stored: dict[str, ExperimentData]
) -> None:
    league = stored["league"]
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
    teams = stored["teams"]
    assert {len(row.models) for row in teams.rankings()} == {4}
    assert len(teams.ratings()) == 4
    with pytest.raises(Invalid, match="Known: truth, minds, teams, league"):
        load("leage", held)


def test_ballots_have_reasons_citations_and_the_rubric(stored: dict[str, ExperimentData]) -> None:
    minds = stored["minds"]
    spoken = {(row.debate, row.speech) for row in minds.speeches()}
    for row in minds.ballots():
        assert row.reason
        assert all((row.debate, speech) in spoken for speech in row.cites)
        assert row.margin == (row.pro_score or 0) - (row.con_score or 0)
        assert len(row.criteria) == len(row.pro_points) == len(row.con_points) == 4
    assert all(row.reason and len(row.scores) == 4 for row in stored["teams"].rankings())


def test_beliefs_audience_and_votes_are_told_one_by_one(stored: dict[str, ExperimentData]) -> None:
    minds = stored["minds"]
    beliefs = minds.beliefs()
    assert {row.role: len(row.chances) for row in beliefs} == {"debater": 0, "judge": 2}
    assert all(row.chance is not None and 0 <= row.chance <= 1 for row in beliefs)
    assert {(row.moment, row.speech is None) for row in beliefs} == {("before", True), ("after", False)}
    audience = minds.audience()
    assert {row.choice for row in audience} <= {"for", "against", "undecided"}
    assert {(row.voters, row.model) for row in audience} == {("models", "scripted/owl")}
    assert len(audience) == 2 * 2 * len({row.voter for row in audience})
    assert [(row.voter, row.winner, row.source) for row in minds.votes()] == [
        ("ann", "pro", "imported"),
        ("bob", "tie", "imported"),
    ]


def test_answers_have_the_question_and_both_choices_in_words(stored: dict[str, ExperimentData]) -> None:
    answers = stored["truth"].answers()
    assert {row.question_text for row in answers} == {"What colour was the lantern?"}
    assert all(row.choices[row.answer] == "Blue" and len(row.choices) == 2 for row in answers)
    assert all(row.correct == row.right for row in answers)


def test_every_call_has_its_model_purpose_cost_and_time(stored: dict[str, ExperimentData]) -> None:
    minds = stored["minds"]
    calls, debates = minds.calls(), minds.debates()
    assert Counter(row.debate for row in calls) == {row.debate: row.calls for row in debates}
    purposes = Counter(row.purpose for row in calls)
    assert purposes["speech"] == len(minds.speeches())
    assert purposes["ballot"] == len(minds.ballots())
    assert purposes["confidence"] + purposes["belief"] == len(minds.beliefs())
    assert purposes["persona_vote"] == len(minds.audience())
    assert sum(row.output_tokens for row in calls) == sum(row.output_tokens or 0 for row in debates)
    assert {(row.status, row.attempt, row.cost) for row in calls} == {("completed", 1, 0.0)}
    assert all(row.started_at and row.seconds is not None for row in calls)


async def test_what_is_secret_is_in_no_table(held: Settings, tmp_path: Path) -> None:
    async with Arena.open(held) as arena:
        paths = table_paths(tmp_path, "jsonl")
        await write_tables(paths, experiment_debates(arena.store, "minds"))
        legs = await arena.store.tables(STORED).legs("minds")
        log = str(await arena.store.read(legs[0].debate))
    written = "".join(path.read_text("utf-8") for path in paths.values())
    assert THOUGHT in log
    assert OBJECTIVE in log
    for secret in (THOUGHT, OBJECTIVE, "You are", "request"):
        assert secret not in written


async def test_a_folder_keeps_a_page_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Mine\n", "utf-8")
    table_paths(tmp_path, "jsonl")
    assert (tmp_path / "README.md").read_text("utf-8") == "# Mine\n"
    own = tmp_path / "other"
    table_paths(own, "csv")
    table_paths(own, "jsonl")
    assert "ballots.jsonl" in (own / "README.md").read_text("utf-8")


async def test_any_stored_debates_are_exported_by_what_a_list_shows(held: Settings, tmp_path: Path) -> None:
    async with Arena.open(held) as arena:
        cats = DebateFilter(search="cats are")
        path = tmp_path / "speeches.jsonl"
        counts = await write_tables({"speeches": path}, stored_debates(arena.store, cats))
        assert counts["speeches"] == len(path.read_text().splitlines()) == 2
        everything = [data async for data in stored_debates(arena.store, DebateFilter())]
        assert len(everything) == 12 + 4 + 2 + 4 + 1
        assert {data.experiment for data in everything} == {"league", "teams", "minds", "truth", ""}


async def test_a_debate_that_was_deleted_keeps_its_ballots_and_its_line(tmp_path: Path) -> None:
    own = Settings(data=tmp_path / "data", scripted=True, model="scripted/demo")
    small = msgspec.structs.replace(LEAGUE, models=("scripted/a", "scripted/b"), motions=LEAGUE.motions[:1])
    async with Arena.open(own) as arena:
        await ExperimentRunner(arena, small).run()
        gone = (await arena.store.tables(STORED).legs("league"))[0].debate
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
    for score in (event["score"] for event in first["events"] if event["event"] == "score"):
        assert score["explanation"]
        assert score["explanation"] in first["scores"]["scripted/owl"]["explanation"]
    told = first["metadata"]
    assert (told["group"], told["seed"], told["repeat"]) == (debates[0].group, 7, 1)


async def test_an_inspect_log_says_which_answers_are_right(held: Settings, tmp_path: Path) -> None:
    path = tmp_path / "truth.eval"
    async with Arena.open(held) as arena:
        stored = await find_experiment(arena.store, "truth")
        await write_inspect_log(path, experiment_debates(arena.store, "truth"), stored)
    answers = {row.debate: row for row in load("truth", held).answers()}
    with ZipFile(path) as archive:
        samples = [
            json.loads(archive.read(each)) for each in archive.namelist() if each.startswith("samples")
        ]
    assert len(samples) == len(answers) == 4
    for sample in samples:
        answer = answers[sample["id"]]
        score = sample["scores"][answer.judge]
        assert sample["choices"]["AB".index(sample["target"])] == "Blue"
        assert score["value"] == {1.0: "C", 0.5: "P", 0.0: "I"}[answer.right]
        assert (score["answer"] == sample["target"]) == (score["value"] == "C")
        assert sample["metadata"]["protocol"] == answer.protocol


@pytest.mark.peers
async def test_inspect_itself_reads_the_log(held: Settings, tmp_path: Path) -> None:
    log = importlib.import_module("inspect_ai.log")
    path = tmp_path / "league.eval"
    async with Arena.open(held) as arena:
        await write_inspect_log(path, experiment_debates(arena.store, "league"))
    read = log.read_eval_log(str(path))
    assert (read.status, len(read.samples)) == ("success", 12)
    assert {message.role for message in read.samples[0].messages} == {"user", "assistant"}
    assert all(sample.scores["scripted/owl"].explanation for sample in read.samples)
    async with Arena.open(held) as arena:
        await write_inspect_log(tmp_path / "truth.eval", experiment_debates(arena.store, "truth"))
    for sample in log.read_eval_log(str(tmp_path / "truth.eval")).samples:
        assert sample.choices["AB".index(sample.target)] == "Blue"
        assert all(score.value in ("C", "I", "P") for score in sample.scores.values())
        assert sample.metadata["protocol"] in ("debate", "naive")


def test_every_column_is_explained_and_the_page_says_the_same() -> None:
    for table in data_dictionary():
        assert table.description
        assert all(column.description for column in table.columns), table.table
    page = (Path(__file__).parents[3] / "docs/data.md").read_text("utf-8")
    told = "docs/data.md must end with what `dictionary_markdown()` of measuring/data_tables.py returns"
    assert page.endswith(dictionary_markdown()), told
