"""CPU per token of the same paced debates in LangGraph and AutoGen, beside ours.

All read the same service over HTTP, 50 tokens a second a debate, two speakers in turn, as many debates at
once. The peers stream every token to their caller, but neither store a word durably nor show it to a viewer;
ours does both. Each peer runs in a process of its own, so that nothing that it loads is counted as ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import uvloop

from tests.bench.child_process import allow_many_open_files, answer_commands, child_process
from tests.bench.figures import Figure, figure
from tests.bench.measure import INSTALL_PEERS, Unavailable, measured
from tests.bench.model_service import WORDS, model_service
from tests.bench.tokens import TURNS, moot_cost

DEBATES = 50
MOTION = "How much does a token cost?"
KEY = "sk-none"
PEERS = {"LangGraph": ("langgraph", "langgraph"), "AutoGen": ("autogen_agentchat", "autogen-agentchat")}
"""Module and distribution of each."""


async def bench() -> AsyncIterator[Figure]:
    installed = [name for name, (module, _) in PEERS.items() if find_spec(module)]
    if not installed:
        raise Unavailable(INSTALL_PEERS)
    async with model_service() as base:
        ours = await moot_cost(base, DEBATES)
        for name in installed:
            cost = await _peer_cost(name, f"{base}/paced")
            yield figure(
                f"{DEBATES} debates beside {name}: CPU a token",
                ours,
                "µs",
                limit=(f"{name} {version(PEERS[name][1])}", cost),
                note=f"{name} neither stores nor shows; Moot does both",
                main=True,
            )


async def _peer_cost(name: str, url: str) -> float:
    """µs per token."""
    async with child_process(_run, name) as process:
        return await process.command(url)


def _run(pipe: Connection, name: str) -> None:
    allow_many_open_files()
    uvloop.run(_answer(pipe, {"LangGraph": _langgraph, "AutoGen": _autogen}[name]))


async def _answer(pipe: Connection, debate_of: Callable[[str], Callable[[], Any]]) -> None:
    pipe.send(True)
    await answer_commands(pipe, lambda url: _cost(debate_of(url)))


async def _cost(debate: Callable[[], Any]) -> float:
    await debate()  # what is loaded and compiled only once
    with measured() as spent:
        tokens = sum(await asyncio.gather(*(debate() for _ in range(DEBATES))))
    if tokens != DEBATES * TURNS * WORDS:
        raise RuntimeError(f"{tokens} tokens instead of {DEBATES * TURNS * WORDS}")
    return spent.cpu / tokens * 1e6


def _langgraph(url: str) -> Callable[[], Any]:
    """A graph with a node for each speaker, whose messages are streamed token by token."""
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, MessagesState, StateGraph

    model = ChatOpenAI(model="m", base_url=url, api_key=KEY, streaming=True, max_retries=0)

    def speaker(side: str) -> Callable[[MessagesState], Any]:
        async def speak(state: MessagesState) -> dict[str, Any]:
            reply = await model.ainvoke([("system", f"You argue {side} the motion."), *state["messages"]])
            return {"messages": [("user", reply.content)]}

        return speak

    graph = StateGraph(MessagesState)
    graph.add_node("for", speaker("for"))
    graph.add_node("against", speaker("against"))
    graph.add_edge(START, "for")
    graph.add_edge("for", "against")
    graph.add_edge("against", END)
    compiled = graph.compile()

    async def debate() -> int:
        stream = compiled.astream({"messages": [("user", MOTION)]}, stream_mode="messages")
        return sum([1 async for message, _ in stream if message.type == "AIMessageChunk" and message.content])

    return debate


def _autogen(url: str) -> Callable[[], Any]:
    """A group chat of two agents in turn, whose replies are streamed token by token."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.messages import ModelClientStreamingChunkEvent
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_core.models import ModelInfo
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    model = OpenAIChatCompletionClient(
        model="m",
        base_url=url,
        api_key=KEY,
        max_retries=0,
        model_info=ModelInfo(
            vision=False,
            function_calling=False,
            json_output=False,
            structured_output=False,
            family="unknown",
        ),
    )

    def speaker(side: str) -> AssistantAgent:
        return AssistantAgent(
            side.title(),
            model,
            system_message=f"You argue {side} the motion.",
            model_client_stream=True,
        )

    async def debate() -> int:
        team = RoundRobinGroupChat([speaker("for"), speaker("against")], max_turns=TURNS)
        return sum(
            [
                1
                async for message in team.run_stream(task=MOTION)
                if isinstance(message, ModelClientStreamingChunkEvent) and message.content
            ]
        )

    return debate
