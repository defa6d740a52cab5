"""Moot: language models debate a motion; people watch, steer and judge.

    async with Arena.open() as arena:
        async for recorded in arena.debate("Cats make better pets than dogs", format="oxford", rounds=2):
            print(recorded.seq, recorded.event)

The names in `__all__` are the public interface (docs/library.md); all other modules may change without
notice. Each name is imported when it is first used, so `import moot` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot import formats
    from moot.client import AsyncClient, Client
    from moot.core import events
    from moot.core.errors import (
        Fault,
        Fenced,
        Invalid,
        KeyReused,
        MootError,
        NewerSchema,
        OverBudget,
        Refused,
        StoreError,
        Unavailable,
        UnknownDebate,
    )
    from moot.core.events import Event, Recorded
    from moot.core.evolve import fold
    from moot.core.state import Debate, Turn
    from moot.core.terms import (
        Ballot,
        ChatMessage,
        CompletionStatus,
        DebateVerdict,
        Format,
        Model,
        Reasoning,
        Request,
        Segment,
        Text,
        Tool,
        ToolCall,
        ToolResult,
        UnknownItem,
        Usage,
    )
    from moot.core.visibility import Viewer, visible_event, visible_state
    from moot.engine.arena import Arena
    from moot.providers.contract import (
        Chunk,
        KeepAlive,
        Provider,
        ReplyDelta,
        ReplyDone,
        ReplySegment,
        ReplyStarted,
        Traits,
    )
    from moot.providers.scripted import (
        Cue,
        FaultCue,
        RefuseCue,
        SayCue,
        ScriptedProvider,
        StallCue,
        ThinkCue,
        ToolCue,
        UsageCue,
        WaitCue,
    )
    from moot.rules import commands
    from moot.rules.debate_setup import JudgeSetup, SeatSetup, Setup
    from moot.settings import Settings
    from moot.store.contract import DebateHead, DebatePage, RecordResult, Store
    from moot.store.memory import MemoryStore

__version__ = "0.1.0"
__all__ = [
    "Arena",
    "AsyncClient",
    "Ballot",
    "ChatMessage",
    "Chunk",
    "Client",
    "CompletionStatus",
    "Cue",
    "Debate",
    "DebateHead",
    "DebatePage",
    "DebateVerdict",
    "Event",
    "Fault",
    "FaultCue",
    "Fenced",
    "Format",
    "Invalid",
    "JudgeSetup",
    "KeepAlive",
    "KeyReused",
    "MemoryStore",
    "Model",
    "MootError",
    "NewerSchema",
    "OverBudget",
    "Provider",
    "Reasoning",
    "RecordResult",
    "Recorded",
    "RefuseCue",
    "Refused",
    "ReplyDelta",
    "ReplyDone",
    "ReplySegment",
    "ReplyStarted",
    "Request",
    "SayCue",
    "ScriptedProvider",
    "SeatSetup",
    "Segment",
    "Settings",
    "Setup",
    "StallCue",
    "Store",
    "StoreError",
    "Text",
    "ThinkCue",
    "Tool",
    "ToolCall",
    "ToolCue",
    "ToolResult",
    "Traits",
    "Turn",
    "Unavailable",
    "UnknownDebate",
    "UnknownItem",
    "Usage",
    "UsageCue",
    "Viewer",
    "WaitCue",
    "commands",
    "events",
    "fold",
    "formats",
    "visible_event",
    "visible_state",
]

_MODULES = {"commands": "moot.rules.commands", "events": "moot.core.events", "formats": "moot.formats"}
_HOMES = {
    "Arena": "moot.engine.arena",
    "AsyncClient": "moot.client",
    "Ballot": "moot.core.terms",
    "ChatMessage": "moot.core.terms",
    "Chunk": "moot.providers.contract",
    "Client": "moot.client",
    "CompletionStatus": "moot.core.terms",
    "Cue": "moot.providers.scripted",
    "Debate": "moot.core.state",
    "DebateHead": "moot.store.contract",
    "DebatePage": "moot.store.contract",
    "DebateVerdict": "moot.core.terms",
    "Event": "moot.core.events",
    "Fault": "moot.core.errors",
    "FaultCue": "moot.providers.scripted",
    "Fenced": "moot.core.errors",
    "Format": "moot.core.terms",
    "Invalid": "moot.core.errors",
    "JudgeSetup": "moot.rules.debate_setup",
    "KeepAlive": "moot.providers.contract",
    "KeyReused": "moot.core.errors",
    "MemoryStore": "moot.store.memory",
    "Model": "moot.core.terms",
    "MootError": "moot.core.errors",
    "NewerSchema": "moot.core.errors",
    "OverBudget": "moot.core.errors",
    "Provider": "moot.providers.contract",
    "Reasoning": "moot.core.terms",
    "RecordResult": "moot.store.contract",
    "Recorded": "moot.core.events",
    "RefuseCue": "moot.providers.scripted",
    "Refused": "moot.core.errors",
    "ReplyDelta": "moot.providers.contract",
    "ReplyDone": "moot.providers.contract",
    "ReplySegment": "moot.providers.contract",
    "ReplyStarted": "moot.providers.contract",
    "Request": "moot.core.terms",
    "SayCue": "moot.providers.scripted",
    "ScriptedProvider": "moot.providers.scripted",
    "SeatSetup": "moot.rules.debate_setup",
    "Segment": "moot.core.terms",
    "Settings": "moot.settings",
    "Setup": "moot.rules.debate_setup",
    "StallCue": "moot.providers.scripted",
    "Store": "moot.store.contract",
    "StoreError": "moot.core.errors",
    "Text": "moot.core.terms",
    "ThinkCue": "moot.providers.scripted",
    "Tool": "moot.core.terms",
    "ToolCall": "moot.core.terms",
    "ToolCue": "moot.providers.scripted",
    "ToolResult": "moot.core.terms",
    "Traits": "moot.providers.contract",
    "Turn": "moot.core.state",
    "Unavailable": "moot.core.errors",
    "UnknownDebate": "moot.core.errors",
    "UnknownItem": "moot.core.terms",
    "Usage": "moot.core.terms",
    "UsageCue": "moot.providers.scripted",
    "Viewer": "moot.core.visibility",
    "WaitCue": "moot.providers.scripted",
    "fold": "moot.core.evolve",
    "visible_event": "moot.core.visibility",
    "visible_state": "moot.core.visibility",
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")
