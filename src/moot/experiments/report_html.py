"""A report as one HTML file without scripts and without a request to anywhere: it can be published as it is.

The leaderboard is drawn as dots with their intervals, the matchups as a matrix of win shares. Every text from
outside (names, motions) is escaped. `server` is the address to which debates are linked, where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.resources import files

import msgspec

from moot.experiments.belief_measures import BeliefMeasures
from moot.experiments.leaderboard import ModelRating
from moot.experiments.people_agreement import PeopleAgreement
from moot.experiments.ratings import Ratings
from moot.experiments.reliability_curve import reliability_curves
from moot.experiments.report import ExperimentReport, ShownDebate
from moot.experiments.report_beliefs import (
    BELIEF_HEADS,
    PEOPLE_HEADS,
    belief_sentences,
    belief_table,
    people_sentence,
    people_table,
    turning_text,
)
from moot.experiments.report_markdown import PROTOCOL_FIGURES, motion_text
from moot.experiments.report_summary import findings, made_with, method
from moot.experiments.report_text import cost_text, estimate_text, interval_text, number, percent
from moot.experiments.truth_report import TruthReport, truth_tables
from moot.views.text import plural

MAX_MATRIX = 20
"""With more models the matrix would not be readable; the table of matchups is in the Markdown report."""


def report_html(report: ExperimentReport, server: str = "") -> str:
    definition = report.definition
    style = files("moot.experiments").joinpath("report.css").read_text("utf-8")
    sections = [
        _section("Protocols", _truth(report.truth)) if report.truth else "",
        _section("Leaderboard", _leaderboard(report.ratings)) if report.ratings else "",
        _section("Matchups", _matrix(report)) if report.matchups else "",
        _section("Judges", _judges(report)) if report.judges else "",
        _section("Style", _style(report.ratings, report.style_controlled))
        if report.ratings and report.style_controlled
        else "",
        _section("Motions", _motions(report)) if report.motions else "",
        _section("Judges and people", _people(report.people)) if report.people else "",
        _section("Private beliefs", _beliefs(report.beliefs, server)) if report.beliefs else "",
        _section("Reliability and cost", _reliability(report)) if report.reliability else "",
        _section("Debates to read", _debates(report, server)) if report.closest else "",
        _section("Doubts", _list(report.notes or ("None that the data shows.",))),
        _section("Method", f"<p>{escape(method(report))}</p>{_definition(report)}"),
    ]
    title = f"{definition.name}: {plural(len(definition.models), 'model')} in debate"
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title><style>{style}</style></head>
<body><main>
<header><p class="over">Debate experiment</p><h1>{escape(definition.name)}</h1>
<p class="lead">{_lead(report)}</p>{_short_answer(report)}</header>
{"".join(sections)}
<footer>{escape(made_with(report))}</footer>
</main></body></html>
"""


def _lead(report: ExperimentReport) -> str:
    definition = report.definition
    failed = f", {report.failed:,} failed" if report.failed else ""
    if report.truth is not None:
        return (
            f"{plural(len(definition.models), 'model')} argued about "
            f"{plural(len(definition.questions), 'question')} whose answers are known, before "
            f"{plural(len(definition.judges), 'judge')}. {report.held:,} of {report.planned:,} debates are "
            f"held{failed}; {cost_text(report.cost)}."
        )
    return (
        f"{len(definition.models)} models argued {len(definition.motions)} motions in the format "
        f"{escape(definition.format)}, each pair with the sides swapped. {report.held:,} of "
        f"{report.planned:,} debates are held{failed}; {cost_text(report.cost)}."
    )


def _short_answer(report: ExperimentReport) -> str:
    found = findings(report)
    return f'<div class="findings">{_list(found)}</div>' if found else ""


def _truth(truth: TruthReport) -> str:
    tables = [
        (f"<h3>{escape(table.title)}</h3>" if index else "")
        + _table(table.headings, [[escape(cell) for cell in row] for row in table.rows], text=(0,))
        for index, table in enumerate(truth_tables(truth))
    ]
    return (
        f"{tables[0]}<p>{escape(PROTOCOL_FIGURES)}</p>{reliability_curves(truth)}"
        "<p>Each panel shows how often answers of about the same confidence were right. On the dashed line "
        "confidence and accuracy are equal; below it a judge is too sure. The size of a dot shows how many "
        f"answers it stands for.</p>{''.join(tables[1:])}"
    )


def _section(title: str, body: str) -> str:
    return (
        f'<section><h2 id="{escape(title.lower().replace(" ", "-"))}">{escape(title)}</h2>{body}</section>\n'
    )


