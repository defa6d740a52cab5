"""A cluster to try out, until Ctrl-C: `make cluster`. A second start finds the debates of the first.

PostgreSQL, Redis, two nodes, two workers and a porter, all on this machine, each process with a folder below
`build/cluster`. Models: `MOOT_MODEL`, else a local one that is installed, else the scripted provider.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import psycopg

from moot import settings as configuration
from moot.models.model_files import ModelFiles
from tests.cluster.local_cluster import Cluster, Post
from tests.support.moot_process import ROOT
from tests.support.postgres import Postgres

FOLDER = ROOT / "build" / "cluster"
DATABASE = "moot"
LOOK_SECONDS = 0.2
TO_TRY = """
The arena is at {url}, and behind it at
{nodes}

In another terminal:

    export MOOT_STORE='{store}'
    export MOOT_BUS={bus}
    {moot} cluster status
    kill -9 {victim}        # a worker: the other one takes its debates over
    kill -STOP {victim}     # freeze it; -CONT lets it find that others have taken over
    kill -9 {node}        # a node: whoever watches comes back to the other one

Ctrl-C ends everything; what was debated stays in {folder}.
"""


def hatched(arguments: tuple[str, ...], env: Mapping[str, str], out: BinaryIO) -> subprocess.Popen[Any]:
    """In a session of its own, or Ctrl-C would reach it before we have told it to leave."""
    command = [sys.executable, "-m", "moot", *arguments]
    return subprocess.Popen(command, env=dict(env), stdout=out, stderr=out, start_new_session=True)


def model() -> str:
    """The one to use when none is named."""
    here = configuration.load()
    installed = ModelFiles(here.models, environ=here.environ, offline=True).installed()
    return here.model or (f"local/{installed[0]}" if installed else "scripted/demo")


def lend_models(names: list[str]) -> None:
    """Each process has a data folder of its own; the models in it are those that are installed here."""
    models = configuration.load().models
    for name in names:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        link = FOLDER / name / "models"
        if models.is_dir() and not link.exists():
            link.symlink_to(models)


async def database(postgres: Postgres) -> str:
    try:
        return await postgres.database(DATABASE)
    except psycopg.errors.DuplicateDatabase:
        return postgres.address(DATABASE)


async def tail(post: Post) -> None:
    place = post.log.stat().st_size if post.log.exists() else 0
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not post.log.exists():
            continue
        with post.log.open("rb") as log:
            log.seek(place)
            said = log.read()
        whole = said[: said.rfind(b"\n") + 1]
        place += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            print(f"{post.name:>9} | {line}", flush=True)


async def main(nodes: int, workers: int, port: int) -> None:
    asked = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = [f"node-{n + 1}" for n in range(nodes)] + [f"worker-{n + 1}" for n in range(workers)]
    lend_models(names)
    env = {"MOOT_MODEL": model(), "MOOT_TICK_MS": "50", "MOOT_RETRY_BASE_MS": "1000"}
    with Postgres(FOLDER / "postgres") as postgres:
        up = Cluster.up(
            FOLDER, postgres, nodes=nodes, workers=workers, port=port, database=await database(postgres),
            heartbeat=1, stall=4, pace_ms=40, hatch=hatched, env=env,
        )  # fmt: skip
        async with up as cluster:
            posts = (*cluster.nodes, *cluster.workers)
            tails = [asyncio.create_task(tail(post), name=f"the log of {post.name}") for post in posts]
            print(told(cluster), flush=True)
            await asked.wait()
            print("leaving ...", flush=True)
            await asyncio.gather(*(post.leave(signal.SIGTERM) for post in posts if post.running))
            await asyncio.sleep(LOOK_SECONDS)
            for task in tails:
                task.cancel()
            await asyncio.gather(*tails, return_exceptions=True)


def told(cluster: Cluster) -> str:
    return TO_TRY.format(
        url=f"http://127.0.0.1:{cluster.port}",
        nodes="\n".join(
            f"    http://127.0.0.1:{node.port}  ({node.name}, {node.pid})" for node in cluster.nodes
        ),
        store=cluster.store,
        bus=cluster.redis.url,
        moot=Path(sys.executable).with_name("moot"),
        victim=cluster.workers[0].pid if cluster.workers else "…",
        node=cluster.nodes[0].pid,
        folder=FOLDER,
    )


if __name__ == "__main__":
    reading = argparse.ArgumentParser(prog="make cluster ARGS=…", description=(__doc__ or "").splitlines()[0])
    reading.add_argument("--nodes", type=int, default=2)
    reading.add_argument("--workers", type=int, default=2)
    reading.add_argument("--port", type=int, default=8000)
    wanted = reading.parse_args()
    asyncio.run(main(wanted.nodes, wanted.workers, wanted.port))
