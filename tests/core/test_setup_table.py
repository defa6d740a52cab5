"""A setting of a debate is one row: from it come the check, the API, the terminal and the docs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.core.setup_table import setup_fields
from moot.core.terms import KEPT_BESIDE_OURS, DebateLimits, DebateSetup
from moot.extensions import NAMES

ROOT = Path(__file__).parents[2]
EXTENSION = """
from moot.core.setup_field import AtMost, SetupField
from moot.extension import Extension

ROW = SetupField(
    name="house_rules", type=str, default="", limit=AtMost(20), sentence="What speakers may not do."
)
TEA = SetupField(name="tea_break", type=bool, default=True, sentence="Tea is served.")
EXTENSION = Extension("house", settings=lambda: (ROW, TEA))
TWICE = Extension("twice", settings=lambda: (SetupField(name="intensity", type=int, default=1),))
"""
ONE_ROW = """
import json, sys
import asyncio
from msgspec.structs import replace
from moot.api.shapes.debates import DebateConfig
from moot.api.v1.create_debate import Config, CreateDebate
from moot.api.v1.replies import config_reply
from moot.api.v1.setup_form import offered_settings, settings_table
from moot.api.v1.setup_body import body_from_event, setup_from_body
from moot.cli.commands.debate import DEFAULT_OPTIONS, DebateCliOptions
from moot.cli.debate_options import debate_options
from moot.cli.parser import make_app
from moot.cli.remote_shapes import FormatSeating, config_of
from moot.core.errors import Invalid
from moot.extension import loaded
from moot.core.events import decode_event, encode
from moot.rules.debate_setup import opening_event
from moot.core.json_types import to_members
from tests.api.setup_bodies import Inn, asked, changed
from tests.views.logs import Log
import msgspec

setup = setup_from_body(asked(changed(config__houseRules="No props.")), Inn())
opened = opening_event(setup)
try:
    opening_event(replace(setup, extensions={"house_rules": "x" * 21}))
    problems = {}
except Invalid as error:
    problems = error.problems
log = Log(setup=opened.setup)


def typed(*flags):
    bound = make_app().parse_args(["Cats are better than dogs", *flags])[1]
    return bound.kwargs.get("options", DEFAULT_OPTIONS)


dry = opening_event(setup_from_body(asked(changed(config__teaBreak=False)), Inn()))
print(json.dumps({
    "log": decode_event(encode(opened)).setup.extensions,
    "problems": problems,
    "again": body_from_event(opened)["config"]["houseRules"],
    "reply": to_members(config_reply(log.debate))["houseRules"],
    "untold": "houseRules" in to_members(config_reply(Log().debate)),
    "schema": Config.model_json_schema()["properties"]["houseRules"],
    "request": msgspec.to_builtins(DebateConfig(house_rules="No props.")),
    "help": debate_options()["How"]["--house-rules TEXT"],
    "typed": DebateCliOptions(house_rules="No props.").settings,
    "form": msgspec.to_builtins(next(one for one in offered_settings() if one.name == "houseRules")),
    "dry": {
        "typed": typed("--no-tea-break").settings,
        "sent": msgspec.to_builtins(config_of(typed("--no-tea-break"), FormatSeating())),
        "log": decode_event(encode(dry)).setup.extensions,
        "again": body_from_event(dry)["config"]["teaBreak"],
        "reply": to_members(config_reply(Log(setup=dry.setup).debate))["teaBreak"],
    },
    "wet": {**typed().settings, **opened.setup.extensions}.get("tea_break", "as usual"),
    "tea_help": debate_options()["How"]["--no-tea-break"],
    "tea_form": msgspec.to_builtins(next(one for one in offered_settings() if one.name == "teaBreak")),
    "docs": "| `houseRules` |  | at most 20 characters | What speakers may not do. |" in settings_table(),
    "failures": loaded().failures,
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program prints, with these two extensions and none of ours."""
    ours = (f"-{name}" for name in NAMES)
    return printed(ONE_ROW, tmp_path_factory.mktemp("house"), "+house:EXTENSION +house:TWICE", *ours)


def printed(program: str, folder: Path, *extensions: str) -> dict[str, Any]:
    (folder / "house.py").write_text(EXTENSION, "utf-8")
    environ = {
        **os.environ,
        "MOOT_EXTENSIONS": " ".join(extensions),
        "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))),
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_setting_of_an_extension_is_one_row(seen: dict[str, Any]) -> None:
    assert seen["log"] == {"house_rules": "No props."}
    assert seen["problems"] == {"houseRules": ["At most 20 characters"]}
    assert (seen["again"], seen["reply"], seen["untold"]) == ("No props.", "No props.", False)
    assert seen["schema"]["description"] == seen["help"] == "What speakers may not do."
    assert seen["schema"]["maxLength"] == 20
    assert seen["request"] == {"houseRules": "No props."}
    assert seen["typed"] == {"house_rules": "No props."}
    assert (seen["form"]["kind"], seen["form"]["label"], seen["form"]["maximum"]) == (
        "text",
        "House rules",
        20,
    )
    assert seen["docs"]


def test_a_setting_of_an_extension_that_is_on_can_be_switched_off(seen: dict[str, Any]) -> None:
    assert seen["dry"] == {
        "typed": {"tea_break": False},
        "sent": {"teaBreak": False},
        "log": {"tea_break": False},
        "again": False,
        "reply": False,
    }
    assert seen["wet"] == "as usual"
    assert seen["tea_help"] == "Switch off: Tea is served."
    form = seen["tea_form"]
    assert (form["kind"], form["default"], form["negated"]) == ("switch", True, False)


def test_an_extension_with_a_setting_that_there_is_already_is_left_out(seen: dict[str, Any]) -> None:
    assert seen["failures"] == {"twice": "ValueError: there is a setting 'intensity' already"}


def test_every_setting_of_a_log_is_in_the_table() -> None:
    kept = {*DebateLimits.__struct_fields__, *DebateSetup.__struct_fields__}
    by_the_server = {"rounds_asked", "language", "lent", "experiment", "question", "extensions"}
    by_the_server |= {*KEPT_BESIDE_OURS}
    assert kept - by_the_server <= {field.name for field in setup_fields()}
    assert len({field.wire for field in setup_fields()}) == len(setup_fields())