def _leaderboard(ratings: Ratings) -> str:
    rows = [
        (
            f"{each.rank}",
            escape(each.model),
            f"{each.rating:.0f}",
            interval_text(each.low, each.high),
            f"{each.best_rank}"
            if each.best_rank == each.worst_rank
            else f"{each.best_rank} to {each.worst_rank}",
            percent(each.win_share),
            f"{each.debates:,}",
        )
        for each in ratings.models
    ]
    side = ratings.effect("side")
    advantage = (
        f"<p>Advantage of arguing for the motion: {estimate_text(side)} in log-odds"
        f"{'' if side.clear else ', which could be zero'}.</p>"
        if side is not None and side.value is not None
        else ""
    )
    pairs = len(ratings.differences)
    told_apart = sum(each.separable for each in ratings.differences)
    return (
        _chart(ratings)
        + _table(
            ("rank", "model", "rating", "95 % interval", "rank range", "win share", "debates"),
            rows,
            text=(1,),
        )
        + f"<p>{told_apart:,} of {pairs:,} pairs of models are separable by this data.</p>{advantage}"
    )


def _chart(ratings: Ratings) -> str:
    """A dot for each rating with a line for its interval; an open end has no cap. Places are in per cent, so
    that the text keeps its size on a narrow screen."""
    models = ratings.models
    ends = [value for each in models for value in (each.rating, each.low, each.high) if value is not None]
    low, high = min(ends) - 20, max(ends) + 20

    def x(value: float) -> str:
        return f"{3 + 94 * (value - low) / (high - low):.1f}%"

    mean = f'<line class="mean" x1="{x(1500)}" x2="{x(1500)}" y1="0" y2="100%"/>' if low < 1500 < high else ""
    lines = "".join(_chart_line(each, x, (low, high), mean) for each in models)
    step = 50 if high - low < 300 else 100 if high - low < 1200 else 500
    ticks = "".join(
        f'<text x="{x(value)}" y="14" text-anchor="middle">{value}</text>'
        for value in range(int(low // step + 1) * step, int(high) + 1, step)
    )
    label = "Ratings with their 95 % intervals: " + ", ".join(
        f"{each.model} {each.rating:.0f}" for each in models
    )
    return (
        f'<div class="chart" role="img" aria-label="{escape(label)}">{lines}'
        f'<div class="line axis"><span></span><svg height="18">{ticks}</svg></div></div>'
    )


def _chart_line(each: ModelRating, x: Callable[[float], str], ends: tuple[float, float], mean: str) -> str:
    left, right = ends[0] if each.low is None else each.low, ends[1] if each.high is None else each.high
    caps = "".join(
        f'<line class="bar" x1="{x(at)}" x2="{x(at)}" y1="8" y2="18"/>'
        for at, known in ((left, each.low), (right, each.high))
        if known is not None
    )
    return (
        f'<div class="line"><span>{escape(each.model)}</span><svg height="26">{mean}'
        f'<line class="bar" x1="{x(left)}" x2="{x(right)}" y1="13" y2="13"/>{caps}'
        f'<circle cx="{x(each.rating)}" cy="13" r="5"/></svg></div>'
    )


def _matrix(report: ExperimentReport) -> str:
    models = (
        [each.model for each in report.ratings.models] if report.ratings else sorted(report.definition.models)
    )
    if len(models) > MAX_MATRIX:
        return f"<p>There are too many models for a matrix: {len(models)}.</p>"
    shares = dict[tuple[str, str], tuple[float, int]]()
    for each in report.matchups:
        shares[each.first, each.second] = each.share, each.debates
        shares[each.second, each.first] = 1 - each.share, each.debates
    head = "".join(f'<th scope="col"><span>{escape(_short(model))}</span></th>' for model in models)
    body = "".join(
        f'<tr><th scope="row">{escape(_short(row))}</th>'
        + "".join(
            _cell(shares.get((row, column))) if row != column else '<td class="self"></td>'
            for column in models
        )
        + "</tr>"
        for row in models
    )
    return (
        "<p>How often the model of the row won against that of the column; a tie counts half.</p>"
        '<div class="wide"><table class="matrix">'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(found: tuple[float, int] | None) -> str:
    if found is None:
        return '<td class="none">–</td>'
    share, debates = found
    level = round(share * 10)
    return f'<td class="share s{level}" title="{debates} debates">{100 * share:.0f}</td>'


def _judges(report: ExperimentReport) -> str:
    judges = report.judges
    if judges is None:
        return ""
    agreement = judges.agreement
    agreed = (
        f"<p>Two judges of a debate name the same result in {estimate_text(agreement.raw, share=True)} "
        f"of {agreement.debates:,} debates; Krippendorff's alpha is {estimate_text(agreement.alpha)} "
        "(1: always the same, 0: as by chance).</p>"
        if agreement.debates
        else "<p>Only one judge decided each debate, so agreement cannot be measured.</p>"
    )
    rows = [
        (
            escape(each.judge),
            f"{each.judgments:,}",
            f"{each.undecided:,}",
            estimate_text(each.flips, share=True),
            estimate_text(each.pro_share, share=True),
            estimate_text(each.side),
            estimate_text(each.length),
            estimate_text(each.family),
        )
        for each in judges.judges
    ]
    head = (
        "judge", "ballots", "unreadable", "changed in the second reading", "for the motion", "side bias",
        "length bias", "own family",
    )  # fmt: skip
    shifts = sorted(report.without_judge, key=lambda each: -abs(each.rating - each.rating_without))[:5]
    moved = _list(
        f"Without {each.without}, {each.model} has {each.rating_without:.0f} instead of {each.rating:.0f}."
        for each in shifts
    )
    return (
        agreed
        + _table(head, rows, text=(0,))
        + "<p>Biases are in log-odds, with 95 % intervals; – means that the data does not show it.</p>"
        + _table(
            ("judge", "ballots", "cost", "seconds a ballot"),
            [
                (escape(each.judge), f"{each.ballots:,}", cost_text(each.cost), number(each.seconds))
                for each in report.judge_costs
            ],
            text=(0,),
        )
        + (f"<h3>What ratings owe to single judges</h3>{moved}" if shifts else "")
    )


def _people(found: PeopleAgreement) -> str:
    rows = [tuple(map(escape, row)) for row in people_table(found)]
    return f"<p>{escape(people_sentence(found))}</p>" + _table(PEOPLE_HEADS, rows, text=(0,))


def _beliefs(measures: BeliefMeasures, server: str) -> str:
    rows = [tuple(map(escape, row)) for row in belief_table(measures)]
    turns = "".join(
        f"<li>{escape(turning_text(each))} "
        + (
            f'<a href="{escape(server)}/debate/{each.debate}#turn-{each.turn}">read it</a></li>'
            if server
            else f"<code>{each.debate}</code></li>"
        )
        for each in measures.turning
    )
    return (
        "".join(f"<p>{escape(sentence)}</p>" for sentence in belief_sentences(measures))
        + _table(BELIEF_HEADS, rows, text=(0,))
        + (f"<h3>Turning points</h3><ul>{turns}</ul>" if turns else "")
    )


def _style(plain: Ratings, controlled: Ratings) -> str:
    before = {each.model: each for each in plain.models}
    rows = [
        (
            escape(each.model),
            f"{before[each.model].rating:.0f}",
            f"{each.rating:.0f}",
            interval_text(each.low, each.high),
        )
        for each in controlled.models
        if each.model in before
    ]
    effects = _list(
        f"{escape(each.name)}: {estimate_text(each)}{'' if each.clear else ' (could be zero)'}"
        for each in controlled.effects
    )
    return (
        "<p>The same ratings with length, markup, order and last word taken out, as far as the data shows "
        "them.</p>"
        + _table(("model", "rating", "style-controlled", "95 % interval"), rows, text=(0,))
        + f"<p>Effects in log-odds:</p>{effects}"
    )


def _motions(report: ExperimentReport) -> str:
    rows = [(escape(each.motion), f"{each.debates:,}", motion_text(each)) for each in report.motions]
    return (
        "<p>How often the side for a motion won, over all models and with the sides swapped. A motion that "
        "one side nearly always wins tells little about the models.</p>"
        + _table(("motion", "debates", "won by the side for it"), rows, text=(0,))
    )


def _reliability(report: ExperimentReport) -> str:
    rows = [
        (
            escape(each.model),
            f"{each.debates:,}",
            percent(each.issue_share),
            f"{each.refusals:,}",
            f"{each.blanks:,}",
            f"{each.wrong_sides:,}",
            f"{each.timeouts:,}",
            number(each.words),
            number(each.seconds),
            cost_text(each.cost),
            number(each.wins_per_dollar),
        )
        for each in report.reliability
    ]
    head = (
        "model", "debates", "with issues", "refusals", "blank", "wrong side", "timeouts", "words", "seconds",
        "cost", "wins per $",
    )  # fmt: skip
    failures = _list(f"{each.motion}: {each.headline}" for each in report.failures)
    return (
        "<p>Counted apart from strength. Words, seconds and cost are those of one debate.</p>"
        + _table(head, rows, text=(0,))
        + (f"<h3>Debates that failed</h3>{failures}" if report.failures else "")
    )


def _debates(report: ExperimentReport, server: str) -> str:
    def items(debates: Sequence[ShownDebate]) -> str:
        return "<ul>" + "".join(f"<li>{_debate(each, server)}</li>" for each in debates) + "</ul>"

    return f"<h3>Closest</h3>{items(report.closest)}<h3>Clearest</h3>{items(report.clearest)}"


def _debate(shown: ShownDebate, server: str) -> str:
    motion = escape(shown.motion)
    linked = f'<a href="{escape(server)}/debate/{shown.debate}/replay">{motion}</a>' if server else motion
    return (
        f"{linked}: {escape(_short(shown.pro))} for, {escape(_short(shown.con))} against; "
        f"{percent(shown.share)} of the ballots for the motion <code>{shown.debate}</code>"
    )


def _definition(report: ExperimentReport) -> str:
    written = msgspec.json.format(report.definition.to_json(), indent=2)
    return f"<details><summary>The experiment as it was run</summary><pre>{escape(written)}</pre></details>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int] = ()) -> str:
    heads = "".join(
        f'<th scope="col"{_left(index, text)}>{escape(name)}</th>' for index, name in enumerate(head)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{_left(index, text)}>{cell}</td>" for index, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _left(index: int, text: Sequence[int]) -> str:
    return ' class="text"' if index in text else ""


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _short(model: str) -> str:
    return model.partition("/")[2] or model
