"""Motions taken apart for small models: a claim for each side, and something to praise or to blame."""

from __future__ import annotations

import pytest

from moot.prompts.small_model_prompts import claims, first_point, stance_for

MOTIONS = [
    ("Zoos should be banned", "Zoos should not be banned", "zoos", False),
    ("Zoos should not be banned", "Zoos should be banned", "zoos", True),
    ("This house would ban zoos.", "We should not ban zoos", "zoos", False),
    ("Schools should abolish homework", "Schools should not abolish homework", "homework", False),
    ("Should homework be abolished?", "Homework should not be abolished", "homework", False),
    (
        "Social media does more harm than good",
        "Social media does more good than harm",
        "social media",
        False,
    ),
    (
        "Remote work is better than office work",
        "Remote work is not better than office work",
        "remote work",
        True,
    ),
    ("This house believes that AI is dangerous", "AI is not dangerous", "AI", False),
    ("AI is not dangerous", "AI is dangerous", "AI", True),
    (
        "Is social media bad for democracy?",
        "Social media is not bad for democracy",
        "social media",
        False,
    ),
    ("Everyone should learn to code", "Not everyone should learn to code", "learning to code", True),
    ("We should not colonise Mars", "We should colonise Mars", "colonising Mars", False),
    (
        "This house would lower the voting age to 16",
        "We should not lower the voting age to 16",
        "lowering the voting age to 16",
        True,
    ),
    (
        "Should AI development be regulated by government?",
        "AI development should not be regulated by government",
        "having AI development regulated by government",
        True,
    ),
    (
        "University education should be free",
        "University education should not be free",
        "making university education free",
        True,
    ),
    ("Pineapple belongs on pizza", "It is not true that pineapple belongs on pizza", "this idea", True),
    ("Is pineapple on pizza a crime?", "The answer is no", "this idea", True),
    ("AI threatens democracy", "It is not true that AI threatens democracy", "this idea", True),
    ("We should ban cars in city centres", "We should not ban cars in city centres", "cars", False),
    (
        "Die Schule soll abgeschafft werden",
        "It is not true that die Schule soll abgeschafft werden",
        "this idea",
        True,
    ),
]


@pytest.mark.parametrize(("motion", "denied", "topic", "praises"), MOTIONS)
def test_each_side_has_a_claim_and_something_to_praise_or_blame(
    motion: str, denied: str, topic: str, praises: bool
) -> None:
    assert claims(motion)[1] == denied
    pro = stance_for(motion, "for")
    assert (pro.topic, pro.praises) == (topic, praises)
    assert stance_for(motion, "against").praises is not praises


def test_the_first_words_leave_only_one_side_to_take() -> None:
    con = stance_for("Zoos should be banned", "against")
    assert con.opening() == "Zoos should not be banned. The greatest benefit of zoos is that"
    assert con.again(1, "They are cruel") == (
        "My opponent attacks zoos because they are cruel. "
        "But another benefit of zoos, for ordinary people, is that"
    )
    assert con.closing() == "In the end, zoos should not be banned. The benefits are clear:"


def test_questions_and_answers_keep_to_their_side() -> None:
    pro, con = (stance_for("Zoos should be banned", side) for side in ("for", "against"))
    assert pro.question("Zoos teach children") == (
        "You say that zoos teach children. What do you say to this: one problem with zoos is that"
    )
    assert pro.question("") == "What do you say to this: one problem with zoos is that"
    assert con.answer() == "My answer is simple: the real benefit of zoos is that"


def test_the_point_of_a_speech_is_its_first_thought_cut_to_length() -> None:
    assert first_point("they keep animals in cages. More.") == "they keep animals in cages"
    assert first_point("No.") == ""
    long = (
        "it provides a platform for people to share their lives with others without the need to create more."
    )
    assert first_point(long).startswith("it provides a platform for people to share")
    assert len(first_point(long).split()) <= 18
