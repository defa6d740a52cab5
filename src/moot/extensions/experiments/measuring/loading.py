"""`load("league")`: the tables of an experiment in Python, for notebooks.

    from moot.experiments import load

    league = load("league")          # from the store of this machine, or a folder that was exported
    league.frame("ballots")          # a pandas DataFrame
    league.ballots()                 # the same as a tuple of rows, for `rate_models` and the other measures

Nothing is read before a table is asked for. It works where an event loop is running, as in a notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.ballot_rows import BallotRow, RankingRow, VoteRow
from moot.extensions.experiments.measuring.belief_rows import AudienceRow, BeliefRow
from moot.extensions.experiments.measuring.call_rows import CallRow
from moot.extensions.experiments.measuring.data_tables import (
    TABLES,
    DebateRow,
    RatingRow,
    SpeechRow,
    TableName,
)
from moot.extensions.experiments.measuring.judge_answers import AnswerRow
from moot.extensions.experiments.measuring.table_files import (
    DICTIONARY_FILE,
    as_frame,
    find_table,
    read_table,
)

if TYPE_CHECKING:
    from moot.settings import Settings

ReadRows = Callable[[TableName], tuple[Struct, ...]]


class ExperimentData:
    """The tables of one experiment. Each is read when it is first asked for, and kept."""

    def __init__(self, name: str, read: ReadRows) -> None:
        self.name = name
        self._read = read
        self._tables: dict[TableName, tuple[Struct, ...]] = {}

    def rows(self, table: TableName) -> tuple[Struct, ...]:
        if table not in TABLES:
            raise Invalid(f"There is no table {table!r}. Known: {', '.join(TABLES)}.")
        if table not in self._tables:
            self._tables[table] = self._read(table)
        return self._tables[table]

    def frame(self, table: TableName) -> Any:
        """The table as a pandas DataFrame with all columns of docs/data.md."""
        return as_frame(self.rows(table), TABLES[table])

    def debates(self) -> tuple[DebateRow, ...]:
        return cast("tuple[DebateRow, ...]", self.rows("debates"))

    def speeches(self) -> tuple[SpeechRow, ...]:
        return cast("tuple[SpeechRow, ...]", self.rows("speeches"))

    def ballots(self) -> tuple[BallotRow, ...]:
        """What `rate_models`, `judge_report` and the other measures take."""
        return cast("tuple[BallotRow, ...]", self.rows("ballots"))

    def rankings(self) -> tuple[RankingRow, ...]:
        """The ballots of formats with three or more teams."""
        return cast("tuple[RankingRow, ...]", self.rows("rankings"))

    def answers(self) -> tuple[AnswerRow, ...]:
        """What `protocol_scores` and `compare_protocols` take."""
        return cast("tuple[AnswerRow, ...]", self.rows("answers"))

    def votes(self) -> tuple[VoteRow, ...]:
        """Votes of people."""
        return cast("tuple[VoteRow, ...]", self.rows("votes"))

    def beliefs(self) -> tuple[BeliefRow, ...]:
        return cast("tuple[BeliefRow, ...]", self.rows("beliefs"))

    def audience(self) -> tuple[AudienceRow, ...]:
        return cast("tuple[AudienceRow, ...]", self.rows("audience"))

    def calls(self) -> tuple[CallRow, ...]:
        return cast("tuple[CallRow, ...]", self.rows("calls"))

    def ratings(self) -> tuple[RatingRow, ...]:
        return cast("tuple[RatingRow, ...]", self.rows("ratings"))

    def __repr__(self) -> str:
        return f"<ExperimentData {self.name}>"


def load(experiment: str | Path, settings: Settings | None = None) -> ExperimentData:
    """The data of an experiment by its name in the store, or of a folder that `moot experiment export` wrote.

    `settings` name the store; default: `moot.settings.load()`. Raises Invalid where there is neither.
    """
    folder = Path(experiment)
    if (folder / DICTIONARY_FILE).is_file():
        return ExperimentData(folder.resolve().name, lambda table: _read_file(folder, table))
    if isinstance(experiment, Path):
        raise Invalid(f"{experiment} is no folder that `moot experiment export` has written.")
    # The one import that points outwards: reading a store needs the engine.
    from moot.extensions.experiments.stored_tables import check_name, read_stored_table

    check_name(experiment, settings)
    return ExperimentData(experiment, lambda table: read_stored_table(experiment, table, settings))


def _read_file(folder: Path, table: TableName) -> tuple[Struct, ...]:
    path = find_table(folder, table)
    if path is None:
        raise Invalid(f"{folder} has no table {table}.")
    return tuple(read_table(path, TABLES[table]))
