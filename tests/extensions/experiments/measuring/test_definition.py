"""Experiment files, and the debates that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid, Unavailable
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.definition import (
    OPTIONS,
    ExperimentDefinition,
    check_extension,
    from_json,
    read_definition,
)
from moot.extensions.experiments.measuring.planned_debates import (
    all_legs,
    lineups_for_estimate,
    planned_debate,
    seats_of,
    teams_of,
)
from moot.extensions.experiments.runner import ExperimentRunner
from moot.settings import Settings

LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/c", "scripted/a", "scripted/b"),
    motions=("Homework should be banned", "Zoos do more good than harm"),
    repeats=2,
)


def written(folder: Path, text: str) -> Path:
    path = folder / "league.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_says_which_models_debate_what(tmp_path: Path) -> None:
    (tmp_path / "motions.txt").write_text(
        "# themes\nOne motion here\n\nAnother motion\nA third motion\n", "utf-8"
    )
    found = read_definition(
        written(
            tmp_path,
            """
            name = "league"
            models = ["scripted/a", "scripted/b"]
            motions = {file = "motions.txt", count = 2}
            budget = 2.50
            options = {intensity = 4}
            """,
        )
    )
    assert len(found.motions) == 2
    assert str(found.budget) == "2.5"
    assert from_json(found.to_json()) == found


def test_motions_can_come_from_the_bank(tmp_path: Path) -> None:
    found = read_definition(
        written(
            tmp_path,
            """
            name = "league"
            models = ["scripted/a", "scripted/b"]
            motions = {bank = true, kind = "normative", count = 12}
            """,
        )
    )
    assert len(set(found.motions)) == 12


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = 'x'", "missing required field `models`"),
        ("name = 'x'\nmodels = ['a/b']\nmotions = ['m m']", "`models` needs 2 to 100 models"),
        ("name = 'x'\nmodels = ['a/b', 'a/b']\nmotions = []", "`motions` is empty"),
        ("name = 'A b'\nmodels = ['a/b', 'a/c']\nmotions = ['m m']", "lower-case letters"),
        ("name = 'x'\nmodel = []", "unknown field `model`"),
        ("name = 'x'\nmodels = ['a/b', 'a/c']\nmotions = {file = 'none.txt'}", "cannot be read"),
        ("name = 'x'\nmodels = ['a/b', 'a/c']\nmotions = ['m m']\nbudget = 0", "greater than 0"),
        ("name = 'x'\nmodels = ['a/b', 'a/c']\nmotions = ['m m']\npairing = 'swiss'", "`matchups` is needed"),
        ("name = 'x'\nmodels = ['a/b', 'a/c']\nmotions = ['m m']\noptions = {colour = 1}", "not colour"),
        ("name = ", "Invalid"),
    ],
)
def test_a_file_with_errors_is_refused_with_what_is_wrong(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem):
        read_definition(written(tmp_path, text))


def test_every_model_argues_every_motion_on_both_sides_equally_often() -> None:
    legs = all_legs(LEAGUE, 2)
    assert len(legs) == len({leg.leg for leg in legs}) == 2 * 3 * 2 * 2
    sides = Counter((leg.motion, model, side) for leg in legs for side, model in enumerate(leg.models))
    assert set(sides.values()) == {4}
    assert all(planned_debate(leg.leg) == leg for leg in legs)
    assert set(Counter(leg.group for leg in legs).values()) == {2 * LEAGUE.repeats}


def test_with_four_teams_every_model_has_each_position_once() -> None:
    definition = replace(LEAGUE, models=("m/1", "m/2", "m/3", "m/4"), repeats=1)
    fmt = formats.load("british-parliamentary")
    legs = all_legs(definition, teams_of(fmt))
    positions = Counter((leg.motion, model, place) for leg in legs for place, model in enumerate(leg.models))
    assert set(positions.values()) == {1}
    assert len(legs) == 8
    assert seats_of(legs[0], fmt) == legs[0].models


def test_a_side_of_two_seats_is_one_model() -> None:
    fmt = formats.load("policy")
    leg = all_legs(LEAGUE, teams_of(fmt))[0]
    models = seats_of(leg, fmt)
    assert {(chair.side, model) for chair, model in zip(fmt.chairs, models, strict=True)} == {
        ("for", leg.models[0]),
        ("against", leg.models[1]),
    }


def test_a_format_without_a_winner_cannot_compare_models() -> None:
    with pytest.raises(Invalid, match="has no winner"):
        teams_of(formats.load("panel"))


def test_more_models_and_motions_add_debates_and_change_none() -> None:
    larger = replace(LEAGUE, models=(*LEAGUE.models, "scripted/d"), motions=(*LEAGUE.motions, "A third"))
    check_extension(LEAGUE, larger)
    before = {leg.leg: leg for leg in all_legs(LEAGUE, 2)}
    after = {leg.leg: leg for leg in all_legs(larger, 2)}
    assert before.items() <= after.items()
    for changed in (replace(LEAGUE, format="free"), replace(LEAGUE, models=LEAGUE.models[:2])):
        with pytest.raises(Invalid, match="choose a new name"):
            check_extension(LEAGUE, changed)


# --- bad values -----------------------------------------------------------------------------------------

RIGHT = {
    "name": '"league"',
    "models": '["scripted/a", "scripted/b"]',
    "motions": '["Homework should be banned"]',
}
BANK = {**RIGHT, "motions": "", "questions": "{bank = true, count = 2}", "judges": '["scripted/j"]'}
FIELDS = (
    "name", "models", "motions", "questions", "protocols", "format", "rounds", "judges", "repeats", "pairing",
    "matchups", "budget", "debate_limit", "seed", "concurrency", "options", "nonsense",
)  # fmt: skip
MEMBERS = {
    "motions": ("file", "bank", "theme", "kind", "difficulty", "count"),
    "questions": ("file", "bank", "count"),
    "options": (*sorted(OPTIONS), "nonsense"),
}
VALUES = (
    '""', '"text"', '"human"', r'"\u0000"', "true", "-1", "0", "1", "3", "1.5", "nan", "-inf", "1e300",
    "1e-300", "9223372036854775808", "9" * 5000, "[]", "[1]", '["a"]', '["human", "scripted/a"]', "[[]]",
    "{}", "{a = 1}", "2026-11-18", "2026-11-18T01:02:03Z", '["' + "x" * 600 + '"]', '["nosuch/tool"]', '"1"',
    "[" * 2000,
)  # fmt: skip


def as_toml(lines: dict[str, str]) -> str:
    return "\n".join(f"{name} = {text}" for name, text in lines.items() if text)


def files_with_bad_values() -> Iterator[str]:
    for base in (RIGHT, BANK):
        yield from (as_toml({**base, field: value}) for field in FIELDS for value in VALUES)
    for field, members in MEMBERS.items():
        base = BANK if field == "questions" else RIGHT
        for member in members:
            also = "bank = true, " if member in ("count", "theme", "kind", "difficulty") else ""
            yield from (as_toml({**base, field: f"{{{also}{member} = {value}}}"}) for value in VALUES)


async def test_every_bad_value_is_refused_in_a_sentence(tmp_path: Path) -> None:
    refused, known = 0, set[str]()
    async with Arena.open(Settings(data=tmp_path / "data", scripted=True)) as arena:
        for text in files_with_bad_values():
            try:
                definition = read_definition(written(tmp_path, text))
                key = definition.to_json()
                assert from_json(key) == definition
                if key not in known:
                    known.add(key)
                    await ExperimentRunner(arena, definition).estimate()
            except (Invalid, Unavailable):
                refused += 1
    assert refused > 900
    assert len(known) > 10


async def test_check_knows_tools_and_people(tmp_path: Path) -> None:
    async with Arena.open(Settings(data=tmp_path / "data", scripted=True)) as arena:
        with_tools = replace(LEAGUE, options={"tools": ["nosuch"]})
        with pytest.raises(Invalid, match="nosuch"):
            await ExperimentRunner(arena, with_tools).estimate()
    for field in ("models", "judges"):
        with_people = as_toml({**RIGHT, field: '["human", "scripted/a"]'})
        with pytest.raises(Invalid, match="`human` cannot be in an experiment"):
            read_definition(written(tmp_path, with_people))


async def test_what_is_too_large_to_plan_is_refused_and_many_models_are_estimated(tmp_path: Path) -> None:
    many = tuple(f"scripted/m{number}" for number in range(100))
    motions = tuple(f"Motion number {number} of many" for number in range(10_000))
    large = replace(LEAGUE, models=many, motions=motions, repeats=100_000)
    async with Arena.open(Settings(data=tmp_path, scripted=True)) as arena:
        with pytest.raises(Invalid, match="9,900,000,000,000 debates; an experiment has at most 200,000"):
            ExperimentRunner(arena, large)
        with pytest.raises(Invalid, match="would be chosen from 4,950,000,000,000"):
            ExperimentRunner(arena, replace(large, matchups=10))
        found = await ExperimentRunner(arena, replace(large, matchups=100_000, pairing="swiss")).estimate()
        assert (found.matchups, found.debates) == (100_000, 200_000)
    assert len(lineups_for_estimate(many, 2, 8)) == 8
    few = lineups_for_estimate(LEAGUE.models, 2, 8)
    assert Counter(pro for pro, _ in few) == Counter(con for _, con in few) == Counter(LEAGUE.models)
