"""What may shift a decision beside the strength of the two models: side, label, place, length, family.

Each becomes a column of the fit that is positive where it favours `pro`. `side:judge` gives every judge its
own column. Values that are not known are 0, which favours neither side. Columns that cannot be told apart
from the models or from an earlier column are left out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import Model
from moot.extensions.experiments.measuring.judge_identity import model_of
from moot.extensions.experiments.measuring.tables import Booleans, Floats, Integers, JudgmentTable
from moot.judging.recusal import maker

CovariateName = Literal[
    "side", "last_word", "order", "primacy", "label", "length", "markup", "family", "self", "address"
]  # fmt: skip
COVARIATE_TEXTS: dict[str, str] = {
    "side": "arguing for the motion",
    "last_word": "speaking last",
    "order": "being shown first to the judge: by label, or by speeches where it reads by side",
    "primacy": "being read first by the judge",
    "label": "having the label that is listed first",
    "length": "twice as many words as the opponent",
    "markup": "twice as many lists, headings and bold words",
    "family": "being made by the maker of the judge",
    "self": "being the model that judges",
    "address": "addressing the judge, where the opponent does not",
}
SPLITS = ("judge", "format")
CONSTANT = "does not vary"
STEP = 0.05
"""Lengths are rounded to this part of a doubling, so that equal rows can be counted together."""


class Covariates(Struct, frozen=True, eq=False):
    names: tuple[str, ...]
    columns: Floats
    """Rows by covariates."""
    notes: tuple[str, ...] = ()


def covariates(table: JudgmentTable, names: Sequence[str]) -> Covariates:
    """The columns of the named covariates; raises `Invalid` for an unknown name."""
    columns: list[Floats] = []
    titles: list[str] = []
    notes: list[str] = []
    for name in names:
        base, _, split = name.partition(":")
        if base not in get_args(CovariateName) or split not in ("", *SPLITS):
            raise Invalid(
                f"There is no covariate {name!r}. Known: {', '.join(get_args(CovariateName))}, also with "
                ":judge or :format after the name."
            )
        values = _column(table, base)
        unknown = float(np.isnan(values).mean()) if len(values) else 0.0
        if unknown:
            notes.append(f"{base} is unknown for {unknown:.0%} of the judgments and counts as equal there.")
        for title, rows in _parts(table, name, split):
            titles.append(title)
            columns.append(np.where(rows, np.nan_to_num(values), 0.0))
    stacked = np.stack(columns, axis=1) if columns else np.zeros((len(table), 0))
    return Covariates(tuple(titles), stacked, tuple(notes))


def _parts(table: JudgmentTable, name: str, split: str) -> list[tuple[str, Booleans]]:
    if not split:
        return [(name, np.ones(len(table), bool))]
    names, codes = (table.judges, table.judge) if split == "judge" else (table.formats, table.format)
    base = name.partition(":")[0]
    return [(f"{base}:{names[code]}", codes == code) for code in np.unique(codes)]


def _column(table: JudgmentTable, base: str) -> Floats:
    match base:
        case "side":
            return np.ones(len(table))
        case "last_word":
            return table.last_word.astype(float)
        case "order":
            return np.where(table.order < 0, np.nan, 1.0 - 2.0 * table.order)
        case "primacy":
            return _known(table.read_first)
        case "label":
            return _known(table.label)
        case "address":
            return table.address.astype(float)
        case "length":
            return np.round(table.length / STEP) * STEP
        case "markup":
            return np.round(table.markup / STEP) * STEP
        case "family":
            models, judges = _families(table.models), _families(table.judges)
            return _match(models[table.pro], models[table.con], judges[table.judge])
        case _:
            models = np.array([model_of(name) for name in table.models])
            judges = np.array([model_of(name) for name in table.judges])
            return _match(models[table.pro], models[table.con], judges[table.judge])


def _known(signs: Integers) -> Floats:
    """1 and -1, and NaN for 0."""
    return np.where(signs == 0, np.nan, signs.astype(float))


def _families(names: Sequence[str]) -> np.typing.NDArray[np.str_]:
    return np.array([family_of(name) for name in names])


def family_of(name: str) -> str:
    """The maker of a model by its name; empty where the name does not say."""
    return maker(Model(provider="", name=model_of(name).replace(" ", "-")))


def _match(pro: np.ndarray, con: np.ndarray, judge: np.ndarray) -> Floats:
    return np.where(judge != "", (pro == judge).astype(float) - (con == judge).astype(float), 0.0)


def independent(design: Floats, columns: Floats, names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Which columns add something to the design matrix, and notes on those that do not."""
    basis = design
    kept: list[int] = []
    dropped: dict[tuple[str, str], list[str]] = {}
    for number, name in enumerate(names):
        column = columns[:, number]
        products = basis.T @ basis
        rest = column - basis @ (np.linalg.pinv(products, hermitian=True) @ (basis.T @ column))
        length = float(np.sqrt(rest @ rest))
        if length > 1e-5 * max(1.0, float(np.sqrt(column @ column))):
            kept.append(number)
            basis = np.concatenate([basis, column[:, None]], axis=1)
        else:
            base, _, part = name.partition(":")
            why = CONSTANT if not column.any() else "cannot be told apart from the rest"
            dropped.setdefault((base, why), []).append(part)
    return kept, [_dropped_note(base, why, parts) for (base, why), parts in dropped.items()]


def _dropped_note(base: str, why: str, parts: list[str]) -> str:
    of = f" of {', '.join(parts)}" if parts[0] else ""
    if base == "self" and why == CONSTANT and not of:
        return "No model judged itself, so self-preference cannot be measured."
    return f"The effect of {base}{of} cannot be measured: it {why} in this data."
