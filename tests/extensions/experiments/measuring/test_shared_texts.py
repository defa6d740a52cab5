"""Results that are kept together share their texts, and say the same as before."""

from __future__ import annotations

from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from moot.extensions.experiments.measuring.shared_texts import SharedTexts


def stored(number: int) -> str:
    row = Judgment(
        group="zoos | a | b", debate=f"deb_{number}", pro="a-model", con="b-model", judge="owl", winner="pro",
        motion="Zoos do more good than harm", margin=1.5,
    )  # fmt: skip
    return LegResult(row.debate, "completed", row.motion, judgments=(row, row)).to_json()


def test_equal_texts_of_results_are_one_object_and_the_results_are_equal() -> None:
    texts, read = SharedTexts(), [read_result(stored(number)) for number in (1, 2)]
    first, second = (texts.result(one) for one in read)
    assert [first, second] == read
    assert first.judgments[0].motion is second.judgments[1].motion is second.motion
    assert second.judgments[0].debate is second.debate
    assert read[0].judgments[0].motion is not read[1].judgments[0].motion, "as they are decoded"
