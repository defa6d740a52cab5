"""What to do next, said when a debate is left, and the exit code that goes with it."""

from __future__ import annotations

from moot.cli.error_messages import ENDED, FAILED, INTERRUPTED, debugging
from moot.cli.render.output import Page
from moot.core.state import Debate
from moot.rules.plan import Poll, Rest, closes_by_itself, plan


def exit_code(debate: Debate, interrupted: bool = False) -> int:
    if debate.status == "error":
        return FAILED
    if debate.final and not debate.being_judged:
        return ENDED
    return INTERRUPTED if interrupted or debate.status == "paused" else ENDED


def say_how_to_go_on(debate: Debate, ending: str = "") -> None:
    """On standard error, so that what is piped on stays what it is."""
    page = Page.err()
    if debate.final and debate.being_judged:
        page.line("It is being judged again. Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
        return
    if debate.final:
        if page.rich:
            page.line((f"  moot replay last{ending}", "dim"))
            page.line((f"  moot export last{ending} -o debate.html", "dim"))
        return
    if debate.status == "error":
        page.line("To try again: ", (f"moot resume {debate.id}{ending}", "bold"))
        served = any(seat.model.provider != "local" for seat in debate.seats)
        if debate.failure == "permanent_fault" and served and not debugging():
            page.line(("MOOT_DEBUG=1 shows what the service said.", "dim"))
        return
    waiting = plan(debate)
    if isinstance(waiting, Poll) and not closes_by_itself(debate, waiting.name):
        page.line("It waits for votes: ", (f"moot vote {debate.id} CHOICE{ending}", "bold"), ", and then for")
        page.line("somebody who closes the vote: ", (f"moot polls close {debate.id}{ending}", "bold"))
        return
    match waiting.waiting_for if isinstance(waiting, Rest) else "":
        case "round":
            page.line("It waits for the next round: ", (f"moot next-round {debate.id}{ending}", "bold"))
        case "judge":
            page.line("It waits to be judged: ", (f"moot judge {debate.id}{ending}", "bold"))
        case "decision":
            page.line("It waits for your decision: ", (f"moot decide {debate.id} WINNER{ending}", "bold"))
        case "resume":
            page.line("Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
        case _:
            page.line("Not finished. Go on with: ", (f"moot resume {debate.id}{ending}", "bold"))
