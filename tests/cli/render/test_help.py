"""Help is instant and complete; mistakes are one clear line and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moot import __version__
from moot.api.command_table import COMMANDS as PERSON_COMMANDS
from moot.cli.command_line import COMMANDS, terminal_commands
from moot.cli.render.help import EXAMPLES
from moot.extensions import NAMES
from tests.cli.conftest import Moot
from tests.support.for_each import for_each

HEAVY = (
    "aiohttp", "asyncio", "genai_prices", "rapidfuzz", "sqlite3", "xllamacpp", "uvloop", "msgspec",
    "moot.engine.arena", "moot.settings", "rich.live", "rich.markdown",
)  # fmt: skip
PARSER = ("cyclopts", "attrs", "rich.console", "rich.text", "dataclasses", "inspect", "moot.cli.commands")
TABLES = (
    "moot.cli.command_line", "moot.cli.debate_options", "moot.cli.error_messages", "moot.cli.render.help",
    "moot.cli.render.wrapping", "moot.core.choices", "moot.core.errors", "moot.core.setup_field",
    "moot.core.setup_table", "moot.extension", "moot.views.text",
)  # fmt: skip
"""What the overview of the commands is printed from, besides one module for each extension."""
NOT_IN_A_PIPE = ("logging", "rich", "importlib.metadata")
"""What the overview needs on a terminal only, or where another package brings an extension, or not at all."""


@pytest.mark.needs_extensions
@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        ([], HEAVY + PARSER),
        (["--help"], HEAVY + PARSER),
        (["--version"], HEAVY + PARSER),
        (["show", "--help"], HEAVY),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str], modules: tuple[str, ...]):
    asked = f"""
