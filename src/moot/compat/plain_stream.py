"""The stream of a debate for clients of the older APIs: no ids, one line an event, nothing after the end."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Dialect, Frame
from moot.api.problems import Problem
from moot.api.v1 import query_params
from moot.compat.plain_frames import end_seq
from moot.core.visibility import Viewer
from moot.web.app_context import head_of, identity_of, query_string
from moot.web.routes.handlers import RouteHandlers, check_accepts_stream


class PlainDesk(RouteHandlers):
    """One method a route, in APIs whose streams have no ids."""

    async def _follow_plainly(
        self, request: Request, debate_id: str, dialect_for: Callable[[Viewer], Dialect], gone: Frame
    ) -> Response:
        """From the start or from where the client was cut off; 204 where it has seen the end."""
        query = query_params.parse_plain_stream(query_string(request), request.headers.get("last-event-id"))
        check_accepts_stream(request)
        rooms, cursor = self._context, query.cursor
        viewer = await rooms.viewer_of(identity_of(request), query.seat, debate_id)
        if cursor.seq > head_of(request).version:
            raise Problem("cursor-ahead")
        over = end_seq(await self._arena.state(debate_id)) if cursor.seq else 0
        if over and cursor.complete_seq >= over:
            return Response(status_code=204)
        dialect, told = dialect_for(viewer), {"X-Debate-Id": debate_id}
        return self._follow(request, debate_id, dialect, viewer, cursor, gone, plain=True, extra_headers=told)
