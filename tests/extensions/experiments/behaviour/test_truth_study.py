"""Judges of known accuracy are found again by a study of the bank's questions."""

from __future__ import annotations

from pathlib import Path

from tests.extensions.experiments.truth_study import PLANTED, found_again, hold_study


async def test_the_accuracy_of_scripted_judges_is_found_within_its_interval(tmp_path: Path) -> None:
    truth = await hold_study(tmp_path)
    rows = list(found_again(truth))
    assert {(row.judge, row.protocol) for row in rows} == {*PLANTED}
    assert all(row.within for row in rows), [row for row in rows if not row.within]
    assert (truth.questions, truth.passages) == (20, 20)
    for row in truth.readings:
        assert row.flips.value == 0.0
        assert row.first.value == 0.5
    recovered = {row.protocol: row.recovered for row in truth.protocols}["debate"]
    assert recovered is not None
    wise, plain = (0.85 - 0.6) / (0.95 - 0.6), (0.65 - 0.5) / (0.8 - 0.5)
    assert recovered.low is not None
    assert recovered.high is not None
    assert recovered.low < (wise + plain) / 2 < recovered.high
