"""Replies about conversations, models and tokens, under the names that the client gives them."""

from __future__ import annotations

from typing import Literal

from moot.api.shapes.conversations import ConversationEventsResponse as ConversationEvents
from moot.api.shapes.conversations import ConversationResponse as Conversation
from moot.api.shapes.conversations import ConversationsResponse as Conversations
from moot.api.shapes.server_replies import InstallResponse as Install
from moot.api.shapes.server_replies import InstallsResponse as Installs
from moot.api.shapes.server_replies import ModelsResponse as Models
from moot.api.shapes.server_replies import OfferedModel as ModelOffer
from moot.api.shapes.server_replies import TokenResponse as Token
from moot.api.shapes.server_replies import TokensResponse as Tokens

Form = Literal["unified", "legacy"]
__all__ = [
    "Conversation", "ConversationEvents", "Conversations", "Form", "Install", "Installs", "ModelOffer",
    "Models", "Token", "Tokens",
]  # fmt: skip
