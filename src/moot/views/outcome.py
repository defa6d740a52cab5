"""The outcome of a debate in words: the result, its doubts, and why it ended.

A verdict is never a bare number. What weakens it is named in a sentence: judges who changed their mind
in their second reading, ballots that disagree or are missing, a winner with fewer points, with more words or
with the last one, a judge too small or too close to a seat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import BallotSpoiled
from moot.core.state import Debate, Judging
from moot.core.statuses import COIN_FLIP, ENDINGS, FAILURES, UNDECIDED, FailReason
from moot.core.terms import Ballot, DebateVerdict, Format, Judge
from moot.judging.answer_ballots import more_probable
from moot.judging.audience_votes import result_doubts, tally
from moot.judging.ballots import contradicts_scores
from moot.judging.judged_speeches import speeches
from moot.judging.parties import parties, party
from moot.judging.recusal import judge_bias
from moot.judging.verdicts import JudgeBallots, counted_judges
from moot.prompts.first_words import count_first_words
from moot.rules.runner_decisions import UNREADABLE
from moot.views.costs import dollars
from moot.views.participants import listed_names, participants
from moot.views.speech_issues import is_silent
from moot.views.text import plural

LEAST_SURE_MARGIN = 10
"""In percent: 55 for one side and 45 for the other."""
LEAST_GROUPS = 12
MOST_DISTINCT = 0.8
"""Of the groups of three words in an ordinary paragraph more than nine in ten are different."""

READING_NAMES = ("first reading", "second reading")
BUDGET_TOLERANCE = 1.1
"""Word budgets that differ by less than a tenth are equal."""


class JudgeMargins(Struct, frozen=True):
    """One judge between the first party and the second: the margin it gave in each reading."""

    judge: str
    margins: tuple[float, ...]
    flipped: bool
    votes: tuple[int, ...] = ()
    """Whom it named in each reading: 1 the first party, -1 the second, 0 neither."""

    def places(self, least: float) -> tuple[float, ...]:
        """Where its dots are drawn: at its margins, and with level points `least` towards whom it named."""
        votes = self.votes or (0,) * len(self.margins)
        return tuple(margin or least * vote for margin, vote in zip(self.margins, votes, strict=True))


def headline(debate: Debate, verdict: DebateVerdict) -> str:
    if verdict.probabilities:
        return answer_headline(debate, verdict)
    if is_coin_flip(debate, verdict):
        return COIN_FLIP
    if verdict.outcome == "win" and verdict.winner:
        winner = party(debate, verdict.winner)
        wins = "wins" if len(winner.seats) == 1 else "win"
        return f"{winner.name} {wins} the vote" if verdict.by == "audience" else f"{winner.name} {wins}"
    return UNDECIDED[verdict.outcome]


JUDGED_RIGHT = "is judged right"


def answer_headline(debate: Debate, verdict: DebateVerdict) -> str:
    """The answer that the judges think right, where the motion is a question with given answers."""
    question, best = debate.setup.question, more_probable(verdict.probabilities)
    if question is None or best is None:
        return "Both answers are judged equally probable"
    return f"“{question.choices[best]}” {JUDGED_RIGHT} ({verdict.probabilities[best]:.0%})"


def is_coin_flip(debate: Debate, verdict: DebateVerdict) -> bool:
    """Whether only very small models judged, and it is too close to call or the sides have level points: with
    judges that gave one word, where they were hardly more sure of one side than of the other."""
    judging = _judging(debate, verdict)
    if verdict.by != "judges" or judging is None:
        return False
    least = LEAST_SURE_MARGIN if _gave_words(judging) else 0
    level = verdict.outcome == "win" and bool(verdict.scores) and abs(verdict.margin) <= least
    is_open = level or verdict.outcome == "too-close"
    return is_open and all(judge.model.small for judge in judging.judges)


def _gave_words(judging: Judging) -> bool:
    """Whether all judges are too small for a full ballot."""
    return all(judge.model.answers == "word" for judge in judging.judges)


def places(debate: Debate, verdict: DebateVerdict) -> str:
    """Return all parties from best to worst; empty where none is ranked."""
    names = (party(debate, one).name for one in verdict.ranking)
    return ", ".join(f"{rank}. {name}" for rank, name in enumerate(names, 1))


def margin(debate: Debate, verdict: DebateVerdict) -> str:
    """Return who is ahead by how much; empty where there are no points, or where they say nothing."""
    if not verdict.scores or is_coin_flip(debate, verdict):
        return ""
    points = "point" if abs(verdict.margin) == 1 else "points"
    if verdict.margin == 0:
        return "level on points"
    best = max(verdict.scores, key=lambda one: verdict.scores[one].score)
    if verdict.winner is not None and contradicts_scores(verdict.winner, verdict.scores):
        behind = round(verdict.scores[best].score - verdict.scores[verdict.winner].score, 2)
        return f"{behind:g} {'point' if behind == 1 else 'points'} behind {party_name(debate, best)}"
    if (judging := _judging(debate, verdict)) and _gave_words(judging):
        return f"{verdict.scores[best].score:g}% sure of {party_name(debate, best)}"
    return f"{abs(verdict.margin):g} {points} for {party_name(debate, best)}"


def verdict_sentence(debate: Debate, verdict: DebateVerdict) -> str:
    """The margin in a sentence, with how often the winner was preferred; empty where there is no margin."""
    lead = margin(debate, verdict)
    if not lead:
        return ""
    judging = _judging(debate, verdict)
    cast = ballots(debate, judging)
    average = " on average" if len(cast) > 1 else ""
    if verdict.winner is None or judging is None or not cast:
        return f"{lead[0].upper()}{lead[1:]}{average}."
    named = sum(
        ballot.winner is not None and _is_of(debate, ballot.winner, verdict.winner) for ballot in cast
    )
    if contradicts_scores(verdict.winner, verdict.scores):
        return _against_the_points(debate, verdict, named, cast)
    if _gave_words(judging):
        return f"{lead}{average}; {_share(named, len(cast))} named the winner."
    winner = party_name(debate, verdict.winner)
    points = lead if verdict.margin == 0 else f"by {lead.partition(' for ')[0]}"
    if named == len(cast) and len(counted_judges(judging)) == 1:
        return f"The judge preferred {winner}{' both times' if len(cast) == 2 else ''}, {points}."
    share = _share(named, len(cast))
    return f"{share[0].upper()}{share[1:]} preferred {winner}, {points}{average}."


def _against_the_points(debate: Debate, verdict: DebateVerdict, named: int, cast: Sequence[Ballot]) -> str:
    """That another party has more points than the winner, and why it won all the same."""
    if verdict.winner is None:
        return ""
    best = max(verdict.scores, key=lambda one: verdict.scores[one].score)
    how = "ranked 1st" if verdict.ranking else "preferred"
    if len(cast) > 1:
        one_judge = named == 2 and len(cast) == 2 and cast[0].judge == cast[1].judge
        how += " both times" if one_judge else f" by {_share(named, len(cast))}"
    wins = "wins" if len(party(debate, verdict.winner).seats) == 1 else "win"
    have = "has" if len(party(debate, best).seats) == 1 else "have"
    names = party_name(debate, verdict.winner), party_name(debate, best)
    return f"{names[0]} {wins}: {how}, although {names[1]} {have} more points."


def _share(named: int, cast: int) -> str:
    if named < cast:
        return f"{named} of {plural(cast, 'ballot')}"
    return "both ballots" if cast == 2 else f"all {cast} ballots"


def party_name(debate: Debate, party_id: str) -> str:
    """The party as readers see it, by the id of any of its seats."""
    seats = participants(debate)
    return listed_names(seats[seat.id].shown for seat in party(debate, party_id).seats)


# --- doubts -------------------------------------------------------------------------------------------


def doubts(debate: Debate, verdict: DebateVerdict) -> tuple[str, ...]:
    match verdict.by:
        case "hand":
            return ("A person decided this, not a judge.",)
        case "stalemate":
            return ("The speakers were repeating themselves, so nobody won.",)
        case "concession":
            return ("The other side gave way; no judge was asked.",)
        case "audience":
            votes = tally(debate)
            return ("The audience decided this, not a judge.", *(result_doubts(votes) if votes else ()))
        case "judges":
            judging = _judging(debate, verdict)
            return tuple(_doubts(debate, verdict, judging)) if judging else ()
        case _:
            assert_never(verdict.by)


def _judging(debate: Debate, verdict: DebateVerdict) -> Judging | None:
    """The judging that led to this verdict."""
    matching = (judging for judging in debate.judgings if judging.verdict == verdict)
    return next(matching, debate.deciding_judging)


def _doubts(debate: Debate, verdict: DebateVerdict, judging: Judging) -> Iterator[str]:
    counted = counted_judges(judging)
    coin_flip = is_coin_flip(debate, verdict)
    if coin_flip:
        yield _coin_flip_reason(len(judging.judges))
        verdict = replace(verdict, winner=None)
    yield from _disagreement(debate, verdict, counted)
    if verdict.winner and contradicts_scores(verdict.winner, verdict.scores):
        yield verdict_sentence(debate, verdict)
    elif verdict.inconsistent:
        yield "One ballot names a winner to whom it gave fewer points."
    if unasked := sum(len(ballot.dropped) for ballot in judging.ballots):
        unrequested = "1 criterion that nobody" if unasked == 1 else f"{unasked} criteria that nobody"
        yield f"{unrequested} had asked for {'was' if unasked == 1 else 'were'} left out of the ballots."
    if loops := sum(repeats_itself(ballot.reasoning) for ballot in judging.ballots):
        give = "gives" if loops == 1 else "give"
        yield f"{loops} of {plural(len(judging.ballots), 'ballot')} {give} a reason that repeats itself."
    if missing := len(judging.judges) - len(counted):
        yield f"{missing} of {len(judging.judges)} judges gave no usable ballot{_why_missing(judging)}"
    yield from _people(counted)
    if verdict.winner and verdict.last_word and _is_of(debate, verdict.last_word, verdict.winner):
        yield "The winner had the last word."
    yield from _uneven(debate, verdict)
    yield from _silences(debate)
    yield from _first_words(debate)
    yield from _judges_in_doubt(debate, judging.judges, judging.ballots, size_named=coin_flip)
    if not judging.again:
        yield from _recusals(debate)


def _why_missing(judging: Judging) -> str:
    """After a colon, why ballots are missing; only a full stop where replies could not be read."""
    causes = dict.fromkeys(ballot_problem(cause) for cause in judging.causes)
    known = " ".join(cause for cause in causes if cause)
    return f": {known}" if known else "."


def ballot_problem(cause: BallotSpoiled) -> str:
    """Why a judge gave no ballot, in a sentence; empty where its reply could not be read."""
    return "" if cause.kind in UNREADABLE else cause.message


def _coin_flip_reason(judges: int) -> str:
    if judges == 1:
        return "The judge is too small to tell the sides apart, so its decision counts as a coin flip."
    return "The judges are too small to tell the sides apart, so their decision counts as a coin flip."


def _disagreement(debate: Debate, verdict: DebateVerdict, counted: Sequence[JudgeBallots]) -> Iterator[str]:
    judges = len(counted)
    if verdict.read_once:
        yield _read_once(verdict.read_once, judges)
    if verdict.flips:
        yield _flips(verdict.flips, judges, [ballot for judge in counted for ballot in judge.ballots])
    if verdict.outcome == "too-close" and verdict.flips < judges:
        if debate.format.result == "consensus":
            yield "The judges came to no consensus."
        elif not verdict.flips:
            yield "No side convinced more than half of the judges."
    if verdict.winner and verdict.agreement < 1:
        yield f"Only {verdict.agreement:.0%} of the ballots name the winner."


def _read_once(read_once: int, judges: int) -> str:
    who = "All judges" if read_once == judges else f"{read_once} of {judges} judges"
    who = "The judge" if judges <= 1 else who
    return f"{who} read the debate only once: the cost limit left no room for a second reading."


def _flips(flips: int, judges: int, ballots: Sequence[Ballot]) -> str:
    what = "the labels and the order of the sides" if _order_was_swapped(ballots) else "the labels"
    when = f"when {what} were swapped"
    if judges <= 1:
        return f"The judge changed its mind {when}."
    if flips == judges:
        return f"All judges changed their mind {when}."
    whose = "its mind" if flips == 1 else "their mind"
    return f"{flips} of {judges} judges changed {whose} {when}."


def readings(ballots: Sequence[Ballot]) -> str:
    """What the two readings of each judge are called; empty where nobody read twice."""
    if all(ballot.order == 0 for ballot in ballots):
        return ""
    return "both orders" if _order_was_swapped(ballots) else "both labelings"


def _order_was_swapped(ballots: Sequence[Ballot]) -> bool:
    """Whether the second readings began with another party than the first."""
    return len({ballot.read_first for ballot in ballots if ballot.read_first}) > 1


def repeats_itself(reason: str) -> bool:
    """Whether a reason goes in circles: many of its groups of three words come more than once."""
    words = re.findall(r"\w+", reason.casefold())
    groups = list(zip(words, words[1:], words[2:], strict=False))
    return len(groups) >= LEAST_GROUPS and len(set(groups)) < MOST_DISTINCT * len(groups)


def _people(counted: Sequence[JudgeBallots]) -> Iterator[str]:
    """The doubt that people judged: they know who spoke, and read it once."""
    people = sum(judged.judge.model.human for judged in counted)
    if people == len(counted):
        yield "It was judged by people, who knew whom they heard."
    elif people:
        yield f"{people} of {len(counted)} judges {'is a person' if people == 1 else 'are people'}."


def _is_of(debate: Debate, seat: str, winner: str) -> bool:
    return party(debate, seat).id == party(debate, winner).id


def _uneven(debate: Debate, verdict: DebateVerdict) -> Iterator[str]:
    """Judges favour longer speeches, so a doubt is raised where the winner had a larger word budget."""
    if verdict.winner is None:
        return
    budgets = {one.id: 0 for one in parties(debate)}
    for turn in speeches(debate):
        budgets[party(debate, turn.seat).id] += debate.word_budget(turn.slot)
    own = budgets.get(party(debate, verdict.winner).id, 0)
    least = min(budgets.values())
    if own > least * BUDGET_TOLERANCE:
        yield f"The winner had more words to speak than another side: {own} to {least}."


def _silences(debate: Debate) -> Iterator[str]:
    """The doubt that a seat said nothing in some of its turns."""
    for seat in participants(debate).values():
        own = [turn for turn in debate.turns if turn.seat == seat.id and turn.used_slot]
        if silent := sum(is_silent(turn) for turn in own):
            turns = "1 turn" if len(own) == 1 else f"{len(own)} turns"
            yield f"{seat.shown} said nothing in {silent} of {turns}."


def _first_words(debate: Debate) -> Iterator[str]:
    """The doubt that Moot, not the model, wrote the beginning of speeches."""
    begun = sum(count_first_words(debate, turn) > 0 for turn in speeches(debate))
    if begun:
        which = "all speeches" if begun == len(speeches(debate)) else plural(begun, "speech", "es")
        yield f"Moot wrote the first words of {which}: the models are too small to begin them."


def warnings(debate: Debate) -> tuple[str, ...]:
    """What will weaken a verdict or shorten the debate, as far as it is known before the first word."""
    fewer = (*fewer_rounds(debate.format, debate.limits.rounds), *_affordable_rounds(debate))
    if debate.setup.winning in ("user-decides", "audience"):
        return fewer
    return (*fewer, *_judges_in_doubt(debate, debate.panel), *_recusals(debate))


def _affordable_rounds(debate: Debate) -> tuple[str, ...]:
    """Where the cost limit holds fewer rounds than were asked for."""
    asked, limit = debate.limits.rounds_asked, dollars(debate.limits.cost_limit)
    held = debate.rounds_planned
    return (f"The cost limit of {limit} holds {held} of {asked} rounds.",) if asked > held else ()


def fewer_rounds(fmt: Format, asked: int) -> tuple[str, ...]:
    """That a fixed table of speeches has fewer rounds than were asked for; nothing where it has not."""
    held = len({phase.round for phase in fmt.phases})
    if fmt.turns or fmt.repeat is not None or asked <= held:
        return ()
    return (
        f"{fmt.title} has a fixed table of {plural(held, 'round')}: the debate holds {held}, not {asked}.",
    )


def _judges_in_doubt(
    debate: Debate, judges: Sequence[Judge], ballots: Sequence[Ballot] = (), *, size_named: bool = False
) -> Iterator[str]:
    """The doubts about the judges themselves; with `size_named` another doubt says that they are small."""
    for judge in judges:
        who = "The judge" if len(judges) == 1 else judge.name
        if judge.model.answers == "word":
            yield _one_word(who, [ballot for ballot in ballots if ballot.judge == judge.id])
        elif judge.model.small and not size_named:
            yield f"{who} is a very small model: take its verdict lightly."
        if tie := judge_bias(debate.seats, judge.model):
            yield f"{who} is {tie}."


def _one_word(who: str, ballots: Sequence[Ballot]) -> str:
    """Without ballots, as it is said before the debate."""
    asked = f"{who} is too small for a full ballot, so it {'was' if ballots else 'is'} asked for one word."
    shares = [(_sureness(ballot), READING_NAMES[ballot.order]) for ballot in ballots]
    known = " and ".join(f"{share:.0%} sure in the {name}" for share, name in shares if share)
    return f"{asked} It was {known}." if known else asked


def _sureness(ballot: Ballot) -> float:
    """How sure the judge was of what it named, from 0 to 1; 0 where that is not known."""
    if ballot.probabilities:
        return max(ballot.probabilities)
    return ballot.scores[ballot.winner].score / 100 if ballot.winner in ballot.scores else 0.0


def _recusals(debate: Debate) -> Iterator[str]:
    for judge in debate.judges:
        if judge.recused:
            yield f"{judge.name} was not asked: it is {judge.recused}."


# --- ballots ------------------------------------------------------------------------------------------


def ballots(debate: Debate, judging: Judging | None = None) -> tuple[Ballot, ...]:
    """Those that the verdict counts: of people, and of models that have voted after both readings."""
    judging = judging or debate.deciding_judging
    return tuple(ballot for judged in counted_judges(judging) for ballot in judged.ballots) if judging else ()


def leanings(debate: Debate, judging: Judging | None = None) -> tuple[JudgeMargins, ...]:
    """The margins of each judge; empty unless there are two parties, which have a common axis."""
    judging = judging or debate.deciding_judging
    if judging is None or len(parties(debate)) != 2:
        return ()
    first, second = (one.id for one in parties(debate))
    drawn: list[JudgeMargins] = []
    for judged in counted_judges(judging):
        scored = [ballot for ballot in judged.ballots if {first, second} <= ballot.scores.keys()]
        if scored:
            margins = tuple(ballot.scores[first].score - ballot.scores[second].score for ballot in scored)
            votes = tuple((ballot.winner == first) - (ballot.winner == second) for ballot in scored)
            drawn.append(JudgeMargins(judged.judge.name, margins, judged.flipped, votes))
    return tuple(drawn)


def ending(debate: Debate) -> str:
    """Why the debate is over or cannot continue; empty otherwise."""
    if debate.failure:
        return _failure(debate, debate.failure)
    if debate.ended is None:
        return ""
    if debate.ended == "stopped" and debate.ended_detail:
        return f"{ENDINGS['stopped']} {debate.ended_detail}"
    return ENDINGS[debate.ended]


def remedy(debate: Debate) -> str:
    """What can be done about a debate that has no verdict; empty where it has one or is under way."""
    if debate.verdicts or not (debate.final or debate.failure):
        return ""
    if debate.failure:
        return FAILURES[debate.failure].remedy
    if debate.ended == "aborted":
        return "Nothing was judged. Judge it as it is, or start a rematch with the same setup."
    if debate.ended == "budget":
        return "Judge it as it is, or start a rematch with a higher cost limit."
    return "No judge was asked. Judge it now, or read the speeches and decide for yourself."


def _failure(debate: Debate, reason: FailReason) -> str:
    """Return why it failed. For a judge or an internal error the detail in the log is a whole sentence."""
    if reason == "all_failed":
        failed = [turn for turn in debate.turns if turn.state == "failed" and not turn.struck]
        if not failed:
            return debate.ended_detail
        first = next(turn for turn in failed if turn.round == failed[-1].round)
        return FAILURES[reason].text.format(round=first.round, cause=first.message)
    if reason == "permanent_fault":
        return f"{FAILURES[reason].text} {debate.ended_detail}".strip()
    return debate.ended_detail or FAILURES[reason].text
