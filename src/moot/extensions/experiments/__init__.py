"""Experiments: a plan of many debates, run within a budget, and what its tables and its report say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moot.extension import Extension, HttpRoutes, PageModule, TerminalCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    from moot.engine.bookings import Bookings
    from moot.store.contract import Store
    from moot.store.extension_tables import Tables

COMMANDS = "moot.extensions.experiments.commands"


def _http() -> HttpRoutes:
    from moot.extensions.experiments.routes import router

    return HttpRoutes(
        (router,),
        tags={"Experiments": "Many debates between models: progress, ratings and reports. Read only."},
    )


def _tables() -> Tables[Any]:
    from moot.extensions.experiments.tables import EXPERIMENTS

    return EXPERIMENTS


def _bookings() -> Callable[[Store], Bookings]:
    from moot.extensions.experiments.bookings import ExperimentBookings

    return ExperimentBookings


EXTENSION = Extension(
    "experiments",
    "Experiments of many debates, with statistics and reports.",
    commands=(
        TerminalCommand(
            "experiment",
            "Compare models in many debates, declared in a file.",
            f"{COMMANDS}.experiment:app",
            after="stats",
            examples=(
                "moot experiment check league.toml",
                "moot experiment run league.toml",
                "moot experiment status league",
            ),
        ),
        TerminalCommand(
            "motions",
            "About 300 motions to debate, by theme, kind and difficulty.",
            f"{COMMANDS}.motions:motions",
            after="experiment",
            examples=("moot motions --theme health --random 5",),
        ),
    ),
    http=_http,
    page=(
        PageModule("experiments.js", "nav", "/experiments", "Experiments"),
        PageModule("experiment.js", address="/experiments/{name}", title="Experiment"),
        PageModule("judge_debates.js", address="/experiments/{name}/judge", title="Judge debates"),
    ),
    package=__name__,
    tables=_tables,
    bookings=_bookings,
)
