"""Experiment files, and the debates that follow from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.experiments.definition import (
    ExperimentDefinition,
    check_extension,
    from_json,
    read_definition,
)
from moot.experiments.planned_debates import all_legs, planned_debate, seats_of, teams_of

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
    (tmp_path / "motions.txt").write_text("# themes\nOne motion here\n\nAnother motion\nA third\n", "utf-8")
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
    assert set(Counter(leg.group for leg in legs).values()) == {2}


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
