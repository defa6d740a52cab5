"""`moot serve`: the arena in the browser, and the API for other programs."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


def serve(
    *,
    host: Annotated[
        str, Parameter(help="Where to listen (default 127.0.0.1: for this machine only).")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port (default 8000; 0 takes a free one).")] = 8000,
    insecure: Annotated[
        bool, Parameter(negative="", help="Serve other machines without asking for a token.")
    ] = False,
    no_run: Annotated[
        bool, Parameter(negative="", help="Run no debates here: workers do (`moot work`).")
    ] = False,
    open: Annotated[
        bool, Parameter(name="--open", negative="", help="Open the page in the browser when it is ready.")
    ] = False,
) -> int:
    """Serve the page and the API until Ctrl-C. Others are served only with a token: see `moot token new`."""
    import logging
    import sys

    from moot import settings as configuration
    from moot.cli.error_messages import debugging
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal
    from moot.processes.server import serve as run_server
    from moot.web import logging_setup

    settings = configuration.load()
    logging_setup.set_up_logging(settings, level=logging.DEBUG if debugging() else logging.INFO)
    if sys.stderr.isatty() and not debugging():
        # Eighty lines for each page that is opened would carry its address off the screen.
        logging.getLogger("moot.access").setLevel(logging.WARNING)
    terminal = Terminal.out()

    def ready(url: str) -> None:
        terminal.line("Moot is at ", (url, "bold"), ". Ctrl-C stops it.")
        terminal.line((f"The API is described at {url}/docs.", "dim"))
        if open:
            _show(url)

    run(run_server(settings, host, port, insecure=insecure, run=not no_run, ready=ready))
    return 0


def _show(url: str) -> None:
    """In a thread, since some browsers keep one waiting; where there is none, the address is on the page."""
    import threading
    import webbrowser
    from contextlib import suppress

    def show() -> None:
        with suppress(Exception):
            webbrowser.open(url)

    threading.Thread(target=show, name="browser", daemon=True).start()
