"""Where old rows are: a table in PostgreSQL, a table in a SQLite file, or a file of JSON lines.

What a user types becomes a `RowLocation`. Its `label` is what is stored and shown, and has no password in it;
nor has any error that leaves from here.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from moot.core.errors import Invalid, Unavailable

if TYPE_CHECKING:
    import psycopg

Kind = Literal["postgresql", "sqlite", "jsonl"]
TABLE = "events"
CONNECT_SECONDS = 10
BUSY_SECONDS = 10.0
"""Seconds to wait for whoever writes to a file of SQLite."""
INSTALL_HINT = "pip install 'moot[cluster]'"
JSONL_SUFFIXES = (".jsonl", ".ndjson")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?", re.ASCII)
_CONNINFO = re.compile(r"(^|\s)(host|dbname|user|password)\s*=")
"""How else PostgreSQL is addressed. Taken for a path it would be shown, with the password."""
_MAGIC = b"SQLite format 3\0"


class RowLocation(Struct, frozen=True):
    kind: Kind
    address: str
    """The path, or the address with all that is secret in it."""
    table: str
    label: str

    def __repr__(self) -> str:
        return f"<RowLocation {self.label}>"

    @property
    def path(self) -> Path:
        return Path(self.address)

    @property
    def table_parts(self) -> tuple[str, ...]:
        """The table, and before it the schema where one is named."""
        return tuple(self.table.split("."))


def parse_location(typed: str, table: str = TABLE) -> RowLocation:
    if not _NAME.fullmatch(table):
        raise Invalid("--table is the name of a table, or of a schema and a table: events, public.events.")
    if re.match(r"postgres(ql)?://", typed):
        return RowLocation("postgresql", typed, table, f"{without_secrets(typed)}#{table}")
    if "://" in typed or _CONNINFO.search(typed):
        raise Invalid("That is an address, but none of PostgreSQL: postgresql://user@host/database.")
    path = Path(typed).absolute()
    if path.suffix.lower() in JSONL_SUFFIXES:
        return RowLocation("jsonl", str(path), table, str(path))
    return RowLocation("sqlite", str(path), table, f"{path}#{table}")


def quoted_table(location: RowLocation) -> str:
    """Its table, as SQLite takes it."""
    return ".".join(f'"{name}"' for name in location.table_parts)


def check_exists(location: RowLocation) -> None:
    """Raises Unavailable where there is no such file, or it is none of SQLite's."""
    if location.kind == "postgresql":
        return
    try:
        with location.path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise Unavailable(f"{location.path} cannot be read: {error.strerror}.") from error
    if location.kind == "sqlite" and start != _MAGIC:
        raise Invalid(f"{location.path} is no SQLite file. JSON lines are in a file that ends in .jsonl.")


def driver() -> Any:
    """psycopg, where it is installed."""
    try:
        import psycopg
    except ImportError as error:
        raise Unavailable("PostgreSQL needs a driver that is not installed.", INSTALL_HINT) from error
    return psycopg


@contextmanager
def connect_postgres(location: RowLocation, *, reading: bool) -> Generator[psycopg.Connection[Any]]:
    """Each statement is a transaction of its own. Whoever only reads cannot write."""
    psycopg = driver()
    with translate_errors(location):
        timeout = {"connect_timeout": CONNECT_SECONDS, **_parsed(location.address)}["connect_timeout"]
        connection = psycopg.connect(location.address, autocommit=True, connect_timeout=timeout)
        with connection:
            connection.execute("SET TIME ZONE 'UTC'")
            if reading:
                connection.execute("SET default_transaction_read_only = on")
            yield connection


@contextmanager
def translate_errors(location: RowLocation) -> Generator[None]:
    """What PostgreSQL complains of, in one line and without the address. The original is left behind: it may
    have been made of the address."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        message = str(error).replace(location.address, "…").strip().partition("\n")[0]
        for secret in _secrets(location.address):
            message = message.replace(secret, "…")
        raise Unavailable(f"{location.label}: {message}") from None


def without_secrets(address: str) -> str:
    known = _parsed(address)
    user = f"{known['user']}@" if "user" in known else ""
    host, port = known.get("host", ""), f":{known['port']}" if "port" in known else ""
    if host.startswith("/"):
        return f"postgresql://{user}{port}/{known.get('dbname', '')}?host={host}"
    return f"postgresql://{user}{host}{port}/{known.get('dbname', '')}"


def _secrets(address: str) -> list[str]:
    return [str(value) for name, value in _parsed(address).items() if "password" in name and value]


def _parsed(address: str) -> dict[str, Any]:
    psycopg = driver()
    try:
        return psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        # Its complaint quotes what may be a password.
        raise Invalid("That is no address of PostgreSQL: postgresql://user@host/database.") from None
