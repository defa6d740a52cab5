"""Judgments in files: JSON lines, CSV and Parquet, our own and those that other arenas publish.

Columns are the fields of `Judgment`. Other names are understood too: `topic`, `question_id` (motion),
`model_a`, `model_b` (pro and con), `margin_pro` (margin), `rating_eligible` (eligible), `debate_id`, `voter`
(judge). `winner` is `pro`, `con`, `tie` or `none`, or the name of the model that won. A row without a group
belongs to the group of its motion and its two models.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.judgments import (
    Judgment,
    JudgmentWinner,
    Ranking,
    group_name,
    with_own_marked,
)
from moot.extensions.experiments.measuring.table_files import CsvRows, read_mappings

ALIASES = {
    "topic": "motion",
    "question": "motion",
    "question_id": "motion",
    "model_a": "pro",
    "model_b": "con",
    "debate_id": "debate",
    "margin_pro": "margin",
    "rating_eligible": "eligible",
    "voter": "judge",
}
WINNERS: dict[str, JudgmentWinner] = {
    "pro": "pro", "for": "pro", "model_a": "pro", "a": "pro",
    "con": "con", "against": "con", "model_b": "con", "b": "con",
    "tie": "tie", "draw": "tie", "too-close": "tie", "tie (bothbad)": "tie", "both_bad": "tie",
    "none": "none", "": "none",
}  # fmt: skip
MISSING = ("", "null", "None", "nan", "NaN")
FIELDS = Judgment.__struct_fields__
Row = Mapping[str, Any]
"""A row as it comes from JSON, CSV or a DataFrame."""


def read_judgments(file: Path | str) -> tuple[Judgment, ...]:
    """Read the judgments of a `.jsonl`, `.json`, `.csv` or `.parquet` file; raises `Invalid` with the line
    that is wrong.

    >>> read_judgments("votes.csv")  # doctest: +SKIP
    """
    rows = list(read_mappings(Path(file)))
    return tuple(judgment_from_row(row, f"{file}, row {number}") for number, row in enumerate(rows, 1))


def read_rankings(file: Path | str) -> tuple[Ranking, ...]:
    """Read rankings of several teams from a `.jsonl` or `.json` file, one object with the fields of `Ranking`
    for each."""
    rows: list[Ranking] = []
    for number, row in enumerate(read_mappings(Path(file)), 1):
        try:
            rows.append(msgspec.convert(row, Ranking))
        except msgspec.ValidationError as error:
            raise Invalid(f"{file}, row {number}: {error}.") from error
    return tuple(rows)


def judgment_from_row(row: Row, place: str = "A row") -> Judgment:
    """A judgment from a mapping of names to values; `place` begins the message of `Invalid`."""
    known = {ALIASES.get(name, name): value for name, value in row.items() if not _is_missing(value)}
    values = {name: value for name, value in known.items() if name in FIELDS}
    for name in ("pro", "con"):
        if name not in values:
            raise Invalid(f"{place} has no {name!r}: the models of both sides are needed.")
    values["winner"] = _winner(values, place)
    values["pro"], values["con"] = str(values["pro"]), str(values["con"])
    motion = values["motion"] = str(values.get("motion", ""))
    values.setdefault("judge", "")
    values.setdefault(
        "group", group_name(motion, str(values.get("format", "")), (values["pro"], values["con"]))
    )
    values.setdefault("debate", f"{values['group']} | {values['pro']} for")
    for name in ("pro_issues", "con_issues"):
        if isinstance(values.get(name), str):
            values[name] = tuple(values[name].split())
    try:
        read = msgspec.convert(values, Judgment, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        raise Invalid(f"{place}: {error}.") from error
    return read if "own" in values else with_own_marked(read)


def write_jsonl(rows: Iterable[Judgment | Ranking]) -> str:
    """The rows as JSON lines, which `read_judgments` and `read_rankings` read."""
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)


def write_csv(rows: Iterable[Judgment]) -> str:
    """The rows as CSV with a heading; issues are separated by spaces, unknown amounts are empty."""
    written = io.StringIO()
    table = CsvRows(written, Judgment)
    for row in rows:
        table.add(row)
    return written.getvalue()


def _winner(values: Mapping[str, Any], place: str) -> JudgmentWinner:
    named = str(values.get("winner", ""))
    if named == values["pro"] != values["con"]:
        return "pro"
    if named == values["con"] != values["pro"]:
        return "con"
    winner = WINNERS.get(named.lower())
    if winner is None:
        raise Invalid(
            f"{place}: the winner {named!r} is neither pro, con, tie, none nor one of the two models."
        )
    return winner


def _is_missing(value: Any) -> bool:
    # A value that is not equal to itself is how a DataFrame says that there is none.
    return value is None or value != value or (isinstance(value, str) and value in MISSING)
