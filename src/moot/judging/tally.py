"""The audience's votes, counted: what each poll came to, who moved from what to what, and the swing."""

from __future__ import annotations

from moot.debate import Debate
from moot.terms import Verdict


def verdict(debate: Debate) -> Verdict | None:
    """The audience's verdict; None where nobody has voted."""
    raise NotImplementedError
