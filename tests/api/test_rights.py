"""One table of rights: every route and every order, tried with every role, and the table in the docs."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
from websockets.asyncio.client import connect

from moot.api.command_table import socket_commands
from moot.api.rights import OWN, RIGHTS, Action, Right, Role, all_rights
from moot.processes.server import make_app
from moot.web.app import SOCKET
from moot.web.routes import docs, health, manual, metrics, page
from tests.web import route_table
from tests.web.behaviour.test_roles import ROUTES as NAMED
from tests.web.behaviour.test_roles import TOPIC, asked, bearer, filled
from tests.web.route_table import rows
from tests.web.routes.served import Served
from tests.web.routes.test_debate_routes import problem
from tests.web.routes.test_invitations import full_house

DOCUMENT = (Path(__file__).parents[2] / "docs/people.md").read_text("utf-8")
ROUTES: dict[tuple[str, str], Action | Right] = {
    **{(method, path): action for method, path, _, action in route_table.ROUTES},
    **{
        (method, path): action
        for method, path, _, action in rows("", (*health.router.routes, *metrics.router.routes))
    },
    **{("GET", path): "public" for path in (*page.PATHS, *manual.PATHS)},
    **{("GET", module.address): "public" for module in page.extension_modules() if module.address},
    **{("GET", path): "look" for path in docs.PATHS},
    ("GET", SOCKET): "watch",
}
ROLES: tuple[Role, ...] = get_args(Role)
NAMES = {(method, path): name for method, path, name in NAMED}
LAST = ("stop_debate", "decide_winner", "abort_debate", "delete_debate")
SEATED: dict[str, dict[str, Any]] = {
    "TAKE": {},
    "LEAVE": {},
    "DRAFT": {"text": "So"},
    "SAY": {"text": "So."},
    "POINT": {"text": "But?"},
    "ANSWER": {"accept": False},
}
SENT: dict[str, dict[str, Any]] = {
    "EXTEND": {"seconds": 30},
    "INJECT_CONTEXT": {"additionalContext": "Mind the cost."},
    "QUESTION": {"text": "Who pays?"},
    "VOTE": {"choice": "for"},
}


@asynccontextmanager
async def everybody(tmp_path: Path) -> AsyncGenerator[tuple[Served, str, str, dict[str, dict[str, str]]]]:
    """A debate, one of its seats, and the headers of everybody by their role: `wrong` has a token that is
    none, `other` sits in the other seat."""
    async with full_house(tmp_path) as (house, debate_id, seat, guests):
        operator = bearer("operators-own-token")
        tokens: dict[str, dict[str, str]] = {}
        for role in ("owner", "moderator", "viewer", "monitor"):
            shape = {"name": role, "role": role, "owner": ""}
            reply = await house.http.post("/api/v1/tokens", json=shape, headers=operator)
            tokens[role] = bearer(reply.json()["token"])
        people = {
            "nobody": {},
            "wrong": bearer("wrong"),
            "viewer": tokens["viewer"],
            "monitor": tokens["monitor"],
            "hall link": guests.pop("link"),
            "invited moderator": guests.pop("moderator"),
            **guests,
            "moderator": tokens["moderator"],
            "owner": tokens["owner"],
            "operator": operator,
        }
        assert people.keys() == {*ROLES, "wrong", "other"}
        yield house, debate_id, seat, people


async def another(house: Served, headers: dict[str, str]) -> str:
    opened = await house.http.post("/api/debate/create", json=TOPIC, headers=headers)
    return opened.json()["debateId"]


def name_of(action: Action | Right) -> str:
    return action.name if isinstance(action, Right) else action


def may(who: str, action: Action | Right) -> bool:
    """By the table. Who sits elsewhere may do nothing at this seat."""
    role: Any = {"wrong": "nobody", "other": "participant"}.get(who, who)
    of_another = who == "other" and isinstance(action, str) and OWN.get((role, action)) == "seat"
    return role in all_rights()[name_of(action)] and not of_another


def test_every_action_is_in_the_table_and_some_route_needs_it() -> None:
    assert set(RIGHTS) == set(get_args(Action))
    assert set(map(name_of, ROUTES.values())) == set(all_rights())


async def test_every_route_of_the_application_names_its_action(served: Served) -> None:
    application: Any = make_app(served.arena)
    while not hasattr(application, "routes"):
        parts = vars(application)
        application = parts.get("_app") or parts["_api"]
    assert set(_routes(application.routes)) == set(ROUTES)


def _routes(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Methods and addresses, as the tables have them."""
    for route in routes:
        if hasattr(route, "original_router"):  # a router that was included, in newer versions of FastAPI
            yield from _routes(route.original_router.routes, prefix + route.include_context.prefix)
            continue
        written = route.path.replace("{conversationId:path}", "{conversationId}").replace(":session}", "}")
        for method in (getattr(route, "methods", None) or {"GET"}) - {"HEAD"}:
            yield method, prefix + written


