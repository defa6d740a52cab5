"""Experiments in SQLite and PostgreSQL: see `experiment_rows.ExperimentStore` for what each method does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from moot.store.experiment_rows import (
    ExperimentLeg,
    ExperimentState,
    StoredExperiment,
    leg_exists,
    taken_over,
)
from moot.store.sql import Row, RunStatement, RunTransaction, Steps, sql

COLUMNS = "name, definition, state, epoch, created_at, updated_at"


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

    async def reserve_more(self, name: str, epoch: int, leg: str, amount: int, budget: int | None) -> bool:
        return await self.transact(_reserve_more(name, epoch, leg, amount, budget))

    async def settle(self, name: str, leg: str, amount: int, result: str) -> None:
        await self.write(
            """
            UPDATE experiment_legs SET reserved = :amount, result = :result
            WHERE experiment = :name AND leg = :leg RETURNING leg
            """,
            name=name,
            leg=leg,
            amount=amount,
            result=result,
        )

    async def legs(self, name: str) -> tuple[ExperimentLeg, ...]:
        rows = await self.query(
            """
            SELECT leg, debate_id, reserved, result, CASE WHEN result IS NULL THEN debates.summary END
            FROM experiment_legs LEFT JOIN debates ON debates.id = debate_id
            WHERE experiment = :name ORDER BY experiment_legs.place
            """,
            name=name,
        )
        return tuple(ExperimentLeg(*row) for row in rows)

    async def delete(self, name: str) -> bool:
        rows = await self.transact(_delete(name))
        return bool(rows)


def _save(name: str, definition: str, at: datetime) -> Steps[list[Row]]:
    rows = yield sql(
        f"""
        INSERT INTO experiments ({COLUMNS}) VALUES (:name, :definition, 'running', 1, :at, :at)
        ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, state = 'running',
            epoch = experiments.epoch + 1, updated_at = excluded.updated_at
        RETURNING {COLUMNS}
        """,  # noqa: S608 - our own columns
        name=name,
        definition=definition,
        at=at,
    )
    return rows


def _reserve(name: str, epoch: int, leg: str, debate: str, amount: int, budget: int | None) -> Steps[bool]:
    reserved, same = yield from _reserved(name, epoch, leg)
    if same:
        raise leg_exists(leg)
    if budget is not None and reserved + amount > budget:
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


def _reserve_more(name: str, epoch: int, leg: str, amount: int, budget: int | None) -> Steps[bool]:
    reserved, _ = yield from _reserved(name, epoch, leg)
    if budget is not None and reserved + amount > budget:
        return False
    yield sql(
        "UPDATE experiment_legs SET reserved = reserved + :amount WHERE experiment = :name AND leg = :leg",
        name=name,
        leg=leg,
        amount=amount,
    )
    return True


def _reserved(name: str, epoch: int, leg: str) -> Steps[tuple[int, int]]:
    """The sum of all legs, and whether this one is among them. Raises Fenced for an older epoch."""
    # PostgreSQL locks the row, so that two processes cannot both spend the last of the budget.
    rows = yield sql("SELECT epoch FROM experiments WHERE name = :name /*postgres FOR UPDATE */", name=name)
    if not rows or rows[0][0] != epoch:
        raise taken_over()
    [[reserved, same]] = yield sql(
        """
        SELECT CAST(coalesce(sum(reserved), 0) AS bigint), count(CASE WHEN leg = :leg THEN 1 END)
        FROM experiment_legs WHERE experiment = :name
        """,
        name=name,
        leg=leg,
    )
    return reserved, same


def _delete(name: str) -> Steps[list[Row]]:
    yield sql("DELETE FROM experiment_legs WHERE experiment = :name", name=name)
    return (yield sql("DELETE FROM experiments WHERE name = :name RETURNING name", name=name))


def _experiment(row: Row) -> StoredExperiment:
    """SQLite has times as text; PostgreSQL returns them in the server's time zone."""
    values = [value.astimezone(UTC) if isinstance(value, datetime) else value for value in row]
    return msgspec.convert(
        dict(zip(StoredExperiment.__struct_fields__, values, strict=True)), StoredExperiment
    )
