"""Repeats are repeats: one group, seeds of their own, and what is the same word for word counts once."""

from __future__ import annotations

from msgspec.structs import replace

from moot.experiments import Judgment, rate_models
from moot.extensions.experiments.measuring.judge_measures import judge_agreement
from moot.extensions.experiments.measuring.judgments import Ranking
from moot.extensions.experiments.measuring.leg_results import LegResult, read_leg_result
from moot.extensions.experiments.measuring.pairing import matchup, next_motion, repeat_seed, round_robin
from moot.extensions.experiments.measuring.planned_debates import PlannedDebate, planned_debate
from moot.extensions.experiments.measuring.rankings import rate_rankings
from moot.extensions.experiments.measuring.transcripts import TranscriptCount


def row(debate: str, winner: str = "pro", judge: str = "owl", **fields: object) -> Judgment:
    known = {"group": "m | a | b", "pro": "a", "con": "b", "motion": "m", **fields}
    return Judgment(debate=debate, judge=judge, winner=winner, **known)  # pyright: ignore[reportArgumentType]


def test_repeats_are_one_group_and_have_seeds_of_their_own() -> None:
    first, second = (PlannedDebate("m", ("b", "a"), repeat) for repeat in (1, 2))
    assert first.group == second.group == matchup("m", "a", "b", 2).group == "m | a | b"
    assert first.leg != second.leg == '["m",["b","a"],2]', "legs keep the names that are stored"
    assert [repeat_seed(7, repeat) for repeat in (1, 2, 3)] == [7, 10_007, 20_007]


def test_the_plan_of_repeats_is_as_it_was() -> None:
    names = [unit.name for unit in round_robin(["a", "b"], ["m", "n"], repeats=2)]
    assert sorted(names) == ["m | a | b", "m | a | b | 2", "n | a | b", "n | a | b | 2"]


def test_a_pair_that_has_met_on_every_motion_gets_the_next_repeat() -> None:
    rows = [row("1"), row("2", repeat=2)]
    assert next_motion(["m"], rows, "a", "b").repeat == 3


def test_debates_that_are_the_same_word_for_word_count_once() -> None:
    other = row("9", "con", group="n | a | b", motion="n", transcript="y")
    once = [row("1", transcript="x"), other]
    thrice = [*once, row("2", transcript="x", repeat=2), row("3", transcript="x", repeat=3)]
    ratings = [rate_models(rows) for rows in (once, thrice)]
    assert [each.rating for each in ratings[0].models] == [each.rating for each in ratings[1].models]
    assert ratings[1].debates == 2
    assert rate_models([replace(each, transcript="") for each in thrice]).debates == 4


def test_ballots_on_the_same_words_are_one_decision_of_a_judge() -> None:
    rows = [
        row(debate, judge=judge, transcript="x", repeat=repeat)
        for repeat, debate in enumerate("123", 1)
        for judge in ("owl", "crow")
    ]
    found = judge_agreement(rows)
    assert (found.debates, found.raw.value) == (1, 1.0)


def test_rankings_of_the_same_words_count_once() -> None:
    def ranking(debate: str, transcript: str, order: tuple[int, ...]) -> Ranking:
        return Ranking(
            group="g", debate=debate, judge="owl", models=("a", "b", "c"), seats=("1", "2", "3"),
            ranking=order, transcript=transcript,
        )  # fmt: skip

    rows = [ranking("1", "x", (0, 1, 2)), ranking("2", "x", (0, 1, 2)), ranking("3", "y", (2, 1, 0))]
    assert rate_rankings(rows).debates == 2


def test_how_many_debates_repeat_another_is_told() -> None:
    def result(debate: str, transcript: str) -> LegResult:
        return LegResult(debate, "completed", judgments=(row(debate),), transcript=transcript)

    count = TranscriptCount()
    count.add(result("1", "x"))
    count.add(result("1", "x"))
    assert count.note == "", "a debate that was judged again repeats none"
    for number in "23":
        count.add(result(number, "x"))
    count.add(result("4", "y"))
    count.add(LegResult("5", "completed"))
    assert count.note.startswith("2 of 4 debates repeat another word for word, and count with it once")


def test_results_of_earlier_releases_join_the_group_of_their_repeats() -> None:
    stored = LegResult("1", "completed", judgments=(row("1", group="m | a | b | 2"),))
    leg = planned_debate('["m",["a","b"],2]')
    found = read_leg_result(stored.to_json(), leg)
    assert (found.repeat, found.judgments[0].repeat, found.judgments[0].group) == (2, 2, "m | a | b")
    assert read_leg_result(found.to_json(), leg) == found