async def test_every_route_opens_to_the_roles_of_the_table_and_to_no_other(tmp_path: Path) -> None:
    order = sorted(ROUTES, key=lambda route: LAST.index(NAMES[route]) if NAMES.get(route) in LAST else -1)
    async with everybody(tmp_path) as (house, debate_id, seat, people):
        for who, headers in people.items():
            for method, path in order:
                action, name = ROUTES[method, path], NAMES.get((method, path), "")
                if name:
                    deletes = name == "delete_debate" and may(who, action)
                    one = await another(house, headers) if deletes else debate_id
                    reply = await asked(house, (method, path, name), one, headers, seat)
                else:
                    address = filled(path.replace(":path", ""), debate_id)
                    reply = await house.http.get(address, headers=headers)
                tried, status = (who, method, path, reply.text[:300]), reply.status_code
                if may(who, action):
                    assert status not in (401, 403), tried
                    assert status < 500 or status == 503, tried
                else:
                    assert status == (401 if who in ("nobody", "wrong") else 403), tried


async def test_every_order_over_a_socket_opens_to_the_roles_of_the_table_and_to_no_other(
    tmp_path: Path,
) -> None:
    order, stop = sorted(socket_commands(), key=lambda kind: kind == "STOP"), socket_commands()["STOP"]
    async with everybody(tmp_path) as (house, debate_id, seat, people):
        url = f"{house.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws?after=0"
        everyone = [who for who in people if may(who, "watch")]
        # A stop ends the debate, and soon the sockets: it comes last, from those who may not give it first.
        rounds = [(who, order[:-1]) for who in everyone]
        rounds += [(who, ["STOP"]) for who in sorted(everyone, key=lambda who: may(who, stop.action))]
        for who, kinds in rounds:
            async with connect(url, additional_headers=people[who]) as socket:
                for kind in kinds:
                    data = {"seat": seat, **SEATED[kind]} if kind in SEATED else SENT.get(kind, {})
                    await socket.send(json.dumps({"type": kind, "data": data}))
                    while (frame := json.loads(await socket.recv()))["event"] not in ("ack", "error"):
                        pass
                    refused = frame["data"].get("code") == "FORBIDDEN"
                    assert refused is not may(who, socket_commands()[kind].action), (who, kind, frame)
                    if kind == "STOP" and not refused:
                        return


async def test_only_the_owner_deletes(tmp_path: Path) -> None:
    async with everybody(tmp_path) as (house, debate_id, _, people):
        path = f"/api/v1/debates/{debate_id}"
        for who in ("invited moderator", "moderator"):
            shape = problem(await house.http.delete(path, headers=people[who]), 403, "forbidden")
            assert shape["detail"] == "Only the owner of a debate may delete it"
        assert (await house.http.delete(path, headers=people["owner"])).status_code == 204
        path = f"/api/v1/debates/{await another(house, people['owner'])}"
        assert (await house.http.delete(path, headers=people["operator"])).status_code == 204


async def test_the_page_is_told_the_rights_of_whoever_looks_at_it(tmp_path: Path) -> None:
    told: tuple[Action, ...] = ("open", "inspect", "invite", "steer", "vote", "ask")
    async with everybody(tmp_path) as (house, debate_id, seat, people):
        for who in [who for who in people if may(who, "watch")]:
            rights = (await house.get(debate_id, "view", headers=people[who])).json()["me"]["may"]
            assert {action: rights[action] for action in told} == {
                action: may(who, action) for action in told
            }
            assert (seat in rights["seats"]) is may(who, "speak")
            assert bool(rights["judges"]) is may(who, "ballot")


@pytest.mark.parametrize("action", [action for action in all_rights() if action != "public"])
def test_the_table_in_the_docs_is_the_table(action: Any) -> None:
    lines = [line for line in DOCUMENT.splitlines() if line.startswith("|")]
    head = next(line for line in lines if "hall link" in line)
    roles = [cell.strip() for cell in head.strip("|").split("|")][1:]
    assert {part.strip() for role in roles for part in role.split(",")} == {*ROLES} - {"nobody"}
    [row] = [line for line in lines if line.startswith(f"| `{action}`")]
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    told = {
        (part.strip(), cell)
        for role, cell in zip(roles, cells, strict=True)
        for part in role.split(",")
        if cell
    }
    meant = {
        (role, f"own {OWN[role, action]}" if (role, action) in OWN else "yes")
        for role in all_rights()[action]
    }
    assert told == meant
