"""Authentication: bearer tokens, invitations, and tickets for clients that cannot send a header.

The operator's token comes from the settings and gives access to all debates. Further tokens are in the store,
by digest only, and give access to the debates of their owner. While there is no token, every client counts as
the owner of all debates; once a token has been seen, this process requires one for as long as it runs, even
if the last token is revoked. An invitation gives access to one debate in one role. It does not make tokens
required, but a client that sends one has that role and no more, and none once it is not valid any more.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Protocol, assert_never

import msgspec
from msgspec import Struct

from moot.api.rate_limits import Counted
from moot.core.ephemeral_store import EphemeralStore
from moot.core.errors import StoreError
from moot.core.terms import InvitationRole, TokenRole
from moot.core.visibility import OBSERVER, OWNER, Viewer
from moot.providers.keys import Secret
from moot.store.contract import BEARER_PREFIX, AccessToken, StoredInvitation
from moot.store.contract import digest as digest_of

CACHE_SECONDS = 0.5
"""A token that was revoked at another node is refused here after this time."""
AWAY_SECONDS = 5.0
"""After a failure the store is not asked again for this time, so that requests do not wait for it."""
TICKET_SECONDS = 60.0

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/=-]{1,512})", re.ASCII | re.IGNORECASE)


class Identity(Struct, frozen=True):
    """The identity of a client. `owner` is the owner of the debates that it may see; None for all debates."""

    name: str
    role: TokenRole | InvitationRole
    owner: str | None = None
    key: str = ""
    """Distinguishes the token from an earlier one of the same name."""
    debate: str | None = None
    """The debate of an invitation: the only one that the client may see."""
    seat: str | None = None
    judge: str | None = None
    many: bool = False
    """The invitation is a link that many people use."""
    link: str = ""
    """The link for many by which the client joined: its digest."""

    @property
    def viewer(self) -> Viewer:
        match self.role:
            case "owner":
                return OWNER
            case "moderator":
                return Viewer("moderator")
            case "viewer" | "observer" | "audience" | "monitor":
                return OBSERVER
            case "participant":
                return Viewer("participant", self.seat)
            case "judge":
                return Viewer("judge")
            case _:
                assert_never(self.role)

    @property
    def voter(self) -> str:
        """The name under which votes are counted: a token has one vote, even after a change of its name."""
        return self.key[:16]

    @property
    def conducts(self) -> bool:
        """Whether the client may open, steer and end debates."""
        return self.role in ("owner", "moderator")

    def sees(self, owner: str, debate: str = "") -> bool:
        """Whether the client may see this debate of this owner."""
        if self.debate is not None:
            return self.debate == debate
        return self.owner is None or self.owner == owner

    def client(self, address: str) -> str:
        """The name of the client. A link for many people is not one client: there each address is one."""
        return f"token:{self.key[:16]}@{address}" if self.many else f"token:{self.key[:16]}"

    def counted(self, address: str) -> Counted:
        """What its requests are counted for. A link for many, and so joining by it, counts to the address;
        those who joined by one link from one address also have a limit together."""
        if self.many:
            return Counted(address)
        return Counted(self.client(address), f"link:{self.link[:16]}@{address}" if self.link else "")


NO_OWNER = "\0"
"""No debate has this owner."""
ANYONE = Identity("anyone", "owner", key="anyone")
"""Every client of a server without tokens."""
OPERATOR = Identity("operator", "owner", key="operator")
NOBODY = Identity("nobody", "viewer", owner=NO_OWNER)
"""A client on a route that needs no token."""


class TokenStore(Protocol):
    """The tokens and invitations in the store."""

    async def tokens(self) -> tuple[AccessToken, ...]: ...

    async def invitation(self, digest: str) -> StoredInvitation | None: ...

    async def invited(self, digests: Collection[str]) -> tuple[StoredInvitation, ...]: ...


class Authenticator:
    """Finds the identity of a token. Tokens are read from the store at most twice a second, invitations each
    time, so that a new one is valid at once."""

    def __init__(
        self,
        register: TokenStore,
        operator: Secret | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = register
        self._operator_digest = digest_of(operator.reveal()) if operator else ""
        self._clock = clock
        self._cached: tuple[AccessToken, ...] = ()
        self._fetched_at = float("-inf")
        self._token_needed = operator is not None

    async def needs_token(self) -> bool:
        """Whether a token is needed. Expired tokens count too: a server whose tokens have expired is not
        open to all."""
        known = await self._tokens()
        self._token_needed = self._token_needed or bool(known)
        return self._token_needed

    def forget_cached(self) -> None:
        """Read the tokens anew at the next request: one was made or revoked in this process."""
        self._fetched_at = float("-inf")

    async def authenticate(self, authorization: str | None) -> Identity | None:
        """The identity of the token or invitation in the header, or None. On a server without tokens a client
        that sends neither is `ANYONE`; one whose invitation is no longer valid is nobody."""
        header = (authorization or "").strip(" ")
        match = _BEARER.fullmatch(header)
        word = match[1] if match else ""
        if not await self.needs_token():
            return await self._by_invitation(word) if BEARER_PREFIX in header.lower() else ANYONE
        return (await self._by_token(word) or await self._by_invitation(word)) if word else None

    async def is_still_valid(self, identity: Identity) -> bool:
        """Whether an identity is still valid: its token may have expired or been revoked."""
        return bool(await self.known((identity,)))

    async def known(self, identities: Collection[Identity]) -> set[Identity]:
        """The identities that are still valid. The store is asked at most twice for all of them."""
        guests = {one.key for one in identities if one.debate is not None}
        invited = await self._store.invited(guests) if guests else ()
        known = {_invited_identity(invitation) for invitation in invited}
        if len(known) < len(identities):
            known |= await self._bearers()
        return known.intersection(identities)

    async def _bearers(self) -> set[Identity]:
        tokens = await self._tokens(fresh=True)
        if not await self.needs_token():
            return {ANYONE}
        now = datetime.now(UTC)
        bearers = {_token_identity(token) for token in tokens if not token.expired(now)}
        return bearers | {OPERATOR} if self._operator_digest else bearers

    async def _by_invitation(self, word: str) -> Identity | None:
        if not word.startswith(BEARER_PREFIX):
            return None
        invitation = await self._store.invitation(digest_of(word))
        return _invited_identity(invitation) if invitation else None

    async def _by_token(self, word: str) -> Identity | None:
        digest = digest_of(word)
        identity: Identity | None = None
        # Every token is compared, so that the time does not depend on which one matches.
        if compare_digest(digest, self._operator_digest):
            identity = OPERATOR
        now = datetime.now(UTC)
        for token in await self._tokens():
            if compare_digest(digest, token.digest) and not token.expired(now):
                identity = identity or _token_identity(token)
        return identity

    async def _tokens(self, *, fresh: bool = False) -> tuple[AccessToken, ...]:
        now = self._clock()
        if fresh or now - self._fetched_at >= CACHE_SECONDS:
            pause = 0.0
            try:
                self._cached = await self._store.tokens()
            except StoreError:
                # The last known tokens still count: without the store no debate can be read, but health and
                # metrics can, and the operator needs them then.
                if self._fetched_at == float("-inf"):
                    raise
                pause = AWAY_SECONDS
            self._fetched_at = self._clock() + pause
        return self._cached


class IssuedTicket(Struct, frozen=True):
    """The debate and the identity of a ticket. Of the ticket itself only the digest is stored."""

    debate: str
    identity: Identity


class Tickets:
    """Tickets: each opens one stream of one debate, once, within a minute. An EventSource cannot send a
    header, and a token must not be in a URL."""

    def __init__(self, ephemeral: EphemeralStore) -> None:
        self._ephemeral = ephemeral

    async def issue(self, identity: Identity, debate_id: str) -> str:
        issued = msgspec.json.encode(IssuedTicket(debate_id, identity))
        while True:
            ticket = secrets.token_urlsafe(24)
            # A ticket that exists already is not issued a second time.
            if await self._ephemeral.put(_ticket_key(ticket), issued, TICKET_SECONDS):
                return ticket

    async def redeem(self, ticket: str, debate_id: str) -> Identity | None:
        """The identity of the ticket. A ticket can be used once, even for the wrong debate."""
        data = await self._ephemeral.pop(_ticket_key(ticket))
        with suppress(msgspec.MsgspecError):  # another version may have written it
            issued = msgspec.json.decode(data, type=IssuedTicket) if data else None
            return issued.identity if issued and issued.debate == debate_id else None
        return None


def _ticket_key(ticket: str) -> str:
    return f"ticket {digest_of(ticket)}"


def _token_identity(token: AccessToken) -> Identity:
    return Identity(token.name, token.role, token.owner, key=token.digest[:16])


def _invited_identity(invitation: StoredInvitation) -> Identity:
    return Identity(
        invitation.name,
        invitation.role,
        NO_OWNER,
        key=invitation.digest,
        debate=invitation.debate,
        seat=invitation.seat,
        judge=invitation.judge,
        many=invitation.many,
        link=invitation.via or "",
    )
