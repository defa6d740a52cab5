"""What is asked aside, and how the reply is read: one JSON object of exactly the asked shape, or none."""

from __future__ import annotations

from moot.debate import Aside, Debate
from moot.events import AsideAnswered
from moot.terms import Model, Request


class Unreadable(ValueError):
    """Why a reply is no answer."""


def aside_request(debate: Debate, aside: Aside, model: Model) -> Request:
    raise NotImplementedError


def answer(aside: Aside, reply: str) -> AsideAnswered:
    """Raises Unreadable."""
    raise NotImplementedError
