"""Tokens and tickets: who is let in, on which routes, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.api.auth import ANYONE, NOBODY, OPERATOR, Authenticator, Identity, Tickets
from moot.core.errors import StoreError
from moot.core.terms import InvitationRole, TokenRole
from moot.core.visibility import OBSERVER, OWNER, Viewer
from moot.engine.ephemeral_store import MAX_VALUES, MemoryEphemeralStore
from moot.providers.keys import Secret
from moot.store.contract import AccessToken, StoredInvitation, digest
from moot.store.memory import MemoryStore
from moot.testing.event_factories import opened
from tests.web.apps import Echo, talk
from tests.web.conftest import Serving
from tests.web.raw_client import Line, exchange, request
from tests.web.server.test_http_protocol import handshake

NOW = datetime.now(UTC)
OPERATORS = "operator-token-0123456789"
ALICES = "moot_alice-token-0123456789"


def token(word: str, name: str = "alice", role: TokenRole = "viewer", **more: datetime) -> AccessToken:
    return AccessToken(name, digest(word), role, "team", NOW, **more)


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def keeper_with(
    *tokens: AccessToken, operator: str = "", clock: Time | None = None
) -> tuple[Authenticator, MemoryStore]:
    store = MemoryStore()
    for each in tokens:
        await store.save_token(each)
    return Authenticator(store, Secret(operator) if operator else None, clock or Time()), store


# --- tokens ---------------------------------------------------------------------------------------------


async def test_without_tokens_whoever_asks_is_the_owner_of_all() -> None:
    keeper, _ = await keeper_with()
    assert await keeper.authenticate(None) == ANYONE
    assert await keeper.authenticate("Bearer whatever") == ANYONE
    assert ANYONE.sees("team")
    assert ANYONE.viewer is OWNER


async def test_a_token_is_known_by_its_digest_and_sees_what_is_its_owners() -> None:
    keeper, _ = await keeper_with(token(ALICES), operator=OPERATORS)
    alice = await keeper.authenticate(f"Bearer {ALICES}")
    assert alice == Identity("alice", "viewer", "team", key=digest(ALICES)[:16])
    assert (alice.sees("team"), alice.sees("others"), alice.sees("")) == (True, False, False)
    assert alice.viewer is OBSERVER
    assert await keeper.authenticate(f"bearer   {OPERATORS} ") == OPERATOR


async def test_those_known_last_are_let_in_while_the_store_is_away() -> None:
    clock = Time()
    keeper, store = await keeper_with(token(ALICES), operator=OPERATORS, clock=clock)
    known, store.tokens = store.tokens, away
    with pytest.raises(StoreError):
        await keeper.authenticate(f"Bearer {OPERATORS}")
    store.tokens = known
    assert await keeper.authenticate(f"Bearer {ALICES}")
    store.tokens = away
    clock.now += 60
    assert await keeper.authenticate(f"Bearer {OPERATORS}") == OPERATOR
    assert await keeper.authenticate(f"Bearer {ALICES}")
    assert await keeper.authenticate("Bearer other") is None
    # Requests do not each wait for a store that is away; when it is back it is asked again.
    store.tokens = known
    await store.save_token(token("moot_bob-token-0123456789", "bob"))
    clock.now += 1
    assert await keeper.authenticate("Bearer moot_bob-token-0123456789") is None
    clock.now += 6
    assert await keeper.authenticate("Bearer moot_bob-token-0123456789")
    store.tokens = away
    # One that was revoked here is not waved through.
    keeper.forget_cached()
    with pytest.raises(StoreError):
        await keeper.authenticate(f"Bearer {ALICES}")


async def away() -> tuple[AccessToken, ...]:
    raise StoreError


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "bearer    ", ALICES, f"Basic {ALICES}", f"Bearer {ALICES}x", "Bearer é",
     f"Bearer {ALICES} {ALICES}", f"Bearer  {ALICES[:-1]}", f"Bearer\t{ALICES}", "Bearer " + "a" * 9000],
)  # fmt: skip
async def test_anything_else_is_nobody(header: str | None) -> None:
    keeper, _ = await keeper_with(token(ALICES), operator=OPERATORS)
    assert await keeper.authenticate(header) is None


async def test_an_expired_token_opens_nothing_and_leaves_the_door_shut() -> None:
    keeper, _ = await keeper_with(token(ALICES, expires_at=NOW - timedelta(seconds=1)))
    assert await keeper.needs_token()
    assert await keeper.authenticate(f"Bearer {ALICES}") is None
    assert await keeper.authenticate(None) is None


async def test_a_revoked_token_is_forgotten_and_the_door_stays_shut() -> None:
    clock = Time()
    keeper, store = await keeper_with(token(ALICES), clock=clock)
    alice = await keeper.authenticate(f"Bearer {ALICES}")
    assert alice is not None
    assert await keeper.is_still_valid(alice)
    await store.delete_token("alice")
    clock.now += 6
    assert await keeper.authenticate(f"Bearer {ALICES}") is None
    assert not await keeper.is_still_valid(alice)
    assert not await keeper.is_still_valid(ANYONE)
    assert await keeper.needs_token()


async def test_a_new_token_is_known_within_seconds_and_ends_the_open_house() -> None:
    clock = Time()
    keeper, store = await keeper_with(clock=clock)
    assert await keeper.is_still_valid(ANYONE)
    await store.save_token(token(ALICES))
    clock.now += 6
    assert await keeper.authenticate(None) is None
    assert await keeper.authenticate(f"Bearer {ALICES}") is not None
    assert not await keeper.is_still_valid(ANYONE)


async def test_the_operator_is_known_as_long_as_there_is_a_token_for_it() -> None:
    keeper, _ = await keeper_with(operator=OPERATORS)
    assert await keeper.is_still_valid(OPERATOR)
    keeper, _ = await keeper_with(token(ALICES))
    assert not await keeper.is_still_valid(OPERATOR)
    assert not NOBODY.sees("")


# --- invitations ----------------------------------------------------------------------------------------

GUESTS = "moot_guest-token-0123456789"


async def guest(
    store: MemoryStore, role: InvitationRole, word: str = GUESTS, **more: Any
) -> StoredInvitation:
    await store.record("deb_1", lambda debate: () if debate else (opened(),))
    invitation = StoredInvitation("deb_1", f"zoe {word}", digest(word), role, NOW, **more)
    await store.add_invitation(invitation)
    return invitation


async def test_an_invitation_shuts_no_door_and_whoever_shows_it_is_what_it_says() -> None:
    keeper, store = await keeper_with()
    await guest(store, "participant", seat="part_1")
    zoe = await keeper.authenticate(f"Bearer {GUESTS}")
    assert zoe is not None
    assert (zoe.role, zoe.debate, zoe.conducts) == ("participant", "deb_1", False)
    assert zoe.viewer == Viewer("participant", "part_1")
    assert (zoe.sees("", "deb_1"), zoe.sees("", "deb_2")) == (True, False)
    assert await keeper.authenticate(None) == ANYONE
    assert not await keeper.needs_token()


@pytest.mark.parametrize(
    ("role", "viewer"),
    [("observer", OBSERVER), ("audience", OBSERVER), ("judge", Viewer("judge")),
     ("moderator", Viewer("moderator"))],
)  # fmt: skip
async def test_an_invitation_works_at_once_behind_a_shut_door(role: InvitationRole, viewer: Viewer) -> None:
    keeper, store = await keeper_with(token(ALICES), operator=OPERATORS)
    assert await keeper.authenticate(f"Bearer {GUESTS}") is None
    await guest(store, role)
    zoe = await keeper.authenticate(f"Bearer {GUESTS}")
    assert zoe is not None
    assert zoe.viewer == viewer
    assert await keeper.is_still_valid(zoe)


async def test_a_withdrawn_invitation_is_forgotten_at_once() -> None:
    keeper, store = await keeper_with(operator=OPERATORS)
    invitation = await guest(store, "observer")
    zoe = await keeper.authenticate(f"Bearer {GUESTS}")
    assert zoe is not None
    await store.delete_invitation("deb_1", invitation.name)
    assert not await keeper.is_still_valid(zoe)
    assert await keeper.authenticate(f"Bearer {GUESTS}") is None


async def test_an_expired_invitation_is_none() -> None:
    keeper, store = await keeper_with(operator=OPERATORS)
    await guest(store, "observer", expires_at=NOW - timedelta(seconds=1))
    assert await keeper.authenticate(f"Bearer {GUESTS}") is None


@pytest.mark.parametrize(
    "header",
    [f"Bearer {GUESTS}", f"bearer  {GUESTS}", f"Bearer {GUESTS}!", f"Bearer {GUESTS} {GUESTS}", GUESTS,
     f"Basic {GUESTS}", f"Bearer\t{GUESTS}", f"Bearer {GUESTS[:-1]}", "Bearer moot_",
     f"Bearer {GUESTS.upper()}", f"Bearer #token={GUESTS}", "Bearer moot_" + "a" * 9000],
)  # fmt: skip
async def test_without_tokens_an_invitation_that_is_none_is_nobody(header: str) -> None:
    keeper, _ = await keeper_with()
    assert await keeper.authenticate(header) is None
    assert await keeper.authenticate(None) == ANYONE


async def test_without_tokens_a_withdrawn_invitation_gives_no_rights() -> None:
    keeper, store = await keeper_with()
    invitation = await guest(store, "observer")
    await guest(store, "observer", "moot_expired-guest-0123456789", expires_at=NOW - timedelta(seconds=1))
    assert await keeper.authenticate("Bearer moot_expired-guest-0123456789") is None
    zoe = await keeper.authenticate(f"Bearer {GUESTS}")
    assert zoe is not None
    await store.delete_invitation("deb_1", invitation.name)
    assert await keeper.authenticate(f"Bearer {GUESTS}") is None
    assert not await keeper.is_still_valid(zoe)


async def test_those_who_share_a_link_are_counted_by_their_addresses() -> None:
    keeper, store = await keeper_with()
    await guest(store, "audience", many=True)
    await guest(store, "audience", "moot_another-guest-9876543210")
    hall, zoe = [await keeper.authenticate(f"Bearer {w}") for w in (GUESTS, "moot_another-guest-9876543210")]
    assert hall is not None
    assert zoe is not None
    assert hall.client("10.0.0.1") != hall.client("10.0.0.2")
    assert zoe.client("10.0.0.1") == zoe.client("10.0.0.2") != hall.client("10.0.0.1")


# --- tickets --------------------------------------------------------------------------------------------


async def test_a_ticket_opens_one_debate_once() -> None:
    tickets = Tickets(MemoryEphemeralStore())
    ticket = await tickets.issue(OPERATOR, "deb_1")
    assert len(ticket) == 32
    assert await tickets.redeem(ticket, "deb_1") == OPERATOR
    assert await tickets.redeem(ticket, "deb_1") is None


async def test_a_ticket_shown_at_the_wrong_door_is_spent() -> None:
    tickets = Tickets(MemoryEphemeralStore())
    ticket = await tickets.issue(OPERATOR, "deb_1")
    assert await tickets.redeem(ticket, "deb_2") is None
    assert await tickets.redeem(ticket, "deb_1") is None
    assert await tickets.redeem("", "") is None


async def test_a_ticket_is_good_for_a_minute() -> None:
    clock = Time()
    tickets = Tickets(MemoryEphemeralStore(clock))
    ticket = await tickets.issue(OPERATOR, "deb_1")
    clock.now = 60
    assert await tickets.redeem(ticket, "deb_1") is None


async def test_of_too_many_tickets_the_oldest_go() -> None:
    tickets = Tickets(MemoryEphemeralStore())
    issued = [await tickets.issue(OPERATOR, "deb_1") for _ in range(MAX_VALUES + 1)]
    assert await tickets.redeem(issued[0], "deb_1") is None
    assert await tickets.redeem(issued[1], "deb_1") == OPERATOR


# --- at the border --------------------------------------------------------------------------------------


async def test_every_door_but_health_wants_a_token(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), token=Secret(OPERATORS))
    for path in ("/", "/api/v1/debates", "/metrics", "/docs", "/openapi.json", "/static/x.js", "/healthy"):
        reply = await exchange(served.port, request(path))
        assert (reply.status, reply.kind) == (401, "unauthorized")
        assert reply.headers["www-authenticate"] == "Bearer"
        wrong = await exchange(served.port, request(path, Authorization="Bearer wrong-token-0123456789"))
        assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        right = await exchange(served.port, request(path, Authorization=f"Bearer {OPERATORS}"))
        assert right.status == 200
    for path in ("/health", "/health/live", "/health/ready", "/api/v1/health"):
        assert (await exchange(served.port, request(path))).status == 200


async def test_a_token_counts_only_in_its_one_header(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo, token=Secret(OPERATORS))
    right = f"Authorization: Bearer {OPERATORS}\r\n".encode()
    for sent in (
        request("/api/x", X_Api_Key=OPERATORS),
        request(f"/api/x?token={OPERATORS}"),
        request(f"/api/v1/debates/deb_1/stream?ticket={OPERATORS}"),
        request("/api/x", Cookie=f"token={OPERATORS}"),
        request("/api/x", Authorization="Bearer wrong")[:-2] + right + b"\r\n",
        request("/api/x")[:-2] + right + right + b"\r\n",
    ):
        assert (await exchange(served.port, sent)).status == 401
    assert not echo.seen


async def test_tokens_of_the_store_come_with_their_role(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), tokens=(token(ALICES, role="moderator"),))
    reply = await exchange(served.port, request("/api/x", Authorization=f"Bearer {ALICES}"))
    client = f"token:{digest(ALICES)[:16]}".encode()
    assert b'"who": "alice", "role": "moderator", "client": "%b"' % client in reply.body


async def test_a_new_token_under_an_old_name_is_somebody_else() -> None:
    clock = Time()
    keeper, store = await keeper_with(token(ALICES), clock=clock)
    old = await keeper.authenticate(f"Bearer {ALICES}")
    assert old is not None
    await store.delete_token("alice")
    await store.save_token(token("moot_another-token-9876543210"))
    clock.now += 60
    assert not await keeper.is_still_valid(old)
    assert await keeper.authenticate(f"Bearer {ALICES}") is None


async def test_tokens_that_are_none_are_counted_at_every_door(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), token=Secret(OPERATORS), requests_per_minute=3)
    tried = [request("/metrics", Authorization=f"Bearer wrong-{n}-0123456789") for n in range(5)]
    assert [(await exchange(served.port, sent)).status for sent in tried] == [401, 401, 401, 429, 429]


async def test_a_page_from_elsewhere_does_not_use_up_what_the_user_may_ask(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), requests_per_minute=3)
    for _ in range(5):
        await exchange(served.port, request("/api/x", Sec_Fetch_Site="cross-site"))
    assert (await exchange(served.port, request("/api/x"))).status == 200


@pytest.mark.parametrize("door", ["stream", "events/stream"])
async def test_a_ticket_opens_a_stream_once_and_nothing_else(behind_guard: Serving, door: str) -> None:
    served = await behind_guard(Echo(), token=Secret(OPERATORS))
    assert served.tickets is not None

    async def status(path: str, debate: str = "deb_1") -> int:
        assert served.tickets is not None
        ticket = await served.tickets.issue(OPERATOR, debate)
        return (await exchange(served.port, request(f"{path}?ticket={ticket}"))).status

    stream = f"/api/v1/debates/deb_1/{door}"
    assert await status(stream) == 200
    assert await status(stream, "deb_2") == 401
    assert await status("/api/v1/debates/deb_1/status") == 401
    ticket = await served.tickets.issue(OPERATOR, "deb_1")
    twice = [(await exchange(served.port, request(f"{stream}?ticket={ticket}"))).status for _ in range(2)]
    assert twice == [200, 401]


async def test_a_ticket_counts_no_longer_than_the_token_it_was_issued_for(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), token=Secret(OPERATORS))
    assert served.tickets is not None
    ticket = await served.tickets.issue(Identity("alice", "viewer", "team", key="revoked"), "deb_1")
    reply = await exchange(served.port, request(f"/api/v1/debates/deb_1/stream?ticket={ticket}"))
    assert (reply.status, reply.kind) == (401, "unauthorized")


async def test_a_websocket_needs_a_token_or_a_ticket_before_it_opens(behind_guard: Serving) -> None:
    served = await behind_guard(talk, token=Secret(OPERATORS))
    assert served.tickets is not None
    path = "/api/v1/debates/deb_1/ws"
    reply = await exchange(served.port, handshake(path))
    assert (reply.status, reply.kind) == (401, "unauthorized")
    ticket = await served.tickets.issue(OPERATOR, "deb_1")
    for sent in (handshake(path, Authorization=f"Bearer {OPERATORS}"), handshake(f"{path}?ticket={ticket}")):
        line = await Line.to(served.port)
        await line.send(sent)
        assert (await line.reply()).status == 101
        await line.close()
