"""A debate as it is read afterwards."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.events import (
    AsideAnswered,
    AsideAsked,
    DebateEnded,
    DebatePaused,
    DebateResumed,
    DraftKept,
    JudgingStarted,
    PointRaised,
    RemarkInjected,
    SeatLeft,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
    VerdictReached,
)
from moot.core.evolve import fold
from moot.core.terms import FREE, HUMAN, DebateSetup, DebateVerdict, Model, Money, PollSettings
from moot.core.visibility import OBSERVER, OWNER, Viewer
from moot.views.transcript import SpeechView, Transcript, transcript
from moot.views.transcript_html import to_html
from moot.views.transcript_json import to_json
from moot.views.transcript_markdown import to_markdown, unescape
from tests.golden.reading import HERE, log_of
from tests.support.for_each import for_each
from tests.views.logs import Log, ballot, held, judge, seat


def speeches(log: Log, **options: Any) -> list[SpeechView]:
    page = transcript(log.debate, **options)
    return [speech for speeches in page.rounds.values() for speech in speeches]


def as_json(page: Transcript) -> dict[str, Any]:
    return json.loads(to_json(page))


def test_rounds_hold_their_speeches_in_order():
    page = transcript(held().debate)
    assert list(page.rounds) == [1, 2]
    assert [speech.speaker.name for speech in page.rounds[1]] == ["For", "Against"]
    first = page.rounds[1][0]
    assert (first.title, first.words, first.usage.total, first.latency_ms) == (
        "Opening statement",
        4,
        120,
        1500,
    )
    assert first.text == "Licences keep people safe."


def test_reasoning_comes_only_on_request():
    assert all(speech.reasoning == "" for speech in speeches(held()))
    assert speeches(held(), reasoning=True)[0].reasoning == "Lead with safety."
    assert "Lead with safety" not in to_json(transcript(held().debate))
    assert "Lead with safety" in to_json(transcript(held().debate, reasoning=True))


def test_secrets_never_come_along():
    secret = seat("for", objective="Make them laugh.", system_prompt="You are a clown.")
    page = to_json(transcript(held(seats=(secret, seat("against"))).debate, reasoning=True))
    assert "laugh" not in page
    assert "clown" not in page


def test_what_befell_a_speech_is_flagged_and_said():
    log = Log().start()
    log.say(
        "for",
        "I would rather",
        truncated="max_tokens",
        refusal=True,
        over_length=True,
        degraded="No chain.",
    )
    turn = log.begin("against")
    log.add(TurnFailed(turn, "overloaded", "The provider is overloaded."))
    said, failed = speeches(log)
    assert said.flags == ("truncated", "refusal", "over_length", "degraded")
    assert len(said.notes) == 4
    assert failed.flags == ("failed",)
    assert failed.notes == ("No speech: The provider is overloaded.",)


def test_the_category_of_a_refusal_is_told_with_the_speech_and_among_the_issues():
    log = Log().start().say("for", "", refusal=True, refusal_category="cyber")
    log.say("against", "I would rather not.", refusal=True)
    page = transcript(log.debate)
    notes = [speech.notes for speech in speeches(log)]
    assert notes == [
        ("The model refused to speak to this (category: cyber).",),
        ("The model refused to speak to this.",),
    ]
    assert [words for _, words, _ in page.issue_rows()] == [
        "refused to speak (its service names the category cyber)",
        "refused to speak",
    ]


def test_a_speech_trimmed_to_its_last_whole_sentence_is_not_called_cut_off():
    log = Log().start().say("for", "A whole sentence. And another.", truncated="max_tokens")
    log.say("against", "Only half of", truncated="max_tokens")
    whole, half = speeches(log)
    assert whole.notes == ()
    assert half.notes == ("Cut off: it reached its limit of tokens.",)
    assert transcript(log.debate).issues.by_kind == {"truncation": (2,)}


def test_a_speech_that_is_given_again_does_not_count():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Half a sen").add(TurnInterrupted(turn, "pause"), DebatePaused(), DebateResumed())
    log.say("for", "A whole sentence.")
    cut, whole = speeches(log)
    assert cut.flags == ("interrupted", "struck")
    assert not cut.counts
    assert cut.text == "Half a sen"
    assert whole.counts


def test_a_struck_speech_stays_in_its_round():
    log = Log().start()
    turn = log.begin("for")
    log.add(TurnFailed(turn, "timeout", "The model did not answer in time."), TurnRetried(turn))
    assert speeches(log)[0].flags == ("failed", "struck")
    assert list(transcript(log.debate).rounds) == [1]


def test_a_live_speech_is_shown_as_far_as_it_has_come():
    log = Log().start()
    log.begin("for")
    log.hear("So far")
    (speech,) = speeches(log)
    assert (speech.flags, speech.text, speech.words) == (("speaking",), "So far", 2)


def test_a_remark_stands_before_the_speech_that_heard_it():
    log = Log().start().say("for", "Yes.")
    log.add(RemarkInjected(1, "Mind the time.")).say("against", "No.").add(RemarkInjected(2, "Too late."))
    page = transcript(log.debate)
    assert [(remark.text, remark.before_turn) for remark in page.remarks] == [
        ("Mind the time.", 2),
        ("Too late.", None),
    ]


def test_the_json_has_the_promised_shape():
    page = as_json(transcript(held().debate))
    assert set(page) >= {"debate", "participants", "judge", "rounds", "verdict", "costs"}
    assert page["debate"]["topic"] == "Cats are better than dogs"
    assert page["debate"]["createdAt"] == "2026-03-01T12:00:01.000Z"
    assert page["debate"]["duration"] == held().debate.seq - 2
    assert page["participants"][0] == {
        "id": "for",
        "name": "For",
        "model": "scripted/parrot",
        "position": "for",
        "color": "",
    }
    assert page["judge"] == {"id": "judge", "name": "Judge", "model": "scripted/owl"}
    response = page["rounds"][0]["responses"][0]
    assert response["participant"] == "For"
    assert response["content"] == "Licences keep people safe."
    assert response["tokensUsed"] == 120
    assert page["verdict"]["winner"] == "for"
    assert page["verdict"]["scores"]["for"] == {"score": 78.0, "strengths": ["clear"], "weaknesses": ["long"]}
    assert page["costs"]["totalCost"] == 0
    assert page["costs"]["tokensByModel"]["scripted/parrot"] == {"inputTokens": 400, "outputTokens": 80}


def test_a_debate_without_a_winner_is_a_tie_with_its_outcome():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    log.judged(ballot("for", 80, 70, 0), ballot("against", 70, 80, 1))
    verdict = as_json(transcript(log.debate))["verdict"]
    assert (verdict["winner"], verdict["outcome"], verdict["flips"]) == ("tie", "too-close", 1)


def test_a_running_debate_has_no_verdict_and_no_end():
    page = as_json(transcript(Log().start().say("for", "Yes.").debate))
    assert page["verdict"] is None
    assert page["debate"]["completedAt"] is None


def test_unknown_costs_are_named_and_not_counted():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Words.").settle("Words.", cost=None).add(TurnInterrupted(turn, "skip"))
    page = as_json(transcript(log.debate))
    assert (page["costs"]["totalCost"], page["costs"]["costByModel"]) == (0, {})
    assert page["costs"]["unpriced"] == ["scripted/parrot"]


def test_exact_money_survives_as_a_number():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Words.").settle("Words.", cost=Money("0.015")).add(TurnInterrupted(turn, "skip"))
    assert as_json(transcript(log.debate))["costs"]["costByModel"] == {"scripted/parrot": 0.015}


def test_a_point_of_information_stands_with_its_speech_and_a_declined_one_has_no_words():
    log = Log().start().say("for", "Yes.")
    log.add(PointRaised(1, 1, "against", True, "And if not?"), PointRaised(2, 1, "against", False, "Hush."))
    (speech,) = speeches(log)
    assert [(point.participant, point.accepted, point.text) for point in speech.points] == [
        ("Against", True, "And if not?"),
        ("Against", False, ""),
    ]
    (response,) = as_json(transcript(log.debate))["rounds"][0]["responses"]
    assert response["points"] == [
        {"participant": "Against", "participantId": "against", "accepted": True, "text": "And if not?"},
        {"participant": "Against", "participantId": "against", "accepted": False},
    ]


def test_a_question_to_one_seat_is_read_by_all_and_a_remark_is_not():
    log = (
        Log()
        .start()
        .add(RemarkInjected(1, "Why?", to="for", question=True), RemarkInjected(2, "Hm.", to="for"))
    )
    page = transcript(log.debate, viewer=OBSERVER)
    assert [(remark.text, remark.question, remark.to) for remark in page.remarks] == [("Why?", True, "for")]


def test_a_speech_knows_its_budget_and_how_much_of_it_was_heard():
    log = Log().start().say("for", "One two three. Four five.", clipped=3)
    (speech,) = speeches(log)
    assert (speech.words, speech.clipped, speech.budget) == (5, 3, log.debate.word_budget(0))
    assert (speech.heard, speech.unheard.strip()) == ("One two three.", "Four five.")
    (response,) = as_json(transcript(log.debate))["rounds"][0]["responses"]
    assert (response["words"], response["wordsHeard"]) == (5, 3)
    assert response["content"] == "One two three. Four five."


def test_a_person_in_a_seat_is_said_and_so_is_who_stood_in():
    person = replace(seat("against"), model=Model(HUMAN, HUMAN, price=FREE), stand_in=seat("against").model)
    log = Log(seats=(seat("for"), person)).start().say("for", "Yes.").say_by_hand("against", "No.")
    assert [speech.by_hand for speech in speeches(log)] == [False, True]
    sitting = transcript(log.debate).participants[1]
    assert (sitting.person, sitting.who, sitting.stand_in) == (True, "a person", "scripted/parrot")
    log.add(SeatLeft("against", "clock"))
    gone = transcript(log.debate).participants[1]
    assert (gone.person, gone.left, gone.who) == (False, True, "scripted/parrot, for a person who left")
    assert speeches(log)[1].by_hand
    assert "human/human" not in as_json(transcript(log.debate))["costs"]["tokensByModel"]


def test_whoever_speaks_at_the_same_time_reads_the_others_afterwards():
    blind = formats.load("oxford")
    blind = replace(blind, phases=tuple(replace(p, simultaneous=p.tone == "opening") for p in blind.phases))
    log = Log(format=blind).start().say("for", "My secret opening.", thought="Hm.")
    person, other = Viewer("participant", "against"), Viewer("participant", "for")
    (veiled,) = speeches(log, viewer=person, reasoning=True)
    assert (veiled.text, veiled.reasoning) == ("", "")
    assert "same time as your own" in veiled.notes[-1]
    assert speeches(log, viewer=other)[0].text == "My secret opening."
    log.say("against", "Mine.")
    assert speeches(log, viewer=person)[0].text == "My secret opening."


def test_a_speech_is_titled_by_its_row_and_told_for_whom_it_is_given():
    log = Log(format=formats.load("british-parliamentary")).start().say("for", "Hear, hear.")
    log.say("for", "More.")
    first, rest = speeches(log)
    assert (first.title, first.speaks_as) == ("Prime Minister's speech", "")
    assert rest.title == "Prime Minister's speech, continued"
    policy = Log(format=formats.load("policy")).start().say("for", "Hear, hear.")
    assert speeches(policy)[0].speaks_as == "first affirmative (1A)"


def test_the_first_verdict_stays_the_verdict_when_a_debate_is_judged_again():
    log = held()
    log.judged_again((judge("eve"),), *(ballot("against", 60, 70, order, "eve") for order in (0, 1)))
    page = transcript(log.debate)
    assert page.verdict is not None
    assert (page.verdict.headline, [result.headline for result in page.later_verdicts]) == (
        "For wins",
        ["Against wins"],
    )
    shown = as_json(page)
    assert shown["verdict"]["winner"] == "for"
    assert [(one["judging"], one["winner"], one["judges"][0]["id"]) for one in shown["verdicts"]] == [
        (1, "for", "judge"),
        (2, "against", "eve"),
    ]
    assert [ballot["order"] for ballot in shown["verdicts"][1]["ballots"]] == [0, 1]
    assert page.later_verdicts[0].ballot_count == 2


def test_a_verdict_by_hand_has_no_judging_and_one_judged_later_has():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    log.add(VerdictReached(DebateVerdict("win", "against", "hand")), DebateEnded("decided"))
    log.judged_again((judge("eve"),), *(ballot("for", 80, 70, order, "eve") for order in (0, 1)))
    first, again = transcript(log.debate).results
    assert (first.judging, first.by, first.ballot_count) == (None, "hand", 0)
    assert (again.judging, again.by, again.ballot_count) == (1, "judges", 2)


def test_whoever_is_to_judge_again_does_not_read_the_ballots_of_the_others():
    log = held().add(JudgingStarted(2, "judged", judges=(judge("eve"),)))
    (shown,) = transcript(log.debate, viewer=Viewer("judge")).results
    assert (shown.headline, shown.opinions, shown.ballots) == ("For wins", (), ())
    assert transcript(log.debate).results[0].opinions


def test_a_person_who_judges_casts_one_ballot_in_their_own_words():
    person = replace(judge("ada"), model=Model(HUMAN, HUMAN, price=FREE))
    log = Log(judges=(person,)).start().say("for", "Yes.").say("against", "No.")
    own = replace(ballot("for", 80, 70, 0, "ada"), reasoning="Birch is a tree.", cites=(1,))
    (result,) = transcript(log.judged(own).debate).results
    (opinion,) = result.opinions
    assert (opinion.judge.who, opinion.decision) == ("a person", "For")
    assert opinion.ballots[0].reasoning == "Birch is a tree."


def test_seats_that_win_together_bear_all_their_names():
    log = Log(
        format=formats.load("world-schools"),
        seats=(seat("for", name="Ann"), seat("against"), replace(seat("for", name="Bob"), id="b")),
    ).start()
    log.verdict(DebateVerdict("win", "for", "hand"))
    (result,) = transcript(log.debate).results
    assert result.winning_seat is not None
    assert (result.winner, result.winning_seat.name) == ("for", "Ann and Bob")


def test_a_recused_judge_is_named_with_the_reason():
    panel = (judge("ann"), replace(judge("bob"), recused="of the speakers' own kind"))
    judges = as_json(transcript(Log(judges=panel).debate))["judges"]
    assert [one.get("recused") for one in judges] == [None, "of the speakers' own kind"]


def test_sealed_votes_tell_how_many_and_nothing_else():
    log = Log(setup=DebateSetup(polls=PollSettings())).start().poll("before", *["for"] * 7, *["against"] * 5)
    assert as_json(transcript(log.debate))["audience"] == {
        "sealed": True,
        "rule": "swing",
        "choices": ["for", "against", "undecided"],
        "polls": [{"poll": "before", "open": False, "votes": 12, "late": 0}],
    }


def test_votes_that_are_open_tell_who_moved():
    log = (
        Log(setup=DebateSetup(polls=PollSettings())).start().poll("before", *["undecided"] * 6, *["for"] * 6)
    )
    log.say("for", "Yes.").poll("after", *["against"] * 6, *["for"] * 6)
    shown = as_json(transcript(log.debate))["audience"]
    assert (shown["pairs"], shown["leader"], shown["lead"]) == (12, "against", 50.0)
    assert shown["table"] == [[6, 0, 0], [0, 0, 0], [0, 6, 0]]
    assert shown["changes"][1]["points"] == 50.0
    assert shown["headline"] == "Against, by a swing of 50 points"


def test_notes_drafts_and_what_was_asked_aside_are_in_no_export():
    log = (
        Log()
        .start()
        .add(
            DraftKept("for", "a whispered draft"),
            AsideAsked(1, "notes", 0, "for"),
            AsideAnswered(1, yes=True, text="whispered notes"),
            AsideAsked(2, "point", 0, "against", turn=1, about="whispered cause"),
            AsideAnswered(2, yes=True, text="a whispered point"),
        )
    )
    log.say("for", "Yes.")
    page = transcript(log.debate, reasoning=True)
    for shown in (to_json(page), to_markdown(page), to_html(page)):
        assert "whispered" not in shown


def test_accidents_are_told_by_seat_with_their_turns():
    log = Log().start().say("for", "One two three.", over_length=True)
    assert as_json(transcript(log.debate))["accidents"] == {"for": {"over_length": [1]}}


@for_each("name", sorted(path.stem for path in HERE.glob("*.jsonl")))
def test_every_golden_debate_can_be_read(name: str):
    debate = fold(log_of(name))
    assert debate is not None
    page = transcript(debate, reasoning=True)
    assert as_json(page)["debate"]["id"] == debate.id
    assert to_markdown(page).startswith("# Debate: ")
    assert to_html(page).endswith("</html>\n")
    for turn in debate.turns:
        if turn.has_words and not turn.clipped:
            shown = unescape(to_markdown(page))
            assert all(part.strip() in shown for part in turn.text.split("\n\n"))


def test_what_was_thought_is_told_to_those_who_ask_for_it_and_may_read_it() -> None:
    debate = fold(log_of("reasoning"))
    assert debate is not None
    hidden = replace(debate, setup=replace(debate.setup, show_reasoning=False))
    sitting = Viewer("participant", debate.seats[0].id)
    for shown, viewer, told in (
        (debate, OWNER, True), (debate, OBSERVER, True), (debate, sitting, False),
        (debate, Viewer("judge"), False),
        (hidden, OWNER, True), (hidden, OBSERVER, False),
    ):  # fmt: skip
        page = transcript(shown, reasoning=True, viewer=viewer)
        assert any(speech.reasoning for said in page.rounds.values() for speech in said) == told
        page = transcript(shown, viewer=viewer)
        assert not any(speech.reasoning for said in page.rounds.values() for speech in said)
