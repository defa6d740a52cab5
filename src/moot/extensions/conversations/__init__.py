"""Conversations of other systems, imported to read and exported as they were; debates in the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moot.extension import Extension, HttpRoutes, PageModule, TerminalCommand

if TYPE_CHECKING:
    from moot.api.rights import Right
    from moot.store.extension_tables import Tables


def _http() -> HttpRoutes:
    from moot.api.shapes.conversations import ROWS
    from moot.extensions.conversations.pages import sample_replies
    from moot.extensions.conversations.routes import router

    return HttpRoutes(
        (router,),
        tags={
            "Conversations": "Debates as conversations of segments, and imported conversations. Read only."
        },
        rows=ROWS,
        sample_replies=sample_replies,
    )


def _rights() -> tuple[Right, ...]:
    from moot.extensions.conversations.rights import ARCHIVE

    return (ARCHIVE,)


def _tables() -> Tables[Any]:
    from moot.extensions.conversations.tables import CONVERSATIONS

    return CONVERSATIONS


EXTENSION = Extension(
    "conversations",
    "Conversations of other systems are imported, read and exported; debates are read in the same shape.",
    commands=(
        TerminalCommand(
            "conversations",
            "List and read imported conversations.",
            f"{__name__}.commands:app",
            after="motions",
            examples=("moot conversations show 6f1c1c1e-5a0e-4f0e-9d55-0d5a3c0f1a11",),
        ),
        TerminalCommand(
            "legacy",
            "Import conversations of an older system.",
            f"{__name__}.row_commands:import_legacy",
            parent="import",
            examples=(
                "moot import legacy postgresql://me@db.example/app --dry-run",
                "moot import legacy old.db --table events",
            ),
        ),
        TerminalCommand(
            "list",
            "List the imports, and what each has added.",
            f"{__name__}.row_commands:list_imports",
            parent="import",
        ),
        TerminalCommand(
            "undo",
            "Remove exactly what an import has added.",
            f"{__name__}.row_commands:undo",
            parent="import",
        ),
        TerminalCommand(
            "legacy",
            "Export conversations in their old shape.",
            f"{__name__}.row_commands:export_legacy",
            parent="export",
            examples=("moot export legacy events.jsonl",),
        ),
    ),
    http=_http,
    tables=_tables,
    rights=_rights,
    page=(
        PageModule("conversations.js", address="/conversations", title="Conversations"),
        PageModule("list_link.js", "debates"),
    ),
    package=__name__,
)
