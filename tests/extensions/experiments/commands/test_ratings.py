"""`moot experiment import`, `moot experiment ratings` and `moot motions`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from moot.cli.command_line import run
from moot.experiments import SimulatedJudge, read_judgments, rows_of, simulate, write_jsonl
from tests.extensions.experiments.worlds import round_robin_units, world


@pytest.fixture(scope="module")
def judgments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = {"claude-x": 1.0, "gpt-y": 0.0, "qwen-z": -1.0}
    judges = (SimulatedJudge(name="judge a"), SimulatedJudge(name="judge b"))
    rows = rows_of(simulate(world(models, judges=judges, both_orders=True), round_robin_units(models, 12)))
    file = tmp_path_factory.mktemp("rows") / "league.jsonl"
    file.write_text(write_jsonl(rows), "utf-8")
    return file


def test_judgments_are_read_and_written_in_our_columns(
    judgments: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.csv"
    assert run(["experiment", "import", str(judgments), "-o", str(out)]) == 0
    told = capsys.readouterr().out
    assert "72 debates in 36 groups" in told
    assert "judge a, judge b" in told
    assert read_judgments(out) == read_judgments(judgments)


def test_ratings_are_shown_with_intervals_sides_and_judges(
    judgments: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["experiment", "ratings", str(judgments), "--terms", "side,length"]
    assert run(command) == 0
    told = capsys.readouterr().out
    for text in (
        "Leaderboard",
        "claude-x",
        "arguing for the motion",
        "Krippendorff",
        "judge b",
        "Without one judge",
    ):
        assert text in told
    assert told.index("claude-x") < told.index("gpt-y") < told.index("qwen-z")
    assert run([*command, "--people", str(judgments), "--markdown"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# Ratings of league")
    assert "| rank | model | rating | 95 % interval | rank range |" in page
    assert "**Agreement with people.**" in page
    assert run([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ratings"][0]["models"][0]["model"] == "claude-x"
    assert report["ratings"][0]["options"]["terms"] == ["side", "length"]


def test_ratings_can_be_of_some_judges_only(judgments: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--judges", "judge a"], ["--exclude", "judge b"]):
        assert run(["experiment", "ratings", str(judgments), *option, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert [judge["judge"] for judge in report["judges"]["judges"]] == ["judge a"]
    assert run(["experiment", "ratings", str(judgments), "--prompts", "strict"]) != 0
    assert "There is no judge prompt 'strict'. Known: none." in capsys.readouterr().err


def test_a_wrong_file_is_told_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"pro": "x", "winner": "pro"}\n', "utf-8")
    assert run(["experiment", "ratings", str(file)]) != 0
    assert "row 1 has no 'con'" in capsys.readouterr().err


def test_motions_are_listed_searched_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["motions", "zoos"]) == 0
    assert "Zoos should be closed" in capsys.readouterr().out
    assert run(["motions", "--random", "3", "--seed", "5", "--format", "toml"]) == 0
    assert len(tomllib.loads(capsys.readouterr().out)["motions"]) == 3
    assert run(["motions", "--theme", "cooking"]) != 0
    assert "Known: education" in " ".join(capsys.readouterr().err.split())
