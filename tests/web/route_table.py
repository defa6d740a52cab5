"""Every route of the API, read from its routers: method, address, name, and the right that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from moot.api.rights import Action, Right
from moot.extension import loaded
from moot.web.app import ROUTERS, SERVER_ROUTERS
from moot.web.app_context import RightsCheck
from moot.web.route_docs import PREFIX
from moot.web.routes import command_routes

RouteRow = tuple[str, str, str, Action | Right]


def rows(prefix: str, routes: Iterable[Any]) -> Iterator[RouteRow]:
    for route in routes:
        [check] = [one.dependency for one in route.dependencies if isinstance(one.dependency, RightsCheck)]
        for method in route.methods - {"HEAD"}:
            yield method, prefix + route.path_format, route.name, check.action


V1_ROUTES = tuple(
    row
    for router in (*ROUTERS, *SERVER_ROUTERS, command_routes.router())
    for row in rows(PREFIX, router.routes)
)
EXTENSION_ROUTES = tuple(
    row
    for _, added in loaded().of(lambda extension: extension.http)
    for router in added.routers
    for row in rows(added.prefix, router.routes)
)
ROUTES: tuple[RouteRow, ...] = (*V1_ROUTES, *EXTENSION_ROUTES)
