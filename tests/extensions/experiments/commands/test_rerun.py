"""An exported folder says what it was made from, and the experiment can be held again from it: equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.cli.command_line import run
from moot.core.terms import FREE, PriceTier
from moot.extensions.experiments.measuring.manifest import ModelRecord, price_differences, read_manifest
from moot.extensions.experiments.measuring.software import present_software, software_differences
from moot.installation import find_commit

Moot = Callable[..., tuple[int, str]]
FILE = """
name = "league"
models = ["scripted/one", "scripted/two"]
motions = ["Homework should be banned"]
judges = ["scripted/coin"]
rounds = 1
repeats = 2
seed = 7
options = {reading = "by-side"}
"""
VARIES = ("debate", "seconds", "started_at", "ended_at", "pro_seconds", "con_seconds", "judge_seconds")


@pytest.fixture
def moot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Moot:
    monkeypatch.setenv("MOOT_SCRIPTED", "1")

    def call(data: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("MOOT_DATA", str(tmp_path / data))
        code = run(["experiment", *arguments])
        return code, capsys.readouterr().out

    return call


def held_and_exported(moot: Moot, tmp_path: Path, data: str) -> Path:
    file, folder = tmp_path / "league.toml", tmp_path / f"{data}-tables"
    file.write_text(FILE)
    assert moot(data, "run", str(file))[0] == 0
    assert moot(data, "export", "league", "-o", str(folder))[0] == 0
    return folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / f"{table}.jsonl").read_text().splitlines())
    return [{name: value for name, value in row.items() if name not in VARIES} for row in lines]


def test_two_runs_in_two_folders_are_equal_to_the_byte(moot: Moot, tmp_path: Path) -> None:
    one, other = (held_and_exported(moot, tmp_path, data) for data in ("first", "second"))
    for table in ("speeches", "ballots"):
        assert json.dumps(rows(one, table)) == json.dumps(rows(other, table))
        assert rows(one, table)
    code, told = moot("first", "compare", str(one), str(other))
    assert (code, told) == (0, "Equal: transcripts and outcomes of 4 debates.\n")


def test_a_rerun_from_a_folder_is_equal_under_any_name(moot: Moot, tmp_path: Path) -> None:
    folder = held_and_exported(moot, tmp_path, "first")
    for data, name in (("elsewhere", ()), ("first", ("--name", "again"))):
        code, told = moot(data, "rerun", str(folder), *name)
        assert code == 0
        assert told.endswith("Equal: transcripts and outcomes of 4 debates.\n")
    assert moot("first", "rerun", str(folder))[0] == 2, "there is one of that name"


def test_what_differs_is_told(moot: Moot, tmp_path: Path) -> None:
    folder = held_and_exported(moot, tmp_path, "first")
    text = (folder / "manifest.json").read_text()
    for old, new in (
        ('"seed": 7', '"seed": 8'),
        ('"numpy": "', '"numpy": "0.'),
        ('judge.md": "', 'judge.md": "0'),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "manifest.json").write_text(text)
    code, told = moot("other", "rerun", str(changed))
    assert code == 1
    assert "Other packages: numpy." in told
    assert "Other prompts: prompts/judge.md." in told
    assert "Of 4 debates that both have, 4 have another transcript" in told
    assert "Another `seed` in the definition." in moot("other", "compare", str(folder), str(changed))[1]


def test_the_manifest_says_what_it_was_made_from(moot: Moot, tmp_path: Path) -> None:
    folder = held_and_exported(moot, tmp_path, "first")
    manifest = read_manifest(folder)
    assert manifest.definition.motions == ("Homework should be banned",)
    assert manifest.seeds == (7, 10_007)
    assert manifest.counts["debates"] == len(manifest.debates) == 4
    assert manifest.counts["failed"] == 0
    assert {each.model: each.prices for each in manifest.models} == dict.fromkeys(
        ("scripted/coin", "scripted/one", "scripted/two"), (FREE,)
    )
    assert all(each.calls for each in manifest.models)
    assert manifest.started_at is not None
    assert manifest.ended_at is not None
    assert manifest.started_at < manifest.ended_at
    assert set(manifest.files) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for name, record in manifest.files.items():
        content = (folder / name).read_bytes()
        assert (record.bytes, record.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert {"prompts/judge.md", "prompts/version_1/judge.md"} <= manifest.software.prompts.keys()
    assert (manifest.software.commit, manifest.software.commit_from) == find_commit()


def test_a_folder_without_a_manifest_is_told(moot: Moot, tmp_path: Path) -> None:
    assert moot("first", "rerun", str(tmp_path))[0] == 2
    (tmp_path / "manifest.json").write_text("{}")
    assert moot("first", "compare", str(tmp_path), str(tmp_path))[0] == 2


def test_another_price_is_told_and_the_same_one_is_not() -> None:
    dearer = ModelRecord("a/b", prices=(FREE,))
    price = type(FREE)(input=(PriceTier(0, FREE.per_call + 1),), output=FREE.output)
    assert price_differences([dearer], {"a/b": price}) == ["Another price now: a/b."]
    assert price_differences([dearer], {"a/b": FREE}) == []
    assert price_differences([ModelRecord("a/b")], {"a/b": None}) == []
    software = present_software("1")
    assert software_differences(software, software) == []


def test_an_export_and_a_report_can_be_of_some_judges_and_cite_the_manifest(
    moot: Moot, tmp_path: Path
) -> None:
    whole = held_and_exported(moot, tmp_path, "first")
    assert moot("first", "rejudge", "league", "--judge", "scripted/owl")[0] == 0
    some, report = tmp_path / "some", tmp_path / "report.md"
    assert moot("first", "export", "league", "-o", str(some), "--judges", "scripted/owl")[0] == 0
    assert {row["judge"] for row in rows(some, "ballots")} == {"scripted/owl"}
    written = ("report", "league", "-o", str(report), "--exclude", "scripted/owl", "--manifest", str(whole))
    assert moot("first", *written)[0] == 0
    told = report.read_text("utf-8")
    assert "scripted/owl" not in told
    assert hashlib.sha256((whole / "manifest.json").read_bytes()).hexdigest() in told
    assert moot("first", "report", "league", "--manifest", str(tmp_path / "none"))[0] == 2
