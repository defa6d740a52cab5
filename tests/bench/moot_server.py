"""The application of `moot serve` in a process of its own, with its log in a file; or a node or worker of a
cluster.

The scripted provider says words that are the time at which they were due, 50 a second, so that a viewer that
reads one knows how late it is: all processes of a machine share one clock.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

import uvloop
from msgspec import Struct

from moot.core.terms import Model, Request
from moot.engine.arena import Arena
from moot.processes.server import make_app
from moot.processes.startup import tune_garbage_collection
from moot.providers.client import ProviderClient
from moot.providers.contract import Provider
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, WaitCue
from moot.providers.throttle import EndpointLimits, Throttle
from moot.providers.wire_formats import openai_chat_request
from moot.settings import ClusterSettings, ServerSettings, Settings
from moot.web import logging_setup
from moot.web.server.listener import UvicornServer, bind
from tests.bench.child_process import allow_many_open_files, answer_commands

PACE = 1 / 50
WORDS = 100
TURNS = 2
TOKENS = TURNS * WORDS
"""Of one debate."""
UNLIMITED = ServerSettings(requests_per_minute=None, debates_per_client=None, streams_per_client=None)
STREAM = "/api/v1/debates/{}/stream"
SOCKET = "/api/v1/debates/{}/ws?view=true"
"""As the page opens it."""


class Backends(Struct, frozen=True):
    """The addresses of a PostgreSQL and of a Redis."""

    postgres: str
    redis: str


def run_server(pipe: Connection, data: str, backends: Backends | None = None, service_url: str = "") -> None:
    """Commands: a number creates as many debates and returns their ids; a list of ids starts these debates.

    With backends it is a node, whose debates the workers run. With the URL of a model service its speakers
    are models of that service.
    """
    allow_many_open_files()
    uvloop.run(_serve(pipe, _settings(data, backends), service_url, run=backends is None))


def run_worker(pipe: Connection, data: str, backends: Backends) -> None:
    allow_many_open_files()
    uvloop.run(_work(pipe, _settings(data, backends)))


def due_times(words: int) -> Iterator[float]:
    """When each word is due. No word waits for the one before: a late server does not slow its provider."""
    start = monotonic()
    return (start + number * PACE for number in range(1, words + 1))


def paced_service(url: str, streams: int) -> ProviderClient:
    """A client of the paced replies of `model_service.py`, for so many debates at once."""
    limits = EndpointLimits(concurrent=streams)
    return ProviderClient(openai_chat_request.wire_format(), f"{url}/paced", throttle=Throttle(limits))


def _settings(data: str, backends: Backends | None) -> Settings:
    cluster = (
        ClusterSettings(Secret(backends.postgres), Secret(backends.redis), debates=1000)
        if backends
        else ClusterSettings()
    )
    return Settings(data=Path(data), scripted=True, service=UNLIMITED, cluster=cluster)


async def _work(pipe: Connection, settings: Settings) -> None:
    async with _arena(settings, "", run=True):
        pipe.send(0)
        await answer_commands(pipe, _no_command)


async def _no_command(command: object) -> None:
    raise ValueError(f"A worker knows no commands: {command!r}")


@asynccontextmanager
async def _arena(settings: Settings, service_url: str, *, run: bool) -> AsyncGenerator[Arena]:
    providers: dict[str, Provider] = {"scripted": ScriptedProvider(_due_words)}
    if service_url:
        providers["service"] = paced_service(service_url, 1000)
    tune_garbage_collection()
    with open(os.devnull, "w") as discarded:
        logging_setup.set_up_logging(settings, stream=discarded)
        async with Arena.open(settings, providers=providers, recover=run, run=run) as arena:
            yield arena


async def _serve(pipe: Connection, settings: Settings, service_url: str, *, run: bool) -> None:
    model = Model("service", "m") if service_url else Model("scripted", "demo")
    async with _arena(settings, service_url, run=run) as arena:
        listeners = bind("127.0.0.1", 0)
        port = listeners[0].getsockname()[1]
        server = UvicornServer(
            make_app(arena), UNLIMITED, end_streams=arena.followers.close, ready=lambda: pipe.send(port)
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(listeners))
            await answer_commands(pipe, lambda command: _create_or_start(arena, model, command))
            server.should_exit = True


async def _create_or_start(arena: Arena, model: Model, command: int | list[str]) -> list[str]:
    if isinstance(command, list):
        for debate_id in command:
            await arena.start(debate_id)
        return command
    setup = await arena.setup("How late is a word?", model=model, turns=TURNS, judge="none")
    return [(await arena.create(setup)).debate.id for _ in range(command)]


def _due_words(_request: Request) -> Iterable[Cue]:
    for due in due_times(WORDS):
        yield WaitCue(max(0.0, due - monotonic()))
        yield SayCue(f"{due:.4f} ")
