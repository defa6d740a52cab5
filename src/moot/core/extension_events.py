"""Events of extensions: how they are told apart, read and folded, also where their extension is not there.

An event of an extension is a struct with a tag such as `applause.given`, whose first word is the name of the
extension. Reading asks the extension for its types. If there is none, or it cannot read the event, the event
is kept as it came, and written again with the same members in the same order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.extension import EventFamily, loaded

if TYPE_CHECKING:
    from datetime import datetime

    from moot.core.state import Debate
    from moot.core.visibility import Viewer

TAG = "extension.event"


class ExtensionEvent(Struct, frozen=True, tag=TAG):
    """The base of events of extensions: `class Given(ExtensionEvent, frozen=True, tag="applause.given")`."""

    @property
    def extension(self) -> str:
        """The name of the extension."""
        return str(self.__struct_config__.tag).partition(".")[0]


class KeptEvent(ExtensionEvent, frozen=True):
    """An event whose extension is not loaded, or cannot read it: kept as it came."""


def decode_extension_event(members: dict[str, Any]) -> ExtensionEvent:
    """The event with these members, of which `type` is the tag."""
    tag = str(members.get("type", ""))
    family = loaded().family(tag.partition(".")[0])
    if family is not None and family.events:
        try:
            return msgspec.convert(members, type=_union(family.events))
        except msgspec.ValidationError:
            upcast = family.upcast(tag, members) if family.upcast else None
            if isinstance(upcast, ExtensionEvent):
                return upcast
    values = [value for name, value in members.items() if name != "type"]
    return _kept_type(tag, tuple(name for name in members if name != "type"))(*values)


@lru_cache
def _union(events: tuple[type[ExtensionEvent], ...]) -> Any:
    union: Any = events[0]
    for event in events[1:]:
        union |= event
    return union


@lru_cache(maxsize=1000)
def _kept_type(tag: str, names: tuple[str, ...]) -> type[KeptEvent]:
    """A struct with these members. Their names may be anything, so that its fields are numbered."""
    fields = {f"member_{number}": name for number, name in enumerate(names)}
    kept = msgspec.defstruct(
        "KeptEvent",
        [(field, Any) for field in fields],
        bases=(KeptEvent,),
        frozen=True,
        tag=tag,
        rename=fields,
    )
    return cast("type[KeptEvent]", kept)


def after_extension_event(debate: Debate, event: ExtensionEvent, at: datetime) -> Debate:
    """The debate with the state of the extension after the event; unchanged where it is not there. One whose
    fold fails is left out: its mistake must not lose the debate."""
    name = event.extension
    family = None if isinstance(event, KeptEvent) else loaded().family(name)
    if family is None:
        return debate
    try:
        state = family.evolve(debate.extensions.get(name, family.start), event, at)
    except Exception as error:
        loaded().leave_out(name, "events", error)
        return debate
    return replace(debate, extensions={**debate.extensions, name: state})


def visible_extension_event(debate: Debate, event: ExtensionEvent, viewer: Viewer) -> ExtensionEvent | None:
    """The event as its extension shows it to this viewer; without a word from it, only the owner sees it."""
    family: EventFamily | None = None if isinstance(event, KeptEvent) else loaded().family(event.extension)
    if family is None or family.visible is None:
        return event if viewer.role == "owner" else None
    return family.visible(debate, event, viewer)


def state_of(debate: Debate, name: str) -> Any:
    """The state of an extension in this debate: what its events have made of its first one."""
    family = loaded().family(name)
    return debate.extensions.get(name, family.start if family else None)
