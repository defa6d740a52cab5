"""When the speeches end before their schedule does: someone concedes, or everybody goes in circles.

Neither ever ends a scripted format. Going in circles ends the speeches and decides nothing where somebody is
there to decide. A concession is what the debater says of itself when asked aside, and a
referee confirms; words of agreement within a speech are courtesy, and at most a reason to ask.
"""

from __future__ import annotations

from rapidfuzz import fuzz

from moot.core.events import ConcessionMade, StalemateFound
from moot.core.state import Debate, Turn
from moot.core.terms import Alike
from moot.rules.side_questions import asked, hint_of, just_given, referee

THRESHOLD = 90.0
IN_A_ROW = 3
SCORER = "rapidfuzz.fuzz.ratio"


def concession(debate: Debate) -> ConcessionMade | None:
    """A referee has found that the latest speaker gives way; with nobody to ask, a person's own line does."""
    for turn in just_given(debate):
        for aside in asked(debate, "referee", turn.number):
            if aside.yes:
                return ConcessionMade(turn.number, turn.seat, aside.about, aside.text)
        hint = hint_of(debate, turn)
        if hint and referee(debate, turn) is None:
            return ConcessionMade(turn.number, turn.seat, hint)
    return None


def stalemate(debate: Debate) -> StalemateFound | None:
    """Three turns in a row alike: each like the one before, or each like its own speaker's last.

    None also where that is known already.
    """
    if debate.format.scripted or debate.in_circles:
        return None
    said = [turn for turn in debate.turns if turn.said and turn.tone in ("opening", "rebuttal", "closing")]
    if len(said) < IN_A_ROW:
        return None
    last = range(len(said) - IN_A_ROW, len(said))
    one_after_another = [_alike(said[place], said[place - 1]) for place in last[1:]]
    if found := _all_found(one_after_another):
        return StalemateFound(found, THRESHOLD)
    repeating_themselves = [_alike(said[place], _own_last(said, place)) for place in last]
    if found := _all_found(repeating_themselves):
        return StalemateFound(found, THRESHOLD)
    return None


def _own_last(said: list[Turn], place: int) -> Turn | None:
    return next((other for other in reversed(said[:place]) if other.seat == said[place].seat), None)


def _alike(turn: Turn, other: Turn | None) -> Alike | None:
    if other is None:
        return None
    ratio = fuzz.ratio(turn.text, other.text, score_cutoff=THRESHOLD)
    if ratio <= THRESHOLD:
        return None
    return Alike(turn.number, other.number, SCORER, round(ratio, 1), turn.text, other.text)


def _all_found(pairs: list[Alike | None]) -> tuple[Alike, ...]:
    found = tuple(pair for pair in pairs if pair is not None)
    return found if len(found) == len(pairs) else ()
