"""What came of the debate of a leg, as it is stored with the leg: status, judgments, rankings, answers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.state import Debate
from moot.extensions.experiments.measuring.debate_beliefs import DebateBeliefs, beliefs_of
from moot.extensions.experiments.measuring.debate_judgments import (
    first_address,
    judgments_from_debate,
    rankings_from_debate,
)
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judge_answers import (
    JudgeAnswer,
    RoundBelief,
    answers_from_debate,
    round_beliefs,
)
from moot.extensions.experiments.measuring.judge_identity import JudgeFilter, check_names, own_rows
from moot.extensions.experiments.measuring.judgments import (
    SCORES,
    JudgeAddress,
    Judgment,
    Ranking,
    with_own_marked,
)
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.extensions.experiments.measuring.planned_legs import PlannedLeg
from moot.extensions.experiments.measuring.planned_questions import PlannedQuestion, choices_of
from moot.extensions.experiments.measuring.speaker_quotes import SpeakerQuotes, speaker_quotes
from moot.extensions.experiments.measuring.transcripts import debate_seed, transcript_digest
from moot.views.outcome import ending, headline


class LegResult(Struct, frozen=True, omit_defaults=True):
    debate: str
    status: str
    motion: str = ""
    headline: str = ""
    """The verdict in a sentence; for a debate that failed, why."""
    cost: float | None = None
    """US dollars for the whole debate, judging included; None where a price is not known."""
    seconds: float = 0.0
    """From its first event to its last."""
    judgments: tuple[Judgment, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    beliefs: DebateBeliefs | None = None
    votes: tuple[PersonVote, ...] = ()
    """Votes of people, imported with `moot experiment votes`."""
    protocol: str = ""
    answers: tuple[JudgeAnswer, ...] = ()
    """What was believed about a question, where the leg is about one."""
    address: JudgeAddress | None = None
    """The first sentence of its speeches that addresses the judge; how many there are is in the judgments."""
    repeat: int = 1
    seed: int | None = None
    transcript: str = ""
    """See `Judgment.transcript`."""
    missing: int = 0
    """Answers that were asked for, and were not given or could not be read."""
    quotes: tuple[SpeakerQuotes, ...] = ()
    """What each speaker quoted from the passage of the question."""
    rounds: tuple[RoundBelief, ...] = ()
    """What the judges believed about the question in each round."""

    @property
    def pro_share(self) -> float | None:
        """The share of ballots for the side of the motion; None where no ballot decides between two sides."""
        scores = [SCORES[row.winner] for row in own_rows(self.judgments) if row.winner != "none"]
        return sum(scores) / len(scores) if scores else None

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()


def result_of(debate: Debate, experiment: str, group: str, repeat: int = 1) -> LegResult:
    unpriced = any(tally.unpriced for tally in debate.tallies.values())
    failed = ending(debate) if debate.status == "error" else ""
    return LegResult(
        debate=debate.id,
        status=debate.status,
        motion=debate.motion,
        headline=headline(debate, debate.verdict) if debate.verdict else failed,
        cost=None if unpriced else float(debate.cost_so_far),
        seconds=round((debate.updated_at - debate.created_at).total_seconds(), 3),
        judgments=judgments_from_debate(debate, experiment=experiment, group=group, repeat=repeat),
        rankings=rankings_from_debate(debate, experiment=experiment, group=group, repeat=repeat),
        beliefs=beliefs_of(debate),
        address=first_address(debate),
        repeat=repeat,
        seed=debate_seed(debate),
        transcript=transcript_digest(debate),
    )


def question_result(
    debate: Debate, definition: ExperimentDefinition, leg: PlannedQuestion, choice: LegResult | None = None
) -> LegResult:
    """`choice` is where the chooser of an open debate has answered: what that cost counts for the answers."""
    result = result_of(debate, definition.name, leg.group, leg.repeat)
    costs = [each.cost for each in (result, choice) if each is not None]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    found = answers_from_debate(debate, definition, leg, cost)
    question, playing = choices_of(definition, leg)
    asked = debate.setup.question
    right = asked.choices.index(playing.choices[playing.right]) if asked else playing.right
    quotes = tuple(speaker_quotes(debate, question.passage or question.id, right))
    return replace(
        result,
        beliefs=None,  # those are about winning a motion
        protocol=leg.protocol,
        answers=found.answers,
        missing=found.missing,
        quotes=quotes,
        rounds=round_beliefs(debate, definition, leg),
    )


def filter_result(result: LegResult, which: JudgeFilter) -> LegResult:
    """The result with the ballots, rankings and answers of the judges that a filter names only."""
    return replace(
        result,
        judgments=tuple(row for row in result.judgments if which.chooses(row.judge, row.prompt)),
        rankings=tuple(row for row in result.rankings if which.chooses(row.judge, row.prompt)),
        answers=tuple(row for row in result.answers if which.chooses(row.judge)),
    )


def filter_results(results: Sequence[LegResult], which: JudgeFilter) -> list[LegResult]:
    """All results with these judges only. Raises Invalid where a name is none of theirs."""
    if which.empty:
        return list(results)
    rows = [row for result in results for row in (*result.judgments, *result.rankings)]
    answering = {row.judge for result in results for row in result.answers}
    check_names(which, {row.judge for row in rows} | answering, {row.prompt for row in rows})
    return [filter_result(result, which) for result in results]


def read_result(text: str) -> LegResult:
    result = msgspec.json.decode(text, type=LegResult)
    return replace(
        result,
        judgments=tuple(map(with_own_marked, result.judgments)),
        rankings=tuple(map(with_own_marked, result.rankings)),
    )


def read_leg_result(text: str, leg: PlannedLeg) -> LegResult:
    """The result of a leg. Earlier releases had a group for each repeat: rows that they have stored get the
    group and the repeat of the leg."""
    result = read_result(text)
    if leg.repeat == result.repeat:
        return result
    return replace(
        result,
        repeat=leg.repeat,
        judgments=tuple(replace(row, group=leg.group, repeat=leg.repeat) for row in result.judgments),
        rankings=tuple(replace(row, group=leg.group, repeat=leg.repeat) for row in result.rankings),
    )
