"""A verdict says what weakens it."""

from __future__ import annotations

from msgspec.structs import replace

from moot import formats
from moot.core.events import DebateEnded, DebateFailed, TurnFailed, VerdictReached
from moot.core.statuses import FAILURES
from moot.core.terms import HUMAN, DebateVerdict, Model
from moot.views import outcome
from tests.views.logs import Log, ballot, held, judge, seat


def doubts(log: Log) -> tuple[str, ...]:
    assert log.debate.verdict is not None
    return outcome.doubts(log.debate, log.debate.verdict)


def headline(log: Log) -> str:
    assert log.debate.verdict is not None
    return outcome.headline(log.debate, log.debate.verdict)


def spoken(**changes: object) -> Log:
    return Log(**changes).start().say("for", "Yes.").say("against", "No.")


def test_a_clear_win_has_no_doubts():
    assert headline(held()) == "For wins"
    assert doubts(held()) == ()


def test_a_judge_who_changes_its_mind_with_the_order_is_named():
    log = spoken().judged(ballot("for", 80, 70, 0), ballot("against", 70, 75, 1))
    assert headline(log) == "Too close to call"
    assert doubts(log) == ("The judge changed its mind when the labels were swapped.",)


def test_criteria_that_nobody_asked_for_are_told():
    log = spoken().judged(ballot("for", 80, 70, 0, dropped=("charm",)), ballot("for", 80, 70, 1))
    assert doubts(log) == ("1 criterion that nobody had asked for was left out of the ballots.",)


def test_flips_among_several_judges_are_counted():
    log = spoken(judges=(judge("ann"), judge("bob"), judge("cid")))
    log.judged(
        *(ballot("for", 80, 70, order, by) for by in ("ann", "bob") for order in (0, 1)),
        ballot("for", 80, 70, 0, "cid"),
        ballot("against", 70, 80, 1, "cid"),
    )
    assert headline(log) == "For wins"
    assert doubts(log)[0] == "1 of 3 judges changed its mind when the labels were swapped."
    assert doubts(log)[1] == "Only 83% of the ballots name the winner."


def test_judges_who_disagree_leave_it_too_close():
    log = spoken(judges=(judge("ann"), judge("bob")))
    log.judged(
        *(ballot("for", 80, 70, order, "ann") for order in (0, 1)),
        *(ballot("against", 60, 70, order, "bob") for order in (0, 1)),
    )
    assert doubts(log) == ("No side convinced more than half of the judges.",)


def test_a_winner_with_fewer_points_is_said():
    log = spoken().judged(
        ballot("for", 60, 70, 0, inconsistent=True), ballot("for", 60, 70, 1, inconsistent=True)
    )
    assert doubts(log) == ("For wins: preferred both times, although Against has more points.",)


def test_a_small_judge_and_one_of_the_speakers_own_kind_are_doubted():
    seats = (seat("for", model="a"), seat("against", model="b"))
    log = spoken(seats=seats, judges=(judge(model="a", small=True),))
    log.judged(ballot("for", 80, 70, 0), ballot("for", 80, 70, 1))
    assert doubts(log) == (
        "The judge is a very small model: take its verdict lightly.",
        "The judge is the same model as one of the speakers.",
    )


def test_a_small_judge_with_level_points_is_a_coin_flip_and_names_no_winner():
    level = (ballot("for", 70, 70, 0), ballot("for", 70, 70, 1))
    small = spoken(judges=(judge(small=True),)).judged(*level)
    assert headline(small) == "A coin flip"
    assert doubts(small) == (
        "The judge is too small to tell the sides apart, so its decision counts as a coin flip.",
    )
    assert headline(spoken(judges=(judge(),)).judged(*level)) == "For wins"


def test_a_judge_asked_for_one_word_is_named_with_how_sure_it_was():
    one_word = judge(small=True, answers="word")
    log = spoken(judges=(one_word,)).judged(ballot("for", 75, 25, 0), ballot("for", 60.4, 39.6, 1))
    assert headline(log) == "For wins"
    assert outcome.margin(log.debate, log.debate.verdicts[0]) == "67.7% sure of For"
    asked = "The judge is too small for a full ballot, so it was asked for one word."
    assert doubts(log) == (
        f"{asked} It was 75% sure in the first reading and 60% sure in the second reading.",
    )
    assert outcome.warnings(spoken(judges=(one_word,)).debate) == (asked.replace("was", "is"),)
    hardly = spoken(judges=(one_word,)).judged(ballot("for", 52, 48, 0), ballot("for", 51, 49, 1))
    assert headline(hardly) == "A coin flip"
    assert outcome.margin(hardly.debate, hardly.debate.verdicts[0]) == ""


