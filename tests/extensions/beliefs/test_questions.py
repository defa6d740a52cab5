"""Private beliefs: who is asked when, what counts as an answer, and what it costs."""

from __future__ import annotations

import pytest

from moot.core.terms import HUMAN, DebateLimits, DebateSetup, Judge, Model, Money
from moot.extensions.beliefs.model_audience import model_tally
from moot.extensions.beliefs.personas import personas
from moot.judging import audience_votes
from moot.prompts.model_replies import UnreadableReply
from moot.rules.cost_estimate import estimate
from moot.rules.extension_questions import read_side_answer
from moot.testing.event_factories import seats, table
from tests.rules.simulate import Reply, Sent, Simulation, speak

SETUP = DebateSetup(beliefs=True)


def held(format: str = "oxford", **changes: object) -> Simulation:
    opening = table(format, **{"limits": DebateLimits(1), "setup": SETUP, **changes})
    return Simulation(opening, speak).start().run()


def asked(simulation: Simulation) -> list[tuple[str, str | None, int | None]]:
    return [(aside.kind, aside.seat or aside.judge, aside.turn) for aside in simulation.debate.asides]


def test_debaters_are_asked_around_their_speeches_and_a_judge_after_each() -> None:
    simulation = held()
    assert asked(simulation) == [
        ("confidence", "a", None), ("belief", "judge", None),
        ("confidence", "a", 1), ("belief", "judge", 1),
        ("confidence", "b", None),
        ("confidence", "b", 2), ("belief", "judge", 2),
    ]  # fmt: skip
    assert all(aside.state == "answered" and aside.chances for aside in simulation.debate.asides)
    assert simulation.debate.status == "completed"


def test_nobody_is_asked_unless_the_option_is_on_and_people_never_are() -> None:
    assert asked(held(setup=DebateSetup())) == []
    person = seats("for", "against", model=Model(HUMAN, "ada"))
    judge = Judge("judge", "Judge", Model(HUMAN, "eve"))
    assert asked(held(seats=person, judges=(judge,))) == []


def test_a_cross_examination_is_not_interrupted_by_questions() -> None:
    simulation = held("lincoln-douglas", limits=DebateLimits(3))
    tones = {simulation.debate.schedule[aside.slot].tone for aside in simulation.debate.asides}
    assert tones
    assert not tones & {"question", "answer"}


def test_several_parties_need_a_number_each_that_add_up() -> None:
    four = seats("for", "against", "for", "against")
    simulation = held("british-parliamentary", seats=four)
    beliefs = [aside for aside in simulation.debate.asides if aside.kind == "belief"]
    assert beliefs
    assert all(len(aside.chances) == 4 for aside in beliefs)
    sent = next(s for s in simulation.sent if s.purpose.aside == beliefs[0].number)
    labels = list(sent.request.schema["properties"]) if sent.request.schema else []
    uneven = "{" + ", ".join(f'"{label}": 50' for label in labels) + "}"
    with pytest.raises(UnreadableReply, match="add up"):
        read_side_answer(sent.debate, beliefs[0], uneven, 60)


@pytest.mark.parametrize(
    "reply",
    [
        "", "80", "About 80 %.", '{"percent": "80"}', '{"percent": 101}', '{"percent": -1}',
        '{"percent": null}', '{"percent": NaN}', '{"percent": 80, "why": "clear"}',
        '{"percent": 80, "percent": 20}', "{}",
    ],
)  # fmt: skip
def test_whatever_is_not_one_number_in_range_is_no_answer(reply: str) -> None:
    def script(sent: Sent) -> Reply:
        return Reply(reply) if sent.purpose.aside else speak(sent)

    opening = table("oxford", limits=DebateLimits(1), setup=SETUP)
    debate = Simulation(opening, script).start().run().debate
    assert {aside.state for aside in debate.asides} == {"failed"}
    assert not any(aside.chances for aside in debate.asides)
    assert debate.verdict is not None


def test_a_lost_answer_is_asked_for_again_but_not_for_ever() -> None:
    simulation = Simulation(table("oxford", limits=DebateLimits(1), setup=SETUP), speak).start()
    for crashes in range(1, 6):
        simulation.run_until(lambda d: bool(d.live or d.calls))
        if simulation.debate.live:
            break
        simulation.crash()
        simulation.step()
        assert sum(aside.lost for aside in simulation.debate.asides if aside.kind == "belief") == crashes
    assert crashes == 4
    assert simulation.run().debate.verdict is not None


def test_the_estimate_counts_the_questions() -> None:
    plain, with_beliefs = (
        estimate(table("oxford", limits=DebateLimits(2), setup=DebateSetup(beliefs=on)))
        for on in (False, True)
    )
    speeches = plain.speeches
    assert with_beliefs.calls.low - plain.calls.low == 3 * speeches + 1


def test_beliefs_stay_within_the_limit_and_the_debate_is_judged_all_the_same() -> None:
    from tests.golden.scenes import OWL

    limits = DebateLimits(2, cost_limit=Money("0.04"))
    owls = seats("for", "against", model=OWL)
    judge = Judge("judge", "Judge", OWL)
    simulation = held(seats=owls, judges=(judge,), limits=limits)
    debate = simulation.debate
    assert debate.counted <= limits.cost_limit
    assert debate.verdict is not None
    assert {aside.state for aside in debate.asides} == {"answered", "failed"}


def test_the_model_audience_votes_before_and_after_and_is_counted_apart() -> None:
    from tests.golden.scenes import persuaded

    setup = DebateSetup(model_audience=True)
    opening = table("oxford", limits=DebateLimits(1), setup=setup)
    debate = Simulation(opening, persuaded).start().run().debate
    assert [aside.turn for aside in debate.asides] == [None] * len(personas()) + [2] * len(personas())
    tally = model_tally(debate)
    assert tally is not None
    assert (tally.voters, tally.pairs, tally.leader) == ("models", len(personas()) - 1, "for")
    assert not debate.votes
    assert audience_votes.tally(debate) is None
    told = " ".join(audience_votes.result_sentences(debate, tally)) + " ".join(
        audience_votes.result_doubts(tally)
    )
    assert "7 models that voted both before and after" in told
    assert "people" not in told


def test_half_of_the_personas_read_the_choices_in_the_other_order() -> None:
    setup = DebateSetup(model_audience=True)
    simulation = held(setup=setup)
    asked = [sent.request.schema for sent in simulation.sent if sent.purpose.aside is not None]
    first = [schema["properties"]["vote"]["enum"][0] for schema in asked if schema]
    assert first.count("for") == first.count("against")
