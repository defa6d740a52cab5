"""Commands in any order against a model of what a debate does: the server never disagrees with it.

The server runs in a loop of its own beside the test. Its models wait at a gate before they say anything, so
that at every step it is known who is speaking.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from moot.api.v1.states import state_of
from moot.core.errors import Fault
from moot.core.terms import Request
from moot.providers.contract import Chunk
from moot.providers.scripted import ScriptedProvider
from tests.web.routes.debate_model import Model
from tests.web.routes.served import body
from tests.web.routes.server_thread import ServerThread

NAMES = (f"model-{number}" for number in count(1))
ASKED: dict[str, tuple[str, Any, int]] = {
    "pause": ("pause", None, 200),
    "pause now": ("pause", {"now": True}, 200),
    "resume": ("resume", None, 200),
    "next round": ("rounds", {"action": "next_round"}, 202),
    "skip to judge": ("rounds", {"action": "skip_to_judge"}, 202),
    "judge": ("judge", None, 202),
    "stop": ("stop", None, 200),
    "abort": ("abort", None, 200),
    "skip": ("skip", None, 200),
    "retry": ("retry", None, 202),
    "inject": ("inject", {"text": "Hear me."}, 202),
    "decide": ("decide", {"winner": "tie"}, 200),
}


class Gate(ScriptedProvider):
    """Whoever is asked waits until the debate's gate is opened, to speak or to break."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[str, list[asyncio.Future[bool]]] = defaultdict(list)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        queue = self.waiting[request.model.name]
        gate: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        queue.append(gate)
        try:
            if not await gate:
                raise Fault("bad_key", "permanent")
        finally:
            queue.remove(gate)
        async for chunk in super().stream(request):
            yield chunk

    def open(self, name: str, *, well: bool) -> bool:
        """Whether anybody stood there."""
        waiting = [gate for gate in self.waiting[name] if not gate.done()]
        for gate in waiting:
            gate.set_result(well)
        return bool(waiting)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerThread]:
    with ServerThread(tmp_path_factory.mktemp("machine"), provider=Gate()) as server:
        yield server


def gate_of(server: ServerThread) -> Gate:
    gate = server.served.arena.providers.get("scripted")
    assert isinstance(gate, Gate)
    return gate


class Debating(RuleBasedStateMachine):
    def __init__(self, server: ServerThread) -> None:
        super().__init__()
        self.server = server
        self.served = server.served
        self.gate = gate_of(server)
        self.model: Model | None = None
        self.debate_id = self.name = ""

    @initialize(auto=st.booleans(), auto_judge=st.booleans(), rounds=st.integers(1, 2))
    def create(self, auto: bool, auto_judge: bool, rounds: int) -> None:
        self.name = next(NAMES)
        shape = body(autoProgress=auto, autoJudge=auto_judge, maxRounds=rounds)
        for seat in (*shape["participants"], shape["judge"]):
            seat["model"]["modelId"] = self.name
        reply = self.server.run(self.served.http.post("/api/v1/debates", json=shape))
        assert reply.status_code == 201, reply.text
        self.debate_id = reply.json()["id"]
        self.model = Model(auto, auto_judge, rounds)
        self.agree(self.model)

    @rule(what=st.sampled_from([*ASKED]))
    def ask(self, what: str) -> None:
        path, sent, accepted = ASKED[what]
        reply = self.server.run(self.served.post(self.debate_id, path, sent))
        told = reply.json()
        if self.model is None:
            assert (reply.status_code, told["type"]) == (404, "/errors/not-found")
        elif not self.model.allows(what):
            assert (reply.status_code, told["type"]) == (409, "/errors/conflict"), told
            assert told["currentStatus"] == self.model.status
        else:
            assert reply.status_code == accepted, told
            self.model.do(what)
            self.agree(self.model)

    @precondition(lambda self: self.model and (self.model.live is not None))
    @rule()
    def speak(self) -> None:
        assert self.model
        self.server.run(self.pass_gate(well=True))
        self.model.speak()
        self.agree(self.model)

    @precondition(lambda self: self.model and (self.model.live is not None))
    @rule()
    def fail(self) -> None:
        assert self.model
        self.server.run(self.pass_gate(well=False))
        self.model.fail()
        self.agree(self.model)

    @precondition(lambda self: self.model and self.model.status == "judge_evaluating")
    @rule()
    def judge(self) -> None:
        """The judge is asked twice, with the seats in either order."""
        assert self.model
        for _ in range(2):
            self.server.run(self.pass_gate(well=True))
        self.model.status = "completed"
        self.agree(self.model)

    @precondition(lambda self: self.model and self.model.status in ("completed", "error", "paused"))
    @rule()
    def delete(self) -> None:
        reply = self.server.run(self.served.http.delete(f"/api/v1/debates/{self.debate_id}"))
        assert reply.status_code == 204
        self.model = None

    def teardown(self) -> None:
        self.server.run(self.served.http.delete(f"/api/v1/debates/{self.debate_id}"))

    # --- waiting --------------------------------------------------------------------------------------

    async def pass_gate(self, *, well: bool) -> None:
        """Whoever is to speak may not have come to the gate yet."""
        for _ in range(5000):
            if self.gate.open(self.name, well=well):
                return
            await asyncio.sleep(0.002)
        pytest.fail("nobody came to speak")

    def agree(self, model: Model) -> None:
        """What comes by itself has come, and the status says what the model says."""
        self.server.run(self.settled(model))
        told = self.server.run(self.served.get(self.debate_id, "status")).json()
        assert (told["status"], told["pausing"]) == (
            model.status,
            model.status == "paused" and model.live is not None,
        )

    async def settled(self, model: Model) -> None:
        now, then = None, (model.status, model.live, len(model.speeches))
        for _ in range(1000):
            debate = await self.served.arena.state(self.debate_id)
            live = debate.live[0].slot if debate.live else None
            now = (state_of(debate.status), live, len(debate.turns))
            if now == then:
                return
            await asyncio.sleep(0.002)
        pytest.fail(f"the debate is {now}, and the model {then}")


def play(server: ServerThread, sequences: int, steps: int, **more: Any) -> None:
    rules = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **more,
    )
    run_state_machine_as_test(lambda: Debating(server), settings=rules)


def test_the_server_does_what_the_model_does(server: ServerThread) -> None:
    play(server, 60, 20, derandomize=True)


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_the_server_does_what_the_model_does_two_thousand_times(server: ServerThread) -> None:
    play(server, 2000, 40, database=None)
