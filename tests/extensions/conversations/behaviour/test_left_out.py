"""Without the extension its routes, commands and page are gone, and debates are held as ever."""

from __future__ import annotations

from pathlib import Path

from moot.cli.command_line import terminal_commands
from moot.cli.options import command_group
from moot.extension import load, using
from tests.web.routes.served import serving

IDS = {
    "/api/v1/conversations": "list_conversations",
    "/api/v1/conversations/{conversationId}": "get_conversation",
    "/api/v1/conversations/{conversationId}/events": "list_conversation_events",
}


async def test_the_operations_keep_their_ids(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        described = (await served.http.get("/openapi.json")).json()
        assert {path: described["paths"][path]["get"]["operationId"] for path in IDS} == IDS
        assert described["components"]["schemas"]["ConversationEvent"]["additionalProperties"] is True


async def test_without_it_its_routes_and_its_page_are_gone(tmp_path: Path) -> None:
    with using(*load("-conversations")) as loaded:
        async with serving(tmp_path) as served:
            for path in ("/api/v1/conversations", "/conversations"):
                assert (await served.http.get(path)).status_code == 404
            described = (await served.http.get("/openapi.json")).json()
            assert not [path for path in described["paths"] if "conversations" in path]
            assert "Conversations" not in [tag["name"] for tag in described["tags"]]
            debate_id = await served.open()
            assert (await served.get(debate_id, "stream")).text.count("event: complete") == 1
        assert loaded.failures == {}


def test_without_it_its_commands_are_gone() -> None:
    assert "conversations" in [row.name for row in terminal_commands()]
    assert {"legacy", "list", "undo"} <= {*command_group("import", "")}
    with using(*load("-conversations")):
        assert "conversations" not in [row.name for row in terminal_commands()]
        assert {"legacy", "list", "undo"}.isdisjoint(command_group("import", ""))
        assert "legacy" not in [*command_group("export", "")]
