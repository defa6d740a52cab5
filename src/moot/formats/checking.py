"""Checks that a format makes sense as a debate, and locates what does not.

A location is (table, row, key): `("phases", 3, "to")` is the key `to` of the third phase, `("", 0, "repeat")`
a key at the top of the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.schedule import schedule
from moot.core.terms import (
    EXCHANGE_KINDS,
    FREE,
    MAX_PARTICIPANTS,
    DebateLimits,
    DebateSetup,
    Format,
    Model,
    Phase,
    Seat,
    Side,
)
from moot.formats.fitting import fit_format

FormatLocation = tuple[str, int, str]
FormatProblem = tuple[FormatLocation, str]

OPPOSITE_SIDE: dict[str, str] = {"for": "against", "against": "for"}
PLACEHOLDER_MODEL = Model("any", "any", price=FREE)
MAX_ROUNDS = 100
MAX_TURNS = 400
ROW_RANGES = {
    "round": (1, MAX_ROUNDS),
    "words": (1, 10_000),
    "minutes": (0, 120),
    "exchanges": (1, 50),
    "speaker": (0, 10),
    "to_speaker": (0, 10),
}
"""The lowest and the highest number allowed in a row."""


def problems(fmt: Format) -> tuple[FormatProblem, ...]:
    errors = [*_head_problems(fmt)]
    for number, phase in enumerate(fmt.phases, 1):
        errors += [(("phases", number, key), problem) for key, problem in _row_problems(fmt, phase)]
    errors += _key_problems(fmt)
    return tuple(errors or _schedule_problems(fmt))


def template_seats(fmt: Format) -> tuple[Seat, ...]:
    """The seats that the format suggests."""
    return tuple(
        Seat(f"chair_{number}", chair.name, chair.side, PLACEHOLDER_MODEL, role=chair.role, team=chair.team)
        for number, chair in enumerate(fmt.chairs, 1)
    )


# --- the head -----------------------------------------------------------------------------------------


def _head_problems(fmt: Format) -> Iterator[FormatProblem]:
    if not fmt.phases:
        yield ("", 0, "phases"), "at least one [[phases]] row is needed"
    if sum(chair.role == "debater" for chair in fmt.chairs) < 2:
        yield ("", 0, "chairs"), "at least two [[chairs]] for debaters are needed"
    if not 2 <= fmt.min_seats <= fmt.max_seats:
        yield ("", 0, "max_seats"), "seats: at least 2, and min_seats not more than max_seats"
    if fmt.max_rounds > MAX_ROUNDS:
        yield ("", 0, "max_rounds"), f"max_rounds is at most {MAX_ROUNDS}"
    if max(fmt.turns or 0, fmt.max_turns or 0) > MAX_TURNS:
        yield ("", 0, "max_turns" if fmt.max_turns else "turns"), f"there are at most {MAX_TURNS} turns"
    if not 1 <= fmt.rounds <= fmt.max_rounds:
        yield ("", 0, "rounds"), f"rounds must be between 1 and max_rounds ({fmt.max_rounds})"
    if fmt.max_turns is not None and not 1 <= (fmt.turns or 0) <= fmt.max_turns:
        yield ("", 0, "max_turns"), f"max_turns = {fmt.max_turns} needs turns between 1 and that"
    if fmt.prep_words < 0:
        yield ("", 0, "prep_words"), "prep_words cannot be less than 0"
    if fmt.repeat is not None and fmt.repeat not in {phase.round for phase in fmt.phases}:
        yield ("", 0, "repeat"), f"repeat = {fmt.repeat}, but no phase has round = {fmt.repeat}"
    if fmt.scripted and fmt.repeat is not None:
        yield ("", 0, "repeat"), "a scripted format cannot repeat a round: leave out repeat or scripted"
    if fmt.result == "ranking":
        yield from _of_ranking(fmt)


def _of_ranking(fmt: Format) -> Iterator[FormatProblem]:
    """Each ranked team needs a seat of its own; otherwise two sides would be judged instead."""
    debaters = [chair for chair in fmt.chairs if chair.role == "debater"]
    ranked = {chair.team for chair in debaters if chair.team} or {chair.name for chair in debaters}
    if fmt.parties == "sides" or len(debaters) < 3:
        yield ("", 0, "result"), 'a ranking needs three or more chairs, and parties = "seats"'
    elif len(ranked) > MAX_PARTICIPANTS:
        why = f"the API and the page take at most {MAX_PARTICIPANTS} participants"
        yield ("", 0, "result"), f"a ranking needs a seat for each of its {len(ranked)} teams, and {why}"
    elif len(ranked) > fmt.max_seats:
        why = f"max_seats = {fmt.max_seats} allows fewer"
        yield ("", 0, "max_seats"), f"a ranking needs a seat for each of its {len(ranked)} teams, and {why}"
    elif fit_format(fmt, template_seats(fmt), DebateSetup()).result != "ranking":
        yield ("", 0, "result"), "a ranking needs one chair for each team, on a side for or against"


def _key_problems(fmt: Format) -> Iterator[FormatProblem]:
    seen: set[str] = set()
    for number, phase in enumerate(fmt.phases, 1):
        if phase.key in seen:
            yield ("phases", number, "key"), f'key = "{phase.key}" is used twice; each row has its own'
        seen.add(phase.key)


# --- a row --------------------------------------------------------------------------------------------


def _row_problems(fmt: Format, phase: Phase) -> Iterator[tuple[str, str]]:
    for key, (least, most) in ROW_RANGES.items():
        if not least <= getattr(phase, key) <= most:
            yield key, f"{key} = {getattr(phase, key)} will not do: it is between {least} and {most}"
    yield from _speaker_problems(fmt, phase)
    if phase.kind in EXCHANGE_KINDS:
        yield from _exchange_problems(phase)
    else:
        yield from _speech_problems(phase)
    yield from _point_problems(phase)


def _speaker_problems(fmt: Format, phase: Phase) -> Iterator[tuple[str, str]]:
    roles = {chair.role for chair in fmt.chairs}
    sides = {chair.side for chair in fmt.chairs if chair.role == "debater"}
    for key, who in (("who", phase.who), ("to", phase.to)):
        if who == "moderator" and "moderator" not in roles:
            yield key, f'{key} = "moderator", but no chair has role = "moderator"'
        if who == "neutral" and "neutral" not in sides:
            yield key, f'{key} = "neutral", but no chair has side = "neutral"'
    teams = {chair.team: chair.side for chair in fmt.chairs if chair.team}
    if phase.team and phase.team not in teams:
        team_names = ", ".join(teams) or "none"
        yield "team", f'team = "{phase.team}" is the team of no chair; there are: {team_names}'
    elif phase.team and phase.who != teams[phase.team]:
        yield "team", f'team = "{phase.team}" speaks {teams[phase.team]}, and this row is who = "{phase.who}"'


def _exchange_problems(phase: Phase) -> Iterator[tuple[str, str]]:
    if phase.to in (None, "each"):
        yield "to", f'{phase.kind} must say whom it questions: to = "for" or "against"'
    if phase.who == "each":
        yield "who", f'{phase.kind} must say who asks: who = "for" or "against"'
    if phase.who == phase.to and phase.who in OPPOSITE_SIDE:
        yield "to", f'nobody questions their own side: to = "{OPPOSITE_SIDE[phase.who]}"'
    if phase.clock < 0 or (phase.clock and phase.kind != "exchange"):
        yield "clock", 'a clock is more than 0, and only for kind = "exchange"'
    if 0 < phase.clock < phase.words:
        yield "clock", f"clock = {phase.clock} is less than one turn of {phase.words} words"


def _speech_problems(phase: Phase) -> Iterator[tuple[str, str]]:
    for key, usual in (("to", None), ("to_speaker", 1), ("exchanges", 1), ("clock", 0)):
        if getattr(phase, key) != usual:
            yield key, f"{key} is only for rows of kind {', '.join(EXCHANGE_KINDS)}"


def _point_problems(phase: Phase) -> Iterator[tuple[str, str]]:
    if not phase.points_of_information:
        if phase.protected:
            yield "protected", "protected needs points_of_information = true"
        return
    if phase.kind != "speech" or phase.simultaneous:
        yield "points_of_information", "points of information interrupt a speech that the others hear"
    if not 0 <= 2 * phase.protected < phase.words:
        yield (
            "protected",
            f"protected = {phase.protected} at either end leaves no room for points in {phase.words} words",
        )


# --- the table as it is played ------------------------------------------------------------------------


def _schedule_problems(fmt: Format) -> Iterator[FormatProblem]:
    seats = template_seats(fmt)
    slots = schedule(fmt, seats, DebateLimits(fmt.rounds, fmt.turns))
    if not slots:
        yield ("", 0, "phases"), "nobody speaks in this format"
        return
    sides: dict[str, Side] = {seat.id: seat.side for seat in seats if seat.role == "debater"}
    last = next((sides[slot.seat] for slot in reversed(slots) if slot.seat in sides), None)
    if fmt.last_word not in (None, last):
        yield ("", 0, "last_word"), f'last_word = "{fmt.last_word}", but the last speech is that of {last}'
