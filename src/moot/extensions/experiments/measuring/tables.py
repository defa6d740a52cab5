"""Judgments as columns, which the computing modules read: no later step looks at single rows.

Names of models, judges, groups, debates, motions and formats become numbers, decisions become scores from the
view of `pro` (1 won, 0.5 tied, 0 lost, NaN not decided). Debates that are the same word for word are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, cast, runtime_checkable

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.judgment_files import judgment_from_row
from moot.extensions.experiments.measuring.judgments import SCORES, Judgment, counted_as
from moot.judging.neutral_labels import label_place

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Booleans = NDArray[np.bool_]
SCORES_OR_NAN = {**SCORES, "none": np.nan}


@runtime_checkable
class DataFrameLike(Protocol):
    """What is used of a DataFrame of pandas or a compatible library."""

    def to_dict(self, orient: Any) -> Any: ...


class JudgmentTable(Struct, frozen=True, kw_only=True, eq=False):
    """Columns of equal length; `models[pro[0]]` is the model that argued for the motion in the first row."""

    models: tuple[str, ...]
    judges: tuple[str, ...]
    groups: tuple[str, ...]
    debates: tuple[str, ...]
    motions: tuple[str, ...]
    formats: tuple[str, ...]
    pro: Integers
    con: Integers
    judge: Integers
    group: Integers
    debate: Integers
    motion: Integers
    format: Integers
    score: Floats
    order: Integers
    """0: `pro` was shown first, 1: `con` was, -1: not known."""
    read_first: Integers
    """1: the judge read a speech of `pro` first, -1: one of `con`, 0: not known."""
    label: Integers
    """1: `pro` had the label that is listed first, -1: `con` had, 0: not known."""
    address: Integers
    """1: only `pro` addressed the judge, -1: only `con` did, 0: both, neither, or not known."""
    last_word: Integers
    """1: `pro` spoke last, -1: `con` did, 0: neither or not known."""
    length: Floats
    """The logarithm (base 2) of the words of `pro` over those of `con`; NaN where not known."""
    markup: Floats
    """The same of lists, headings and bold words, each counted with one more."""
    eligible: Booleans
    own: Booleans
    """Whether it is a ballot of the debate's own panel, and not of a later judging."""

    def __len__(self) -> int:
        return len(self.pro)

    @property
    def decided(self) -> Booleans:
        return ~np.isnan(self.score)

    @property
    def named_motions(self) -> bool:
        """Whether every row names its motion."""
        return bool(len(self)) and "" not in {self.motions[int(code)] for code in np.unique(self.motion)}

    def units(self, by: Literal["motion", "group"] = "motion") -> Integers:
        """What the rows are left out by for intervals: the motion; the group where no motion is named."""
        if by == "group":
            return self.group
        unnamed = np.array([not name for name in self.motions], bool)[self.motion]
        return np.where(unnamed, len(self.motions) + self.group, self.motion)

    def cluster_of_debates(self) -> Integers:
        """What the rows of each debate are left out by."""
        cluster = np.zeros(len(self.debates), np.intp)
        cluster[self.debate] = self.units()
        return cluster

    def of_panel(self) -> JudgmentTable:
        """The ballots of the debates' own panels; all where there are none. Those of other panels are rated
        by themselves, never pooled."""
        return self.where(self.own) if self.own.any() else self

    def where(self, rows: Booleans) -> JudgmentTable:
        """The rows for which the mask is true; the names stay as they are."""
        columns = {
            name: cast("NDArray[Any]", value)[rows]
            for name in self.__struct_fields__
            if isinstance(value := getattr(self, name), np.ndarray)
        }
        return replace(self, **columns)


def as_table(data: object) -> JudgmentTable:
    """The table of rows, mappings or a DataFrame; a table is returned as it is. Raises `Invalid`."""
    if isinstance(data, JudgmentTable):
        return data
    if isinstance(data, DataFrameLike):
        data = data.to_dict("records")
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | Mapping):
        raise Invalid("Judgments are rows, mappings, a DataFrame or a JudgmentTable.")
    rows = [_judgment(row, number) for number, row in enumerate(cast("Iterable[object]", data), 1)]
    return _from_rows(rows)


def _judgment(row: object, number: int) -> Judgment:
    if isinstance(row, Judgment):
        return row
    if isinstance(row, Mapping):
        return judgment_from_row(cast("Mapping[str, Any]", row), f"Row {number}")
    raise Invalid(f"Row {number} is a {type(row).__name__}, not a judgment.")


def _from_rows(rows: list[Judgment]) -> JudgmentTable:
    models, sides = coded([name for row in rows for name in (row.pro, row.con)])
    judges, judge = coded([row.judge for row in rows])
    groups, group = coded([row.group for row in rows])
    debates, debate = coded([counted_as(row) for row in rows])
    motions, motion = coded([row.motion for row in rows])
    formats, format = coded([row.format for row in rows])
    return JudgmentTable(
        models=models, judges=judges, groups=groups, debates=debates, motions=motions, formats=formats,
        pro=sides[0::2], con=sides[1::2], judge=judge, group=group, debate=debate, motion=motion,
        format=format,
        score=np.array([SCORES_OR_NAN[row.winner] for row in rows], float),
        order=np.array([-1 if row.order is None else row.order % 2 for row in rows], np.intp),
        read_first=np.array([_sign(row.read_first) for row in rows], np.intp),
        label=np.array([_first_label(row) for row in rows], np.intp),
        address=np.array([bool(row.pro_addresses) - bool(row.con_addresses) for row in rows], np.intp),
        last_word=np.array([_sign(row.last_word) for row in rows], np.intp),
        length=_log_ratio(rows, lambda row: (row.pro_words, row.con_words)),
        markup=_log_ratio(rows, _markup_plus_one),
        eligible=np.array([row.eligible for row in rows], bool),
        own=np.array([row.own for row in rows], bool),
    )  # fmt: skip


def coded(names: Iterable[str]) -> tuple[tuple[str, ...], Integers]:
    """The distinct names in the order in which they come, and the index of each."""
    known: dict[str, int] = {}
    codes = [known.setdefault(name, len(known)) for name in names]
    return tuple(known), np.array(codes, np.intp)


def _sign(side: str | None) -> int:
    return 0 if side is None else 1 if side == "pro" else -1


def _first_label(row: Judgment) -> int:
    if not row.pro_label or not row.con_label:
        return 0
    return 1 if label_place(row.pro_label) < label_place(row.con_label) else -1


def _markup_plus_one(row: Judgment) -> tuple[int | None, int | None]:
    if row.pro_markup is None or row.con_markup is None:
        return None, None
    return row.pro_markup + 1, row.con_markup + 1


def _log_ratio(rows: list[Judgment], counts: Callable[[Judgment], tuple[int | None, int | None]]) -> Floats:
    pairs = np.array([[count or np.nan for count in counts(row)] for row in rows], float).reshape(-1, 2)
    return np.log2(pairs[:, 0]) - np.log2(pairs[:, 1])
