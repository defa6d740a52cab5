"""The audience's votes, counted: the result of each poll, who changed from what to what, and the swing.

A change of mind counts only where a person voted in both polls, in time; late and single votes are shown
apart. The side that gained more percentage points wins. Where the format goes by plain majority, or there was
no first vote, the side with more votes wins. Equal figures are a draw. Until the second poll has closed, only
the number of votes is shown.

The interval around a swing is a bootstrap: two thousand audiences are drawn from the voters with replacement,
each voter with both votes, and the middle 95 of 100 figures make the interval. The random numbers are seeded
with the debate's id, so that every viewer sees the same interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.audience import Poll
from moot.core.json_types import Count
from moot.core.schedule import seats_by_side
from moot.core.state import Debate
from moot.core.terms import DebateVerdict, Format, PollName
from moot.judging.parties import UNDECIDED, parties, vote_choices

RESAMPLES = 2000
PROBABILITY_BITS = 24
"""Bits to which a chance is kept."""

GroupSizes = tuple[int, ...]
"""How many people there are of each kind."""


class ConfidenceInterval(Struct, frozen=True):
    """Of 95 %: of a share, from 0 to 1, or of a swing in percentage points."""

    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


def intervals(
    random: Random, people: GroupSizes, figures: tuple[GroupSizes, ...]
) -> tuple[ConfidenceInterval, ...]:
    """The interval of each figure, per person. A figure is a sum over people, given as what one person of
    each group adds to it."""
    total, tail = sum(people), RESAMPLES // 40
    audiences = [tuple(_resampled(random, people)) for _ in range(RESAMPLES)]
    result: list[ConfidenceInterval] = []
    for worth in figures:
        sums = sorted(
            sum(value * number for value, number in zip(worth, audience, strict=True))
            for audience in audiences
        )
        result.append(ConfidenceInterval(sums[tail] / total, sums[-1 - tail] / total))
    return tuple(result)


def _resampled(dice: Random, people: GroupSizes) -> Iterator[int]:
    """As many people as there are, drawn with replacement: how many of each kind that gives."""
    left = total = sum(people)
    for number in people:
        drawn = _hits(dice, left, number / total) if number else 0
        left, total = left - drawn, total - number
        yield drawn


def _hits(dice: Random, tries: int, chance: float) -> int:
    """How many of so many tries succeed. All are made at once: a bit for each, set with that chance."""
    if not tries or chance >= 1:
        return tries
    bits, odds = 0, round(chance * (1 << PROBABILITY_BITS))
    for bit in range(PROBABILITY_BITS):
        even = dice.getrandbits(tries)
        bits = bits | even if odds >> bit & 1 else bits & even
    return bits.bit_count()


MIN_VOTERS = 10
"""With fewer voters there is no interval."""
AudienceRule = Literal["swing", "majority"]
VoterKind = Literal["people", "models"]
"""Votes of people, or of models that sit in for an audience; never of both."""
TransitionTable = tuple[tuple[int, ...], ...]


class PollTotals(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The votes of one poll."""

    poll: PollName
    open: bool
    votes: Annotated[Count, Meta(description="Those that came in time.")]
    late: Count
    single: Annotated[
        Count | None, Meta(description="Of those who did not vote in both polls; missing while sealed.")
    ] = None
    by_choice: Annotated[dict[str, Count], Meta(description="Missing while the votes are sealed.")] = {}

    def share(self, choice: str) -> float:
        """Of a hundred votes."""
        return _points(self.by_choice.get(choice, 0), self.votes)


class ChoiceChange(Struct, frozen=True, rename="camel", kw_only=True):
    """The change of one choice among those who voted in both polls, in votes and in points."""

    choice: str
    label: str
    before: Count
    after: Count
    points: float
    interval: ConfidenceInterval | None
    persuadable: Annotated[Count, Meta(description="How many had not chosen it at first.")]
    won: Annotated[Count, Meta(description="How many of these chose it in the end.")]


