"""What to do next, said when a debate is left, and the exit code that goes with it."""

from __future__ import annotations

from moot.cli.error_messages import ENDED, FAILED, INTERRUPTED, debugging
from moot.cli.render.output import Terminal
from moot.core.state import Debate
from moot.rules.plan import HoldPoll, Idle, closes_on_time, plan


def exit_code(debate: Debate, interrupted: bool = False) -> int:
    if debate.status == "error":
        return FAILED
    if debate.final and not debate.being_judged:
        return ENDED
    return INTERRUPTED if interrupted or debate.status == "paused" else ENDED


def print_next_steps(debate: Debate, ending: str = "") -> None:
    """On standard error, so that what is piped on stays what it is."""
    terminal = Terminal.err()
    if debate.final and debate.being_judged:
        terminal.line("It is being judged again. Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
        return
    if debate.final:
        if terminal.rich:
            terminal.line((f"  moot replay last{ending}", "dim"))
            terminal.line((f"  moot export last{ending} -o debate.html", "dim"))
        return
    if debate.status == "error":
        terminal.line("To try again: ", (f"moot resume {debate.id}{ending}", "bold"))
        served = any(seat.model.provider != "local" for seat in debate.seats)
        if debate.failure == "permanent_fault" and served and not debugging():
            terminal.line(("MOOT_DEBUG=1 shows what the service said.", "dim"))
        return
    waiting = plan(debate)
    if isinstance(waiting, HoldPoll) and not closes_on_time(debate, waiting.name):
        terminal.line(
            "It waits for votes: ", (f"moot vote {debate.id} CHOICE{ending}", "bold"), ", and then for"
        )
        terminal.line("somebody who closes the vote: ", (f"moot polls close {debate.id}{ending}", "bold"))
        return
    match waiting.waiting_for if isinstance(waiting, Idle) else "":
        case "round":
            terminal.line("It waits for the next round: ", (f"moot next-round {debate.id}{ending}", "bold"))
        case "judge":
            terminal.line("It waits to be judged: ", (f"moot judge {debate.id}{ending}", "bold"))
        case "decision":
            terminal.line("It waits for your decision: ", (f"moot decide {debate.id} WINNER{ending}", "bold"))
        case "resume":
            terminal.line("Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
        case _:
            terminal.line("Not finished. Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
