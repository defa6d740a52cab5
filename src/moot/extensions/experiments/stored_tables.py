"""The data of an experiment, or of any stored debates, as tables: read from the store page by page.

Ballots, rankings, answers and votes of an experiment are stored with its legs; all else comes from the log of
each debate, one at a time. So an export needs the memory of one page however many debates there are, except
for `ratings`, which are computed from all ballots.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from moot import __version__
from moot.core.errors import Invalid, UnknownDebate
from moot.core.state import Debate
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.ballot_rows import ballot_rows, ranking_rows, vote_table_rows
from moot.extensions.experiments.measuring.belief_rows import audience_rows, belief_rows
from moot.extensions.experiments.measuring.call_rows import CallRow, CallRows
from moot.extensions.experiments.measuring.data_tables import (
    TABLES,
    DebateRow,
    TableName,
    debate_row,
    debate_row_of_result,
    speech_rows,
)
from moot.extensions.experiments.measuring.definition import ExperimentDefinition, from_json
from moot.extensions.experiments.measuring.inspect_log import InspectLog
from moot.extensions.experiments.measuring.judge_answers import AnswerRow, answer_rows
from moot.extensions.experiments.measuring.judge_identity import JudgeFilter, check_names
from moot.extensions.experiments.measuring.judgments import Judgment, Ranking
from moot.extensions.experiments.measuring.leg_results import (
    LegResult,
    filter_result,
    read_leg_result,
    result_of,
)
from moot.extensions.experiments.measuring.planned_legs import PlannedLeg, planned_leg
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion
from moot.extensions.experiments.measuring.table_files import (
    FileFormat,
    TableWriter,
    open_table,
    write_dictionary,
    write_table,
)
from moot.extensions.experiments.measuring.table_schemas import write_schemas
from moot.extensions.experiments.store import StoredExperiment
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.settings import Settings
from moot.store.contract import DebateFilter, Store

T = TypeVar("T")
IDS_AT_ONCE = 500
WITHOUT_LOGS: frozenset[TableName] = frozenset({"answers", "ratings"})
"""The tables that are made from what is stored with the legs alone."""


class DebateData(Struct, frozen=True):
    """One debate of an export."""

    experiment: str
    group: str
    result: LegResult
    debate: Debate | None
    """None where its log is not needed, or has been deleted."""
    definition: ExperimentDefinition | None = None
    planned: PlannedLeg | None = None
    calls: tuple[CallRow, ...] = ()

    @property
    def format(self) -> str:
        """The name of its format, as far as it is known."""
        if self.debate is not None:
            return self.debate.format.name
        return self.definition.format if self.definition else ""


async def experiment_debates(
    store: Store, name: str, tables: Collection[TableName] = tuple(TABLES)
) -> AsyncGenerator[DebateData, None]:
    """The debates of an experiment that are over, in the order in which they were begun, with what is needed
    for these tables."""
    stored = await store.tables(EXPERIMENTS).experiment(name)
    definition = from_json(stored.definition) if stored else None
    async for page in store.tables(EXPERIMENTS).leg_pages(name):
        for leg in page:
            if leg.result is not None and definition is not None:
                planned = planned_leg(definition, leg.leg)
                result = read_leg_result(leg.result, planned)
                debate = await _state(store, leg.debate) if set(tables) - WITHOUT_LOGS else None
                calls = await _calls(store, debate, name) if "calls" in tables and debate else ()
                yield DebateData(name, planned.group, result, debate, definition, planned, calls)


async def stored_debates(
    store: Store, filters: DebateFilter, tables: Collection[TableName] = tuple(TABLES)
) -> AsyncGenerator[DebateData, None]:
    """The debates that a list with these filters shows, newest first, with every ballot."""
    ids: list[str] = []
    while page := (await store.list(filters, limit=IDS_AT_ONCE, offset=len(ids))).heads:
        ids += [head.id for head in page]
    for debate_id in dict.fromkeys(ids):
        debate = await _state(store, debate_id)
        if debate is not None:
            tag = debate.setup.experiment
            experiment, group, repeat = (tag.name, tag.group, tag.repeat) if tag else ("", "", 1)
            result = result_of(debate, experiment, group, repeat)
            calls = await _calls(store, debate, experiment) if "calls" in tables else ()
            yield DebateData(experiment, group, result, debate, calls=calls)


async def of_judges(
    debates: AsyncIterator[DebateData], which: JudgeFilter
) -> AsyncGenerator[DebateData, None]:
    """The debates with the ballots of some judges only. Raises Invalid, after the last of them, where a name
    is none of theirs."""
    judges, prompts = set[str](), set[str]()
    async for data in debates:
        rows = (*data.result.judgments, *data.result.rankings)
        judges |= {row.judge for row in (*rows, *data.result.answers)}
        prompts |= {row.prompt for row in rows}
        yield replace(data, result=filter_result(data.result, which))
    check_names(which, judges, prompts)


async def _state(store: Store, debate_id: str) -> Debate | None:
    try:
        return await store.state(debate_id)
    except UnknownDebate:
        return None


async def _calls(store: Store, debate: Debate, experiment: str) -> tuple[CallRow, ...]:
    found, after = CallRows(debate, experiment), 0
    while page := await store.read(debate.id, after):
        found.add(page)
        after = page[-1].seq
    return found.rows


def rows_of_debate(table: TableName, data: DebateData) -> Iterable[Struct]:
    """The rows of one table that come from one debate; none for `ratings`."""
    match table:
        case "debates":
            return (_debate_row(data),)
        case "speeches":
            return speech_rows(data.debate, experiment=data.experiment) if data.debate is not None else ()
        case "ballots":
            return ballot_rows(data.result.judgments, data.debate)
        case "rankings":
            return ranking_rows(data.result.rankings, data.debate)
        case "answers":
            return _answers(data)
        case "votes":
            return vote_table_rows(data.result, data.debate)
        case "beliefs":
            return belief_rows(data.debate, data.experiment, data.group) if data.debate else ()
        case "audience":
            return audience_rows(data.debate, data.experiment, data.group) if data.debate else ()
        case "calls":
            return data.calls
        case "ratings":
            return ()


def _debate_row(data: DebateData) -> DebateRow:
    if data.debate is not None:
        return debate_row(data.debate, experiment=data.experiment, group=data.group)
    return debate_row_of_result(data.result, experiment=data.experiment, group=data.group, format=data.format)


def _answers(data: DebateData) -> Iterable[AnswerRow]:
    if data.definition is None or not isinstance(data.planned, PlannedQuestion):
        return ()
    return answer_rows(data.result.answers, data.definition, data.planned)


async def write_tables(
    paths: Mapping[TableName, Path], debates: AsyncIterator[DebateData], *, experiment: str = ""
) -> dict[TableName, int]:
    """Write tables to files, in the format of their endings; returns how many rows each has.

    Raises Invalid where a file cannot be written, and Unavailable where pyarrow or numpy is missing.
    """
    writers: dict[TableName, TableWriter] = {}
    counts: dict[TableName, int] = dict.fromkeys(paths, 0)
    ballots, rankings = list[Judgment](), list[Ranking]()
    try:
        for table, path in paths.items():
            if table != "ratings":
                writers[table] = open_table(path, TABLES[table])
        async for data in debates:
            for table, writer in writers.items():
                for row in rows_of_debate(table, data):
                    writer.add(row)
                    counts[table] += 1
            if "ratings" in paths:
                ballots += data.result.judgments
                rankings += data.result.rankings
    finally:
        for writer in writers.values():
            writer.close()
    if "ratings" in paths:
        rows = _rating_rows(ballots, rankings, experiment)
        counts["ratings"] = len(rows)
        write_table(paths["ratings"], TABLES["ratings"], rows)
    return counts


def table_paths(folder: Path, format: FileFormat) -> dict[TableName, Path]:
    """Where each table of a folder is written. The folder is created, with its dictionary and schemas."""
    folder.mkdir(parents=True, exist_ok=True)
    write_dictionary(folder)
    write_schemas(folder, format)
    return {table: folder / f"{table}.{format}" for table in TABLES}


async def write_inspect_log(
    path: Path, debates: AsyncIterator[DebateData], stored: StoredExperiment | None = None
) -> int:
    """Write the debates as a log of Inspect; returns how many there are."""
    name, definition = (stored.name, from_json(stored.definition)) if stored else ("debates", None)
    log, count = InspectLog(path, name, __version__, definition), 0
    try:
        async for data in debates:
            log.add(
                data.result,
                data.debate,
                ballots=tuple(ballot_rows(data.result.judgments, data.debate)),
                answers=tuple(_answers(data)),
                metadata={
                    "experiment": data.experiment,
                    "group": data.group,
                    "protocol": data.result.protocol,
                    "repeat": data.result.repeat,
                    "seed": data.result.seed,
                    "format": data.format,
                },
            )
            count += 1
    finally:
        log.close()
    return count


# --- for `moot.experiments.load` -----------------------------------------------------------------------


async def find_experiment(store: Store, name: str) -> StoredExperiment:
    """Raises Invalid, with the names that there are."""
    found = await store.tables(EXPERIMENTS).experiment(name)
    if found is None:
        names = ", ".join(each.name for each in await store.tables(EXPERIMENTS).experiments())
        known = f"Known: {names}." if names else "None has been run yet: moot experiment run FILE"
        raise Invalid(f"There is no experiment {name!r}. {known}")
    return found


def check_name(name: str, settings: Settings | None = None) -> None:
    """Raises Invalid where the store has no such experiment."""
    _with_store(settings, lambda store: find_experiment(store, name))


def read_stored_table(name: str, table: TableName, settings: Settings | None = None) -> tuple[Struct, ...]:
    """All rows of one table of an experiment. It can be called where an event loop is running."""
    return _with_store(settings, lambda store: _read_rows(store, name, table))


def _with_store(settings: Settings | None, work: Callable[[Store], Awaitable[T]]) -> T:
    async def read() -> T:
        async with Arena.open(settings, run=False) as arena:
            return await work(arena.store)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(read())).result()


async def _read_rows(store: Store, name: str, table: TableName) -> tuple[Struct, ...]:
    debates = experiment_debates(store, name, (table,))
    if table == "ratings":
        results = [data.result async for data in debates]
        ballots = [row for result in results for row in result.judgments]
        return _rating_rows(ballots, [row for result in results for row in result.rankings], name)
    return tuple([row async for data in debates for row in rows_of_debate(table, data)])


def _rating_rows(ballots: Sequence[Judgment], rankings: Sequence[Ranking], name: str) -> tuple[Struct, ...]:
    from moot.extensions.experiments.measuring.rating_rows import rating_rows

    return rating_rows(ballots, rankings, experiment=name)
