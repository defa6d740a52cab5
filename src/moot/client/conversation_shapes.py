"""What a server says of the conversations it keeps, and of what it is run with: models to install, tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from moot.api.shapes.conversations import ConversationEventsResponse as ConversationEvents
from moot.api.shapes.conversations import ConversationResponse as Conversation
from moot.api.shapes.conversations import ConversationsResponse as Conversations
from moot.api.shapes.conversations import InstallResponse as Install
from moot.api.shapes.conversations import InstallsResponse as Installs

Form = Literal["unified", "legacy"]
__all__ = [
    "Conversation", "ConversationEvents", "Conversations", "Form", "Install", "Installs", "Token",
    "TokenRole", "Tokens",
]  # fmt: skip
TokenRole = Literal["owner", "moderator", "viewer"]


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
