"""`moot doctor`: what works here, what is missing, and what to do about it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Literal

from msgspec import Struct

from moot import __version__, settings
from moot.core.errors import Invalid, MootError, NewerSchema, StoreError
from moot.installation import install_command
from moot.models import discovery, openmp
from moot.models.model_files import ModelFiles
from moot.providers.endpoints import Endpoint, is_plaintext, key_of
from moot.providers.keys import SETTINGS_FILE, ApiKey, Secret
from moot.providers.saved_keys import NO_KEYS
from moot.settings import Settings
from moot.store.sqlite.store import SqliteStore
from moot.tools.contract import ToolServerInfo
from moot.tools.toolbox import McpToolbox
from moot.views.text import plural


def doctor() -> int:
    """Check what works here, what is missing, and how to fix it."""
    from moot.cli.render.output import Terminal, add_row, make_table
    from moot.cli.run_command import run

    findings = run(check_machine())
    terminal = Terminal.out()
    table = make_table("", "", "", "")
    table.show_header = False
    marks = {"good": ("✓", "green"), "note": ("·", "dim"), "bad": ("✗", "bold red")}
    for finding in findings:
        add_row(table, marks[finding.state], (finding.what, "bold"), finding.detail, (finding.todo, "yellow"))
    table.columns[1].no_wrap = True
    terminal.table(table)
    bad = sum(finding.state == "bad" for finding in findings)
    terminal.line("")
    terminal.line("See the lines marked ✗." if bad else "Everything that Moot needs is here.")
    return 1 if bad else 0


REINSTALL = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall xllamacpp"
BUS_SECONDS = 3.0
NEEDED_BYTES = 300_000_000
"""Enough for the small model and many debates."""


class CheckResult(Struct, frozen=True):
    state: Literal["good", "note", "bad"]
    what: str
    detail: str
    todo: str = ""


async def check_machine() -> list[CheckResult]:
    version = f"{platform.python_version()}, Moot {__version__}"
    findings = [CheckResult("good" if sys.version_info >= (3, 11) else "bad", "Python", version)]
    try:
        here = settings.load()
    except MootError as error:
        return [*findings, CheckResult("bad", "settings", str(error), "Mend it, or take the setting away.")]
    unknown = settings.unknown_variables(here.environ)
    findings += [CheckResult("note", "settings", sentence) for sentence in unknown]
    findings += [_folder(here.data), *await _store(here), _check_local_engine(here)]
    findings += [_page()]
    findings += await _models(here)
    findings += _keys(here)
    findings += await _tools(here)
    offline = "downloads are forbidden (MOOT_OFFLINE)" if here.offline else "downloads are allowed"
    return [*findings, CheckResult("note", "network", offline)]


def _folder(data: Path) -> CheckResult:
    try:
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=data):
            free = shutil.disk_usage(data).free
    except OSError as error:
        todo = "Make it writable, or name another folder in MOOT_DATA."
        return CheckResult("bad", "data folder", f"{data}: {error.strerror}", todo)
    room = f"{data}, {free / 1e9:,.1f} GB free"
    if free < NEEDED_BYTES:
        return CheckResult("bad", "data folder", room, "Make room.")
    return CheckResult("good", "data folder", room)


async def _store(here: Settings) -> list[CheckResult]:
    if here.cluster.store is None:
        return [await _database(here)]
    return [await _shared_database(here.cluster.store.reveal()), await _bus(here.cluster.bus)]


async def _database(here: Settings) -> CheckResult:
    if not here.database.exists():
        return CheckResult("good", "database", "none yet; the first debate creates it")
    try:
        await SqliteStore.open(here.database).close()
        with closing(sqlite3.connect(f"file:{here.database}?mode=ro", uri=True)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            debates = connection.execute("SELECT count(*) FROM debates").fetchone()[0]
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            size = pages * connection.execute("PRAGMA page_size").fetchone()[0] / 1e6
    except NewerSchema as error:
        return CheckResult("bad", "database", str(error))
    except (StoreError, sqlite3.Error) as error:
        return CheckResult("bad", "database", f"{here.database}: {error}", "Put a copy in its place.")
    how = f"{plural(debates, 'debate')}, {size:,.1f} MB, schema {schema}"
    if sound != "ok":
        return CheckResult("bad", "database", f"damaged: {sound}", "Put a copy in its place.")
    return CheckResult("good", "database", how)


async def _shared_database(address: str) -> CheckResult:
    """Creates no tables: a check changes nothing."""
    if any(importlib.util.find_spec(name) is None for name in ("psycopg", "psycopg_pool")):
        return CheckResult(
            "bad", "database", "the driver of PostgreSQL is not installed", install_command("cluster")
        )
    from moot.row_io.readers import without_secrets
    from moot.store.postgres.connect import fetch, is_unreachable, open_connection, translated

    try:
        where = without_secrets(address)
        async with await open_connection(address) as connection:
            with translated():
                [[version, size, has_tables]] = await fetch(
                    connection,
                    """
                    SELECT current_setting('server_version'), pg_database_size(current_database()),
                        to_regclass('moot_schema') IS NOT NULL AND to_regclass('debates') IS NOT NULL
                    """,
                )
                debates = (await fetch(connection, "SELECT count(*) FROM debates"))[0][0] if has_tables else 0
    except MootError as error:
        away = isinstance(error, StoreError) and is_unreachable(error)
        todo = "Check MOOT_STORE, and that PostgreSQL is running there." if away else "Check MOOT_STORE."
        return CheckResult("bad", "database", str(error), todo)
    held = plural(debates, "debate") if has_tables else "no tables yet"
    return CheckResult("good", "database", f"PostgreSQL {version} at {where}, {held}, {size / 1e6:,.1f} MB")


async def _bus(address: Secret | None) -> CheckResult:
    if address is None:
        how = "none; other machines hear of news within a second, and limits are for each machine"
        return CheckResult("note", "bus", how, "Set MOOT_BUS=redis://… where there are several.")
    if importlib.util.find_spec("redis") is None:
        return CheckResult("bad", "bus", "the driver of Redis is not installed", install_command("cluster"))
    from redis.exceptions import RedisError

    from moot.cluster.redis_client import MIN_VERSION, RedisServer, why_unreachable

    todo = "Check MOOT_BUS, and that Redis is running there. Until then everything works, but slower."
    try:
        client = RedisServer(address.reveal()).client()
    except Invalid as error:
        return CheckResult("bad", "bus", str(error))
    try:
        async with asyncio.timeout(BUS_SECONDS):
            version: str = (await client.info("server"))["redis_version"]
    except (RedisError, OSError) as error:
        return CheckResult("bad", "bus", f"Redis cannot be reached: {why_unreachable(error)}", todo)
    finally:
        await client.aclose()
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_VERSION:
        return CheckResult("bad", "bus", f"Redis {version} is too old", "6.2 is the oldest that will do.")
    return CheckResult("good", "bus", f"Redis {version} answers")


def _check_local_engine(here: Settings) -> CheckResult:
    what = "local engine"
    if importlib.util.find_spec("xllamacpp") is None:
        return CheckResult("note", what, "xllamacpp is not installed", install_command("local"))
    library = openmp.search_path(ModelFiles(here.models, environ=here.environ))
    # In its own process: on a processor it was not built for, it would crash this one.
    loaded = subprocess.run(
        [sys.executable, "-c", "import xllamacpp"],
        capture_output=True,
        check=False,
        text=True,
        env={**here.environ, **library},
    )
    if openmp.LIBRARY in loaded.stderr:
        missing = f"this machine has no {openmp.LIBRARY}"
        if here.offline:
            return CheckResult("bad", what, missing, openmp.FIX)
        return CheckResult("note", what, f"{missing}; the first local model that is installed brings it")
    if loaded.returncode:
        reason = (loaded.stderr.strip().splitlines() or [f"it ended with {loaded.returncode}"])[-1]
        return CheckResult("bad", what, f"xllamacpp is installed but cannot be loaded: {reason}", REINSTALL)
    return CheckResult("good", what, f"xllamacpp {metadata.version('xllamacpp')}")


def _page() -> CheckResult:
    from moot.cli.commands.serve import missing_parts

    missing = missing_parts()
    return CheckResult("bad" if missing else "good", "page and manual", " ".join(missing) or "here")


async def _models(here: Settings) -> list[CheckResult]:
    manager = ModelFiles(here.models, environ=here.environ, offline=here.offline)
    possible = importlib.util.find_spec("xllamacpp") is not None
    rows = await discovery.find_models(
        manager, here.environ, here.endpoints, here.keys, saved=_saved(here), local=possible
    )
    installed = [row.name for row in rows if row.kind == "installed"]
    served = [row.name for row in rows if row.kind == "server" and row.usable]
    usable = any(row.usable for row in rows)
    fetchable = not here.offline and possible
    todo = "" if installed else f"moot models install {discovery.DEFAULT}"
    state = "good" if installed else "note" if usable or fetchable else "bad"
    local = ", ".join(installed) or "none yet; the first debate downloads one" if fetchable else "none"
    return [
        CheckResult(state, "local models", ", ".join(installed) or local, todo),
        CheckResult("good" if served else "note", "model servers", ", ".join(served) or "none found"),
    ]


async def _tools(here: Settings) -> list[CheckResult]:
    """Start each tool server of the settings and list its tools."""
    if not here.tools:
        return []
    if importlib.util.find_spec("mcp") is None:
        return [CheckResult("bad", "tools", "the package mcp is not installed", install_command("mcp"))]
    toolbox = McpToolbox(here.tools, here.environ)
    try:
        kits = await toolbox.servers()
    finally:
        await toolbox.close()
    return [_tool_finding(kit, here) for kit in kits]


def _tool_finding(kit: ToolServerInfo, here: Settings) -> CheckResult:
    what = f"tools of {kit.name}"
    if kit.missing:
        return CheckResult("bad", what, kit.missing, f"Check [tools.{kit.name}] in {here.file}.")
    return CheckResult("good", what, ", ".join(tool.name.partition("/")[2] for tool in kit.tools))


def _keys(here: Settings) -> Iterator[CheckResult]:
    saved = _saved(here)
    keyed = [
        (endpoint, key)
        for endpoint in here.endpoints
        if (key := key_of(endpoint, here.environ, here.keys, saved))
    ]
    failed = [
        endpoint.name
        for endpoint, key in keyed
        if key.origin == "settings"
        and here.saved_keys
        and here.saved_keys.test_state(endpoint.name) == "failed"
    ]
    sources = [_key_source(endpoint, key) for endpoint, key in keyed if endpoint.name not in failed]
    if sources or not failed:
        found = ", ".join(sources) or "none set; none is needed"
        yield CheckResult("good" if sources else "note", "keys", found)
    for name in failed:
        yield CheckResult(
            "note", "keys", f"the saved key of {name} failed its test", f"moot keys test {name}"
        )
    if here.keys and _readable_by_others(here.file):
        yield CheckResult(
            "note", "keys", f"others may read {here.file}", f"chmod 600 {shlex.quote(str(here.file))}"
        )
    for endpoint, _key in keyed:
        if is_plaintext(endpoint.base_url):
            how = f"the key of {endpoint.name} goes unencrypted to {endpoint.base_url}"
            yield CheckResult("note", "keys", how, "Use https, unless you trust the network.")


def _saved(here: Settings) -> Mapping[str, Secret]:
    return here.saved_keys.all() if here.saved_keys else NO_KEYS


def _key_source(endpoint: Endpoint, key: ApiKey) -> str:
    match key.origin:
        case "settings":
            return f"saved ({endpoint.name})"
        case "file":
            return f"{SETTINGS_FILE} ({endpoint.name})"
        case "environment":
            return key.source


def _readable_by_others(path: Path) -> bool:
    return os.name == "posix" and path.is_file() and bool(path.stat().st_mode & 0o077)
