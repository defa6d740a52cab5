"""Every command of an extension in a pipe, as `tests/cli/behaviour/test_pipes.py` has it of the core's."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from moot.cli.parser import make_app
from moot.experiments import SimulatedJudge, rows_of, simulate, write_jsonl
from tests.cli.behaviour import test_pipes as core
from tests.cli.behaviour.test_pipes import FOLDER, MOTION, Data, all_commands, check_lines
from tests.extensions.experiments.worlds import round_robin_units, world
from tests.support.old_rows import in_sqlite, rows

EXPERIMENT = "a-league-with-a-long-name-that-does-not-fit-into-a-column"
LEAGUE = f"""
name = "{EXPERIMENT}"
models = ["scripted/demo", "scripted/owl"]
judges = ["scripted/demo"]
motions = ["{MOTION}"]
format = "oxford"
rounds = 1
"""

LINES: dict[str, tuple[tuple[str, int], ...]] = {
    "export legacy": (("'{folder}/old.jsonl'", 0),),
    "export sessions": (("'{folder}/sessions.jsonl'", 0),),
    "experiment import": (("'{rows}' -o '{folder}/rows.csv'", 0), ("'{folder}/no.jsonl'", 2)),
    "experiment ratings": (("'{rows}'", 0),),
    "experiment rejudge": (("{experiment} --judge scripted/demo", 0),),
    "experiment export": (("{experiment} -o '{folder}/tables'", 0), ("{experiment} -o '{file}'", 2)),
    "experiment rerun": (("'{folder}/none'", 2),),
    "experiment compare": (("'{folder}' '{folder}'", 2),),
    "experiment check": (("'{file}'", 0), ("'{folder}/none.toml'", 2)),
    "experiment run": (("'{file}'", 0),),
    "experiment resume": (("{experiment}", 0), ("none", 2)),
    "experiment stop": (("{experiment}", 0),),
    "experiment list": (("", 0),),
    "experiment status": (("{experiment}", 0),),
    "experiment votes": (("{experiment} '{folder}/none.csv'", 2),),
    "experiment report": (("{experiment} -o '{folder}/report.html'", 0), ("none", 2)),
    "motions": (("", 0), ("--random 3", 0), ("--theme nothing", 2)),
    "conversations": (("", 0), ("--limit 1", 0)),
    "conversations show": (("{conversation}", 0), ("none", 2)),
    "import legacy": (("'{old}'", 1), ("'{old}' --dry-run", 1), ("'{folder}/none.db'", 1)),
    "import list": (("", 0),),
    "import undo": (("none", 2),),
    "import sessions": (("'{folder}/none.db'", 1),),
    "mcp": (("", 0),),
}  # fmt: skip
"""Arguments for each command, with the exit code."""
SHOWN = ("show {done}", "show {done} --json", "watch {done}", "export {done}", "verdicts {done}")
"""Commands of the core that show what extensions have added to a debate."""


def test_every_command_is_piped():
    assert set(all_commands(make_app())) == core.LINES.keys() | LINES.keys()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    """With an experiment and conversations too, and private beliefs in the debate."""
    data = Data(tmp_path_factory.mktemp("pipes") / "data")
    names = data.fill("--beliefs --model-audience")
    file, old = data.folder / "league.toml", data.folder / "old.db"
    file.write_text(LEAGUE)
    in_sqlite(old, rows(40))
    models = {"claude-x": 1.0, "gpt-y": 0.0}
    judged = simulate(world(models, judges=(SimulatedJudge(name="a"),)), round_robin_units(models, 12))
    (data.folder / "rows.jsonl").write_text(write_jsonl(rows_of(judged)))
    data.run(f"experiment run '{file}'", f"import legacy '{old}'")
    conversation = data.moot("conversations").stdout.splitlines()[1].split("\t")[0]
    return data.folder, {**names, "experiment": EXPERIMENT, "conversation": conversation}


@pytest.fixture
def copy(filled: tuple[Path, Mapping[str, str]], tmp_path: Path) -> tuple[Data, dict[str, str]]:
    """The data folder at a long path."""
    template, names = filled
    data = Data(tmp_path / FOLDER)
    shutil.copytree(template, data.folder)
    places = {"folder": "", "file": "league.toml", "old": "old.db", "rows": "rows.jsonl"}
    return data, {**names, **{name: str(data.folder / place) for name, place in places.items()}}


@pytest.mark.parametrize("command", LINES)
def test_a_command_in_a_pipe_lays_nothing_out(copy: tuple[Data, dict[str, str]], command: str):
    data, names = copy
    check_lines(data, names, command, LINES[command], EXPERIMENT)


def test_what_is_shown_of_a_debate_is_not_laid_out_either(copy: tuple[Data, dict[str, str]]):
    data, names = copy
    for line in SHOWN:
        command, _, arguments = line.partition(" ")
        check_lines(data, names, command, [(arguments, 0)])