import sys
from moot.cli import main
sys.argv = ["moot", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert end.code == 0
print([name for name in {modules!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout


@pytest.mark.needs_extensions
@pytest.mark.needs_extensions
def test_the_overview_loads_its_tables_and_a_module_for_each_extension():
    asked = f"""
import sys
from moot.cli import main
sys.argv = ["moot", "--help"]
try:
    main()
except SystemExit:
    loaded = [name for name in sys.modules if name.startswith("moot") or name in {NOT_IN_A_PIPE!r}]
    print(*loaded, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    extensions = {"moot.extensions", *(f"moot.extensions.{name}" for name in NAMES)}
    extensions |= {"moot.extensions.beliefs.settings"}  # whose options the help names
    packages = {module.rpartition(".")[0] for module in TABLES}
    assert modules == {*TABLES, *packages, *extensions}


@pytest.mark.needs_extensions
@pytest.mark.parametrize("environment", [{}, {"COLUMNS": "50"}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}])
def test_the_help_is_what_the_parser_would_print(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
):
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    by_parser = moot("A motion to try", "--help")
    assert by_parser[1].count("\n") > 100
    assert moot("--help") == moot("-h") == by_parser


@pytest.mark.parametrize("arguments", ["--help", "show --help"])
def test_a_reader_who_leaves_gets_no_traceback(arguments: str):
    command = f"{sys.executable} -m moot {arguments} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "141")


def test_every_command_is_in_the_help(moot: Moot):
    code, out, _ = moot("--help")
    assert code == 0
    assert all(f"\n  {row.name} " in out for row in terminal_commands())
    assert out.index("Look") < out.index("Steer") < out.index("This machine")


@for_each("name", [name for _, name, _, _ in COMMANDS if name != "import"])
def test_every_command_has_help_of_its_own(moot: Moot, name: str):
    code, out, _ = moot(name, "--help")
    assert code == 0
    assert out.startswith(f"Usage: moot {name}")
    assert "\x1b" not in out


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_of_its_command_and_in_its_help(moot: Moot, name: str):
    _, out, _ = moot(name, "--help")
    assert any(f"{example} ".startswith(f"moot {name} ") for example in EXAMPLES[name])
    assert all(f"  {example}\n" in out for example in EXAMPLES[name])


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == {row.name for row in terminal_commands()}


def test_a_group_that_only_extensions_fill_is_not_there_without_them(moot: Moot):
    assert "import" not in {row.name for row in terminal_commands()}
    code, _, err = moot("import", "legacy")
    assert code == 2
    assert "There is no command 'import'" in err


def test_nothing_at_all_shows_the_help(moot: Moot):
    assert moot() == moot("--help") == moot("help")
    assert moot("help", "serve") == moot("serve", "--help")


def test_a_motion_of_one_word_is_debated_when_it_is_asked_for(moot: Moot):
    code, out, _ = moot("debate", "Vegetarianism", "--model", "scripted/demo", "--rounds", "1", "--plain")
    assert code == 0
    assert "Vegetarianism" in out


def test_the_version(moot: Moot):
    assert moot("--version") == moot("version") == (0, f"{__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A motion to try", "--colour", "red"], "--colour"),
        (["A motion to try", "--rounds", "many"], "many"),
        (["A motion to try", "--intensity", "6"], "6"),
        (["lst"], "Did you mean `moot list`?"),
        (["hello"], "a motion has at least two words"),
        (["hello", "--rounds", "2"], "a motion has at least two words"),
        (["--rounds", "2", "hello"], "a motion has at least two words"),
        (["config"], "`moot doctor` shows what is set up here"),
        (["run"], 'A debate begins with its motion: moot "'),
        (["hello", "world"], 'a motion stands in quotation marks: moot "hello world"'),
        (["debate", "Cats"], "motion: Must be between 10 and 500 characters"),
        (["A motion to try", "--for", "humn"], "There is no local model humn. Did you mean human?"),
        (["A motion to try", "--for", "local/smolm2"], "Did you mean local/smollm2-135m?"),
        (["A motion to try", "--model", "opnai/gpt-6"], "Did you mean openai?"),
        (["A motion to try", "--format", "oxfrd"], "Did you mean oxford?"),
        (["A motion to try", "--model", "openai"], "openai is a provider: name one of its models too."),
        (["A motion to try", "--for", "gpt-6"], "Did you mean openai/gpt-6-"),
        (
            ["A motion to try", "--for", "openai/gpt-6-lunna"],
            "Did you mean openai/gpt-6-luna? There is no key",
        ),
        (["list", "--status", "asleep"], "asleep"),
        (["A motion to try", "--format", "shouting"], "There is no format called 'shouting'"),
        (["A motion to try", "--model", "nobody/nothing"], "There is no provider called 'nobody'"),
        (["A motion to try", "--output", "debate.pdf"], "should end in .md, .html or .json"),
        (["export", "--format", "pdf"], 'Invalid value "pdf" for --format. Choose from: "json",'),
        (["show", "nothing"], "There is no debate 'nothing'."),
        (["replay", "--speed", "fast"], "--speed must be a number above 0, or max"),
        (["formats", "show", "shouting"], "There is no format called 'shouting'"),
    ],
)
def test_a_mistake_is_one_clear_line(moot: Moot, arguments: list[str], words: str):
    code, out, err = moot(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("moot: ")
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert "No debates" in moot("list")[1]


def test_all_that_is_wrong_with_a_debate_is_said_at_once_in_the_words_of_the_options(moot: Moot):
    code, _, err = moot(
        "A motion to try",
        "--model",
        "scripted/demo",
        "--rounds",
        "99",
        "--timeout",
        "0",
        "--cost-limit",
        "-1",
    )
    assert code == 2
    assert "--rounds: Must be between 1 and 10" in err
    assert "--timeout: Must be greater than 0" in err
    assert "--cost-limit: Must be greater than 0" in err


def test_a_cost_limit_that_is_too_small_is_refused_before_there_is_a_debate(moot: Moot, data: Path):
    data.mkdir()
    (data / "moot.toml").write_text('[prices."scripted/*"]\ninput = "3"\noutput = "15"\n')
    code, out, err = moot("A motion to try", "--model", "scripted/demo", "--cost-limit", "0.01")
    assert (code, out) == (2, "")
    assert "--cost-limit: Must be at least 0." in err
    assert "for this setup" in err
    assert moot("list")[1].startswith("No debates here yet.")


def test_a_motion_with_control_characters_is_refused(moot: Moot):
    code, _, err = moot("evil \x1b[2J motion", "--model", "scripted/demo")
    assert code == 2
    assert "\x1b" not in err


def test_something_unexpected_is_a_line_unless_one_debugs(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a surprise")

    monkeypatch.setattr("moot.engine.arena.Arena.open", broken)
    code, _, err = moot("list")
    assert code == 1
    assert (
        err
        == "moot: Something unexpected went wrong: RuntimeError('a surprise')\n  MOOT_DEBUG=1 shows where.\n"
    )
    monkeypatch.setenv("MOOT_DEBUG", "1")
    with pytest.raises(RuntimeError):
        moot("list")


def test_every_command_that_people_give_can_be_given_in_the_terminal():
    """`api/command_table.py` has a row for each; the terminal has the same name or one of its own."""
    own_names = {
        "rounds": "next-round",
        "questions": "ask",
        "polls/close": "polls",
        "seats/{seat}/take": "take",
        "seats/{seat}/leave": "leave",
        "seats/{seat}/draft": "draft",
        "seats/{seat}/speech": "say",
        "seats/{seat}/points": "point",
        "seats/{seat}/answer": "point",
        "votes": "vote",
        "ballots": "ballot",
    }
    in_terminal = {row.name for row in terminal_commands()}
    rows = {row.path for row in PERSON_COMMANDS}
    assert {own_names.get(name, name) for name in rows} <= in_terminal
    assert own_names.keys() <= rows
