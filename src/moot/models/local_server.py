"""The process of a local model: llama.cpp's own HTTP server on a private Unix socket.

It ends with its parent: by a signal of the kernel (Linux), and everywhere by the end of standard input. It
then deletes its folder and exits at once, even within a request, without destructors that could hang.

Run as `python -m moot.models.local_server '<LocalServerOptions as JSON>'`.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

PR_SET_PDEATHSIG = 1
WARNINGS = 2


class LocalServerOptions(Struct, frozen=True):
    """The command line of the child."""

    model: str
    socket: str
    parent: int
    slots: int = 4
    context: int = 4096
    """Tokens of each slot."""
    threads: int = 2
    batch: int = 128
    """A cancelled prompt ends after one batch: with 128 tokens in less than half a second."""
    memory: int = 512
    """Megabytes for the prompts of conversations that lost their slot."""


def main() -> NoReturn:
    options = msgspec.json.decode(sys.argv[1], type=LocalServerOptions)
    folder = Path(options.socket).parent
    _exit_with_parent(options.parent, folder)
    _limit_thread_spin()
    os.umask(0o177)
    try:
        server = _serve(options)
    except Exception as error:
        sys.exit(str(error))  # the log before it says more than a traceback
    _exit_on_sigterm(folder)
    while server:
        signal.pause()
    _clean_up_and_exit(folder)


def _exit_with_parent(parent: int, folder: Path) -> None:
    threading.Thread(target=_exit_at_end_of_input, args=(folder,), daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        _clean_up_and_exit(folder)


def _exit_on_sigterm(folder: Path) -> None:
    """Only once the model is loaded: until then no Python code runs, and the default action is needed."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        _clean_up_and_exit(folder)

    signal.signal(signal.SIGTERM, on_signal)


def _exit_at_end_of_input(folder: Path) -> None:
    while os.read(0, 4096):
        pass
    _clean_up_and_exit(folder)


def _clean_up_and_exit(folder: Path) -> NoReturn:
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _limit_thread_spin() -> None:
    """Threads that spin while they wait starve as soon as anything else uses the CPU.

    Two busy processes beside two threads slow a 135M model from 90 tokens a second to 2; with a short spin it
    makes 33, and loses nothing on an idle machine.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def _serve(options: LocalServerOptions) -> Any:
    xllamacpp: Any = importlib.import_module("xllamacpp")  # reads the environment as it loads
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {Path(options.model).stem}  # replies name it, and logs should name no folder
    params.hostnames = [options.socket]
    params.n_parallel = options.slots
    params.n_ctx = options.slots * options.context
    params.n_batch = params.n_ubatch = options.batch
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.cache_ram_mib = options.memory
    params.ui = False
    params.endpoint_slots = True
    params.verbosity = WARNINGS
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
