"""Finds the models that can debate here: services with a key, model servers, installed and downloadable ones.

Servers are probed on this machine and at the addresses that the operator set, briefly and all at once. Of a
key only the name of its variable is shown. The rows come best first; the default model is the first usable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

import aiohttp
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.installation import install_command
from moot.models.catalogue import DEFAULT, CatalogueEntry
from moot.models.model_files import ModelFiles
from moot.models.requirements import laptop_speed, memory_needed
from moot.providers import transport
from moot.providers.endpoints import ENDPOINTS, Endpoint, key_hint, key_of, needs_key, proxy_to
from moot.providers.keys import SETTINGS_FILE, ApiKey, Secret
from moot.providers.lenient_json import get_dicts
from moot.providers.saved_keys import NO_KEYS

PROBE_TIMEOUT = aiohttp.ClientTimeout(total=0.3)
ASK_TIMEOUT = aiohttp.ClientTimeout(total=5)
"""For a server that a debate needs, where a list of all that there is must not wait."""
MAX_LIST_BYTES = 4 * 1024 * 1024
MAX_MODEL_BYTES = 1 << 50
"""Of a list of models, and of one model in it."""

FREE_MODEL = f"local/{DEFAULT}"
"""Free, and downloaded when it is needed."""

ModelKind = Literal["key", "server", "installed", "catalogue"]


class AvailableModel(Struct, frozen=True, omit_defaults=True):
    """One row. `name` is what `--model` accepts; if it ends with /, the name of a model must be added."""

    name: str
    kind: ModelKind
    usable: bool
    why: str
    todo: str = ""
    title: str = ""
    size: int | None = None
    licence: str = ""
    summary: str = ""
    memory: int | None = None
    """Bytes of memory that it needs, an estimate."""
    speed: int | None = None
    """Tokens a second on a laptop, an estimate."""
    source: str = ""
    """The file of the hub that it is or would be fetched from."""
    proven: bool = True
    """False where its saved key has not passed a test: then it is used only where it is named."""


async def find_models(
    model_files: ModelFiles,
    environ: Mapping[str, str],
    services: Iterable[Endpoint] = ENDPOINTS,
    file_keys: Mapping[str, Secret] | None = None,
    *,
    saved: Mapping[str, Secret] = NO_KEYS,
    unproven: Collection[str] = (),
    local: bool = True,
) -> tuple[AvailableModel, ...]:
    """All models, best first. `local` says whether local models can run here; `unproven` names the services
    whose saved key has not passed a test.
    """
    endpoints = tuple(services)
    keys = {
        endpoint.name: key
        for endpoint in endpoints
        if (key := key_of(endpoint, environ, file_keys or NO_KEYS, saved))
    }
    own = await asyncio.to_thread(local_rows, model_files, local)
    services_with_key = (
        replace(row, proven=False, why=f"{row.why}, not tested or not accepted")
        if row.usable and row.name.partition("/")[0] in unproven
        else row
        for row in keyed_services(endpoints, keys)
    )
    return (*services_with_key, *await server_rows(endpoints, environ, keys), *own)


def default_choice(rows: tuple[AvailableModel, ...]) -> AvailableModel:
    """A service with a key, unless that is saved and unproven, a server, the largest installed model, or the
    one to download.
    """
    usable = [row for row in rows if row.usable and row.proven and not row.name.endswith("/")]
    for kind in ("key", "server"):
        for row in usable:
            if row.kind == kind:
                return row
    installed = [row for row in usable if row.kind == "installed"]
    to_download = AvailableModel(FREE_MODEL, "catalogue", usable=False, why="not installed")
    return max(installed, key=lambda row: row.size or 0) if installed else to_download


# --- services with a key ------------------------------------------------------------------------------


def keyed_services(endpoints: Iterable[Endpoint], keys: Mapping[str, ApiKey]) -> tuple[AvailableModel, ...]:
    return tuple(
        _service_row(endpoint, keys.get(endpoint.name)) for endpoint in endpoints if not endpoint.local
    )


def _service_row(endpoint: Endpoint, key: ApiKey | None) -> AvailableModel:
    # Which models there are at an address of the operator's, without a key, is not known.
    model = "" if key is None and endpoint.moved else endpoint.model
    name = f"{endpoint.name}/{model}"
    if key is None and needs_key(endpoint):
        return AvailableModel(name, "key", usable=False, why="no key", todo=key_hint(endpoint))
    todo = "" if model else f"name a model: {endpoint.name}/MODEL"
    return AvailableModel(name, "key", usable=True, why=_key_reason(endpoint, key), todo=todo)


def _key_reason(endpoint: Endpoint, key: ApiKey | None) -> str:
    if key is None:
        return f"at {endpoint.base_url}, without a key"
    match key.origin:
        case "settings":
            reason = "its key is saved"
        case "file":
            reason = f"{SETTINGS_FILE} has its key"
        case "environment":
            reason = f"{key.source} is set"
    return f"{reason}, at {endpoint.base_url}" if endpoint.moved else reason


# --- local models -------------------------------------------------------------------------------------


def local_rows(model_files: ModelFiles, usable: bool) -> tuple[AvailableModel, ...]:
    """Installed models first, then those of the catalogue that can be downloaded."""
    todo = "" if usable else install_command("local")
    names = model_files.installed()
    rows = [_installed_row(model_files, name, usable, todo) for name in names]
    missing = [entry for entry in model_files.catalogue.values() if entry.name not in names]
    return (*rows, *(_missing_row(entry, todo) for entry in missing))


def _installed_row(model_files: ModelFiles, name: str, usable: bool, todo: str) -> AvailableModel:
    entry, origin = model_files.catalogue.get(name), model_files.origin(name)
    size = model_files.path(name).stat().st_size
    return AvailableModel(
        f"local/{name}",
        "installed",
        usable=usable,
        why="installed" if usable else "installed, but xllamacpp is not",
        todo=todo,
        title=entry.title if entry else origin.title if origin else "",
        size=size,
        licence=entry.licence if entry else origin.licence if origin else "",
        summary=entry.summary if entry else "",
        memory=memory_needed(size),
        speed=laptop_speed(size),
        source=origin.source if origin else "",
    )


def _missing_row(entry: CatalogueEntry, todo: str) -> AvailableModel:
    return AvailableModel(
        f"local/{entry.name}",
        "catalogue",
        usable=False,
        why="not installed",
        todo=todo or f"moot models install {entry.name}",
        title=entry.title,
        size=entry.size,
        licence=entry.licence,
        summary=entry.summary,
        memory=memory_needed(entry.size),
        speed=laptop_speed(entry.size),
        source=entry.hub.reference if entry.hub else "",
    )


# --- model servers ------------------------------------------------------------------------------------


async def server_rows(
    endpoints: Iterable[Endpoint], environ: Mapping[str, str], keys: Mapping[str, ApiKey]
) -> tuple[AvailableModel, ...]:
    servers = [endpoint for endpoint in endpoints if endpoint.local and endpoint.base_url]
    async with transport.open_session() as session:
        answers = await asyncio.gather(
            *(_probe(session, server, keys.get(server.name), environ) for server in servers)
        )
    return tuple(
        row
        for server, answer in zip(servers, answers, strict=True)
        for row in rows_from_reply(server, answer)
    )


async def served_models(
    server: Endpoint, key: ApiKey | None, environ: Mapping[str, str]
) -> tuple[AvailableModel, ...] | None:
    """The models that one server has now; None if it does not answer as that server does."""
    async with transport.open_session() as session:
        answer = await _probe(session, server, key, environ, ASK_TIMEOUT)
    return None if answer is None else rows_from_reply(server, answer)


def list_url(server: Endpoint) -> str:
    """The address of its list of models; Ollama has one of its own, with their sizes."""
    if server.name == "ollama":
        return f"{server.base_url.removesuffix('/v1')}/api/tags"
    return f"{server.base_url}/models"


async def _probe(
    session: aiohttp.ClientSession,
    server: Endpoint,
    key: ApiKey | None,
    environ: Mapping[str, str],
    timeout: aiohttp.ClientTimeout = PROBE_TIMEOUT,
) -> Any:
    url = list_url(server)
    headers = {"Authorization": f"Bearer {key.secret.reveal()}"} if key else {}
    try:
        proxy = proxy_to(url, environ)
        async with session.get(
            url, headers=headers, allow_redirects=False, proxy=proxy, timeout=timeout
        ) as response:
            body = await transport.read_body(response, MAX_LIST_BYTES) if response.status == 200 else b"null"
        return msgspec.json.decode(body)
    except (aiohttp.ClientError, OSError, ValueError, RecursionError, Invalid):
        return None  # what listens there is not that server


def rows_from_reply(server: Endpoint, answer: Any) -> tuple[AvailableModel, ...]:
    """The models in an answer. Anything may listen at a port, so only the server's own format counts."""
    match server.name:
        case "ollama":
            models = [(model.get("name"), model.get("size")) for model in get_dicts(answer, "models")]
        case "llamacpp":
            listed = [model for model in get_dicts(answer, "data") if model.get("owned_by") == "llamacpp"]
            models = [(model.get("id"), None) for model in listed]
        case _:
            models = [(model.get("id"), None) for model in get_dicts(answer, "data")]
    return tuple(
        AvailableModel(
            f"{server.name}/{name.removesuffix(':latest')}",
            "server",
            usable=True,
            why=f"{server.title} is running",
            size=size if isinstance(size, int) and 0 < size < MAX_MODEL_BYTES else None,
        )
        for name, size in models
        if isinstance(name, str) and name and name.isprintable() and "embed" not in name.lower()
    )
