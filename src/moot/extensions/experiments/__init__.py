"""Experiments: a plan of many debates, run within a budget, and what its tables and its report say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moot.extension import Extension

if TYPE_CHECKING:
    from moot.store.extension_tables import Tables


def _tables() -> Tables[Any]:
    from moot.store.experiment_tables import EXPERIMENTS

    return EXPERIMENTS


EXTENSION = Extension(
    "experiments", "Experiments of many debates, with statistics and reports.", tables=_tables
)
