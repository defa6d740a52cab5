"""Routes that show experiments: the list, one with its figures, its report, and a queue for people to judge.

Experiments are run from the command line of the server's machine and belong to the operator, like their
debates: with tokens nobody else sees them.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.shapes.experiments import ExperimentResponse, ExperimentsResponse, JudgingQueueResponse
from moot.api.v1 import bodies, query_params
from moot.core.errors import Unavailable
from moot.extensions.experiments import people_judging
from moot.extensions.experiments.bodies import ExperimentVote
from moot.extensions.experiments.reports import ExperimentReports
from moot.extensions.experiments.store import StoredExperiment
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.web.app_context import AppContext, query_string
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
async def list_experiments(context: Context) -> Response:
    """Lists the experiments with their progress. Only the operator may do this."""
    reports = context.service(ExperimentReports)
    stored = await context.arena.store.tables(EXPERIMENTS).experiments()
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
async def get_experiment(name: ExperimentName, context: Context) -> Response:
    """Returns the progress of an experiment and what its debates show so far: ratings with intervals and rank
    ranges, matchups, judges, reliability, and what to beware of. While it runs, the figures are computed
    again after ten seconds at the earliest. Only the operator may do this.
    """
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
async def get_experiment_report(request: Request, name: ExperimentName, context: Context) -> Response:
    """Returns the report as `moot experiment report` writes it, with links to the debates on this server. The
    problem `conflict` says what to install for it. Only the operator may do this.
    """
    stored = await _find(context, name)
    try:
        report = await context.service(ExperimentReports).report(stored)
    except Unavailable as error:
        raise Problem("conflict", str(error)) from None
    from moot.extensions.experiments.measuring.report_document import report_document
    from moot.extensions.experiments.measuring.report_html import report_html

    server = str(request.base_url).rstrip("/")
    document = await asyncio.to_thread(lambda: report_html(report_document(report), server))
    return Response(
        document, media_type="text/html", headers={"Content-Security-Policy": _report_csp(document)}
    )


@router.get(
    "/experiments/{name}/queue",
    **documented(
        "operate",
        tag="Experiments",
        summary="Get the next debate to judge",
        reply=JudgingQueueResponse,
        says="How many the voter has judged, and the next debate, blind.",
        query=query_params.PARAMETERS["queue"],
        refusals=(403, 404, 422),
    ),
)
async def get_judging_queue(request: Request, name: ExperimentName, context: Context) -> Response:
    """Returns the debate of the experiment that this voter judges next: the one with the fewest votes of
    people. The sides are called A and B, drawn for each voter and debate; models, ballots and verdict are
    left out. Only the operator may do this, for all who judge at the operator's screen.
    """
    voter = query_params.parse_queue(query_string(request))
    await _find(context, name)
    queue = await people_judging.judging_queue(context.arena.store, name, voter)
    return json_reply(msgspec.convert(queue, JudgingQueueResponse, from_attributes=True))


@router.post(
    "/experiments/{name}/votes",
    **documented(
        "operate",
        tag="Experiments",
        summary="Vote on a debate of an experiment",
        reply=JudgingQueueResponse,
        says="The vote is kept; the reply has the next debate.",
        status=201,
        body=ExperimentVote,
        refusals=(403, 404, 415, 422),
    ),
)
async def cast_experiment_vote(request: Request, name: ExperimentName, context: Context) -> Response:
    """Keeps the vote of a person on a debate of the queue, with the results of the experiment, and returns
    the next debate. A later vote of the same voter on the same debate replaces the earlier one. Of a question
    the probability of the answer is needed, and there is no tie. Only the operator may do this.
    """
    body = bodies.read_body(ExperimentVote, await request.body())
    await _find(context, name)
    store = context.arena.store
    await people_judging.cast_vote(
        store,
        name,
        body.debate,
        body.voter,
        body.winner,
        at=datetime.now(UTC),
        reason=body.reason,
        chance=body.probability,
    )
    queue = await people_judging.judging_queue(store, name, body.voter)
    return json_reply(msgspec.convert(queue, JudgingQueueResponse, from_attributes=True), 201)


async def _find(context: AppContext, name: str) -> StoredExperiment:
    stored = await context.arena.store.tables(EXPERIMENTS).experiment(name)
    if stored is None:
        raise Problem("not-found", "There is no such experiment")
    return stored


def _report_csp(document: str) -> str:
    """The policy that allows the style in the document, and nothing else."""
    found = INLINE_STYLE.search(document)
    style = found.group(1) if found else ""
    return REPORT_CSP.format(b64encode(sha256(style.encode()).digest()).decode())