def test_a_draw_a_decision_and_a_stalemate_say_who_made_them():
    draw = spoken().judged(ballot(None, 70, 70, 0), ballot(None, 70, 70, 1))
    assert headline(draw) == "A draw"
    by_hand = spoken().verdict(DebateVerdict("win", "against", "hand"))
    assert headline(by_hand) == "Against wins"
    assert doubts(by_hand) == ("A person decided this, not a judge.",)
    circles = spoken().verdict(DebateVerdict("draw", None, "stalemate"))
    assert doubts(circles) == ("The speakers were repeating themselves, so nobody won.",)


def test_the_last_word_and_more_words_are_told_where_they_are_the_winners():
    log = spoken().judged(ballot("against", 70, 80, 0), ballot("against", 70, 80, 1))
    assert doubts(log) == ("The winner had the last word.",)
    longer = Log().start().say("for", "Yes.").say("against", "No.").say("for", "Yes, again.")
    longer.judged(ballot("for", 80, 70, 0), ballot("for", 80, 70, 1))
    assert doubts(longer) == (
        "The winner had the last word.",
        "The winner had more words to speak than another side: 320 to 200.",
    )


def test_ballots_that_are_missing_are_missed():
    log = spoken(judges=(judge("ann"), judge("bob")))
    log.judged(
        *(ballot("for", 80, 70, order, "ann") for order in (0, 1)), ballot("against", 60, 70, 0, "bob")
    )
    assert headline(log) == "For wins"
    assert doubts(log) == ("1 of 2 judges gave no usable ballot.",)


def test_people_on_the_bench_are_named():
    ann = replace(judge("ann"), model=Model(HUMAN, "ann"))
    alone = spoken(judges=(ann,)).judged(ballot("for", 80, 70, 0, "ann"))
    assert doubts(alone) == ("It was judged by people, who knew whom they heard.",)
    mixed = spoken(judges=(ann, judge("owl")))
    mixed.judged(ballot("for", 80, 70, 0, "ann"), *(ballot("for", 80, 70, order, "owl") for order in (0, 1)))
    assert doubts(mixed) == ("1 of 2 judges is a person.",)
    assert [len(leaning.margins) for leaning in outcome.leanings(mixed.debate)] == [1, 2]


def test_judges_who_were_to_agree_and_did_not_came_to_no_consensus():
    agreeing = replace(formats.load("oxford"), result="consensus")
    log = spoken(judges=(judge("ann"), judge("bob"), judge("cid")), format=agreeing)
    log.judged(
        *(ballot("for", 80, 70, order, by) for by in ("ann", "bob") for order in (0, 1)),
        *(ballot("against", 60, 70, order, "cid") for order in (0, 1)),
    )
    assert headline(log) == "Too close to call"
    assert doubts(log) == ("The judges came to no consensus.",)


def test_a_judge_who_stepped_aside_is_told_of():
    aside = replace(judge("bob"), recused="the same model as one of the speakers")
    log = spoken(judges=(judge("ann"), aside))
    log.judged(*(ballot("for", 80, 70, order, "ann") for order in (0, 1)))
    assert doubts(log) == ("Bob was not asked: it is the same model as one of the speakers.",)


def test_a_side_wins_together():
    seats = (seat("for", "Ann"), seat("against", "Bob"), replace(seat("for", "Cid"), id="third"))
    log = spoken(seats=seats, format=replace(formats.load("oxford"), parties="sides"))
    log.judged(ballot("for", 80, 70, 0), ballot("for", 80, 70, 1))
    assert headline(log) == "Ann and Cid win"
    assert log.debate.verdict is not None
    assert outcome.margin(log.debate, log.debate.verdict) == "10 points for Ann and Cid"


def test_places_are_told_from_best_to_worst():
    verdict = DebateVerdict("win", "against", "judges", ranking=("against", "for"))
    assert outcome.places(spoken().debate, verdict) == "1. Against, 2. For"
    assert outcome.places(spoken().debate, DebateVerdict("win", "for", "judges")) == ""