class AudienceTally(Struct, frozen=True):
    rule: AudienceRule
    choices: tuple[str, ...]
    """The last one is `undecided`."""
    sealed: bool
    counts: tuple[PollTotals, ...]
    pairs: int = 0
    """People who voted in both polls, in time."""
    table: TransitionTable = ()
    """Who moved from what (row) to what (column), in the order of `choices`."""
    changes: tuple[ChoiceChange, ...] = ()
    leader: str | None = None
    """None: a tie, or nothing to count."""
    lead: float = 0.0
    """The points between the first and the next: of change in a swing, of votes in a majority."""
    interval: ConfidenceInterval | None = None
    """Of the lead in a swing, where enough people voted twice."""
    voters: VoterKind = "people"

    def count(self, poll: PollName) -> PollTotals | None:
        return next((count for count in self.counts if count.poll == poll), None)


# --- counting -----------------------------------------------------------------------------------------


def votes_revealed(debate: Debate) -> bool:
    """Whether the result may be shown: it can no longer influence a voter."""
    last = debate.poll("after")
    return debate.final or (last is not None and last.closed_at is not None)


def tally(debate: Debate) -> AudienceTally | None:
    """None where the audience does not vote."""
    if debate.setup.polls is None:
        return None
    rule, options = _rule(debate), vote_choices(debate)
    if not votes_revealed(debate):
        return AudienceTally(
            rule, options, sealed=True, counts=tuple(_votes_cast(debate, poll) for poll in debate.polls)
        )
    before, after = _timely_votes(debate, "before"), _timely_votes(debate, "after")
    pairs = len(before.keys() & after.keys())
    counts = tuple(_poll_result(debate, poll, options, pairs) for poll in debate.polls)
    return count_votes(debate, rule, options, before, after, counts)


def count_votes(
    debate: Debate,
    rule: AudienceRule,
    options: tuple[str, ...],
    before: Mapping[str, str],
    after: Mapping[str, str],
    counts: tuple[PollTotals, ...],
    voters: VoterKind = "people",
) -> AudienceTally:
    """What the votes come to: `before` and `after` are choices by voter, `counts` the polls one by one."""
    moves = Counter((before[voter], after[voter]) for voter in before.keys() & after.keys())
    table = tuple(tuple(moves[one, other] for other in options) for one in options)
    gains = {choice: _gain(len(options), index) for index, choice in enumerate(options)}
    standing = Counter(after.values()) if rule == "majority" else Counter(_net_gains(table, options))
    first, second = _first_two(standing, options)
    ahead = tuple(one - other for one, other in zip(gains[first], gains[second], strict=True))
    sure = _intervals(debate.dice, table, (*gains.values(), ahead))
    return AudienceTally(
        rule,
        options,
        sealed=False,
        counts=counts,
        pairs=moves.total(),
        table=table,
        changes=tuple(_changes(debate, options, table, sure)),
        leader=first if standing[first] > standing[second] else None,
        lead=_points(standing[first] - standing[second], moves.total() if rule == "swing" else len(after)),
        interval=sure[-1] if rule == "swing" else None,
        voters=voters,
    )


def _rule(debate: Debate) -> AudienceRule:
    polls = debate.setup.polls
    first = debate.poll("before") is not None or (not debate.polls and polls is not None and polls.before)
    return "swing" if first and not _majority_decides(debate.format) else "majority"


def _majority_decides(fmt: Format) -> bool:
    """Whether a plain majority decides in this format; a first vote is then only shown."""
    return fmt.result == "majority" and any(phase.kind == "vote" for phase in fmt.phases)


def _timely_votes(debate: Debate, poll: PollName) -> dict[str, str]:
    return {vote.voter: vote.choice for vote in debate.votes if vote.poll == poll and not vote.late}


def _votes_cast(debate: Debate, poll: Poll) -> PollTotals:
    """How many have voted, without their choices."""
    late = [vote.late for vote in debate.votes if vote.poll == poll.name]
    return PollTotals(
        poll=poll.name, open=poll.closed_at is None, votes=late.count(False), late=late.count(True)
    )


