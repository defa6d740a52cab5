"""Whether the models of a debate can be used, before anything is paid: whom to look up, and what follows.

The runner looks the models of all seats and judges up beside the first speech, each once. A certain fault
(a rejected key, an unknown model) fails the debate before it costs more; after a retry it goes on without
another look, because who retries knows of it. What is not certain changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.core.events import DebateFailed, Event
from moot.core.state import Debate
from moot.core.terms import Model
from moot.rules.commands import interrupt
from moot.rules.dry_run import UNJUDGED_RULES


def models_to_check(debate: Debate) -> tuple[Model, ...]:
    """The models that the debate needs, by label; none once a speech has begun."""
    if debate.turns or debate.live or not debate.running:
        return ()
    return tuple({model.label: model for _, model in _models(debate)}.values())


def fail_unusable(debate: Debate, faults: Mapping[str, str]) -> Sequence[Event]:
    """The end of a debate of which these models, by label, cannot be used; none once somebody has spoken."""
    whose = {name: faults[model.label] for name, model in _models(debate) if model.label in faults}
    if not whose or debate.has_speeches or not (debate.running or debate.status == "paused"):
        return ()
    causes: dict[str, list[str]] = {}
    for name, cause in whose.items():
        causes.setdefault(cause, []).append(name)
    told = " ".join(f"{', '.join(names)}: {cause}" for cause, names in causes.items())
    return (*interrupt(debate, "unusable"), DebateFailed("permanent_fault", told))


def _models(debate: Debate) -> list[tuple[str, Model]]:
    """Every seat and judge that a model is called for, by name."""
    judges = () if debate.setup.winning in UNJUDGED_RULES else debate.panel
    return [(one.name, one.model) for one in (*debate.seats, *judges) if not one.model.human]
