"""What is told of private beliefs."""

from __future__ import annotations

from msgspec.structs import replace

from moot import fold
from moot.extensions.beliefs.measures import belief_report
from moot.extensions.beliefs.report import belief_svg
from tests.golden.reading import log_of


def test_the_line_of_beliefs_is_broken_where_an_answer_is_missing() -> None:
    debate = fold(log_of("beliefs"))
    assert debate is not None
    judged = [aside for aside in debate.asides if aside.kind == "belief"]
    first, middle = judged[0], next(aside for aside in judged if aside.turn == 1 and aside.chances)

    def judge_line(middle_chances: dict[str, float]) -> tuple[list[bool], int]:
        answers = {id(first): {"a": 0.5, "b": 0.5}, id(middle): middle_chances}
        asides = tuple(replace(one, chances=answers.get(id(one), one.chances)) for one in debate.asides)
        report = belief_report(replace(debate, asides=asides))
        assert report is not None
        return [mark.joined for mark in report.marks["judge"]], belief_svg(report, ()).count("<polyline")

    assert judge_line(middle.chances) == ([True, True, True], 3)
    assert judge_line({}) == ([True, False], 4)