def _poll_result(debate: Debate, poll: Poll, options: tuple[str, ...], pairs: int) -> PollTotals:
    cast, votes = _votes_cast(debate, poll), Counter(_timely_votes(debate, poll.name).values())
    single = cast.votes - pairs if len(debate.polls) == 2 else 0
    return replace(cast, single=single, by_choice={choice: votes[choice] for choice in options})


def _net_gains(table: TransitionTable, options: tuple[str, ...]) -> dict[str, int]:
    """How many voters each choice has gained in all."""
    return {
        choice: sum(row[index] for row in table) - sum(table[index]) for index, choice in enumerate(options)
    }


def _first_two(standing: Mapping[str, int], options: tuple[str, ...]) -> tuple[str, str]:
    """The two choices with the most; undecided cannot win."""
    contenders = sorted((c for c in options if c != UNDECIDED), key=lambda c: -standing[c])
    return contenders[0], contenders[1]


def _gain(width: int, index: int) -> tuple[int, ...]:
    """For each cell of the table, row by row: what a voter there adds to that choice or takes from it."""
    return tuple((after == index) - (before == index) for before in range(width) for after in range(width))


@lru_cache(maxsize=256)
def _intervals(
    dice: str, table: TransitionTable, gains: tuple[GroupSizes, ...]
) -> tuple[ConfidenceInterval | None, ...]:
    """In percentage points; None where too few people voted in both polls. Seeded with `Debate.dice`."""
    voters = tuple(cell for row in table for cell in row)
    if sum(voters) < MIN_VOTERS:
        return (None,) * len(gains)
    shares = intervals(Random(f"{dice}:swing"), voters, gains)
    return tuple(ConfidenceInterval(round(100 * one.low, 1), round(100 * one.high, 1)) for one in shares)


def _changes(
    debate: Debate,
    options: tuple[str, ...],
    table: TransitionTable,
    sure: tuple[ConfidenceInterval | None, ...],
) -> Iterator[ChoiceChange]:
    pairs = sum(map(sum, table))
    for index, choice in enumerate(options):
        before, after = sum(table[index]), sum(row[index] for row in table)
        yield ChoiceChange(
            choice=choice,
            label=choice_label(debate, choice),
            before=before,
            after=after,
            points=_points(after - before, pairs),
            interval=sure[index],
            persuadable=pairs - before,
            won=after - table[index][index],
        )


def _points(votes: int, total: int) -> float:
    return round(100 * votes / total, 1) if total else 0.0


# --- what it comes to, in words -----------------------------------------------------------------------


def verdict(debate: Debate) -> DebateVerdict | None:
    """The audience's verdict; None where nobody has voted."""
    tally_result = tally(debate)
    last = tally_result.count("after") if tally_result else None
    if tally_result is None or tally_result.sealed or last is None or not last.votes:
        return None
    measured = tally_result.rule == "majority" or tally_result.pairs > 0
    most = max((votes for choice, votes in last.by_choice.items() if choice != UNDECIDED), default=0)
    backing = last.by_choice[tally_result.leader] if tally_result.leader else most
    return DebateVerdict(
        outcome="win" if tally_result.leader else "draw" if measured else "too-close",
        winner=seat_for_choice(debate, tally_result.leader) if tally_result.leader else None,
        by="audience",
        margin=_signed(debate, tally_result),
        agreement=round(backing / last.votes, 2),
        reasoning=" ".join(result_sentences(debate, tally_result)),
    )


def _signed(debate: Debate, tally: AudienceTally) -> float:
    """Between two parties, the first minus the second, as with judges."""
    sitting = parties(debate)
    behind = len(sitting) == 2 and tally.leader and seat_for_choice(debate, tally.leader) != sitting[0].id
    return -tally.lead if behind else tally.lead


def seat_for_choice(debate: Debate, choice: str) -> str | None:
    """The seat by which a verdict names this choice; None for undecided."""
    if choice == UNDECIDED:
        return None
    if len(parties(debate)) != 2:
        return choice
    pro, con = seats_by_side(debate.seats)
    return (pro if choice == "for" else con)[0].id


def choice_label(debate: Debate, choice: str) -> str:
    two_sides = len(parties(debate)) == 2
    return choice.capitalize() if two_sides or choice == UNDECIDED else debate.seat(choice).name


