"""`moot work`: a worker, which runs the debates that servers are asked for."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


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
        bool, Parameter(negative="", help="Show its figures to other machines without asking for a token.")
    ] = False,
) -> int:
    """Run debates until Ctrl-C, and leave the rest to the other workers. Needs MOOT_STORE=postgresql://…."""
    import logging

    from moot import settings as configuration
    from moot.cli.error_messages import debugging
    from moot.cli.follow import run
    from moot.cli.render.output import Terminal
    from moot.core.errors import Invalid
    from moot.processes.worker import work as run_worker
    from moot.web import logging_setup

    if concurrency is not None and concurrency < 1:
        raise Invalid("--concurrency must be 1 or more.")
    settings = configuration.load()
    if concurrency is not None:
        from msgspec.structs import replace

        settings = replace(settings, cluster=replace(settings.cluster, debates=concurrency))
    logging_setup.set_up_logging(settings, level=logging.DEBUG if debugging() else logging.INFO)
    terminal = Terminal.out()

    def ready(url: str) -> None:
        terminal.line(
            f"This worker runs up to {settings.cluster.debates} debates at a time. Ctrl-C stops it."
        )
        if url:
            terminal.line((f"It tells how it is at {url}/health/ready.", "dim"))

    run(run_worker(settings, host=host, port=port, insecure=insecure, ready=ready))
    return 0
