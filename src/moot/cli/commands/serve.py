"""The programs that run until they are stopped.

`moot serve` is the page and the API, `moot work` a worker that runs debates for servers.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.error_messages import debugging
from moot.cli.render.output import Terminal
from moot.cli.run_command import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.settings import Settings


def serve(
    *,
    host: Annotated[
        str, Parameter(help="Where to listen (default 127.0.0.1: for this machine only).")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port (default 8000; 0 takes a free one).")] = 8000,
    insecure: Annotated[bool, Parameter(negative="", help="Serve other machines without a token.")] = False,
    no_run: Annotated[
        bool, Parameter(negative="", help="Run no debates here: workers do (`moot work`).")
    ] = False,
    open: Annotated[
        bool, Parameter(name="--open", negative="", help="Open the page in the browser when it is ready.")
    ] = False,
) -> int:
    """Serve the page and the API until Ctrl-C. Others are served only with a token: see `moot token new`."""
    with _loading():
        from moot.processes.server import serve as run_server

    settings = settings_and_logging(logging.INFO)
    if not (settings.service.log_requests or debugging()):
        # Eighty lines for each page that is opened would carry its address off the screen.
        logging.getLogger("moot.access").setLevel(logging.WARNING)
    terminal = Terminal.out()

    def ready(url: str) -> None:
        terminal.line("Moot is at ", (url, "bold"), ". API: /docs. Ctrl-C stops it.")
        for missing in missing_parts():
            terminal.line((missing, "yellow"))
        if open:
            _open_browser(url)

    manual = {"reference/commands.md": _command_reference}
    run(run_server(settings, host, port, insecure=insecure, run=not no_run, ready=ready, manual=manual))
    return 0


def missing_parts() -> list[str]:
    """A sentence for each part of the server that this installation lacks: the page, the manual."""
    from moot.manual.pages import find_sources, missing_pages
    from moot.web.page_assets import missing_libraries

    return [sentence for sentence in (missing_libraries(), missing_pages(find_sources())) if sentence]


def _command_reference() -> str:
    from moot.cli.command_reference import command_reference

    return command_reference()


def _open_browser(url: str) -> None:
    """In a thread, because some browsers block; without a browser, the address is on the screen."""
    import threading
    import webbrowser
    from contextlib import suppress

    def open_page() -> None:
        with suppress(Exception):
            webbrowser.open(url)

    threading.Thread(target=open_page, name="browser", daemon=True).start()


def work(
    *,
    concurrency: Annotated[
        int | None,
        Parameter(
            help="How many debates at a time (default: MOOT_WORKER_DEBATES, or 100).", show_default=False
        ),
    ] = None,
    port: Annotated[
        int | None,
        Parameter(
            help="Answer /health/live, /health/ready and /metrics here (0 takes a free port).",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, Parameter(help="Where to answer them (default 127.0.0.1: for this machine only).")
    ] = "127.0.0.1",
    insecure: Annotated[
        bool, Parameter(negative="", help="Show its metrics to other machines without a token.")
    ] = False,
) -> int:
    """Run debates until Ctrl-C, and leave the rest to the other workers. Needs MOOT_STORE=postgresql://…."""
    with _loading():
        from msgspec.structs import replace

        from moot.processes.worker import work as run_worker

    if concurrency is not None and concurrency < 1:
        raise Invalid("--concurrency must be 1 or more.")
    settings = settings_and_logging(logging.INFO)
    if concurrency is not None:
        settings = replace(settings, cluster=replace(settings.cluster, debates=concurrency))
    terminal = Terminal.out()

    def ready(url: str) -> None:
        terminal.line(
            f"This worker runs up to {settings.cluster.debates} debates at a time. Ctrl-C stops it."
        )
        if url:
            terminal.line((f"Its health: {url}/health/ready", "dim"))
        terminal.line(
            ("It reads keys from its own environment and moot.toml; saved keys are not used.", "dim")
        )

    run(run_worker(settings, host=host, port=port, insecure=insecure, ready=ready))
    return 0


@contextmanager
def _loading() -> Generator[None]:
    """Load modules without garbage collection: they leave next to no garbage.

    They are frozen at once, or the first collection would visit them all. What is opened after them is left
    to `tune_garbage_collection` of `processes/startup.py`.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def settings_and_logging(level: int) -> Settings:
    """Load the settings and set up logging by them; with MOOT_DEBUG=1 everything is logged."""
    from moot import settings as configuration
    from moot.web import logging_setup

    settings = configuration.load()
    logging_setup.set_up_logging(settings, level=logging.DEBUG if debugging() else level)
    for sentence in configuration.unknown_variables(settings.environ):
        logging.getLogger("moot").warning("%s", sentence)
    return settings
