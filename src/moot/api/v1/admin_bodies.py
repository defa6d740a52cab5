"""What the operator of a server sends."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from moot.api.v1.bodies import Body
from moot.api.v1.fields import Dollars as Number
from moot.api.v1.validation_messages import FixedMessage, OptionalField, between, line, one_of
from moot.api.v1.validation_messages import address_name as a_name
from moot.store.contract import TokenRole

MAX_NAME_LENGTH = 64


class NewToken(Body):
    name: Annotated[str, a_name(MAX_NAME_LENGTH)]
    """By which it is listed and revoked, such as that of its bearer."""
    role: Annotated[TokenRole, FixedMessage(one_of(get_args(TokenRole)))] = "owner"
    """`owner` and `moderator` steer, and see what is secret; a `viewer` watches."""
    owner: Annotated[str | None, OptionalField(str), line(0, MAX_NAME_LENGTH)] = Field(
        default_factory=lambda: None
    )
    """Whose debates it is for; those of its name where it is left out."""
    days: Annotated[Number, between(0.01, 36_500)] = Field(default_factory=lambda: None)
    """How long it counts; until it is revoked where it is left out."""


BODIES: tuple[type[Body], ...] = (NewToken,)
