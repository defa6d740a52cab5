"""Debates by what people type: the whole id, a piece of its beginning or end, or `last`."""

from __future__ import annotations

from moot.cli.debate_source import DebateSource
from moot.core.errors import Invalid, UnknownDebate

PREFIX = "deb_"
SHORT_ID = 8
PAGE_SIZE = 500


async def find_debate(source: DebateSource, given: str) -> str:
    """The id of the one debate that is meant. Raises UnknownDebate, or Invalid where several are."""
    if given == "last":
        page = await source.list(limit=1)
        if not page.heads:
            raise UnknownDebate('There are no debates here yet. Begin with: moot "A motion"')
        return page.heads[0].id
    try:
        return (await source.head(given)).id
    except UnknownDebate:
        matches = await _like(source, given)
    if len(matches) > 1:
        several = ", ".join(matches[:3]) + (" and others" if len(matches) > 3 else "")
        raise Invalid(f"{given!r} fits {len(matches)} debates: {several}. Write more of it.")
    if not matches:
        raise UnknownDebate(f"There is no debate {given!r}.")
    return matches[0]


async def _like(source: DebateSource, given: str) -> list[str]:
    fragment = given.removeprefix(PREFIX).upper()
    matches: list[str] = []
    offset = 0
    while fragment and (heads := (await source.list(limit=PAGE_SIZE, offset=offset)).heads):
        offset += len(heads)
        for head in heads:
            name = head.id.removeprefix(PREFIX).upper()
            if name.startswith(fragment) or name.endswith(fragment):
                matches.append(head.id)
    return matches


def short_id(debate_id: str) -> str:
    """Its last letters: the first ones are the time, and alike for debates of the same day."""
    return debate_id[-SHORT_ID:]
