"""Runs benchmarks, prints each figure beside its limit and goal, and compares with the last release.

python -m tests.bench                       # all of them
python -m tests.bench tokens viewers        # some
python -m tests.bench --runs 3 --json FILE  # medians of three runs, also as JSON
python -m tests.bench --strict              # exit 1 if a figure got more than 15 % worse
python -m tests.bench --write-docs          # keep the figures in docs/figures.json, .md and the picture
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import uvloop
from msgspec import Struct

from tests.bench import (
    appends,
    clients,
    cluster,
    experiments,
    fanout,
    legacy,
    lists,
    lone,
    page,
    peers,
    ratings,
    startup,
    tokens,
    viewers,
)
from tests.bench.figures import (
    TOLERANCE,
    Figure,
    Result,
    changes_for_the_worse,
    combined,
    merged,
    read_results,
    table,
    write_results,
)
from tests.bench.figures_page import write_page
from tests.bench.measure import Unavailable

DOCS = Path(__file__).parents[2] / "docs"
RELEASED = DOCS / "figures.json"


class Bench(Struct, frozen=True):
    title: str
    run: Callable[[], AsyncIterator[Figure]]
    description: str


BENCHES = {
    "tokens": Bench(
        "Tokens",
        tokens.bench,
        "CPU for each token of debates whose models are read over HTTP at 50 tokens a second each: from the"
        " service's bytes to the log on disk (SQLite, synchronous=FULL) and one follower. The limit is"
        " aiohttp + msgspec that read the same streams and discard them. For both, garbage is collected as in"
        " `moot serve`.",
    ),
    "length": Bench(
        "Long debates", tokens.bench_length, "CPU for each token early and late in one long debate, unpaced."
    ),
    "lone": Bench(
        "A lone debate",
        lone.bench,
        "A server with one debate that one viewer follows over HTTP, and with none. The fixed cost of every"
        " wake-up shows here, which many debates share.",
    ),
    "viewers": Bench(
        "Server and viewers",
        viewers.bench,
        "The application of `moot serve` in one process, the viewers in another, on the same cores; the"
        " scripted provider speaks 50 tokens a second. *Lag* is the time from the moment a word is due from"
        " the provider until a viewer reads it; up to 50 ms of it is `MOOT_TICK_MS`. The limit is a bare"
        " Starlette application on uvicorn that sends the same frames to the same viewers, without log,"
        " cursors or tokens. A *viewer-event* is one event sent to one viewer besides the first.",
    ),
    "fanout": Bench(
        "Followers in the process",
        fanout.bench,
        "What followers inside the process cost, beside a queue for each of them.",
    ),
    "appends": Bench(
        "Appends",
        appends.bench,
        "Events appended by 50 debates at once, each waiting for one append before the next. The limit is the"
        " database's fastest statement for the same rows on one connection with the same durability; with one"
        " event an append it commits as often as the debates need, with 20 it writes all rows in one"
        " transaction. (PostgreSQL runs with fsync off, for both.)",
    ),
    "clients": Bench(
        "Clients of model services",
        clients.bench,
        "CPU for each token of the provider clients: 2,000 tokens a reply as fast as they come, one event a"
        " chunk. The limits are aiohttp + msgspec that discard the same events, and the vendors' own SDKs.",
    ),
    "peers": Bench(
        "Peers",
        peers.bench,
        "The same paced debates in LangGraph and AutoGen. They stream every token to their caller, but"
        " neither store a word durably nor show it to a viewer; Moot does both.",
    ),
    "startup": Bench("Start-up", startup.bench, "CPU until the program answers."),
    "lists": Bench(
        "Lists", lists.bench, "List and status of a store with 20,000 debates, beside one with 200."
    ),
    "ratings": Bench(
        "Ratings",
        ratings.bench,
        "Simulated groups (two debates, sides swapped), rated with a side term and intervals by groups."
        " The limit is evalica's Bradley-Terry on the same rows, called once for each resample.",
    ),
    "experiments": Bench(
        "Experiments",
        experiments.bench,
        "An experiment of made-up debates with 20 models and two judges in SQLite: the CPU that it adds to"
        " each of its debates, and that progress, report and export of 10,000 debates take.",
    ),
    "legacy": Bench(
        "Conversations",
        legacy.bench,
        "CPU for an imported conversation from SQLite to the bytes of the JSON reply, beside the old table"
        " with `segments` and `reasoning`, read by its index, parsed and encoded again.",
    ),
    "page": Bench(
        "Page",
        page.bench,
        "The page in Chromium while four seats speak 100 words a second each, as shares of one core in"
        " processor time. The limit is a page that appends the same words to text nodes and scrolls down.",
    ),
    "cluster": Bench(
        "Many machines",
        cluster.bench,
        "Nodes, workers, PostgreSQL, Redis, scripted models and viewers on the same cores; each debate has 50"
        " tokens a second and one viewer. The limit is one process and a file in the same run.",
    ),
}


def main() -> int:
    options = _options()
    results: list[Result] = []
    failed = False
    for name in options.names or BENCHES:
        try:
            results.append(_measure(name, options.runs, options.note))
        except Unavailable as error:
            print(f"\n{name}: not measured. {error}")
        except Exception:
            traceback.print_exc()
            print(f"\n{name}: failed, see above.")
            failed = True
    changes = changes_for_the_worse(read_results(options.compare), results)
    number = len(changes) or "No"
    print(f"\n{number} figures got more than {TOLERANCE:.0%} worse than in {options.compare.name}.")
    for change in changes:
        print(f"  {change}")
    if options.json:
        write_results(options.json, results)
    if options.write_docs:
        _write_docs(results)
    return 1 if failed or (changes and options.strict) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure what Moot costs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHES)}; default all")
    parser.add_argument("--runs", type=int, default=1, help="measure so often; show medians and the spread")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        default=RELEASED,
        help="earlier figures to compare with; default: docs/figures.json",
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 if a figure got more than 15 %% worse")
    parser.add_argument(
        "--write-docs", action="store_true", help="write docs/figures.json, docs/figures.md and its picture"
    )
    parser.add_argument("--note", default="", help="a remark on this run, kept with the figures")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; choose from {', '.join(BENCHES)}")
    return options


def _measure(name: str, runs: int, note: str) -> Result:
    start = monotonic()
    measured: list[Sequence[Figure]] = []
    for number in range(runs):
        print(f"measuring {name}, run {number + 1} of {runs} ...", file=sys.stderr)
        measured.append(uvloop.run(_figures(BENCHES[name])))
    figures = combined(measured)
    print(f"\n{name} ({monotonic() - start:.0f} s)\n{table(figures)}", flush=True)
    today = datetime.now(UTC).date().isoformat()
    return Result(bench=name, date=today, machine=_machine(), note=note, figures=figures)


async def _figures(bench: Bench) -> list[Figure]:
    return [figure async for figure in bench.run()]


def _machine() -> str:
    """What a reader needs to judge the figures: cores, processor and Python."""
    processor = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        models = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].partition(":")[2].strip() if models else processor
    return f"{os.cpu_count()} cores of {processor}, Python {platform.python_version()}"


def _write_docs(results: Sequence[Result]) -> None:
    """Benchmarks that were not run keep the figures, the date and the machine that they have."""
    known = {result.bench: result for result in merged(read_results(RELEASED), results)}
    kept = [known[name] for name in BENCHES if name in known]
    write_results(RELEASED, kept)
    sections = {name: (bench.title, bench.description) for name, bench in BENCHES.items()}
    write_page(DOCS / "figures.md", kept, sections)


if __name__ == "__main__":
    sys.exit(main())
