"""Does what a newcomer does first, and says how long each part took.

    python3 scripts/first_debate.py            in a fresh checkout, or one that is set up

Runs `make run` as the README says, waits for the page, starts the debate that the page offers with the local
model, and waits for its verdict. Fails if any of it does. Part of the release checklist.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[1]
MODEL = {"provider": "local", "modelId": "smollm2-135m"}
DEBATE = {
    "topic": "Homework should be banned",
    "format": "oxford",
    "participants": [
        {"name": "Proposition", "position": "for", "model": MODEL},
        {"name": "Opposition", "position": "against", "model": MODEL},
    ],
    "judge": {"name": "Judge", "model": MODEL},
    "config": {"maxRounds": 3},
}
DEBATE_SECONDS = 300


def main() -> None:
    began = time.monotonic()
    make = subprocess.Popen(
        ["make", "run", "ARGS=--port 0"],
        cwd=ROOT,
        env=os.environ | {"MOOT_MODEL": "local/smollm2-135m", "BROWSER": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        address = _address(make)
        page = _read(f"{address}/")
        if "<title>Moot" not in page or "make run" not in _read(f"{address}/manual/"):
            sys.exit("the page or the manual is not there")
        print(f"page and manual after {time.monotonic() - began:.1f} s", flush=True)
        _hold_debate(address)
    finally:
        os.killpg(make.pid, signal.SIGINT)
        make.wait(60)


def _address(make: subprocess.Popen[str]) -> str:
    """Where the server is, once it says so."""
    for line in make.stdout or ():
        print(f"  {line}", end="", flush=True)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    sys.exit(f"make run ended with {make.wait()}")


def _hold_debate(address: str) -> None:
    began = time.monotonic()
    url = f"{address}/api/v1/debates/{_call(f'{address}/api/v1/debates', DEBATE)['id']}"
    times = dict[str, float]()
    with urlopen(f"{url}/stream", timeout=DEBATE_SECONDS) as stream:
        for line in stream:
            if line.startswith(b"event: "):
                times.setdefault(line[7:].decode().strip(), time.monotonic() - began)
            if "complete" in times:
                break
    status = _call(f"{url}/status")["status"]
    verdicts = _call(f"{url}/verdicts")
    if status != "completed" or "verdict" not in times:
        sys.exit(f"the debate ended as {status}, without a verdict: {json.dumps(verdicts)}")
    shown = ", ".join(
        f"{name} {times[name]:.1f} s" for name in ("participant", "judge", "verdict") if name in times
    )
    print(f"after the start of the debate: {shown}")
    print(json.dumps(verdicts, ensure_ascii=False)[:800])


def _call(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    return json.loads(_read(Request(url, data, {"Content-Type": "application/json"})))


def _read(request: Request | str) -> str:
    with urlopen(request, timeout=60) as reply:
        return reply.read().decode()


if __name__ == "__main__":
    main()
