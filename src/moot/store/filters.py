"""Whether a debate is one of those that are wanted. Pure: SQL says the same in its own words."""

from __future__ import annotations

import msgspec

from moot.store.contract import Head, Wanted
from moot.views.summary import Summary


def is_wanted(head: Head, wanted: Wanted) -> bool:
    opened_on = head.created_at.date()
    return (
        wanted.owner in (None, head.owner)
        and (not wanted.statuses or head.status in wanted.statuses)
        and wanted.format in ("", head.format)
        and wanted.search.casefold() in head.motion.casefold()
        and (wanted.since is None or wanted.since <= opened_on)
        and (wanted.until is None or opened_on <= wanted.until)
        and (not wanted.model or wanted.model in msgspec.json.decode(head.summary, type=Summary).cast())
    )