def result_sentences(debate: Debate, tally_result: AudienceTally) -> Iterator[str]:
    """The result with its figures and the rule by which it was made, sentence by sentence."""
    if tally_result.sealed:
        return
    if tally_result.rule == "majority":
        yield from _division(debate, tally_result)
    elif tally_result.pairs:
        yield from _swing(debate, tally_result)
    else:
        none = "No model" if tally_result.voters == "models" else "Nobody"
        yield f"{none} voted both before and after the debate, so no change of mind can be counted."


def _swing(debate: Debate, tally: AudienceTally) -> Iterator[str]:
    contenders = [change for change in tally.changes if change.choice != UNDECIDED]
    moved = _listed([f"{change.label} {_moved(change.points)}" for change in contenders])
    voters = f"{_voters(tally, tally.pairs)} {'that' if tally.voters == 'models' else 'who'} voted both"
    yield f"Counted over {voters} before and after: {moved}."
    if tally.leader is None:
        yield "Equal changes are a draw."
        return
    yield f"The larger change wins: {_in_points(tally.lead)} more for {choice_label(debate, tally.leader)}."
    if tally.interval:
        yield f"The lead lies between {_between(tally.interval)} points in 95 of 100 cases."


def _division(debate: Debate, tally: AudienceTally) -> Iterator[str]:
    last = tally.count("after")
    if last is None:
        return
    votes_by_choice = [
        f"{_votes(votes)} for {choice_label(debate, c)}"
        for c, votes in last.by_choice.items()
        if c != UNDECIDED
    ]
    undecided = last.by_choice[UNDECIDED]
    yield f"After the debate there were {_listed([*votes_by_choice, f'{undecided} undecided'])}."
    yield "The plain majority wins." if tally.leader else "Equal votes are a draw."


def result_doubts(tally_result: AudienceTally) -> tuple[str, ...]:
    """What weakens the result, a sentence each."""
    return () if tally_result.sealed else tuple(_doubts(tally_result))


def _doubts(tally: AudienceTally) -> Iterator[str]:
    voters = tally.pairs if tally.rule == "swing" else sum(c.votes for c in tally.counts if c.poll == "after")
    twice = " both before and after" if tally.rule == "swing" else ""
    if 0 < voters < MIN_VOTERS:
        yield f"Only {_voters(tally, voters)} voted{twice}: too few to say how sure this is."
    if tally.leader and tally.interval and tally.interval.holds_zero:
        lead = _in_points(tally.lead)
        yield f"The lead of {lead} may be chance: another audience like this one might have given none."
    if tally.rule == "majority" and _more_undecided(tally):
        yield f"More {tally.voters} were undecided than voted for the winner."
    single = sum(count.single or 0 for count in tally.counts)
    if tally.rule == "swing" and single and 3 * single >= tally.pairs:
        verb = "is" if single == 1 else "are"
        yield f"{_voters(tally, single)} voted only once and {verb} not in the swing."
    if late := sum(count.late for count in tally.counts):
        yield f"{_votes(late)} came late and {'does' if late == 1 else 'do'} not count."


def _more_undecided(tally: AudienceTally) -> bool:
    last = tally.count("after")
    return bool(last and tally.leader and last.by_choice[UNDECIDED] > last.by_choice[tally.leader])


def _moved(points: float) -> str:
    if not points:
        return "stayed as it was"
    return f"{'gained' if points > 0 else 'lost'} {_in_points(abs(points))}"


def _in_points(points: float) -> str:
    return f"{points:g} {'point' if points == 1 else 'points'}"


def _between(interval: ConfidenceInterval) -> str:
    return f"{interval.low:g} and {interval.high:g}".replace("-", "−")


def _voters(tally: AudienceTally, number: int) -> str:
    if tally.voters == "models":
        return "1 model" if number == 1 else f"{number:,} models"
    return "1 person" if number == 1 else f"{number:,} people"


def _votes(number: int) -> str:
    return "1 vote" if number == 1 else f"{number:,} votes"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
