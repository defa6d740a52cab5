"""A figure: a measured value, the limit measured beside it in the same run, and the goal.

The limit is the least that any program needs for the same work: aiohttp + msgspec that read the same streams,
a Starlette application that sends the same bytes, `executemany` of the same rows. Machines differ, the ratio
of the two much less, so figures are compared by their ratios and only without a limit by their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal

import msgspec
from msgspec import Struct

TOLERANCE = 0.15
"""A figure that is worse than before by more than this share is reported."""
COLUMNS = ("figure", "measured", "limit", "ratio", "goal", "met")


class Measurement(Struct, frozen=True):
    """One run."""

    value: float
    limit: float | None = None


class Figure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    """Unique within its benchmark; figures of two reports are matched by it."""
    unit: str
    runs: tuple[Measurement, ...]
    limit_name: str = ""
    goal: float | None = None
    goal_for: Literal["ratio", "value"] = "ratio"
    better: Literal["lower", "higher"] = "lower"
    note: str = ""
    main: bool = False
    """Whether it is in the picture."""

    @property
    def value(self) -> float:
        return median(run.value for run in self.runs)

    @property
    def limit(self) -> float | None:
        limits = [run.limit for run in self.runs if run.limit is not None]
        return median(limits) if limits else None

    @property
    def ratio(self) -> float | None:
        """The median of the ratios of the runs: what disturbs a run disturbs its limit as well."""
        ratios = self._ratios()
        return median(ratios) if ratios else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest ratio, or value where there is no limit; None after a single run."""
        if len(self.runs) < 2:
            return None
        numbers = self._ratios() or [run.value for run in self.runs]
        return min(numbers), max(numbers)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is none, or nothing to compare with it."""
        number = self.ratio if self.goal_for == "ratio" else self.value
        if self.goal is None or number is None:
            return None
        return number <= self.goal if self.better == "lower" else number >= self.goal

    def _ratios(self) -> list[float]:
        return [run.value / run.limit for run in self.runs if run.limit]


class Result(Struct, frozen=True, kw_only=True):
    """The figures of one benchmark, with when and where they were measured."""

    bench: str
    date: str
    machine: str
    note: str = ""
    figures: tuple[Figure, ...]


class Change(Struct, frozen=True):
    """A figure that got worse: ratios, or values where there is no limit."""

    bench: str
    name: str
    before: float
    after: float
    worse_by: float
    """A share: 0.2 is a fifth worse."""

    def __str__(self) -> str:
        numbers = f"{short(self.before)} → {short(self.after)}"
        return f"{self.bench}, {self.name}: {self.worse_by:.0%} worse ({numbers})"


def figure(
    name: str, value: float, unit: str, *, limit: tuple[str, float] | None = None, **more: Any
) -> Figure:
    """A figure of one run; `limit` is what was measured beside it, and how much."""
    limit_name, limit_value = limit or ("", None)
    return Figure(
        name=name, unit=unit, limit_name=limit_name, runs=(Measurement(value, limit_value),), **more
    )


def combined(runs: Sequence[Sequence[Figure]]) -> tuple[Figure, ...]:
    """The same figures of several runs as one figure each; goal and note are those of the last run."""
    measurements: dict[str, tuple[Measurement, ...]] = {}
    latest: dict[str, Figure] = {}
    for figures in runs:
        for each in figures:
            measurements[each.name] = measurements.get(each.name, ()) + each.runs
            latest[each.name] = each
    return tuple(msgspec.structs.replace(each, runs=measurements[name]) for name, each in latest.items())


# --- comparing ----------------------------------------------------------------------------------------


def changes_for_the_worse(
    before: Iterable[Result], after: Iterable[Result], tolerance: float = TOLERANCE
) -> list[Change]:
    """The figures of both reports that got worse by more than `tolerance`, the worst first."""
    earlier = {(result.bench, each.name): each for result in before for each in result.figures}
    changes: list[Change] = []
    for result in after:
        for each in result.figures:
            known = earlier.get((result.bench, each.name))
            change = known and _change(result.bench, known, each)
            if change and change.worse_by > tolerance:
                changes.append(change)
    return sorted(changes, key=lambda change: change.worse_by, reverse=True)


def _change(bench: str, before: Figure, after: Figure) -> Change | None:
    """None where the two cannot be compared: another limit or unit, or nothing was measured."""
    if (before.limit_name, before.unit, before.better) != (after.limit_name, after.unit, after.better):
        return None
    old, new = (before.ratio, after.ratio) if after.limit_name else (before.value, after.value)
    if old is None or new is None or old <= 0 or new <= 0:
        return None
    worse_by = (new / old if after.better == "lower" else old / new) - 1
    return Change(bench, after.name, old, new, worse_by)


# --- reading and writing ------------------------------------------------------------------------------


def read_results(path: Path) -> list[Result]:
    """The results in a file; none if there is no such file."""
    return msgspec.json.decode(path.read_bytes(), type=list[Result]) if path.exists() else []


def write_results(path: Path, results: Iterable[Result]) -> None:
    content = [
        {**msgspec.to_builtins(result), "figures": [_as_json(each) for each in result.figures]}
        for result in results
    ]
    path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")


def _as_json(figure: Figure) -> dict[str, Any]:
    """Every run, and the medians for readers of the file."""
    medians = {"value": figure.value, "limit": figure.limit, "ratio": figure.ratio}
    return {
        **msgspec.to_builtins(figure),
        **_rounded(medians),
        "runs": [_rounded_run(r) for r in figure.runs],
    }


def _rounded_run(run: Measurement) -> dict[str, float]:
    return _rounded({"value": run.value, "limit": run.limit})


def _rounded(numbers: Mapping[str, float | None]) -> dict[str, float]:
    return {name: float(f"{number:.4g}") for name, number in numbers.items() if number is not None}


def merged(before: Iterable[Result], after: Iterable[Result]) -> list[Result]:
    """All results, of each benchmark the newer one, in the order of `before`."""
    return list(
        ({result.bench: result for result in before} | {result.bench: result for result in after}).values()
    )


# --- showing ------------------------------------------------------------------------------------------


def table(figures: Sequence[Figure]) -> str:
    """Aligned columns with a head; numbers are flush right."""
    rows = [COLUMNS, *map(cells, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines: list[str] = []
    for row, each in zip(rows, (None, *figures), strict=True):
        text = "  ".join(
            cell.rjust(width) if column in (1, 3, 4) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(f"  {text}  {each.note if each else ''}".rstrip())
    return "\n".join(lines)


def cells(figure: Figure) -> tuple[str, ...]:
    """Of the columns above; the spread of several runs is beside the number it belongs to."""
    spread = f" ({short(figure.spread[0])} to {short(figure.spread[1])})" if figure.spread else ""
    ratio = figure.ratio
    return (
        figure.name,
        quantity(figure.value, figure.unit) + ("" if figure.limit_name else spread),
        f"{figure.limit_name}: {quantity(figure.limit, figure.unit)}" if figure.limit is not None else "",
        f"{short(ratio)} ×{spread}" if ratio is not None else "",
        goal_text(figure),
        {True: "yes", False: "no", None: ""}[figure.met],
    )


def goal_text(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    sign = "≤" if figure.better == "lower" else "≥"
    unit = "×" if figure.goal_for == "ratio" else figure.unit
    return f"{sign} {quantity(figure.goal, unit)}"


def quantity(number: float, unit: str) -> str:
    return f"{short(number)} {unit}"


def short(number: float) -> str:
    """Three significant digits at most, and no more than two after the point unless the number is small."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    if abs(number) >= 10:
        return f"{number:.1f}".removesuffix(".0")
    if abs(number) >= 0.1 or not number:
        return f"{number:.2f}".rstrip("0").removesuffix(".")
    return f"{number:.2g}"