def test_the_audience_wins_it_by_a_vote():
    log = spoken().verdict(DebateVerdict("win", "against", "audience"))
    assert headline(log) == "Against wins the vote"
    assert doubts(log) == ("The audience decided this, not a judge.",)


def test_the_margin_names_who_is_ahead():
    verdict = held().debate.verdict
    assert verdict is not None
    assert outcome.margin(held().debate, verdict) == "7 points for For"
    level = spoken().judged(ballot(None, 70, 70, 0), ballot(None, 70, 70, 1)).debate
    assert level.verdict is not None
    assert outcome.margin(level, level.verdict) == "level on points"


def sentence(log: Log) -> str:
    assert log.debate.verdict is not None
    return outcome.verdict_sentence(log.debate, log.debate.verdict)


def test_the_margin_of_one_judge_is_told_as_its_decision():
    assert sentence(held()) == "The judge preferred For both times, by 7 points."
    level = spoken().judged(ballot("for", 70, 70, 0), ballot("for", 70, 70, 1))
    assert sentence(level) == "The judge preferred For both times, level on points."
    tie = spoken().judged(ballot(None, 70, 70, 0), ballot(None, 70, 70, 1))
    assert sentence(tie) == "Level on points on average."


def test_the_margin_of_several_judges_is_told_with_their_ballots():
    log = spoken(judges=(judge("ann"), judge("bob")))
    log.judged(*(ballot("for", 80, 70, order, by) for by in ("ann", "bob") for order in (0, 1)))
    assert sentence(log) == "All 4 ballots preferred For, by 10 points on average."
    log = spoken(judges=(judge("ann"), judge("bob"), judge("cid")))
    log.judged(
        *(ballot("for", 80, 70, order, by) for by in ("ann", "bob") for order in (0, 1)),
        *(ballot("against", 60, 70, order, "cid") for order in (0, 1)),
    )
    assert sentence(log).startswith("4 of 6 ballots preferred For, by ")


def test_each_judge_leans_by_a_margin_in_each_order():
    (leaning,) = outcome.leanings(held().debate)
    assert leaning == outcome.JudgeMargins("Judge", (10, 4), flipped=False, votes=(1, 1))


def test_with_level_points_a_dot_is_on_the_side_of_the_party_that_the_ballot_names():
    log = spoken().judged(ballot("against", 70, 70, 0), ballot("for", 70, 70, 1))
    (leaning,) = outcome.leanings(log.debate)
    assert (leaning.margins, leaning.places(2)) == ((0, 0), (-2, 2))


def test_every_ending_and_failure_has_words():
    assert outcome.ending(spoken().debate) == ""
    assert outcome.ending(held().debate) == "All rounds were held."
    stopped = spoken().add(DebateEnded("stopped", "Time for dinner.")).debate
    assert outcome.ending(stopped) == "The debate was stopped early. Time for dinner."
    failed = spoken().add(DebateFailed("permanent_fault", "Check configuration.")).debate
    assert outcome.ending(failed) == "A model cannot be used. Check configuration."
    # What went wrong is said once.
    nobody = Log().start()
    for seat_id, message in (("for", "The provider is overloaded."), ("against", "The model said nothing.")):
        nobody.add(TurnFailed(nobody.begin(seat_id), "overloaded", message))
    nobody.add(DebateFailed("all_failed", "Every speaker of the round failed."))
    assert outcome.ending(nobody.debate) == "All models failed in round 1: The provider is overloaded."
    for reason in ("judge_failed", "internal"):
        said = "The judge gave no readable verdict, even when asked again."
        assert outcome.ending(spoken().add(DebateFailed(reason, said)).debate) == said
        assert outcome.ending(spoken().add(DebateFailed(reason)).debate) == FAILURES[reason].text


def test_a_verdict_of_a_debate_with_more_seats_has_no_axis():
    third = seat("neutral")
    log = Log(seats=(seat("for"), seat("against"), third)).start()
    log.add(VerdictReached(DebateVerdict("win", "for", "judges")))
    assert outcome.leanings(log.debate) == ()


def test_a_reason_that_goes_in_circles_is_noticed() -> None:
    round_and_round = "The answer is no, or the answer is no, or the answer is no, or the answer is no."
    plain = (
        "Proposition argues that homework should be banned, citing the negative consequences of homework on "
        "academic performance and personal growth."
    )
    assert outcome.repeats_itself(round_and_round)
    assert not outcome.repeats_itself(plain)
    assert not outcome.repeats_itself("No, no, no.")
