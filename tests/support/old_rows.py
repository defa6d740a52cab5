"""Rows of an old `events` table, as many as one likes and always the same, and places to put them."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from moot.extensions.conversations.exporting import DDL

Row = dict[str, Any]
BEGAN = datetime(2025, 5, 1, 9, tzinfo=UTC)
EACH = 25
"""Events of one conversation."""


def rows(count: int, seed: int = 7) -> list[Row]:
    dice = Random(seed)
    conversations = [ident(dice) for _ in range(-(-count // EACH))]
    return [row(dice, number, conversations[number // EACH]) for number in range(count)]


def row(dice: Random, number: int, conversation: str) -> Row:
    at = BEGAN + timedelta(seconds=number, microseconds=dice.randrange(1_000_000))
    role = ("system", "user", "assistant", "tool", "assistant")[number % 5]
    return {
        "id": ident(dice),
        "conversation_id": conversation,
        "role": role,
        "segments": segments(dice, role),
        "reasoning": reasoning(dice, number) if role == "assistant" and dice.random() < 0.7 else None,
        "order_key": f"a{number % EACH:03x}{dice.choice('VZfm')}",
        "ts": int(at.timestamp() * 1000),
        "created_at": at.isoformat(),
    }


def ident(dice: Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


def segments(dice: Random, role: str) -> list[Row]:
    told: list[Row] = [
        {"type": "text", "text": f"So „{dice.random():.3f}“ it is: {'word ' * dice.randrange(40)}"}
    ]
    if role == "tool":
        failed = {"error": "timed out"} if dice.random() < 0.2 else {}
        return [{"type": "tool_result", "id": "call_1", "output": {"found": [1, 2.5, None]}, **failed}]
    if role == "assistant" and dice.random() < 0.5:
        call: Row = {
            "type": "tool_call",
            "id": "call_1",
            "name": "search",
            "args": {"q": "ü", "n": [1, {"a": None}]},
        }
        named = {"server_label": "web", "display_name": "Search", "server_type": "mcp"}
        told.insert(0, {**call, **named} if dice.random() < 0.5 else call)
        if dice.random() < 0.3:
            told = [{**segment, "output_index": 2 * n} for n, segment in enumerate(told)]
    if dice.random() < 0.1:
        told.append({"type": "image", "url": "https://example.org/a.png", "alt": None})
    return told


def reasoning(dice: Random, number: int) -> Row:
    count = dice.randrange(4)
    parts = {
        str(n): {
            "summary_index": n,
            "type": "summary_text",
            "text": f"**Weighing {number}**\n\nOn the one hand {dice.random()}",
            "sequence_number": 4 + n,
            "is_complete": n < count - 1 or dice.random() < 0.9,
            "created_at": 1_746_090_000_000 + number,
        }
        for n in range(count)
    }
    thoughts: Row = {"item_id": f"rs_{number:x}", "output_index": dice.randrange(4), "parts": parts}
    if count:
        thoughts["combined_text"] = "\n".join(part["text"] for part in parts.values())
    if dice.random() < 0.5:
        thoughts |= {"effort_level": dice.choice(["low", "medium", "high"]), "reasoning_tokens": number}
    if dice.random() < 0.1:
        thoughts["streaming_part_index"] = count
    if dice.random() < 0.05:
        del thoughts["item_id"]
    return thoughts


# --- where they are put ---------------------------------------------------------------------------------


def in_sqlite(path: Path, given: Iterable[Row]) -> Path:
    """The table as its users had it: types that SQLite does not know, JSON as text."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(DDL.format("events").replace("DEFAULT now()", ""))
        insert_sqlite(connection, given)
    connection.close()
    return path


def insert_sqlite(connection: sqlite3.Connection, given: Iterable[Row]) -> None:
    connection.executemany(
        """
        INSERT INTO events
        VALUES (:id, :conversation_id, :role, :segments, :reasoning, :order_key, :ts, :created_at)
        """,
        [as_text(row) for row in given],
    )


def as_text(row: Row) -> Row:
    thoughts = row["reasoning"]
    return {
        **row,
        "segments": msgspec.json.encode(row["segments"]).decode(),
        "reasoning": None if thoughts is None else msgspec.json.encode(thoughts).decode(),
    }


def from_sqlite(path: Path) -> list[Row]:
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute("SELECT * FROM events")]
    connection.close()
    for row in found:
        row["segments"] = msgspec.json.decode(row["segments"])
        row["reasoning"] = row["reasoning"] and msgspec.json.decode(row["reasoning"])
    return found


def in_lines(path: Path, given: Iterable[Row]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in given))
    return path


def ordered(given: Iterable[Row]) -> list[Row]:
    return sorted(given, key=lambda row: row["id"])
