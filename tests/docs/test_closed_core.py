"""The core does not know our extensions: no module of it says their words, but for a list with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import moot
from moot.extensions import NAMES

CORE = Path(moot.__file__).parent
ELSEWHERE = ("extensions/", "web/vendor/")
GENERATED = "client/sync_client.py"
WORDS = {
    "experiments": r"experiment",
    "conversations": r"conversation|legacy",
    "quick_api": r"quick_?(api|debate|message|outcome|per_hour|cache)",
    "arena_api": r"arena_api|\bbout",
    "turn_sessions": r"turn_sessions|turn_grace",
    "mcp": r"\bmcp",
    "beliefs": r"belief|model.?audience|persona_vote",
}
"""How each extension is spoken of, upper or lower case."""
STORED = "A name in stored data, or of a wire."
ALLOWED = {
    "core/terms.py": STORED + " A message is one of a conversation with a model.",
    "core/state.py": STORED,
    "views/summary.py": STORED,
    "core/errors.py": "The text of an error, which clients know.",
    "engine/bookings.py": "The text of an error, which clients know.",
    "api/shapes/plain_streams.py": "Names of schemas, which two extensions share.",
    "web/streaming/plain_streams.py": "Names of schemas, which two extensions share.",
    "web/static/parts/votes.js": "The title of votes that models cast.",
    "api/shapes/debates.py": "Members of the client's config, for editors.",
    "api/shapes/conversations.py": "Replies, as the client has them: it has methods for all of the API.",
    "api/shapes/experiments.py": "Replies, as the client has them: it has methods for all of the API.",
    "client/__init__.py": "The client has methods for all of the API.",
    "client/async_client.py": "The client has methods for all of the API.",
    "client/shapes.py": "The client has methods for all of the API.",
    "experiments.py": "The public name of a part of the extension.",
    "installation.py": "Names of extras and packages that pip installs.",
    "extension.py": "Examples.",
    "cli/render/help.py": "An example.",
    "cli/commands/store.py": "The help of a command.",
    "manual/pages.py": "The list of the pages in docs/.",
    "tools/tool_connection.py": "Speakers use tools by the protocol MCP, and its package.",
    "tools/child_transport.py": "Speakers use tools by the protocol MCP, and its package.",
    "tools/toolbox.py": "Speakers use tools by the protocol MCP, and its package.",
    "engine/arena.py": "Speakers use tools by the protocol MCP, and its package.",
    "cli/commands/doctor.py": "Speakers use tools by the protocol MCP, and its package.",
    "web/logging_setup.py": "Loggers of packages.",
    "providers/wire_formats/openai_responses_decoder.py": "Names in the wire format of a model service.",
    "providers/wire_formats/openai_responses_items.py": "Names in the wire format of a model service.",
    "models/catalogue.py": "A conversation with a model.",
    "models/local_server.py": "A conversation with a model.",
    "cli/render/svg.py": "An argument of a library.",
}
"""Modules that may, and why."""


def core_modules() -> Iterator[tuple[str, str]]:
    """Path and text."""
    for path in sorted(CORE.rglob("*")):
        name = path.relative_to(CORE).as_posix()
        if path.suffix in (".py", ".js", ".html") and not name.startswith(ELSEWHERE) and name != GENERATED:
            yield name, path.read_text("utf-8")


def test_the_core_says_no_word_of_an_extension() -> None:
    pattern = re.compile("|".join(WORDS.values()), re.IGNORECASE)
    speaking = {name: found[0] for name, text in core_modules() if (found := pattern.search(text))}
    said = {name: word for name, word in speaking.items() if name not in ALLOWED}
    assert not said, "these belong into the extension, or get a neutral name"
    assert not ALLOWED.keys() - speaking.keys(), "these need no permission any more"


def test_the_words_are_those_of_extensions_that_there_are() -> None:
    assert WORDS.keys() <= {*NAMES}
