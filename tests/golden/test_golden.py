"""Old logs are read as they always were."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from moot import formats
from moot.core.events import DebateOpened, Event
from moot.core.evolve import fold
from moot.core.extension_events import ExtensionEvent
from tests.golden.__main__ import main, make
from tests.golden.prompts import prompts
from tests.golden.reading import HERE, log_of, snapshot
from tests.golden.scenes import SCENES, SPOKEN
from tests.rules.simulate import Simulation
from tests.support.for_each import for_each

NAMES = sorted(path.stem for path in HERE.glob("*.jsonl"))
pytestmark = pytest.mark.needs_extensions("beliefs")


def opening_of(name: str) -> DebateOpened:
    opening = log_of(name)[0].event
    assert isinstance(opening, DebateOpened)
    return opening


@for_each("name", NAMES)
def test_a_golden_log_says_what_it_always_said(name: str) -> None:
    assert snapshot(log_of(name)) == (HERE / f"{name}.json").read_bytes()


@for_each("name", NAMES)
def test_a_golden_log_has_no_gap_and_comes_to_its_end(name: str) -> None:
    records = log_of(name)
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))
    assert {recorded.debate for recorded in records} == {f"deb_{name}"}
    debate = fold(records)
    assert debate
    assert debate.status in ("completed", "aborted", "error")
    assert not debate.live
    assert not debate.calls


def test_every_scene_has_its_log() -> None:
    assert set(SCENES) <= set(NAMES)


def test_every_kind_of_event_is_in_some_golden_log() -> None:
    kinds = {type(recorded.event) for name in NAMES for recorded in log_of(name)}
    assert kinds == set(get_args(Event)) - {ExtensionEvent}


@for_each("name", SCENES)
def test_a_scene_is_played_the_same_every_time(name: str) -> None:
    assert SCENES[name]("d").records == SCENES[name]("d").records


@pytest.mark.parametrize("name", SPOKEN)
def test_the_order_of_speeches_and_every_prompt_are_as_written(name: str) -> None:
    assert prompts(SPOKEN[name](f"deb_{name}")) == (HERE / f"{name}.prompts.txt").read_text("utf-8")


@pytest.mark.parametrize("name", SPOKEN)
def test_a_debate_of_the_first_version_is_told_what_it_always_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opening_of(name).prompts == 1
    monkeypatch.setattr(Simulation, "instead", opening_of(name))
    told = prompts(SPOKEN[name](f"deb_{name}"))
    assert told == (HERE / "prompts_1" / f"{name}.txt").read_text("utf-8")


def test_every_built_in_format_has_a_golden_log() -> None:
    played = {opening_of(name).format.name for name in NAMES}
    assert played >= set(formats.BUILT_IN)
    assert {opening_of(name).format.name for name in SPOKEN} >= set(formats.BUILT_IN)


def test_a_golden_log_is_never_written_over(tmp_path: Path) -> None:
    assert make("free", tmp_path)
    (tmp_path / "free.jsonl").write_text("precious")
    assert not make("free", tmp_path)
    assert main(["free"], tmp_path) == 1
    assert (tmp_path / "free.jsonl").read_text() == "precious"
    assert main(["free", "--force"], tmp_path) == 0
    assert (tmp_path / "free.jsonl").read_text() != "precious"


def test_only_missing_logs_are_made(tmp_path: Path) -> None:
    (tmp_path / "free.jsonl").write_text("precious")
    assert main([], tmp_path) == 0
    assert {path.stem for path in tmp_path.glob("*.jsonl")} == set(SCENES)
    assert (tmp_path / "free.jsonl").read_text() == "precious"


def test_an_unknown_scene_is_answered_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opera"], tmp_path) == 2
    assert "lincoln-douglas" in capsys.readouterr().out
