"""Whether a debate is one of those that are wanted. Pure: SQL says the same in its own words."""

from __future__ import annotations

import msgspec

from moot.store.contract import DebateFilter, DebateHead
from moot.views.summary import StoredSummary


def matches(head: DebateHead, filters: DebateFilter) -> bool:
    opened_on = head.created_at.date()
    return (
        filters.owner in (None, head.owner)
        and (not filters.statuses or head.status in filters.statuses)
        and filters.format in ("", head.format)
        and filters.search.casefold() in head.motion.casefold()
        and (filters.since is None or filters.since <= opened_on)
        and (filters.until is None or opened_on <= filters.until)
        and (
            not filters.model
            or filters.model in msgspec.json.decode(head.summary, type=StoredSummary).model_names()
        )
    )
