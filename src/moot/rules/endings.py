"""When the speeches end before their schedule does: someone concedes, or everybody goes in circles.

Neither ever ends a scripted format. Going in circles ends the speeches and decides nothing where somebody is
there to decide. A concession is what the debater says of itself when asked aside, and a
referee confirms; words of agreement within a speech are courtesy, and at most a reason to ask.
"""

from __future__ import annotations

from rapidfuzz import fuzz

from moot.core.events import ConcessionMade, StalemateFound
from moot.core.state import Debate, Turn
from moot.core.terms import SimilarTurns
from moot.rules.side_questions import asides_about, concession_hint, latest_turns, referee

SIMILARITY_THRESHOLD = 90.0
STALEMATE_TURNS = 3
SCORER = "rapidfuzz.fuzz.ratio"


def concession(debate: Debate) -> ConcessionMade | None:
    """A referee has found that the latest speaker gives way; with nobody to ask, a person's own line does."""
    for turn in latest_turns(debate):
        for aside in asides_about(debate, "referee", turn.number):
            if aside.yes:
                return ConcessionMade(turn.number, turn.seat, aside.about, aside.text)
        hint = concession_hint(debate, turn)
        if hint and referee(debate, turn) is None:
            return ConcessionMade(turn.number, turn.seat, hint)
    return None


def stalemate(debate: Debate) -> StalemateFound | None:
    """Three turns in a row alike: each like the one before, or each like its own speaker's last.

    None also where that is known already.
    """
    if debate.format.scripted or debate.in_circles:
        return None
    speeches = [
        turn for turn in debate.turns if turn.has_words and turn.tone in ("opening", "rebuttal", "closing")
    ]
    if len(speeches) < STALEMATE_TURNS:
        return None
    last = range(len(speeches) - STALEMATE_TURNS, len(speeches))
    one_after_another = [_similarity(speeches[place], speeches[place - 1]) for place in last[1:]]
    if found := _all_or_none(one_after_another):
        return StalemateFound(found, SIMILARITY_THRESHOLD)
    repeating_themselves = [
        _similarity(speeches[place], _previous_of_speaker(speeches, place)) for place in last
    ]
    if found := _all_or_none(repeating_themselves):
        return StalemateFound(found, SIMILARITY_THRESHOLD)
    return None


def _previous_of_speaker(said: list[Turn], place: int) -> Turn | None:
    return next((other for other in reversed(said[:place]) if other.seat == said[place].seat), None)


def _similarity(turn: Turn, other: Turn | None) -> SimilarTurns | None:
    if other is None:
        return None
    ratio = fuzz.ratio(turn.text, other.text, score_cutoff=SIMILARITY_THRESHOLD)
    if ratio <= SIMILARITY_THRESHOLD:
        return None
    return SimilarTurns(turn.number, other.number, SCORER, round(ratio, 1), turn.text, other.text)


def _all_or_none(pairs: list[SimilarTurns | None]) -> tuple[SimilarTurns, ...]:
    found = tuple(pair for pair in pairs if pair is not None)
    return found if len(found) == len(pairs) else ()
