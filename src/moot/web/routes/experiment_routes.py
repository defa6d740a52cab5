"""Routes that show experiments: the list, one with its figures, and its report as a page of its own.

Experiments are run from the command line of the server's machine and belong to the operator, like their
debates: with tokens nobody else sees them.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.shapes.experiments import ExperimentResponse, ExperimentsResponse
from moot.api.v1 import query_params
from moot.core.errors import Unavailable
from moot.store.experiment_rows import StoredExperiment
from moot.web.app_context import AppContext, query_string
from moot.web.experiment_reports import ExperimentReports
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, path_parameter

ExperimentName = Annotated[
    str,
    path_parameter("name", "^[a-z0-9][a-z0-9-]*$", "The name of the experiment.", minLength=1, maxLength=64),
]
INLINE_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
REPORT_CSP = (
    "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


router = api_router()


@router.get(
    "/experiments",
    **documented(
        "operate",
        tag="Experiments",
        summary="List experiments",
        reply=ExperimentsResponse,
        says="The experiments, the newest first.",
        refusals=(403, 422),
    ),
)
async def experiments(request: Request, context: Context) -> Response:
    """Lists the experiments with their progress. Only the operator may do this."""
    query_params.no_params(query_string(request))
    reports = context.service(ExperimentReports)
    stored = await context.arena.store.experiments.experiments()
    return json_reply(ExperimentsResponse(experiments=tuple([await reports.summary(one) for one in stored])))


@router.get(
    "/experiments/{name}",
    **documented(
        "operate",
        tag="Experiments",
        summary="Look at an experiment",
        reply=ExperimentResponse,
        says="Its progress and figures.",
        refusals=(403, 404, 422),
    ),
)
async def experiment(request: Request, name: ExperimentName, context: Context) -> Response:
    """Returns the progress of an experiment and what its debates show so far: ratings with intervals and rank
    ranges, matchups, judges, reliability, and what to beware of. While it runs, the figures are computed
    again after ten seconds at the earliest. Only the operator may do this.
    """
    query_params.no_params(query_string(request))
    stored = await _find(context, name)
    return json_reply(await context.service(ExperimentReports).response(stored))


@router.get(
    "/experiments/{name}/report",
    **documented(
        "operate",
        tag="Experiments",
        summary="Read the report of an experiment",
        media_types=("text/html",),
        says="The report, one HTML document without scripts.",
        refusals=(403, 404, 409, 422),
    ),
)
async def experiment_report(request: Request, name: ExperimentName, context: Context) -> Response:
    """Returns the report as `moot experiment report` writes it, with links to the debates on this server. The
    problem `conflict` says what to install for it. Only the operator may do this.
    """
    query_params.no_params(query_string(request))
    stored = await _find(context, name)
    try:
        report = await context.service(ExperimentReports).report(stored)
    except Unavailable as error:
        raise Problem("conflict", str(error)) from None
    from moot.experiments.report_document import report_document
    from moot.experiments.report_html import report_html

    server = str(request.base_url).rstrip("/")
    document = await asyncio.to_thread(lambda: report_html(report_document(report), server))
    return Response(
        document, media_type="text/html", headers={"Content-Security-Policy": _report_csp(document)}
    )


async def _find(context: AppContext, name: str) -> StoredExperiment:
    stored = await context.arena.store.experiments.experiment(name)
    if stored is None:
        raise Problem("not-found", "There is no such experiment")
    return stored


def _report_csp(document: str) -> str:
    """The policy that allows the style in the document, and nothing else."""
    found = INLINE_STYLE.search(document)
    style = found.group(1) if found else ""
    return REPORT_CSP.format(b64encode(sha256(style.encode()).digest()).decode())
