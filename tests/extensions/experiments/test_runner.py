"""An experiment holds each debate once, within its budget, however often it is killed and run again."""

from __future__ import annotations

import signal
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import Arena, Settings
from moot.core.errors import Fenced, Invalid
from moot.extensions.experiments.measuring.definition import ExperimentDefinition, Pairing
from moot.extensions.experiments.measuring.leg_results import read_result
from moot.extensions.experiments.measuring.report_document import report_document
from moot.extensions.experiments.measuring.report_html import report_html
from moot.extensions.experiments.measuring.report_markdown import report_markdown
from moot.extensions.experiments.progress import ExperimentProgress
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.providers.prices import flat_price
from moot.providers.scripted import ScriptedProvider
from tests.cli.terminal import environment, piped

PRICE = flat_price(Decimal(1), Decimal(2))
LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b", "scripted/c"),
    motions=("Homework should be banned", "Zoos do more good than harm"),
    rounds=1,
    judges=("scripted/owl",),
)


def settings(folder: Path, *, priced: bool = False) -> Settings:
    prices = {"scripted/*": PRICE} if priced else {}
    return Settings(data=folder, scripted=True, model="scripted/demo", prices=prices)


async def test_every_debate_is_held_once_and_a_second_run_holds_none(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        progress = await ExperimentRunner(arena, LEAGUE).run()
        assert (progress.planned, progress.finished, progress.failed) == (12, 12, 0)
        again = await ExperimentRunner(arena, LEAGUE).run()
        assert (again.finished, again.held_now) == (12, 0)
        assert (await arena.list()).total == 12
        stored = await arena.store.tables(EXPERIMENTS).experiment("league")
        assert stored is not None
        assert (stored.state, stored.epoch) == ("done", 2)
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        rows = [row for leg in legs for row in read_result(leg.result or "").judgments]
        assert len(rows) == 24
        state = await arena.state(legs[0].debate)
        assert state.setup.experiment is not None
        assert {row.group for row in rows if row.debate == state.id} == {state.setup.experiment.group}


async def test_a_model_that_is_added_debates_all_others_and_nobody_twice(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        await ExperimentRunner(arena, LEAGUE).run()
        larger = replace(LEAGUE, models=(*LEAGUE.models, "scripted/d"))
        progress = await ExperimentRunner(arena, larger).run()
        assert (progress.planned, progress.held_now) == (24, 12)


@pytest.mark.parametrize("pairing", ["swiss", "adaptive"])
async def test_pairs_can_be_chosen_by_the_results_so_far(tmp_path: Path, pairing: Pairing) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        chosen = replace(LEAGUE, models=("scripted/a", "scripted/b", "scripted/c", "scripted/d"))
        chosen = replace(chosen, pairing=pairing, matchups=4)
        progress = await ExperimentRunner(arena, chosen).run()
        assert (progress.planned, progress.finished) == (8, 8)
        more = await ExperimentRunner(arena, replace(chosen, matchups=6)).run()
        assert (more.planned, more.finished, more.held_now) == (12, 12, 4)


async def test_the_budget_is_never_exceeded_and_a_higher_one_continues(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path, priced=True)) as arena:
        budget = Decimal("0.102")
        limited = replace(LEAGUE, budget=budget, debate_limit=Decimal("0.1"), concurrency=3)
        assert (await ExperimentRunner(arena, limited).estimate()).high == budget
        seen = list[ExperimentProgress]()
        first = await ExperimentRunner(arena, limited, seen.append).run()
        assert first.stopped_by == "budget"
        assert 0 < first.finished < first.planned
        assert all(progress.spent <= budget for progress in seen)
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        costs = [(await arena.state(leg.debate)).cost_so_far for leg in legs]
        assert sum(costs) == first.spent <= budget
        rich = await ExperimentRunner(arena, replace(limited, budget=Decimal(5))).run()
        assert (rich.finished, rich.stopped_by) == (12, "")


async def test_all_debates_are_judged_again_once_and_the_ballots_are_added(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        await ExperimentRunner(arena, LEAGUE).run()
        assert await ExperimentRunner(arena, LEAGUE).rejudge(["scripted/raven"]) == 12
        assert await ExperimentRunner(arena, LEAGUE).rejudge(["scripted/raven"]) == 0
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        rows = [row for leg in legs for row in read_result(leg.result or "").judgments]
        assert {row.judge for row in rows} == {"scripted/owl", "scripted/raven"}
        assert len(rows) == 48
        with pytest.raises(Invalid, match="allowance"):
            await ExperimentRunner(arena, replace(LEAGUE, budget=Decimal(1))).rejudge(["scripted/raven"])


async def test_a_budget_needs_every_price(tmp_path: Path) -> None:
    providers = {"other": ScriptedProvider()}
    async with Arena.open(settings(tmp_path), providers=providers) as arena:
        unpriced = replace(LEAGUE, models=("scripted/a", "other/b"), budget=Decimal(1))
        with pytest.raises(Invalid, match="price"):
            await ExperimentRunner(arena, unpriced).run()
        assert await arena.store.tables(EXPERIMENTS).experiments() == ()


async def test_unknown_models_are_refused_before_anything_is_stored(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        with pytest.raises(Invalid):
            await ExperimentRunner(arena, replace(LEAGUE, models=("scripted/a", "nobody/b"))).run()
        assert await arena.store.tables(EXPERIMENTS).experiments() == ()


async def test_a_run_that_another_has_taken_over_reserves_nothing_more(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        saved = await arena.store.tables(EXPERIMENTS).save("league", LEAGUE.to_json())
        await arena.store.tables(EXPERIMENTS).save("league", LEAGUE.to_json())
        with pytest.raises(Fenced):
            await arena.store.tables(EXPERIMENTS).reserve("league", saved.epoch, "leg", "deb_1", 0, None)


POINTS = ("leg-reserved", "leg-opened", "leg-held", "leg-settled")
PASSAGES = (1, 2, 5, 9, 14)


def test_twenty_kills_lose_double_and_overspend_nothing(tmp_path: Path) -> None:
    """40 debates, with a budget that just suffices; the process is killed at each point five times."""
    (tmp_path / "moot.toml").write_text('[prices."scripted/*"]\ninput = "1"\noutput = "2"\n', "utf-8")
    file = tmp_path / "league.toml"
    motions = [f"Motion number {number} should pass" for number in range(1, 21)]
    file.write_text(
        f"""
        name = "league"
        models = ["scripted/a", "scripted/b"]
        motions = {motions}
        rounds = 1
        judges = ["scripted/owl"]
        budget = 1
        concurrency = 2
        """,
        "utf-8",
    )
    env = environment(tmp_path)
    kills = 0
    for passage in PASSAGES:
        for point in POINTS:
            done = piped({**env, "MOOT_CRASH_AT": f"{point}:{passage}"}, "experiment", "run", str(file))
            kills += done.returncode == -signal.SIGKILL
    done = piped(env, "experiment", "run", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 of 40 debates held" in done.stdout
    assert kills >= 10
    listed = piped(env, "list", "--limit", "100", "--json").stdout.splitlines()
    assert len(listed) == 40


async def test_by_side_each_row_tells_label_and_who_was_read_first(tmp_path: Path) -> None:
    league = replace(LEAGUE, options={"reading": "by-side"}, motions=LEAGUE.motions[:1])
    async with Arena.open(settings(tmp_path)) as arena:
        await ExperimentRunner(arena, league).run()
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        report = await ExperimentRunner(arena, league).report("0")
    rows = [row for leg in legs for row in read_result(leg.result or "").judgments]
    assert all(row.read_first == ("con" if row.order else "pro") for row in rows)
    assert all({row.pro_label, row.con_label} == {"Birch", "Cedar"} for row in rows)
    assert "with the labels and the order of the sides swapped" in report_markdown(report_document(report))


async def test_prompts_are_an_axis_of_judging_and_people_say_which_agrees_best(tmp_path: Path) -> None:
    league = replace(LEAGUE, options={"beliefs": True, "model_audience": True}, motions=LEAGUE.motions[:1])
    prompts = {"strict": "Count only what was proved.", "lenient": "Give the benefit of the doubt."}
    async with Arena.open(settings(tmp_path)) as arena:
        await ExperimentRunner(arena, league).run()
        assert await ExperimentRunner(arena, league).rejudge(prompts=prompts, repeats=2) == 24
        assert await ExperimentRunner(arena, league).rejudge(prompts=prompts, repeats=2) == 0
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        results = [read_result(leg.result or "") for leg in legs]
        rows = [row for result in results for row in result.judgments]
        assert {row.judge for row in rows} == {
            "scripted/owl", "scripted/owl [strict]", "scripted/owl [lenient]"
        }  # fmt: skip
        debate = await arena.state(legs[0].debate)
        assert {judge.guidance for judge in debate.judgings[-1].judges} <= set(prompts.values())
        cast = {result.debate: (("ann", "for"), ("bob", result.judgments[0].pro)) for result in results}
        voted = await ExperimentRunner(arena, league).add_votes(cast)
        assert sum(len(result.votes) for result in voted) == 12
        with pytest.raises(Invalid, match="no judged debate deb_x"):
            await ExperimentRunner(arena, league).add_votes({"deb_x": (("ann", "for"),)})
        wrong = {**dict.fromkeys(cast, (("eve", "for"),)), results[-1].debate: (("eve", "nobody"),)}
        with pytest.raises(Invalid, match="'nobody', the vote of eve"):
            await ExperimentRunner(arena, league).add_votes(wrong)
        assert await ExperimentRunner(arena, league).rejudge(["scripted/raven"]) == 6
        report = await ExperimentRunner(arena, league).report("0")
        assert report.people is not None
        assert report.people.voters == 2
        assert {each.name for each in report.people.judges} >= {"scripted/owl [strict]", "scripted/raven"}
        assert report.beliefs is not None
        assert report.beliefs.debates == 6
        for text in (report_html(report_document(report)), report_markdown(report_document(report))):
            assert "Private beliefs" in text
            assert "Judges and people" in text
