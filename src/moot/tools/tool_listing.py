"""What of a server's tools is put before models, and by which names: pure.

A server says what it likes of its tools, so nothing is taken as it comes: a tool must be admitted by the
operator, must say that it changes nothing (unless that is waived), and must have a schema that can be held
to without asking anybody on the net. Its words are cut to a length and cleaned of what only machines see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import Struct

from moot.core.terms import Tool
from moot.tools.contract import OWN_NAME
from moot.tools.tool_settings import ToolServer
from moot.views.safe_text import clean, single_line

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_000
LONGEST_TITLE = 60
LARGEST_SCHEMA = 16 * 1024
MOST_TOOLS = 64
"""Of one server: a model reads all of them before each speech."""
NAMED = re.compile(OWN_NAME)
LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ListedTool(Struct, frozen=True):
    """A tool as its server lists it."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    read_only: bool


class ToolEntry(Struct, frozen=True):
    """A tool on the shelf: what models are told of it, and what the server calls it."""

    own_name: str
    tool: Tool

    @property
    def allowed_name(self) -> str:
        """The name that a debate allows it by; its server's name allows it too."""
        return f"{self.tool.server}/{self.own_name}"


def admitted_tools(server: ToolServer, offers: Iterable[ListedTool]) -> tuple[ToolEntry, ...]:
    """The tools that may be used; of two with one name, the first."""
    entries: dict[str, ToolEntry] = {}
    for offer in offers:
        if offer.name not in entries and _fit(server, offer):
            entries[offer.name] = ToolEntry(offer.name, _tool_for_models(server, offer))
    return tuple(entries.values())[:MOST_TOOLS]


def allowed_entries(entries: Iterable[ToolEntry], allowed: Sequence[str]) -> tuple[ToolEntry, ...]:
    return tuple(entry for entry in entries if entry.tool.server in allowed or entry.allowed_name in allowed)


def name_for_models(server: str, tool: str) -> str:
    """The name by which models call it. What would not be legal is made so, with a mark of what it was."""
    plain = f"{server}__{tool}"
    if LEGAL.fullmatch(plain):
        return plain
    mark = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_-]', '_', plain)[: LONGEST_NAME - 9]}_{mark}"


def _fit(server: ToolServer, offer: ListedTool) -> bool:
    if (
        not NAMED.fullmatch(offer.name)
        or not server.admits(offer.name)
        or (server.read_only and not offer.read_only)
    ):
        return False
    if offer.schema.get("type") != "object":
        return False
    try:
        return len(msgspec.json.encode(offer.schema)) <= LARGEST_SCHEMA and not _leads_away(offer.schema)
    except (RecursionError, msgspec.MsgspecError, TypeError, ValueError):
        return False


def _leads_away(schema: Any) -> bool:
    """It refers to something that would have to be fetched."""
    if isinstance(schema, Mapping):
        shape = cast("Mapping[str, Any]", schema)
        away = any(
            isinstance(shape.get(word), str) and not shape[word].startswith("#")
            for word in ("$ref", "$dynamicRef")
        )
        return away or any(_leads_away(part) for part in shape.values())
    return isinstance(schema, list) and any(_leads_away(part) for part in cast("list[Any]", schema))


def _tool_for_models(server: ToolServer, offer: ListedTool) -> Tool:
    return Tool(
        name=name_for_models(server.name, offer.name),
        description=clean(offer.description).strip()[:LONGEST_DESCRIPTION],
        schema=offer.schema,
        server=server.name,
        title=single_line(offer.title)[:LONGEST_TITLE] or single_line(offer.name)[:LONGEST_TITLE],
    )
