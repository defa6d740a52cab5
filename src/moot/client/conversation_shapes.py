"""What a server says of the conversations it keeps, and of what it is run with: models to install, tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

Form = Literal["unified", "legacy"]
TokenRole = Literal["owner", "moderator", "viewer"]


class Conversation(Struct, frozen=True, rename="camel", kw_only=True):
    """A debate, or what was imported; `first_ts` and `last_ts` are milliseconds since 1970."""

    id: str
    kind: Literal["debate", "imported"]
    title: str | None = None
    source: str | None = None
    """Where it came from; in full for the operator."""
    events: int
    first_ts: int
    last_ts: int


class Conversations(Struct, frozen=True, rename="camel", kw_only=True):
    conversations: tuple[Conversation, ...]
    total: int
    limit: int
    offset: int
    has_more: bool


class ConversationEvents(Struct, frozen=True, rename="camel", kw_only=True):
    """A page; `next` is what to ask for next as `after`."""

    conversation_id: str
    events: tuple[dict[str, Any], ...]
    next: str | None = None
    has_more: bool = False


class Install(Struct, frozen=True, rename="camel", kw_only=True):
    """How it stands with a model that runs on the server's machine, in bytes."""

    name: str
    title: str = ""
    state: Literal["absent", "installing", "installed", "failed"]
    done: int = 0
    total: int = 0
    error: str | None = None


class Installs(Struct, frozen=True, rename="camel", kw_only=True):
    models: tuple[Install, ...]


class Token(Struct, frozen=True, rename="camel", kw_only=True):
    """`token` is told once, when it is made; so is a `warning`, where from now on everybody needs one."""

    name: str
    role: TokenRole
    owner: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    expired: bool = False
    token: str = ""
    warning: str | None = None


class Tokens(Struct, frozen=True, rename="camel", kw_only=True):
    tokens: tuple[Token, ...]
