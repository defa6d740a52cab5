"""Experiments in SQLite and PostgreSQL: see `store.ExperimentStore` for what each method does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from moot.extensions.experiments.store import (
    LEG_PAGE,
    ExperimentLeg,
    ExperimentState,
    LegCounts,
    LegOfDebate,
    StoredExperiment,
    leg_exists,
    taken_over,
)
from moot.store.sql import Row, RunStatement, RunTransaction, Steps, sql

COLUMNS = "name, definition, state, epoch, created_at, updated_at, beat_at"
LEG_COLUMNS = "leg, debate_id, reserved, result, NULL, held"
"""Those of `ExperimentLeg`, without a summary."""


class SqlExperiments(Struct, frozen=True):
    query: RunStatement
    write: RunStatement
    transact: RunTransaction
    clock: Callable[[], datetime]

    async def save(self, name: str, definition: str) -> StoredExperiment:
        [row] = await self.transact(_save(name, definition, self.clock()))
        return _experiment(row)

    async def set_state(self, name: str, state: ExperimentState) -> bool:
        rows = await self.write(
            "UPDATE experiments SET state = :state, updated_at = :at WHERE name = :name RETURNING name",
            name=name,
            state=state,
            at=self.clock(),
        )
        return bool(rows)

    async def experiments(self) -> tuple[StoredExperiment, ...]:
        rows = await self.query(f"SELECT {COLUMNS} FROM experiments ORDER BY created_at DESC, name")  # noqa: S608 - our own columns
        return tuple(map(_experiment, rows))

    async def experiment(self, name: str) -> StoredExperiment | None:
        rows = await self.query(f"SELECT {COLUMNS} FROM experiments WHERE name = :name", name=name)  # noqa: S608 - our own columns
        return _experiment(rows[0]) if rows else None

    async def reserve(
        self, name: str, epoch: int, leg: str, debate: str, amount: int, budget: int | None
    ) -> bool:
        return await self.transact(_reserve(name, epoch, leg, debate, amount, budget))

    async def reserve_again(
        self, name: str, leg: str, amount: int, budget: int | None, held: int | None = None
    ) -> bool:
        return await self.transact(_reserve_again(name, leg, amount, budget, held))

    async def beat(self, name: str, epoch: int) -> None:
        await self.write(
            "UPDATE experiments SET beat_at = :at WHERE name = :name AND epoch = :epoch RETURNING name",
            name=name,
            epoch=epoch,
            at=self.clock(),
        )

    async def settle(
        self,
        name: str,
        leg: str,
        amount: int,
        result: str,
        *,
        status: str = "completed",
        pro_share: float | None = None,
        seen: int | None = None,
    ) -> bool:
        rows = await self.write(
            """
            UPDATE experiment_legs
            SET reserved = :amount, result = :result, status = :status, pro_share = :share, held = NULL
            WHERE experiment = :name AND leg = :leg
                AND (CAST(:seen AS bigint) IS NULL OR held IS NULL OR held < :seen)
            RETURNING leg
            """,
            name=name,
            leg=leg,
            amount=amount,
            result=result,
            status=status,
            share=pro_share,
            seen=seen,
        )
        return bool(rows)

    async def keep_result(self, name: str, leg: str, result: str, *, was: str) -> bool:
        rows = await self.write(
            """
            UPDATE experiment_legs SET result = :result
            WHERE experiment = :name AND leg = :leg AND result = :was RETURNING leg
            """,
            name=name,
            leg=leg,
            result=result,
            was=was,
        )
        return bool(rows)

    async def leg(self, name: str, leg: str) -> ExperimentLeg | None:
        rows = await self.query(
            f"SELECT {LEG_COLUMNS} FROM experiment_legs WHERE experiment = :name AND leg = :leg",  # noqa: S608 - our own columns
            name=name,
            leg=leg,
        )
        return ExperimentLeg(*rows[0]) if rows else None

    async def leg_of(self, debate: str) -> LegOfDebate | None:
        rows = await self.query(
            f"SELECT experiment, {LEG_COLUMNS} FROM experiment_legs WHERE debate_id = :debate",  # noqa: S608 - our own columns
            debate=debate,
        )
        return LegOfDebate(rows[0][0], ExperimentLeg(*rows[0][1:])) if rows else None

    async def held_legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        rows = await self.query(
            f"""
            SELECT {LEG_COLUMNS} FROM experiment_legs
            WHERE experiment = :name AND held IS NOT NULL ORDER BY place
            """,  # noqa: S608 - our own columns
            name=name,
        )
        return tuple(ExperimentLeg(*row) for row in rows)

    async def legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        return tuple([leg async for page in self.leg_pages(name) for leg in page])

    async def leg_pages(self, name: str) -> AsyncGenerator[tuple[ExperimentLeg, ...], None]:
        after = 0
        while rows := await self.query(
            """
            SELECT leg, debate_id, reserved, result, CASE WHEN result IS NULL THEN debates.summary END,
                held, experiment_legs.place
            FROM experiment_legs LEFT JOIN debates ON debates.id = debate_id
            WHERE experiment = :name AND experiment_legs.place > :after
            ORDER BY experiment_legs.place LIMIT :limit
            """,
            name=name,
            after=after,
            limit=LEG_PAGE,
        ):
            after = rows[-1][-1]
            yield tuple(ExperimentLeg(*row[:-1]) for row in rows)

    async def counts(self, name: str) -> LegCounts:
        rows = await self.query(
            """
            SELECT status, count(*), CAST(coalesce(sum(reserved), 0) AS bigint)
            FROM experiment_legs WHERE experiment = :name GROUP BY status
            """,
            name=name,
        )
        [[running]] = await self.query(
            """
            SELECT count(*) FROM experiment_legs JOIN debates ON debates.id = debate_id
            WHERE experiment = :name AND experiment_legs.status IS NULL
            """,
            name=name,
        )
        settled = [row for row in rows if row[0] is not None]
        return LegCounts(
            reserved=sum(row[1] for row in rows),
            settled=sum(row[1] for row in settled),
            failed=sum(row[1] for row in settled if row[0] == "error"),
            running=running,
            spent=sum(row[2] for row in settled),
            booked=sum(row[2] for row in rows),
        )

    async def failed_results(self, name: str, limit: int = 20) -> tuple[str, ...]:
        rows = await self.query(
            """
            SELECT result FROM experiment_legs WHERE experiment = :name AND status = 'error' LIMIT :limit
            """,
            name=name,
            limit=limit,
        )
        return tuple(row[0] for row in rows)

    async def side_shares(self) -> tuple[tuple[str, float], ...]:
        rows = await self.query(
            "SELECT leg, pro_share FROM experiment_legs WHERE pro_share IS NOT NULL ORDER BY place"
        )
        return tuple((row[0], row[1]) for row in rows)


def _save(name: str, definition: str, at: datetime) -> Steps[list[Row]]:
    rows = yield sql(
        f"""
        INSERT INTO experiments ({COLUMNS}) VALUES (:name, :definition, 'running', 1, :at, :at, :at)
        ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, state = 'running',
            epoch = experiments.epoch + 1, updated_at = excluded.updated_at, beat_at = excluded.beat_at
        RETURNING {COLUMNS}
        """,  # noqa: S608 - our own columns
        name=name,
        definition=definition,
        at=at,
    )
    return rows


def _reserve(name: str, epoch: int, leg: str, debate: str, amount: int, budget: int | None) -> Steps[bool]:
    yield from _check_epoch(name, epoch)
    same = yield sql(
        "SELECT 1 FROM experiment_legs WHERE experiment = :name AND leg = :leg", name=name, leg=leg
    )
    if same:
        raise leg_exists(leg)
    if budget is not None and (yield from _reserved(name)) + amount > budget:
        return False
    yield sql(
        """
        INSERT INTO experiment_legs (experiment, leg, debate_id, reserved)
        VALUES (:name, :leg, :debate, :amount)
        """,
        name=name,
        leg=leg,
        debate=debate,
        amount=amount,
    )
    return True


def _reserve_again(name: str, leg: str, amount: int, budget: int | None, held: int | None) -> Steps[bool]:
    yield from _locked_epoch(name)
    # PostgreSQL locks the leg too: it may be settled at the same time.
    rows = yield sql(
        """
        SELECT reserved FROM experiment_legs
        WHERE experiment = :name AND leg = :leg /*postgres FOR NO KEY UPDATE */
        """,
        name=name,
        leg=leg,
    )
    if not rows:
        return False
    more = max(amount - rows[0][0], 0)
    if more and budget is not None and (yield from _reserved(name)) + more > budget:
        return False
    yield sql(
        """
        UPDATE experiment_legs
        SET reserved = reserved + :more,
            held = CASE WHEN CAST(:held AS bigint) IS NULL OR held > :held THEN held ELSE :held END
        WHERE experiment = :name AND leg = :leg
        """,
        name=name,
        leg=leg,
        more=more,
        held=held,
    )
    return True


def _check_epoch(name: str, epoch: int) -> Steps[None]:
    """Raises Fenced for an older epoch than that of the process which runs the experiment."""
    if (yield from _locked_epoch(name)) != epoch:
        raise taken_over()


def _locked_epoch(name: str) -> Steps[int | None]:
    # PostgreSQL locks the row, so that two processes cannot both spend the last of the budget.
    rows = yield sql("SELECT epoch FROM experiments WHERE name = :name /*postgres FOR UPDATE */", name=name)
    return rows[0][0] if rows else None


def _reserved(name: str) -> Steps[int]:
    """The sum of all legs."""
    [[reserved]] = yield sql(
        "SELECT CAST(coalesce(sum(reserved), 0) AS bigint) FROM experiment_legs WHERE experiment = :name",
        name=name,
    )
    return reserved


def _experiment(row: Row) -> StoredExperiment:
    """SQLite has times as text; PostgreSQL returns them in the server's time zone."""
    values = [value.astimezone(UTC) if isinstance(value, datetime) else value for value in row]
    return msgspec.convert(
        dict(zip(StoredExperiment.__struct_fields__, values, strict=True)), StoredExperiment
    )
