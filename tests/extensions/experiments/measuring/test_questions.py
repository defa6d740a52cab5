"""Questions with a known answer: how they are read, which legs follow, and what is made of the answers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.experiments import JudgeAnswer, make_truth_report, question_bank, read_questions, truth_tables
from moot.extensions.experiments.measuring.debater_results import debater_ratings, debater_rows, quote_rows
from moot.extensions.experiments.measuring.definition import (
    ExperimentDefinition,
    check_definition,
    check_extension,
    read_definition,
)
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.planned_questions import (
    PROTOCOLS,
    choice_leg,
    chosen_answer,
    debate_question,
    open_legs,
    planned_question,
    protocol_format,
    question_legs,
)
from moot.extensions.experiments.measuring.protocol_results import gap_recovered
from moot.extensions.experiments.measuring.questions import Question, QuestionSource, in_play, load_questions
from moot.extensions.experiments.measuring.report_blocks import Curves
from moot.extensions.experiments.measuring.report_truth import truth_blocks
from moot.extensions.experiments.measuring.speaker_quotes import SpeakerQuotes
from moot.formats.checking import problems
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.question_answers import read_answer_reply

ASKED = ExperimentDefinition(
    name="truth",
    models=("scripted/a", "scripted/b"),
    judges=("scripted/owl", "scripted/raven"),
    format="",
    questions=(
        Question("colour", "What colour was it?", ("Red", "Green", "Blue"), 2, "p1"),
        Question("boats", "How many boats came?", ("Two", "Three"), 1),
    ),
    passages={"p1": "The lantern was blue."},
    protocols=PROTOCOLS,
)


def test_questions_are_read_from_our_own_lines_from_quality_and_from_csv(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(
        '{"id":"x","question":"Which\\nway?","choices":["Left","Right"],"answer":"Right","passage":"Right."}\n'
        '{"question":"How many?","choices":["One","Two"],"answer":0}\n'
    )
    found = read_questions(own)
    assert [(each.id, each.question, each.answer) for each in found.questions] == [
        ("x", "Which way?", 1),
        ("2", "How many?", 0),
    ]
    assert found.passages[found.questions[0].passage] == "Right."
    article = {
        "article_id": "77",
        "article": "A long text.",
        "questions": [
            {"question": "Who?", "options": ["Ann", "Bo", "Cy", "Di"], "gold_label": 3},
            {"question": "Where?", "options": ["Here", "There"], "gold_label": 1, "question_unique_id": "u"},
        ],
    }
    (tmp_path / "quality.jsonl").write_text(json.dumps(article))
    quality = read_questions(tmp_path / "quality.jsonl")
    assert [(each.id, each.answer) for each in quality.questions] == [("77-1", 2), ("u", 0)]
    assert len(quality.passages) == 1
    table = tmp_path / "q.csv"
    table.write_text("question,choices,answer,passage\nWhich?,Left | Right,B,\n")
    assert read_questions(table).questions[0].answer == 1
    table.write_text("question,A,B,answer\nWhich?,Left,Right,Left\n")
    assert read_questions(table).questions[0].choices == ("Left", "Right")


def test_everything_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(
        '{"question":"Which?","choices":["Left"],"answer":0}\n{"question":"Which?","choices":["L","R"],"answer":"Up"}\n'
    )
    with pytest.raises(Invalid, match=r"Row 1: .*two different choices.*Row 2: .*one of the choices"):
        read_questions(file)
    (tmp_path / "e.toml").write_text(
        'name = "t"\nmodels = ["a/b"]\nquestions = {bank = true, count = 5}\npairing = "swiss"\n', "utf-8"
    )
    with pytest.raises(Invalid, match="judges"):
        read_definition(tmp_path / "e.toml")
    assert any("not both" in said for said in check_definition(replace(ASKED, motions=("A motion",))))


def test_the_bank_has_questions_whose_passage_tells_the_answer_only_to_its_readers() -> None:
    bank = question_bank()
    assert len(bank.questions) == len(bank.passages) == 20
    places = Counter(in_play(each, 0).right for each in bank.questions)
    assert min(places.values()) >= 5


def test_a_question_with_more_choices_is_played_with_the_right_one_and_one_other() -> None:
    colour = ASKED.questions[0]
    for seed in range(20):
        playing = in_play(colour, seed)
        assert playing.choices[playing.right] == "Blue"
        assert len(set(playing.choices)) == 2
    assert len({in_play(colour, seed) for seed in range(20)}) == 4
    hard = replace(colour, distractor=1)
    assert {frozenset(in_play(hard, seed).choices) for seed in range(20)} == {frozenset(("Blue", "Green"))}


def test_the_best_distractor_is_that_of_most_validators_unless_chance_is_asked_for(tmp_path: Path) -> None:
    named = [{"untimed_best_distractor": label} for label in (2, 4, 3, 2, 3, 3)]
    question = {
        "question": "Who?",
        "options": ["Ann", "Bo", "Cy", "Di"],
        "gold_label": 4,
        "validation": named,
    }
    article = {"article_id": "77", "article": "A long text.", "questions": [question]}
    (tmp_path / "quality.jsonl").write_text(json.dumps(article))
    (best,) = load_questions(QuestionSource("quality.jsonl"), tmp_path, 0).questions
    assert (best.answer, best.distractor) == (3, 2)
    (drawn,) = load_questions(QuestionSource("quality.jsonl", distractor="random"), tmp_path, 0).questions
    assert drawn.distractor is None
    own = {"question": "Which?", "choices": ["Left", "Right", "Up"], "answer": 0, "distractor": "Up"}
    (tmp_path / "own.jsonl").write_text(json.dumps(own))
    assert read_questions(tmp_path / "own.jsonl").questions[0].distractor == 2
    (tmp_path / "own.jsonl").write_text(json.dumps({**own, "distractor": "Left"}))
    with pytest.raises(Invalid, match="`distractor` must be a wrong choice"):
        read_questions(tmp_path / "own.jsonl")


def test_every_question_is_asked_twice_under_each_protocol_with_the_answers_swapped() -> None:
    legs = question_legs(ASKED)
    held = Counter(leg.protocol for leg in legs)
    one_pair, two_models, two_judges = 2 * 2, 2 * 2 * 2, 2 * 2 * 2
    assert held == {
        "debate": one_pair, "sequential-debate": one_pair, "interactive-debate": 2 * one_pair,
        "consultancy": two_models, "naive": two_judges, "expert": two_judges,
        "single-shot": two_models, "self-consistency": two_models,
    }  # fmt: skip
    assert {leg.judge for leg in legs if leg.protocol == "interactive-debate"} == {*ASKED.judges}
    assert Counter(leg.protocol for leg in open_legs(ASKED)) == {
        "open-debate": one_pair, "open-consultancy": two_models,
    }  # fmt: skip
    assert len({leg.leg for leg in legs}) == len(legs)
    assert all(planned_question(leg.leg) == leg for leg in legs)
    for leg in legs:
        swapped = replace(leg, swapped=not leg.swapped)
        (_, one), (_, other) = debate_question(ASKED, leg), debate_question(ASKED, swapped)
        assert one.choices == other.choices[::-1]
        assert (one.passage != "") == (leg.question == "colour" and leg.protocol != "naive")
    larger = replace(ASKED, questions=(*ASKED.questions, Question("new", "Which?", ("A", "B"), 0)))
    check_extension(ASKED, larger)
    assert {leg.leg for leg in legs} < {leg.leg for leg in question_legs(larger)}
    judged = ("debate", "sequential-debate", "interactive-debate")
    assert not any(problems(protocol_format(name)) for name in judged)


def test_in_open_protocols_the_chooser_argues_for_the_answer_that_it_gave() -> None:
    for leg in open_legs(ASKED):
        for chances in ((0.9, 0.1), (0.2, 0.8)):
            answer = JudgeAnswer(
                question=leg.question, protocol="single-shot", probabilities=chances, answer=0
            )
            results = {choice_leg(leg).leg: LegResult("deb_1", "completed", answers=(answer,))}
            chosen = chosen_answer(leg, results)
            wanted = in_play(next(each for each in ASKED.questions if each.id == leg.question), ASKED.seed)
            _, asked = debate_question(ASKED, leg, chosen)
            own = asked.choices[leg.swapped and leg.protocol == "open-debate"]
            assert own == wanted.choices[0 if chances[0] > chances[1] else 1]
    even = JudgeAnswer(question="boats", protocol="single-shot", probabilities=(0.5, 0.5), answer=0)
    first = open_legs(ASKED)[0]
    assert chosen_answer(first, {choice_leg(first).leg: LegResult("d", "completed", answers=(even,))}) is None


@pytest.mark.parametrize(
    "reply",
    [
        "A",
        '{"reasoning": "r", "answer": "A"}',
        '{"reasoning": "r", "answer": "C", "percent": 80}',
        '{"reasoning": "r", "answer": "A", "percent": 49}',
        '{"reasoning": "r", "answer": "A", "percent": "80"}',
        '{"reasoning": "r", "answer": "A", "percent": 80, "answer": "B"}',
        '{"reasoning": "r", "answer": "A", "percent": 80, "more": 1}',
        'I think {"reasoning": "r", "answer": "A", "percent": 80}',
    ],
)
def test_a_reply_that_is_not_exactly_an_answer_is_none(reply: str) -> None:
    with pytest.raises(UnreadableReply):
        read_answer_reply(reply, ("A", "B"))


def test_the_table_compares_each_protocol_with_the_naive_judge_and_with_consultancy() -> None:
    def result(number: int, protocol: str, chance: float, argued: int | None = None) -> LegResult:
        row = JudgeAnswer(
            question=f"q{number}", protocol=protocol, probabilities=(chance, 1 - chance), answer=0, cost=0.5,
            argued=argued,
        )  # fmt: skip
        return LegResult(f"deb_{number}", "completed", protocol=protocol, answers=(row,))

    results = [result(n, "debate", 0.8) for n in range(30)]
    results += [result(n, "naive", 0.6 if n % 2 else 0.4) for n in range(30)]
    results += [result(n, "consultancy", 0.7 if n % 3 else 0.3, n % 2) for n in range(30)]
    results += [LegResult("deb_x", "completed", protocol="naive", missing=1)]
    asked = replace(ASKED, protocols=("debate", "consultancy", "naive"))
    report = make_truth_report(asked, results, planned=len(question_legs(asked)))
    rows = {row.protocol: row for row in report.protocols}
    debate = rows["debate"]
    assert debate.score is not None
    assert (debate.score.accuracy.value, debate.score.cost, debate.confidence) == (
        1.0,
        0.5,
        pytest.approx(0.8),
    )
    assert debate.against_naive is not None
    assert debate.against_naive.value == pytest.approx(0.5)
    assert debate.against_naive.clear
    assert rows["naive"].against_consultancy is not None
    assert (rows["naive"].against_consultancy.value or 0) < 0
    assert (rows["naive"].asked, rows["naive"].answered) == (31, 30)
    assert {row.argued_right for row in report.argued} == {True, False}
    table = truth_tables(report)[0]
    assert table.rows[0][:4] == ("debate", "30", "100 % (88 to 100 %)", "+50 (+29 to +66)")
    assert any("naive: 1 of 31 answers" in note for note in report.notes)
    curves = next(block for block in truth_blocks(report) if isinstance(block, Curves))
    assert [panel.name for panel in curves.panels] == list(rows)


def test_the_gap_recovered_is_a_share_of_the_way_from_the_naive_judge_to_the_expert() -> None:
    def right(protocol: str, share: float, count: int = 40) -> list[JudgeAnswer]:
        return [
            JudgeAnswer(
                question=f"q{n}", protocol=protocol, answer=0, group=f"p{n // 2}",
                probabilities=(0.8, 0.2) if n * 7 % count < share * count else (0.3, 0.7),
            )
            for n in range(count)
        ]  # fmt: skip

    rows = [*right("naive", 0.5), *right("debate", 0.75), *right("expert", 1.0)]
    found = gap_recovered(rows, "debate")
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.5 < found.high < 1
    assert gap_recovered(rows, "naive") is None
    close = gap_recovered([*right("naive", 0.5), *right("debate", 0.6), *right("expert", 0.525)], "debate")
    assert close is not None
    assert (close.low, close.high) == (None, None)  # the expert is hardly better than the naive judge
    worse = gap_recovered([*right("naive", 0.6), *right("debate", 0.7), *right("expert", 0.5)], "debate")
    assert worse is not None
    assert worse.value is None


def test_debaters_are_rated_as_those_who_are_right_and_those_who_are_wrong() -> None:
    """The better debater wins whatever it argues for, but for every fifth question, where the truth does."""
    rows: list[JudgeAnswer] = []
    for number in range(30):
        for models in (("strong", "fair"), ("weak", "strong"), ("fair", "weak")):
            for first_argued in (0, 1):
                better = min(models, key=("strong", "fair", "weak").index)
                right = 0.9 if models[first_argued] == better or number % 5 == 0 else 0.2
                rows.append(
                    JudgeAnswer(
                        question=f"q{number}", protocol="debate", models=models, first_argued=first_argued,
                        answer=0, probabilities=(right, 1 - right), readings=(right, right), judge="owl",
                        listed_first=(0, 1), debate=f"d{number}{models}{first_argued}",
                    )
                )  # fmt: skip
    strong, fair, weak = debater_rows(("debate", "naive"), rows)
    assert (strong.model, strong.right.value, strong.wrong.value) == ("strong", 1.0, pytest.approx(0.8))
    assert (weak.right.value, weak.wrong.value) == (pytest.approx(0.2), 0.0)
    assert strong.truth.value == fair.truth.value == pytest.approx(0.2)
    assert [row.model for row in debater_ratings(rows)] == [
        "strong (right)", "strong (wrong)", "fair (right)", "fair (wrong)", "weak (right)", "weak (wrong)",
    ]  # fmt: skip
    two = [each for each in rows if "fair" not in each.models]
    assert debater_ratings(two) == ()  # the one who is right never meets another who is right
    alone = [replace(each, models=("one", "one")) for each in rows]
    assert [row.model for row in debater_ratings(alone)] == ["one (right)", "one (wrong)"]


def test_false_quotations_are_counted_for_each_debater_by_what_it_argued() -> None:
    quotes = [SpeakerQuotes("a", n % 2 == 0, f"p{n}", found=3, missing=n % 2, over=1) for n in range(20)]
    right, wrong = quote_rows(quotes)
    assert (right.argued_right, right.speakers, right.found, right.over) == (True, 10, 30, 10)
    assert (right.missing, right.false_share.value) == (0, 0.0)
    assert (wrong.missing, wrong.false_share.value) == (10, 0.2)


def test_rows_by_judge_stand_beside_the_pooled_row_and_later_judges_do_not_enter_it() -> None:
    def result(number: int, protocol: str, judge: str, chances: tuple[float, float]) -> LegResult:
        """`chances` are those of the right choice, which is listed first in the first reading only."""
        mean = sum(chances) / 2
        row = JudgeAnswer(
            question=f"q{number}", protocol=protocol, probabilities=(mean, 1 - mean), answer=0, judge=judge,
            readings=chances, listed_first=(0, 1), own=judge != "strict",
        )  # fmt: skip
        return LegResult(f"{judge}_{number}", "completed", protocol=protocol, answers=(row,))

    results = [result(n, "debate", "owl", (0.9, 0.7)) for n in range(25)]
    results += [result(n, "debate", "raven", (0.9, 0.2)) for n in range(25)]
    results += [result(n, "debate", "strict", (0.1, 0.1)) for n in range(25)]
    results += [result(n, "naive", judge, (0.8, 0.3)) for n in range(25) for judge in ("owl", "raven")]
    asked = replace(ASKED, protocols=("debate", "naive"))
    report = make_truth_report(asked, results, planned=len(question_legs(asked)))
    pooled = {row.protocol: row for row in report.protocols}["debate"]
    assert pooled.answered == 50
    by_judge = {(row.protocol, row.judge): row for row in report.judges}
    assert len(by_judge) == 5
    judge_score = by_judge["debate", "strict"].score
    assert judge_score is not None
    assert judge_score.accuracy.value == 0.0
    readings = {(row.protocol, row.judge): row for row in report.readings}
    owl, raven, both = (readings["debate", name] for name in ("owl", "raven", ""))
    assert (owl.flips.value, raven.flips.value, both.flips.value) == (0.0, 1.0, 0.5)
    assert (owl.first.value, raven.first.value, both.first.value) == (0.5, 1.0, 0.75)
    assert (raven.readings, raven.score.accuracy.value) == (50, 0.5)
    assert raven.confidence == pytest.approx(0.85)
    assert raven.score.brier.value == pytest.approx((0.01 + 0.64) / 2)
    changing = next(note for note in report.notes if note.startswith("raven: more than a third"))
    assert "debate 100 % (the first is named in 100 % of the readings), naive" in changing
    assert [table.title for table in truth_tables(report)] == [
        "Protocols", "Protocols by judge", "Single readings",
    ]  # fmt: skip
