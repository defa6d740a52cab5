"""The tables of experiments in the store: `store.tables(EXPERIMENTS)`."""

from __future__ import annotations

from moot.store.copying import CopiedTable
from moot.store.experiment_rows import ExperimentStore, MemoryExperiments
from moot.store.extension_tables import MemoryAccess, SqlAccess, Tables
from moot.store.sql_experiments import SqlExperiments


def _sql(access: SqlAccess) -> ExperimentStore:
    return SqlExperiments(access.query, access.write, access.transact, access.clock)


def _memory(access: MemoryAccess) -> ExperimentStore:
    return MemoryExperiments(access.clock, access.summary_of)


def _kept(store: ExperimentStore) -> set[str]:
    return store.held_debates() if isinstance(store, MemoryExperiments) else set()


EXPERIMENTS: Tables[ExperimentStore] = Tables(
    "experiments",
    "moot.extensions.experiments",
    sql=_sql,
    memory=_memory,
    keeps="experiment_legs.debate_id",
    kept_in_memory=_kept,
    # When the process of an experiment was last alive is left out: none runs it in its new store.
    copied=(
        CopiedTable(
            "experiments", "name, definition, state, epoch, created_at, updated_at", key="name", order="name"
        ),
        CopiedTable(
            "experiment_legs",
            "experiment, leg, debate_id, reserved, result, status, pro_share, held",
            key="experiment, leg",
            order="place",
        ),
    ),
    adopted=("experiments.name", "experiments.beat_at", "experiment_legs.held"),
)
