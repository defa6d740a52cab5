"""How many are invited to a debate, and under which names: the same for every store."""

from __future__ import annotations

from moot.core.errors import Invalid, Refused
from moot.core.terms import Status

MOST = 2_000


def check_invitation(*, taken: bool, invited: int, status: Status) -> None:
    """Raises Invalid where the name is taken, Refused where nobody more can be invited."""
    if taken:
        raise Invalid("Somebody of that name is invited.", {"name": ["Somebody of that name is invited"]})
    if invited >= MOST:
        raise Refused(f"A debate has at most {MOST} invitations; withdraw some first.", status)
