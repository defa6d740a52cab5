"""Which tools of a server models are offered, and under which names: pure.

A tool must be allowed by the operator, must declare itself read-only (unless that is waived), and must have a
schema that can be checked without the network. Its texts are cut to a length and freed of control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import Struct

from moot.core.terms import Tool
from moot.tools.contract import TOOL_NAME_PATTERN
from moot.tools.tool_settings import ToolServerSettings
from moot.views.text import clean, single_line

MAX_NAME = 64
MAX_DESCRIPTION = 1_000
MAX_TITLE = 60
MAX_SCHEMA_BYTES = 16 * 1024
MAX_LISTED_TOOLS = 64
"""Of one server: a model gets all of them before each speech."""
OWN_NAME_RE = re.compile(TOOL_NAME_PATTERN)
MODEL_NAME_RE = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ListedTool(Struct, frozen=True):
    """A tool as its server lists it."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    read_only: bool


class ToolEntry(Struct, frozen=True):
    """An offered tool: as models get it, and its name on the server."""

    own_name: str
    tool: Tool

    @property
    def allowed_name(self) -> str:
        """The name by which a debate allows it; its server's name allows it too."""
        return f"{self.tool.server}/{self.own_name}"


def admitted_tools(server: ToolServerSettings, offers: Iterable[ListedTool]) -> tuple[ToolEntry, ...]:
    """The tools that may be used; of two with the same name, the first."""
    entries: dict[str, ToolEntry] = {}
    for offer in offers:
        if offer.name not in entries and _is_admitted(server, offer):
            entries[offer.name] = ToolEntry(offer.name, _tool_for_models(server, offer))
    return tuple(entries.values())[:MAX_LISTED_TOOLS]


def allowed_entries(entries: Iterable[ToolEntry], allowed: Sequence[str]) -> tuple[ToolEntry, ...]:
    return tuple(entry for entry in entries if entry.tool.server in allowed or entry.allowed_name in allowed)


def name_for_models(server: str, tool: str) -> str:
    """The name by which models call it. An illegal one is made legal, with a hash to keep it unique."""
    plain = f"{server}__{tool}"
    if MODEL_NAME_RE.fullmatch(plain):
        return plain
    digest = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_-]', '_', plain)[: MAX_NAME - 9]}_{digest}"


def _is_admitted(server: ToolServerSettings, offer: ListedTool) -> bool:
    if (
        not OWN_NAME_RE.fullmatch(offer.name)
        or not server.admits(offer.name)
        or (server.read_only and not offer.read_only)
    ):
        return False
    if offer.schema.get("type") != "object":
        return False
    try:
        return len(msgspec.json.encode(offer.schema)) <= MAX_SCHEMA_BYTES and not _has_remote_refs(
            offer.schema
        )
    except (RecursionError, msgspec.MsgspecError, TypeError, ValueError):
        return False


def _has_remote_refs(schema: Any) -> bool:
    """Whether the schema refers to something outside itself."""
    if isinstance(schema, Mapping):
        shape = cast("Mapping[str, Any]", schema)
        is_remote = any(
            isinstance(shape.get(keyword), str) and not shape[keyword].startswith("#")
            for keyword in ("$ref", "$dynamicRef")
        )
        return is_remote or any(_has_remote_refs(part) for part in shape.values())
    return isinstance(schema, list) and any(_has_remote_refs(part) for part in cast("list[Any]", schema))


def _tool_for_models(server: ToolServerSettings, offer: ListedTool) -> Tool:
    return Tool(
        name=name_for_models(server.name, offer.name),
        description=clean(offer.description).strip()[:MAX_DESCRIPTION],
        schema=offer.schema,
        server=server.name,
        title=single_line(offer.title)[:MAX_TITLE] or single_line(offer.name)[:MAX_TITLE],
    )
