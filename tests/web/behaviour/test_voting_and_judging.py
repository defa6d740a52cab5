"""An audience that votes, people who judge, and judges who are asked once more."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.web.behaviour.test_roles import bearer
from tests.web.routes.debates_with_people import PERSON, between_person_and_model, extended, invited, opened
from tests.web.routes.served import BODY, Served
from tests.web.routes.test_debate_routes import problem

# --- the audience -------------------------------------------------------------------------------------

VOTES = ("for", "against", "undecided")


def put_to_the_vote(**config: Any) -> dict[str, Any]:
    shape = deepcopy(BODY)
    shape["config"] = {"maxRounds": 1, "winningCondition": "audience", "polls": {}, **config}
    return shape


async def poll_opens(house: Served, debate_id: str, name: str) -> None:
    await house.until(debate_id, lambda status: any(p["poll"] == name and p["open"] for p in status["polls"]))


async def joined(house: Served, debate_id: str, link: dict[str, str], name: str = "") -> dict[str, str]:
    house.http.cookies.clear()  # a browser of their own
    reply = await house.post(debate_id, "join", {"name": name} if name else None, headers=link)
    assert reply.status_code == 201, reply.text
    assert reply.json()["role"] == "audience"
    return bearer(reply.json()["token"])


async def everything(house: Served, debate_id: str, headers: dict[str, str]) -> str:
    """All that there is to read of a debate for somebody, in one text."""
    paths = ("status", "polls", "verdicts", "transcript", "transcript?format=markdown", "events?limit=1000",
             "transcript?format=html", "invitations")  # fmt: skip
    return "".join([(await house.get(debate_id, path, headers=headers)).text for path in paths])


async def test_thirty_voters_change_their_minds_and_decide(served: Served) -> None:
    debate = await opened(served, put_to_the_vote())
    debate_id, pro = debate["id"], debate["participants"][0]["id"]
    await poll_opens(served, debate_id, "before")
    link = await invited(served, debate_id, "audience", many=True)
    problem(await served.post(debate_id, "votes", {"choice": "for"}, headers=link), 403, "forbidden")
    voters = [await joined(served, debate_id, link) for _ in range(30)]
    for place, voter in enumerate(voters):
        reply = await served.post(debate_id, "votes", {"choice": VOTES[place % 3]}, headers=voter)
        assert reply.status_code == 201, reply.text
    again = await served.post(debate_id, "votes", {"choice": "for"}, headers=voters[0])
    assert problem(again, 409, "conflict")["detail"] == "You have voted"
    for headers in ({}, voters[0]):
        shown = await everything(served, debate_id, headers)
        assert '"choice":""' in shown, "that somebody voted is no secret"
        assert not [vote for vote in VOTES if f'"choice":"{vote}"' in shown]
    sealed = (await served.get(debate_id, "polls", headers=voters[3])).json()
    assert (sealed["sealed"], sealed["polls"][0]["votes"], len(sealed["polls"])) == (True, 30, 1)
    assert "byChoice" not in sealed["polls"][0]
    problem(await served.post(debate_id, "polls/close", headers=voters[0]), 403, "forbidden")
    assert (await served.post(debate_id, "polls/close")).status_code == 200
    late = await joined(served, debate_id, link, "late")
    reply = await served.post(debate_id, "votes", {"choice": "against", "poll": "before"}, headers=late)
    assert reply.status_code == 201
    await poll_opens(served, debate_id, "after")
    for place, voter in enumerate(voters[:28]):
        choice = "for" if place % 3 == 2 else VOTES[place % 3]
        assert (await served.post(debate_id, "votes", {"choice": choice}, headers=voter)).status_code == 201
    single = await joined(served, debate_id, link, "single")
    await served.post(debate_id, "votes", {"choice": "against"}, headers=single)
    assert (await served.get(debate_id, "polls")).json()["sealed"]
    assert (await served.post(debate_id, "polls/close")).status_code == 200
    status = await served.over(debate_id)
    assert (status["verdict"]["winner"], status["verdict"]["by"]) == (pro, "audience")
    tally = (await served.get(debate_id, "polls", headers=late)).json()
    assert (tally["rule"], tally["leader"], tally["pairs"]) == ("swing", "for", 28)
    assert tally["table"] == [[10, 0, 0], [0, 9, 0], [9, 0, 0]]
    assert [poll["late"] for poll in tally["polls"]] == [1, 0]
    assert [poll["single"] for poll in tally["polls"]] == [2, 1]
    log = (await served.get(debate_id, "events?limit=1000")).json()["events"]
    cast = [entry["event"] for entry in log if entry["event"]["type"] == "vote.cast"]
    assert len(cast) == 60
    assert {(vote["voter"], vote["choice"]) for vote in cast} == {("", "")}
    polls = [data for name, _, data in await served.follow(debate_id, "?extended=true") if name == "poll"]
    assert {poll["votes"] for poll in polls if poll["poll"] == "after"} == set(range(30))
    plain = await served.follow(debate_id)
    assert [name for name, _, _ in plain if name == "verdict"] == ["verdict"]


async def test_the_owner_of_an_open_house_has_one_vote(served: Served) -> None:
    debate_id = (await opened(served, put_to_the_vote()))["id"]
    await poll_opens(served, debate_id, "before")
    assert (await served.post(debate_id, "votes", {"choice": "for"})).status_code == 201
    problem(await served.post(debate_id, "votes", {"choice": "against"}), 409, "conflict")
    choice = {"choice": "part_1"}
    problem(await served.post(debate_id, "votes", choice, headers={"X-A": "b"}), 422, "validation")


async def test_the_audience_asks_and_has_five_questions_each(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    guest = await invited(served, debate_id, "audience", name="Zoë")
    for number in range(5):
        question = {"text": f"Why, {number}?", "to": seat}
        assert (await served.post(debate_id, "questions", question, headers=guest)).status_code == 202
    problem(await served.post(debate_id, "questions", {"text": "Why?"}, headers=guest), 409, "conflict")
    assert (await served.post(debate_id, "questions", {"text": "Why not?"})).status_code == 202
    told = [data for name, _, data in await extended(served, debate_id) if name == "remark"]
    assert [(one["by"], one["to"], one["question"]) for one in told[:1]] == [("Zoë", seat, True)]


# --- judging ------------------------------------------------------------------------------------------


async def test_a_panel_needs_no_first_judge(served: Served) -> None:
    shape = deepcopy(BODY)
    first = shape.pop("judge")
    shape["judges"] = [first, {**first, "name": "Second"}]
    debate = await opened(served, shape)
    assert [judge["name"] for judge in debate["judges"]] == [first["name"], "Second"]
    assert debate["judge"]["name"] == first["name"]
    assert (await served.over(debate["id"]))["status"] == "completed"


async def test_a_person_judges_beside_a_model_and_others_judge_again(served: Served) -> None:
    shape = deepcopy(BODY)
    shape["config"] = {"maxRounds": 1}
    shape["judges"] = [{"name": "Zoë", "model": PERSON}]
    debate = await opened(served, shape)
    debate_id, (pro, con) = debate["id"], [seat["id"] for seat in debate["participants"]]
    person = debate["judges"][1]
    assert person["person"] is True
    guest = await invited(served, debate_id, "judge", judge=person["id"])
    await served.until(debate_id, lambda status: status["status"] == "judge_evaluating")
    wrong = {"winner": "part_nobody", "reasoning": "So.", "cites": [99]}
    errors = problem(await served.post(debate_id, "ballots", wrong, headers=guest), 422, "validation")
    assert set(errors["errors"]) == {"winner", "cites"}
    ballot = {
        "winner": pro,
        "reasoning": "Answered everything.",
        "cites": [1],
        "scores": {pro: {"score": 80, "strengths": ["clear"]}, con: {"score": 70}},
    }
    assert (await served.post(debate_id, "ballots", ballot, headers=guest)).status_code == 201
    again = await served.post(debate_id, "ballots", ballot, headers=guest)
    assert again.status_code == 409
    status = await served.over(debate_id)
    assert status["status"] == "completed"
    first = (await served.get(debate_id, "verdicts")).json()["verdicts"]
    assert [one["judging"] for one in first] == [1]
    cast = [one for one in first[0]["ballots"] if one["judge"] == person["id"]]
    assert [(one["order"], one["winner"], one["cites"]) for one in cast] == [(0, pro, [1])]
    assert not (await served.get(debate_id, "verdicts", headers=guest)).json()["verdicts"][0]["ballots"]
    whole = await served.follow(debate_id)
    other = {"judges": [{"name": "Second opinion", "model": BODY["judge"]["model"]}], "reason": "Unsure."}
    problem(await served.post(debate_id, "rejudge", other, headers=guest), 403, "forbidden")
    assert (await served.post(debate_id, "rejudge", other)).status_code == 202
    status = await served.until(debate_id, lambda status: status["verdicts"] == 2)
    assert status["status"] == "completed"
    verdicts = (await served.get(debate_id, "verdicts")).json()["verdicts"]
    assert verdicts[0] == first[0]
    assert [judge["name"] for judge in verdicts[1]["judges"]] == ["Second opinion"]
    assert await served.follow(debate_id) == whole
    log = (await served.get(debate_id, "events?limit=1000")).text
    assert log.count('"judging.started"') == 2
