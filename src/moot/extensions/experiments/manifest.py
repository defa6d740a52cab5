"""An experiment as a folder of tables with its manifest, and what a stored one has in common with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

from moot import __version__
from moot.extensions.experiments.measuring.data_tables import TableName
from moot.extensions.experiments.measuring.definition import from_json
from moot.extensions.experiments.measuring.judge_identity import EVERY_JUDGE, JudgeFilter
from moot.extensions.experiments.measuring.manifest import (
    DebateRecord,
    ManifestBuilder,
    debate_record,
    file_records,
    write_manifest,
)
from moot.extensions.experiments.measuring.software import present_software
from moot.extensions.experiments.measuring.table_files import DICTIONARY_FILE, FileFormat
from moot.extensions.experiments.measuring.table_schemas import CARD_FILE, SQL_FILE
from moot.extensions.experiments.store import StoredExperiment
from moot.extensions.experiments.stored_tables import (
    DebateData,
    experiment_debates,
    of_judges,
    table_paths,
    write_tables,
)
from moot.store.contract import Store


async def write_experiment(
    folder: Path, store: Store, stored: StoredExperiment, format: FileFormat, which: JudgeFilter = EVERY_JUDGE
) -> dict[TableName, int]:
    """Write all tables of an experiment, with the ballots of all judges or of those that are named, and
    `manifest.json`, which is that of the whole; returns how many rows each table has."""
    paths = table_paths(folder, format)
    builder = ManifestBuilder(from_json(stored.definition), present_software(__version__))

    async def watched() -> AsyncGenerator[DebateData, None]:
        async for data in experiment_debates(store, stored.name, paths.keys()):
            if data.planned is not None:
                builder.add(data.planned.leg, data.result, data.debate, data.calls)
            yield data

    counts = await write_tables(paths, of_judges(watched(), which), experiment=stored.name)
    names = (*(path.name for path in paths.values()), DICTIONARY_FILE, SQL_FILE, CARD_FILE)
    write_manifest(folder, builder.manifest({**counts}, file_records(folder, names)))
    return counts


async def debate_records(store: Store, name: str) -> list[DebateRecord]:
    """What was said and decided in the debates of a stored experiment, as a manifest has it."""
    return [
        debate_record(data.planned.leg, data.result)
        async for data in experiment_debates(store, name, ("ratings",))
        if data.planned is not None
    ]
