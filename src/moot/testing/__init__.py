"""The test kit: what an author's tests of an extension, a store, a provider or a format need, ready to use.

    from moot.testing import StoreContract


    class TestMyStore(StoreContract):
        ...

`ExtensionContract`, `StoreContract`, `ProviderContract` and `FormatContract` are suites, whose tests a test
class inherits. They need pytest and pytest-asyncio (the extra `testing`). `serving` runs a real server on a
free port, with `ScriptedProvider` for its models and `MemoryStore` for its debates. docs/testing-kit.md shows
each of them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from moot.core.errors import Unavailable
from moot.installation import install_command

if TYPE_CHECKING:
    from moot.providers.scripted import ScriptedProvider
    from moot.store.memory import MemoryStore
    from moot.testing.extension_contract import ExtensionContract
    from moot.testing.format_contract import FormatContract
    from moot.testing.provider_contract import Answering, ProviderContract, Reply
    from moot.testing.served import Served, serving
    from moot.testing.store_contract import Clock, StoreContract

__all__ = [
    "Answering",
    "Clock",
    "ExtensionContract",
    "FormatContract",
    "MemoryStore",
    "ProviderContract",
    "Reply",
    "ScriptedProvider",
    "Served",
    "StoreContract",
    "serving",
]

_HOMES = {
    "Answering": "moot.testing.provider_contract",
    "Clock": "moot.testing.store_contract",
    "ExtensionContract": "moot.testing.extension_contract",
    "FormatContract": "moot.testing.format_contract",
    "MemoryStore": "moot.store.memory",
    "ProviderContract": "moot.testing.provider_contract",
    "Reply": "moot.testing.provider_contract",
    "ScriptedProvider": "moot.providers.scripted",
    "Served": "moot.testing.served",
    "StoreContract": "moot.testing.store_contract",
    "serving": "moot.testing.served",
}
_SUITES = (
    "moot.testing.extension_contract", "moot.testing.format_contract", "moot.testing.provider_contract",
    "moot.testing.store_contract",
)  # fmt: skip

if pytest := sys.modules.get("pytest"):
    # A failed assertion in a suite then shows its values, as one in a file of tests does.
    pytest.register_assert_rewrite(*_SUITES)


def __getattr__(name: str) -> object:
    """Import a public name at its first use. Raises Unavailable where it needs pytest, which is not there."""
    if name not in _HOMES:
        raise AttributeError(f"module 'moot.testing' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("moot"):
            raise
        message = f"{error.name} is not installed, which moot.testing.{name} needs."
        raise Unavailable(message, install_command("testing")) from error
