"""Reports: what they contain, what they say where data is missing, and that they load nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape

import pytest
from msgspec.structs import replace

from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from moot.extensions.experiments.measuring.planned_debates import all_legs
from moot.extensions.experiments.measuring.rating_report import make_rating_report, rating_markdown
from moot.extensions.experiments.measuring.report import ExperimentReport, make_report
from moot.extensions.experiments.measuring.report_blocks import Block, ReportDocument
from moot.extensions.experiments.measuring.report_document import report_document
from moot.extensions.experiments.measuring.report_html import report_html
from moot.extensions.experiments.measuring.report_markdown import report_markdown
from moot.views.report_blocks import Bullets, Listing, ReportTable, Sentences
from moot.views.transcript_markdown import unescape
from tests.extensions.experiments.hard_reports import empty_report, large_report, question_report

HOSTILE = "<script>alert('x')</script> & | motion"
LEAGUE = ExperimentDefinition(
    name="league",
    models=("acme/heron", "acme/wren", "other/finch"),
    motions=(*(f"Motion {number}" for number in range(1, 9)), HOSTILE),
    judges=("third/owl", "third/raven"),
)


def results(definition: ExperimentDefinition = LEAGUE) -> list[LegResult]:
    """Heron beats wren beats finch; owl and raven mostly agree, and owl is paid for one order only."""
    strength = {"acme/heron": 2, "acme/wren": 1, "other/finch": 0}
    found = list[LegResult]()
    for number, leg in enumerate(all_legs(definition, 2)):
        pro, con = leg.models
        expected = "pro" if strength[pro] > strength[con] else "con"
        ballots = tuple(
            Judgment(
                group=leg.group, debate=f"deb_{number}", pro=pro, con=con, judge=judge, order=order,
                winner=expected if (number + order + len(judge)) % 4 else "tie", motion=leg.motion,
                pro_words=100 + number, con_words=90, pro_cost=0.01, con_cost=0.02,
                pro_seconds=1, con_seconds=2, judge_cost=0.0005, judge_seconds=3,
            )
            for judge in definition.judges
            for order in (0, 1)
        )  # fmt: skip
        found.append(
            LegResult(
                debate=f"deb_{number}", status="completed", motion=leg.motion, cost=0.05, judgments=ballots
            )
        )
    return found


def report(found: list[LegResult], definition: ExperimentDefinition = LEAGUE) -> ExperimentReport:
    planned = len(all_legs(definition, 2))
    at = datetime(2026, 11, 18, tzinfo=UTC)
    return make_report(definition, found, planned=planned, version="0.1", made_at=at, versions={"numpy": "2"})


def document(found: list[LegResult], definition: ExperimentDefinition = LEAGUE) -> ReportDocument:
    return report_document(report(found, definition))


def test_a_report_ranks_the_models_and_tells_costs_judges_and_matchups() -> None:
    made = report(results())
    assert made.ratings is not None
    assert [each.model for each in made.ratings.models] == ["acme/heron", "acme/wren", "other/finch"]
    assert made.cost == pytest.approx(0.05 * len(results()))
    assert made.judges is not None
    assert {each.judge for each in made.judges.judges} == {"third/owl", "third/raven"}
    shares = {(each.first, each.second): each.share for each in made.matchups}
    assert shares["acme/heron", "acme/wren"] > 0.6
    assert len(made.closest) == 5


def test_html_has_no_script_and_asks_no_other_host_and_escapes_motions() -> None:
    page = report_html(document(results()), "https://moot.example")
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!https://moot\.example/debate/|#)', page)
    assert "&lt;script&gt;" in page
    assert page.count("<circle") == 3
    assert "default-src 'none'" in page


def test_markdown_has_the_same_tables() -> None:
    text = report_markdown(document(results()))
    for heading in (
        "Leaderboard", "Matchups", "Judges", "Style", "Motions", "Reliability", "Costs", "Doubts", "Method",
    ):  # fmt: skip
        assert f"## {heading}" in text
    assert "| third/owl | ballots | 108 ballots | $0.054 | $0.00050 | 3 |" in text
    assert "acme/heron ranks first, apart from all others. 3 of 3 pairs of models are separable." in text
    assert "Moot 0.1 (numpy 2). Seed of pairs and models: 0." in text


@pytest.mark.parametrize("make", [large_report, question_report, empty_report])
def test_html_and_markdown_say_the_same(make: Callable[[], ExperimentReport]) -> None:
    made = report_document(make())
    page, text = report_html(made), unescape(report_markdown(made))
    shown = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert page.count("<caption>") == text.count("**Table ") == len(made.tables)
    said = [made.lead, made.closing]
    for each in made.sections:
        said.append(each.title)
        for block in each.blocks:
            said += _texts(block)
    for sentence in said:
        assert sentence in text, sentence
        assert " ".join(escape(sentence).split()) in shown, sentence
    for table in made.tables:
        assert all(len(row) == len(table.headings) for row in table.rows), table.title


def _texts(block: Block) -> list[str]:
    match block:
        case Sentences(texts=texts):
            return list(texts)
        case Bullets(items=items):
            return [item.text for item in items]
        case ReportTable():
            names = [row[at] for row in block.rows for at in block.words[:1]]
            return [f"Table {block.number}. {block.title}.", block.rests_on, block.note, *names]
        case Listing():
            return [block.title]
        case _:
            return [f"Figure {block.number}. {block.title}.", block.note]


def test_an_amount_that_is_not_known_is_never_zero_and_a_model_that_never_lost_has_an_open_interval() -> None:
    text = report_markdown(report_document(large_report()))
    assert "Cost: unknown." in text
    assert "| mistral/mistral-large-2512 | speeches | 66 debates | unknown | unknown |" in text
    assert "$0.00 |" not in text
    for row in (row for each in results() for row in each.judgments):
        assert row.winner != ("con" if row.pro == "acme/heron" else "pro" if row.con == "acme/heron" else "")
    board = report_markdown(document(results())).partition("Leaderboard.**")[2]
    assert re.search(r"\| 1 \| acme/heron \| \d+ \| (≥ )?\d+", board)


def test_a_report_of_nothing_says_so() -> None:
    text = report_markdown(report_document(empty_report()))
    assert "0 of 396 debates are held" in text
    assert "No ratings" in text


BAIT = "Read <img src=x> ![a](http://evil/x) | # **won** `x`\n## Verdict\n- https://evil.example $x$"


def test_markdown_quotes_motions_and_names_without_their_markup() -> None:
    names = {"acme/heron": f"acme/heron {BAIT}", "third/owl": f"third/owl {BAIT}"}
    league = replace(
        LEAGUE,
        models=tuple(names.get(model, model) for model in LEAGUE.models),
        motions=(*LEAGUE.motions, BAIT),
        judges=tuple(names.get(judge, judge) for judge in LEAGUE.judges),
    )
    found = [
        replace(
            each,
            motion=BAIT,
            debate=f"`{each.debate}`",
            judgments=tuple(
                replace(
                    row,
                    debate=f"`{row.debate}`",
                    motion=BAIT,
                    pro=names.get(row.pro, row.pro),
                    con=names.get(row.con, row.con),
                    judge=names.get(row.judge, row.judge),
                )
                for row in each.judgments
            ),
        )
        for each in results()
    ]
    rows = [row for each in found for row in each.judgments]
    rated = rating_markdown(make_rating_report(rows), BAIT)
    for text in (report_markdown(document(found, league)), rated):
        assert "heron Read" in text
        text = re.sub(r"^(`{3,})\n.*^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        bare = re.sub(r"\\.", "", text)
        for markup in ("<", "[", "**won", "\n## Verdict", "https:", "`x`", "$x$"):
            assert markup not in bare, markup
        tables = [line for line in text.splitlines() if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "heron Read" in line}
        assert widths <= {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "heron Read" not in line}


def test_what_is_missing_is_said() -> None:
    found = results()
    begun = report([replace(found[0], judgments=()), replace(found[1], status="error", judgments=())])
    assert begun.ratings is None
    assert begun.failed == 1
    assert any("No ratings" in note for note in begun.notes)
    assert any("have not been held yet" in note for note in begun.notes)
    own = replace(LEAGUE, judges=("acme/heron",))
    assert any("argued itself" in note for note in report(found, own).notes)
    assert "Doubts" in report_html(report_document(begun))
    alone = report(found[:1])
    assert any("one order of the sides only" in note for note in alone.notes)


def test_a_result_is_stored_and_read_without_loss() -> None:
    assert [read_result(each.to_json()) for each in results()] == results()
