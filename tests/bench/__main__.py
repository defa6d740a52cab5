"""Runs the benchmarks and prints one line each: `python -m tests.bench [name ...]`."""

from __future__ import annotations

import sys

import uvloop

from tests.bench import clients, cluster, fanout, legacy, lists, page, tokens, viewers

BENCHES = {
    "clients": clients.main,
    "fanout": fanout.main,
    "tokens": tokens.main,
    "length": tokens.length,
    "lists": lists.main,
    "legacy": legacy.main,
    "viewers": viewers.main,
    "page": page.main,
    "cluster": cluster.main,
}


def main() -> None:
    wanted = sys.argv[1:] or list(BENCHES)
    for name in wanted:
        print(f"\n{name}")
        uvloop.run(BENCHES[name]())


if __name__ == "__main__":
    main()
