"""Routes for models on the server's own machine: what can be installed, what the hub has, and installing it.

Every client may see the list; only the operator may install. A model is one of the catalogue, a GGUF file of
the Hugging Face Hub, or a model that a running Ollama pulls.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.rights import may
from moot.api.shapes.server_replies import InstallPreviewResponse, InstallResponse, InstallsResponse
from moot.api.v1 import bodies, people_bodies
from moot.core.errors import Invalid, Unavailable
from moot.core.json_types import choose
from moot.models.catalogue import CatalogueEntry
from moot.models.installs import InstallStatus
from moot.models.requirements import laptop_speed, memory_needed, total_memory
from moot.web.app_context import identity_of
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, path_parameter

ModelName = Annotated[
    str,
    path_parameter(
        "model",
        "^[0-9A-Za-z][0-9A-Za-z._:@-]{0,255}$",
        "The name of the model, as in `GET /api/v1/installs`.",
    ),
]

router = api_router()


@router.get(
    "/installs",
    **documented(
        "look",
        tag="Server",
        summary="List models to install",
        reply=InstallsResponse,
        says="The models.",
        refusals=(422,),
    ),
)
async def list_installs(request: Request, context: Context) -> Response:
    """Lists the models that can run on the server's own machine, and whether each is installed, absent or
    being installed.
    """
    operator = may(identity_of(request), "operate")
    all_models = context.arena.providers.installs.all()
    rows = tuple(install_reply(install, operator=operator) for install in all_models)
    return json_reply(InstallsResponse(models=rows, operator=operator))


@router.post(
    "/installs",
    **documented(
        "operate",
        tag="Server",
        summary="Install a model of the hub or of Ollama",
        status=202,
        reply=InstallResponse,
        says="The model is being installed, or is installed already.",
        body=people_bodies.NewInstall,
        refusals=(403, 415, 422),
    ),
)
async def install_source(request: Request, context: Context) -> Response:
    """Starts to install a model: `hf:owner/repo/file.gguf` of the Hugging Face Hub, whose hash is checked and
    of which no code is run; `ollama/NAME`, which a running Ollama pulls; or a name of the list. Only the
    operator may do this. `GET /api/v1/installs` shows the progress under the `name` of the reply.
    """
    source = bodies.read_body(people_bodies.NewInstall, await request.body()).source
    try:
        started = await context.arena.providers.installs.request(source)
    except (Invalid, Unavailable) as error:
        raise _not_found(error) from None
    return json_reply(install_reply(started, operator=True), 202)


@router.post(
    "/installs/preview",
    **documented(
        "operate",
        tag="Server",
        summary="Look up a model of the hub",
        reply=InstallPreviewResponse,
        says="Its size, licence and needs.",
        body=people_bodies.NewInstall,
        refusals=(403, 415, 422),
    ),
)
async def preview_install(request: Request, context: Context) -> Response:
    """Asks the Hugging Face Hub for the size and the licence of `hf:owner/repo/file.gguf`, and estimates the
    memory and the speed. Nothing is downloaded. Only the operator may do this.
    """
    source = bodies.read_body(people_bodies.NewInstall, await request.body()).source
    model_files = context.arena.providers.model_files
    try:
        entry = await asyncio.to_thread(model_files.look_up, source)
    except (Invalid, Unavailable) as error:
        raise _not_found(error) from None
    return json_reply(install_preview(source, entry, installed=model_files.is_installed(entry)))


@router.post(
    "/installs/{model}",
    **documented(
        "operate",
        tag="Server",
        summary="Install a model",
        status=202,
        reply=InstallResponse,
        says="The model is being installed, or is installed already.",
        body=bodies.Nothing,
        refusals=(403, 404, 415, 422),
    ),
)
async def install_model(request: Request, model: ModelName, context: Context) -> Response:
    """Starts to install a model and returns its state. Only the operator may do this. Installs run in the
    background, one after the other, and an interrupted download is resumed; a request for a model that is
    being installed changes nothing. `GET /api/v1/installs` shows the progress.
    """
    bodies.read_body(bodies.Nothing, await request.body())
    try:
        started = context.arena.providers.installs.start(model)
    except Unavailable:
        raise _no_model() from None
    return json_reply(install_reply(started, operator=True), 202)


@router.delete(
    "/installs/{model}",
    **documented(
        "operate",
        tag="Server",
        summary="Stop an install",
        status=204,
        says="The install is stopped, or there was none.",
        refusals=(403, 404, 422),
    ),
)
async def stop_install(model: ModelName, context: Context) -> Response:
    """Stops an install. Only the operator may do this. The part that was downloaded is kept for the next
    install.
    """
    try:
        await context.arena.providers.installs.stop(model)
    except Unavailable:
        raise _no_model() from None
    return Response(status_code=204)


def _no_model() -> Problem:
    return Problem("not-found", "There is no such model to install")


def _not_found(error: Invalid | Unavailable) -> Problem:
    fix = error.fix if isinstance(error, Unavailable) else ""
    return Problem("validation", errors={"source": [f"{error} {fix}".strip()]})


def _fits(entry: CatalogueEntry) -> bool:
    memory = total_memory()
    return memory is None or memory >= memory_needed(entry.size)


def install_preview(source: str, entry: CatalogueEntry, *, installed: bool) -> InstallPreviewResponse:
    return choose(
        InstallPreviewResponse,
        entry,
        source=source,
        bytes=entry.size,
        memory_bytes=memory_needed(entry.size),
        tokens_per_second=laptop_speed(entry.size),
        fits=_fits(entry),
        installed=installed,
    )


def install_reply(install: InstallStatus, *, operator: bool) -> InstallResponse:
    """Errors name folders of the server, so they are shown to the operator alone."""
    entry, is_file = install.entry, not install.label.startswith("ollama/")
    return choose(
        InstallResponse,
        entry,
        label=install.label,
        bytes=entry.size,
        small=is_file and entry.small,
        source=entry.hub.reference if entry.hub else None,
        memory_bytes=memory_needed(entry.size) if is_file else None,
        tokens_per_second=laptop_speed(entry.size) if is_file else None,
        fits=not is_file or _fits(entry),
        state=install.state,
        done=install.done,
        total=install.total,
        error=(install.error or None) if operator else None,
    )
