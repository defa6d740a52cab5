"""What can argue here: configured keys, model servers on this machine, installed models, and what to fetch.

Only the loopback address is knocked at, briefly and at all doors at once. Of a key nothing but the name of
its variable is ever looked at. The rows come best first, and the default model is the first usable one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Literal, cast

import aiohttp
import msgspec
from msgspec import Struct

from moot.models.catalogue import DEFAULT, Entry
from moot.models.manager import Manager

KNOCK_SECONDS = 0.3

Kind = Literal["key", "server", "installed", "catalogue"]


class Found(Struct, frozen=True, omit_defaults=True):
    """One row: `name` as one would write it after `--model`."""

    name: str
    kind: Kind
    usable: bool
    why: str
    todo: str = ""
    title: str = ""
    size: int | None = None
    licence: str = ""


class KeyHolder(Struct, frozen=True):
    """A service that wants a key, the variables it may be in, and a sensible model to begin with."""

    provider: str
    variables: tuple[str, ...]
    model: str


class Server(Struct, frozen=True):
    """A program that serves models on this machine."""

    provider: str
    title: str
    base_url: str
    """Where it speaks chat completions."""
    list_url: str


KEY_HOLDERS = (
    KeyHolder("openai", ("OPENAI_API_KEY",), "gpt-5-mini"),
    KeyHolder("anthropic", ("ANTHROPIC_API_KEY",), "claude-sonnet-4-5"),
    KeyHolder("google", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini-2.5-flash"),
    KeyHolder("mistral", ("MISTRAL_API_KEY",), "mistral-small-latest"),
    KeyHolder("openrouter", ("OPENROUTER_API_KEY",), "openrouter/auto"),
    KeyHolder("groq", ("GROQ_API_KEY",), "llama-3.3-70b-versatile"),
)

SERVERS = (
    Server("ollama", "Ollama", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/api/tags"),
    Server("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1/models"),
    Server("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/models"),
)


async def find(
    manager: Manager,
    environ: Mapping[str, str],
    available: Collection[str],
    servers: tuple[Server, ...] = SERVERS,
) -> tuple[Found, ...]:
    """Everything that could argue, best first. `available` names the providers this Moot can speak to."""
    local = await asyncio.to_thread(installed, manager, available)
    return (*keys(environ, available), *await running(servers, available), *local)


def default_model(rows: tuple[Found, ...]) -> str:
    """A configured key, a server on this machine, the largest installed model, or the one we fetch."""
    usable = [row for row in rows if row.usable]
    for kind in ("key", "server"):
        for row in usable:
            if row.kind == kind:
                return row.name
    here = [row for row in usable if row.kind == "installed"]
    return max(here, key=lambda row: row.size or 0).name if here else f"local/{DEFAULT}"


def keys(environ: Mapping[str, str], available: Collection[str]) -> tuple[Found, ...]:
    return tuple(_key_row(holder, environ, available) for holder in KEY_HOLDERS)


def _key_row(holder: KeyHolder, environ: Mapping[str, str], available: Collection[str]) -> Found:
    name = f"{holder.provider}/{holder.model}"
    variable = next((variable for variable in holder.variables if environ.get(variable)), None)
    if variable is None:
        todo = f"Set {' or '.join(holder.variables)}."
        return Found(name, "key", usable=False, why="no key", todo=todo)
    if holder.provider not in available:
        why = f"{variable} is set, but this version of Moot does not speak to {holder.provider} yet"
        return Found(name, "key", usable=False, why=why)
    return Found(name, "key", usable=True, why=f"{variable} is set")


def installed(manager: Manager, available: Collection[str]) -> tuple[Found, ...]:
    """Local models: those in place first, then those of the catalogue that can be fetched."""
    usable = "local" in available
    todo = "" if usable else 'pip install "moot[local]"'
    names = manager.installed()
    rows = [_installed_row(manager, name, usable, todo) for name in names]
    missing = [entry for entry in manager.catalogue.values() if entry.name not in names]
    return (*rows, *(_missing_row(entry, todo) for entry in missing))


def _installed_row(manager: Manager, name: str, usable: bool, todo: str) -> Found:
    entry = manager.catalogue.get(name)
    return Found(
        f"local/{name}",
        "installed",
        usable=usable,
        why="installed" if usable else "installed, but xllamacpp is not",
        todo=todo,
        title=entry.title if entry else "",
        size=manager.path(name).stat().st_size,
        licence=entry.licence if entry else "",
    )


def _missing_row(entry: Entry, todo: str) -> Found:
    return Found(
        f"local/{entry.name}",
        "catalogue",
        usable=False,
        why="not installed",
        todo=todo or f"moot models install {entry.name}",
        title=entry.title,
        size=entry.size,
        licence=entry.licence,
    )


# --- model servers on this machine --------------------------------------------------------------------


async def running(servers: tuple[Server, ...], available: Collection[str]) -> tuple[Found, ...]:
    timeout = aiohttp.ClientTimeout(total=KNOCK_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
        answers = await asyncio.gather(*(_knock(session, server) for server in servers))
    return tuple(
        row
        for server, answer in zip(servers, answers, strict=True)
        for row in served(server, answer, server.provider in available)
    )


async def _knock(session: aiohttp.ClientSession, server: Server) -> Any:
    try:
        async with session.get(server.list_url, allow_redirects=False) as response:
            return msgspec.json.decode(await response.read()) if response.status == 200 else None
    except (aiohttp.ClientError, OSError, msgspec.DecodeError):
        return None


def served(server: Server, answer: Any, available: bool) -> tuple[Found, ...]:
    """The models in an answer; anything may listen at a port, so only the server's own kind counts."""
    if not isinstance(answer, dict):
        return ()
    told = cast("dict[str, Any]", answer)
    match server.provider:
        case "ollama":
            models = [(model.get("name"), model.get("size")) for model in _dicts(told.get("models"))]
        case "llamacpp":
            listed = [model for model in _dicts(told.get("data")) if model.get("owned_by") == "llamacpp"]
            models = [(model.get("id"), None) for model in listed]
        case _:
            models = [(model.get("id"), None) for model in _dicts(told.get("data"))]
    why = f"{server.title} is running" if available else f"this version of Moot cannot use {server.title} yet"
    return tuple(
        Found(
            f"{server.provider}/{name.removesuffix(':latest')}",
            "server",
            usable=available,
            why=why,
            size=size if isinstance(size, int) else None,
        )
        for name, size in models
        if isinstance(name, str) and "embed" not in name.lower()
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
