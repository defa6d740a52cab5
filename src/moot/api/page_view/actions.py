"""The actions that a debate accepts in its present state, by any person: each is tried on `decide`.

So a button is shown exactly while its command would be accepted. Who may use it is sent separately, in `may`:
the rights of a person do not change with the debate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec.structs import asdict

from moot.api.auth import Identity
from moot.api.command_table import all_commands
from moot.api.rights import may
from moot.api.shapes.page_view import ControlButton, Me, Rights
from moot.core.errors import Invalid, Refused
from moot.core.json_types import choose
from moot.core.state import Debate
from moot.extension import Loaded, loaded
from moot.rules.commands import Command, SkipTurn, decide
from moot.rules.turn_sessions import following_slots, is_unasked


@lru_cache(maxsize=2)
def _buttons_of(_extensions: Loaded) -> dict[str, Command]:
    return {button.name: button.command for row in all_commands() for button in row.buttons}


@lru_cache(maxsize=2)
def _seat_buttons_of(_extensions: Loaded) -> dict[str, Callable[[str], Command]]:
    return dict(row.seat_button for row in all_commands() if row.seat_button)


def open_actions(debate: Debate) -> list[str]:
    """The actions by name; that of a seat, poll or judge is followed by its id: `take:par_1`."""
    steering = {**_buttons_of(loaded()), "skip": _skip(debate)}
    return [
        *(name for name, command in steering.items() if _is_open(debate, command)),
        *_seat_actions(debate),
        *(f"vote:{poll.name}" for poll in debate.polls if poll.closed_at is None and not debate.final),
        *(f"ballot:{judge}" for judge in _judges_to_vote(debate)),
    ]


def _skip(debate: Debate) -> SkipTurn:
    """Skips the current speech; in a pause between speeches, the next one."""
    waiting = debate.status == "paused" and not (debate.live or debate.open_asides)
    following = following_slots(debate)
    return SkipTurn(slot=following[0].index) if waiting and following else SkipTurn()


def _seat_actions(debate: Debate) -> Iterator[str]:
    """A model's seat can be taken; a person in the seat can do the other actions."""
    if debate.final:
        return
    for seat in debate.seats:
        if is_unasked(debate, seat):
            continue
        for name, command_at in _seat_buttons_of(loaded()).items():
            if (name == "take") is not seat.model.human and _is_open(debate, command_at(seat.id)):
                yield f"{name}:{seat.id}"


def _is_open(debate: Debate, command: Command) -> bool:
    try:
        decision = decide(debate, command)
    except Invalid:
        return False
    # A second stop or pause would change nothing.
    return not isinstance(decision, Refused) and bool(decision)


def _judges_to_vote(debate: Debate) -> Iterator[str]:
    """The ids of people who judge and have not cast their ballot."""
    judging = debate.judging
    if judging is None or judging.closed:
        return
    for judge in judging.judges:
        if judge.model.human and not judging.has_ballot(judge.id, 0):
            yield judge.id


def viewer_rights(identity: Identity, debate: Debate) -> Me:
    """The identity of the viewer, and what it may do in this debate."""
    return choose(
        Me,
        identity,
        may=Rights(
            open=may(identity, "open"),
            inspect=may(identity, "inspect"),
            invite=may(identity, "invite"),
            steer=may(identity, "steer"),
            vote=may(identity, "vote"),
            ask=may(identity, "ask"),
            seats=tuple(seat.id for seat in debate.seats if may(identity, "speak", seat=seat.id)),
            judges=tuple(judge.id for judge in debate.judges if may(identity, "ballot", judge=judge.id)),
        ),
        buttons=tuple(_buttons(identity)),
    )


def _buttons(identity: Identity) -> Iterator[ControlButton]:
    for row in all_commands():
        for button in row.buttons if may(identity, row.action) else ():
            if button.label:
                shown = {name: value for name, value in asdict(button).items() if name != "command"}
                yield ControlButton(right=row.action, path=row.path, **shown)
