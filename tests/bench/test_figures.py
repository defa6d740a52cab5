"""Figures: ratios and goals, the table, the comparison with earlier ones, the page and the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.bench.chart import LONGEST, SCALE, multiple, svg
from tests.bench.figures import (
    Figure,
    Result,
    cells,
    changes_for_the_worse,
    combined,
    figure,
    merged,
    read_results,
    short,
    table,
    write_results,
)
from tests.bench.figures_page import BEGIN, END, PICTURE, replaced, write_page


def cost(value: float = 30, limit: float = 10, **more: Any) -> Figure:
    return figure("CPU a token", value, "µs", limit=("raw", limit), **more)


def result(*figures: Figure, bench: str = "tokens") -> Result:
    return Result(bench=bench, date="2026-01-02", machine="2 cores", figures=figures)


@pytest.mark.parametrize(
    ("one", "met"),
    [
        (cost(18, 10, goal=1.8), True),
        (cost(19, 10, goal=1.8), False),
        (cost(190, 10, goal=200, goal_for="value"), True),
        (cost(5, 10, goal=0.6, better="higher"), False),
        (cost(7, 10, goal=0.6, better="higher"), True),
        (cost(7, 10), None),
        (figure("no limit", 7, "µs", goal=2), None),
    ],
)
def test_a_goal_is_for_the_ratio_or_for_the_value(one: Figure, met: bool | None) -> None:
    assert one.met is met


def test_several_runs_become_medians_with_their_spread() -> None:
    (one,) = combined([[cost(10, 10)], [cost(40, 20)], [cost(30, 10)]])
    assert (one.value, one.limit, one.ratio) == (30, 10, 2)
    assert one.spread == (1, 3)
    assert cells(one)[3] == "2 × (1 to 3)"


def test_without_a_limit_the_spread_is_that_of_the_values() -> None:
    (one,) = combined([[figure("idle", 1, "%")], [figure("idle", 3, "%")]])
    assert (one.ratio, one.spread) == (None, (1, 3))
    assert cells(one) == ("idle", "2 % (1 to 3)", "", "", "", "")


def test_a_figure_that_one_run_lacks_is_kept() -> None:
    names = [one.name for one in combined([[cost()], [cost(), figure("idle", 1, "%")]])]
    assert names == ["CPU a token", "idle"]


def test_the_table_is_aligned_and_says_what_is_met() -> None:
    lines = table([cost(goal=1.8, note="two cores"), figure("idle", 0.05, "%", goal=0.1, goal_for="value")])
    head, first, second = lines.splitlines()
    assert head.split() == ["figure", "measured", "limit", "ratio", "goal", "met"]
    assert " ".join(first.split()) == "CPU a token 30 µs raw: 10 µs 3 × ≤ 1.8 × no two cores"
    assert " ".join(second.split()) == "idle 0.05 % ≤ 0.1 % yes"
    assert head.index("met") == first.index("no ") == second.index("yes")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.039, "0.039"),
        (0.5, "0.5"),
        (1.805, "1.8"),
        (2, "2"),
        (16.04, "16"),
        (178.4, "178"),
        (54321, "54,321"),
    ],
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert short(number) == text


def test_ratios_are_compared_not_times_of_different_machines() -> None:
    before = [result(cost(30, 10))]
    assert changes_for_the_worse(before, [result(cost(60, 20))]) == []
    (change,) = changes_for_the_worse(before, [result(cost(30, 8))])
    assert (change.before, change.after) == (3, 3.75)
    assert str(change) == "tokens, CPU a token: 25% worse (3 → 3.75)"


def test_values_are_compared_where_there_is_no_limit() -> None:
    before, after = (result(figure("idle", share, "%")) for share in (1.0, 1.3))
    assert [change.worse_by for change in changes_for_the_worse([before], [after])] == [pytest.approx(0.3)]


def test_more_is_better_for_some() -> None:
    before, after = (result(cost(value, 10, better="higher")) for value in (6, 4))
    assert len(changes_for_the_worse([before], [after])) == 1
    assert changes_for_the_worse([after], [before]) == []


def test_changes_within_the_tolerance_and_what_cannot_be_compared_are_not_reported() -> None:
    before = [result(cost(30, 10))]
    other_limit = figure("CPU a token", 90, "µs", limit=("another", 10))
    for after in (cost(34, 10), other_limit, figure("something new", 9, "µs")):
        assert changes_for_the_worse(before, [result(after)]) == []
    assert changes_for_the_worse(before, [result(cost(90, 10), bench="another")]) == []


def test_the_worst_comes_first() -> None:
    before = result(cost(10, 10), figure("idle", 1, "%"))
    after = result(cost(12, 10), figure("idle", 2, "%"))
    assert [change.name for change in changes_for_the_worse([before], [after])] == ["idle", "CPU a token"]


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = [result(cost(goal=1.8, main=True), figure("idle", 0.05, "%", note="no viewers"))]
    write_results(tmp_path / "figures.json", written)
    assert read_results(tmp_path / "figures.json") == written
    assert '"ratio": 3.0' in (tmp_path / "figures.json").read_text()
    assert read_results(tmp_path / "none.json") == []


def test_a_newer_result_replaces_that_of_the_same_benchmark() -> None:
    old, new, other = result(cost(1, 1)), result(cost(2, 1)), result(cost(3, 1), bench="viewers")
    assert merged([old, other], [new]) == [new, other]


# --- picture and page ---------------------------------------------------------------------------------


def bars(picture: str) -> list[tuple[str, float]]:
    root = ElementTree.fromstring(picture)  # noqa: S314 - our own picture
    return [
        (rect.attrib["class"], float(rect.attrib["width"]))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        if rect.attrib["class"] != "page"
    ]


def test_a_bar_is_as_long_as_its_ratio_and_tells_whether_the_goal_is_met() -> None:
    picture = svg([cost(20, 10, goal=1.8), cost(10, 10, goal=1.8), cost(10, 10)], "measured today")
    unit = SCALE / LONGEST
    assert bars(picture) == [("missed", 2 * unit), ("met", unit), ("plain", unit)]
    assert "goal not met: ≤ 1.8 ×" in picture
    assert "measured today" in picture


def test_a_figure_without_a_limit_is_drawn_beside_its_goal() -> None:
    idle = figure("idle", 0.2, "%", goal=0.1, goal_for="value")
    assert multiple(idle) == 2
    assert multiple(figure("nothing to compare with", 1, "%")) is None
    assert len(bars(svg([idle, figure("nothing to compare with", 1, "%")], ""))) == 1


def test_a_long_bar_is_cut_off_and_a_name_is_escaped() -> None:
    picture = svg([figure("a < b & c", 100, "µs", limit=("raw", 1))], "")
    assert bars(picture) == [("plain", SCALE)]
    assert "a &lt; b &amp; c" in picture
    assert "100 × limit" in picture


def test_the_page_keeps_what_is_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "figures.md"
    (tmp_path / PICTURE).parent.mkdir()
    page.write_text(f"# Figures\n\n{BEGIN}\n\nold\n\n{END}\n\n## Local models\n")
    write_page(page, [result(cost(goal=1.8, main=True))], {"tokens": ("Tokens", "CPU for each token.")})
    text = page.read_text()
    assert text.startswith("# Figures\n")
    assert text.endswith("## Local models\n")
    assert "old" not in text
    assert "| CPU a token | 30 µs | raw: 10 µs | 3 × | ≤ 1.8 × | no |  |" in text
    assert (
        "## Tokens\n\n`make bench ARGS=tokens`: CPU for each token.\n\n*2026-01-02, 2 cores, 1 run.*" in text
    )
    assert len(bars((tmp_path / PICTURE).read_text())) == 1


def test_a_page_without_marks_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="marks"):
        replaced("# Figures", "tables")
