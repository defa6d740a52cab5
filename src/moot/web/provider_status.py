"""The providers as the settings page shows them: whether each works, and what is missing.

Of a key only the name of its variable is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from moot.api.shapes.server_replies import OfferedProvider
from moot.core.terms import HUMAN
from moot.models.discovery import AvailableModel
from moot.models.registry import ProviderRegistry
from moot.providers import known_models
from moot.providers.endpoints import Endpoint, key_hint_for_page

LOCAL = "local"
EXAMPLE_URL = "http://127.0.0.1:8000/v1"
START = {
    "ollama": "Start Ollama and pull a model.",
    "lmstudio": "Start the server of LM Studio and load a model.",
    "llamacpp": "Start it with: llama-server -m MODEL.gguf",
}


def provider_rows(
    providers: ProviderRegistry, available: Sequence[AvailableModel]
) -> tuple[OfferedProvider, ...]:
    """Services first, then model servers, then local models, then plug-ins."""
    rows = [_service_row(providers, endpoint, available) for endpoint in providers.endpoints.values()]
    rows.sort(key=lambda row: row.local)
    others = [name for name in providers.names() if name not in providers.endpoints]
    plain = [_plugin_row(name) for name in others if name not in (LOCAL, HUMAN)]
    return (*rows, _local_row(_rows_of(LOCAL, available)), *plain)


def _rows_of(provider: str, available: Sequence[AvailableModel]) -> list[AvailableModel]:
    return [row for row in available if row.name.partition("/")[0] == provider]


def _service_row(
    providers: ProviderRegistry, endpoint: Endpoint, available: Sequence[AvailableModel]
) -> OfferedProvider:
    rows = _rows_of(endpoint.name, available)
    ready = any(row.usable for row in rows)
    listed = [_model_name(row) for row in rows if row.usable and _model_name(row)]
    names = [
        *listed,
        *(() if endpoint.local else (row.name for row in known_models.catalogue(endpoint.name))),
    ]
    return OfferedProvider(
        name=endpoint.name,
        title=endpoint.title,
        ready=ready,
        local=endpoint.local,
        key_name=endpoint.keys[0] if endpoint.keys else None,
        why=next((row.why for row in rows if row.usable), None),
        missing=None if ready else _missing_text(providers, endpoint),
        models=tuple(dict.fromkeys(names)),
    )


def _missing_text(providers: ProviderRegistry, endpoint: Endpoint) -> str:
    if not endpoint.base_url:
        if not endpoint.url_variable:
            return "Set its base_url in moot.toml, then start Moot again."
        variable = f"{endpoint.url_variable}, such as {EXAMPLE_URL}"
        return f"Its address is not known. Set {variable}, and start Moot again."
    if not providers.has_key(endpoint.name):
        return key_hint_for_page(endpoint)
    start = START.get(endpoint.name, f"Start {endpoint.title}.")
    return f"Nothing answers at {endpoint.base_url}. {start}"


def _local_row(rows: Sequence[AvailableModel]) -> OfferedProvider:
    ready = any(row.usable for row in rows)
    return OfferedProvider(
        name=LOCAL,
        title="This machine",
        ready=ready,
        local=True,
        key_name=None,
        why=next((row.why for row in rows if row.usable), None),
        missing=None if ready else next((row.todo for row in rows if row.todo), None),
        models=tuple(_model_name(row) for row in rows if row.usable),
    )


def _plugin_row(name: str) -> OfferedProvider:
    """A provider of a plug-in, or one for tests: it needs nothing from us."""
    return OfferedProvider(
        name=name,
        title=name.capitalize(),
        ready=True,
        local=True,
        key_name=None,
        why=None,
        missing=None,
        models=(),
    )


def _model_name(row: AvailableModel) -> str:
    return row.name.partition("/")[2]
