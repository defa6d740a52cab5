"""What a call cost that nobody hears the end of, estimated from the log and always upwards.

A call that died with its process may have said all that it was allowed to: nobody knows what came after the
last words that were written down, nor when its service noticed. It counts with all its output tokens. A call
that is cut by a command is still being listened to: beyond the words in the log, only a moment's worth is on
its way. What was sent is known in both cases. This is the one place where a command looks at words that are
still coming, and only to estimate what they cost. Pure.
"""

from __future__ import annotations

from typing import Literal

from moot.core.errors import FAULT_MESSAGES
from moot.core.events import CallFailed
from moot.core.pricing import cost, estimate_usage
from moot.core.state import Call, Debate, EarlierCalls
from moot.core.terms import Model
from moot.core.word_count import tokens, whole_tokens

ON_THEIR_WAY = 64
"""Tokens that may have come since the last words were written down, some fifty milliseconds ago."""


def lost_call(debate: Debate, call: Call) -> CallFailed:
    """A call that was open when its process died, with the most tokens that it may have used."""
    return _failed(debate, call, "lost", call.max_tokens)


def cut_off(debate: Debate, call: Call) -> CallFailed:
    """A call that is cut where its debate ends: what was said so far, and what is on its way."""
    return _failed(debate, call, "cut", ON_THEIR_WAY)


def _failed(debate: Debate, call: Call, kind: Literal["lost", "cut"], unheard: int) -> CallFailed:
    turn = debate.turn(call.turn) if call.turn is not None else None
    said, before = (turn, turn.kept) if turn and turn.call == call.number else (call, EarlierCalls())
    words = tokens(said.text[len(before.text) :])
    thoughts = tokens(said.reasoning[len(before.reasoning) :])
    unheard = max(0, min(unheard, call.max_tokens - words - thoughts))
    # Older logs do not tell how many tokens were sent, only how many bytes at most.
    usage = estimate_usage(call.input_guess or whole_tokens(call.input_bound), words + unheard, thoughts)
    model = model_of(debate, call)
    return CallFailed(
        call=call.number,
        kind=kind,
        severity="transient",
        message=FAULT_MESSAGES[kind],
        usage=usage,
        cost=cost(model.price if model else None, usage),
    )


def model_of(debate: Debate, call: Call) -> Model | None:
    """By its label, since others may sit there by now."""
    sitting = [*debate.seats, *debate.judges, *(j for judging in debate.judgings for j in judging.judges)]
    known = [player.model for player in sitting] + [seat.stand_in for seat in debate.seats if seat.stand_in]
    return next((model for model in known if model.label == call.model), None)
