"""Debates by what people type: the whole id, a piece of its beginning or end, or `last`."""

from __future__ import annotations

from moot.cli.debate_source import Hall
from moot.core.errors import Invalid, UnknownDebate

PREFIX = "deb_"
SHORT = 8
PAGE = 500


async def find(hall: Hall, given: str) -> str:
    """The id of the one debate that is meant. Raises UnknownDebate, or Invalid where several are."""
    if given == "last":
        page = await hall.list(limit=1)
        if not page.heads:
            raise UnknownDebate('There are no debates here yet. Begin with: moot "A motion"')
        return page.heads[0].id
    try:
        return (await hall.head(given)).id
    except UnknownDebate:
        found = await _like(hall, given)
    if len(found) > 1:
        several = ", ".join(found[:3]) + (" and others" if len(found) > 3 else "")
        raise Invalid(f"{given!r} fits {len(found)} debates: {several}. Write more of it.")
    if not found:
        raise UnknownDebate(f"There is no debate {given!r}.")
    return found[0]


async def _like(hall: Hall, given: str) -> list[str]:
    wanted = given.removeprefix(PREFIX).upper()
    found: list[str] = []
    offset = 0
    while wanted and (heads := (await hall.list(limit=PAGE, offset=offset)).heads):
        offset += len(heads)
        for head in heads:
            name = head.id.removeprefix(PREFIX).upper()
            if name.startswith(wanted) or name.endswith(wanted):
                found.append(head.id)
    return found


def short(debate_id: str) -> str:
    """Its last letters: the first ones are the time, and alike for debates of the same day."""
    return debate_id[-SHORT:]
