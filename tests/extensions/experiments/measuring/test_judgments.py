"""Rows of judgments: from stored debates, from files of our own and of others."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from moot.core.errors import Invalid
from moot.core.evolve import fold
from moot.experiments import (
    Judgment,
    as_table,
    judgment_from_row,
    judgment_from_summary,
    judgments_from_debate,
    rankings_from_debate,
    rate_models,
    read_judgments,
    read_rankings,
    rows_of,
    simulate,
    write_csv,
    write_jsonl,
)
from moot.extensions.experiments.measuring.table_files import read_table, write_table
from moot.views.summary import summarize
from tests.extensions.experiments.public_judgments import needs_public_judgments, public_judgments
from tests.extensions.experiments.worlds import round_robin_units, strengths, world
from tests.golden.reading import log_of


def test_a_stored_debate_becomes_a_row_for_each_ballot() -> None:
    debate = fold(log_of("judged-again"))
    rows = judgments_from_debate(debate, experiment="league")
    assert [(row.judging, row.order) for row in rows[:2]] == [(1, 0), (1, 1)]
    assert {row.judging for row in rows} == {1, 2, 3}
    first = rows[0]
    assert (first.pro, first.con, first.winner, first.margin) == (
        "scripted/parrot",
        "scripted/parrot",
        "pro",
        10.0,
    )
    assert (first.experiment, first.last_word, first.pro_words, first.pro_cost) == ("league", "con", 12, 0.0)
    summary = judgment_from_summary(summarize(debate))
    assert summary is not None
    assert (summary.judge, summary.winner, summary.group) == ("panel", "pro", first.group)


def test_a_ballot_that_could_not_be_read_is_a_row_without_a_winner() -> None:
    rows = judgments_from_debate(fold(log_of("unreadable")))
    assert {row.winner for row in rows} == {"pro", "none"}


def test_four_teams_become_rankings_by_position() -> None:
    debate = fold(log_of("british-parliamentary"))
    assert judgments_from_debate(debate) == ()
    rankings = rankings_from_debate(debate)
    assert [row.ranking for row in rankings] == [(0, 1, 2, 3), (0, 3, 2, 1)]
    assert len(set(rankings[0].seats)) == 4


def test_a_draw_is_a_tie_and_not_a_missing_judgment() -> None:
    assert {row.winner for row in judgments_from_debate(fold(log_of("draw")))} == {"tie"}


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_rows_are_the_same_after_a_file(tmp_path: Path, suffix: str) -> None:
    models = strengths(3)
    rows = rows_of(simulate(world(models), round_robin_units(models, 2)))
    rows = (
        *rows,
        *judgments_from_debate(fold(log_of("all-failed"))),
        *judgments_from_debate(fold(log_of("people"))),
    )
    file = tmp_path / f"rows.{suffix}"
    file.write_text(write_jsonl(rows) if suffix == "jsonl" else write_csv(rows), "utf-8")
    assert read_judgments(file) == rows


HOSTILE_CELLS = (
    "=HYPERLINK(1)", "+1", "-2", "@cmd", "\tx", "\rx", "'=1", "''@x", "'plain", "plain", "a=b", "-", "–x",
)  # fmt: skip


def test_a_text_that_a_spreadsheet_would_compute_is_quoted_and_read_back(tmp_path: Path) -> None:
    rows = tuple(
        Judgment(
            group=f"g{n}",
            debate=f"d{n}",
            pro=text,
            con="x",
            judge=text,
            winner="tie",
            margin=-0.5,
            motion="m",
        )
        for n, text in enumerate(HOSTILE_CELLS)
    )
    for path in (tmp_path / "rows.csv", tmp_path / "table.csv"):
        if path.name == "rows.csv":
            path.write_text(write_csv(rows), "utf-8", newline="")
        else:
            write_table(path, Judgment, rows)
        with path.open(encoding="utf-8", newline="") as file:
            cells = list(csv.DictReader(file))
        assert not [row["pro"] for row in cells if row["pro"][0] in "=+-@\t\r"]
        assert {row["margin"] for row in cells} == {"-0.5"}
        assert [row["pro"] for row in cells if row["pro"] in ("plain", "'plain", "a=b", "–x")] != []
        assert read_judgments(path) == rows
    assert tuple(read_table(tmp_path / "table.csv", Judgment)) == rows


def test_rankings_are_the_same_after_a_file(tmp_path: Path) -> None:
    rankings = rankings_from_debate(fold(log_of("british-parliamentary")))
    (tmp_path / "rows.jsonl").write_text(write_jsonl(rankings), "utf-8")
    assert read_rankings(tmp_path / "rows.jsonl") == rankings


def test_columns_of_other_arenas_are_understood() -> None:
    row = judgment_from_row({"question_id": 7, "model_a": "x", "model_b": "y", "winner": "tie (bothbad)"})
    assert (row.motion, row.pro, row.con, row.winner) == ("7", "x", "y", "tie")
    assert judgment_from_row({"pro": "x", "con": "y", "winner": "y"}).winner == "con"
    swapped = judgment_from_row({"question_id": 7, "model_a": "y", "model_b": "x", "winner": "model_a"})
    assert swapped.group == row.group
    assert swapped.debate != row.debate


def test_a_wrong_row_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        '{"pro": "x", "con": "y", "winner": "pro"}\n{"pro": "x", "con": "y", "winner": "z"}\n', "utf-8"
    )
    with pytest.raises(Invalid, match=r"row 2: the winner 'z'"):
        read_judgments(file)
    file.write_text("{no json\n", "utf-8")
    with pytest.raises(Invalid, match="line 1 is not JSON"):
        read_judgments(file)
    with pytest.raises(Invalid, match="cannot be read"):
        read_judgments(tmp_path / "absent.csv")


def test_a_data_frame_gives_what_its_rows_give() -> None:
    models = strengths(3)
    rows = rows_of(simulate(world(models), round_robin_units(models, 4)))
    frame = pandas.read_csv(__import__("io").StringIO(write_csv(rows)))
    assert rate_models(frame) == rate_models(rows)
    board = pandas.DataFrame(rate_models(frame).rows())
    assert {"model", "rating", "low", "high", "best_rank"} <= set(board.columns)


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(Invalid, match="Row 1 is a int"):
        as_table([1])
    with pytest.raises(Invalid, match="Judgments are rows"):
        as_table("rows.csv")


def test_the_rows_load_no_heavy_module() -> None:
    script = "import sys, moot.experiments as e; e.Judgment, e.read_judgments; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    assert not {"numpy", "pandas", "evalica", "asyncio"} & set(loaded)


@needs_public_judgments
def test_published_judgments_are_read() -> None:
    rows = public_judgments()
    assert len(rows) == 3608
    assert sum(row.eligible for row in rows) == 3544
    table = as_table(rows)
    assert (len(table.models), len(table.judges), len(table.groups)) == (31, 6, 796)
    assert all(isinstance(row, Judgment) and (row.margin or 0) > 0 for row in rows if row.winner == "pro")
