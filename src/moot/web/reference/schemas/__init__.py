"""The JSON Schema of every reply and event, by its name."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from moot.api.command_table import SOCKET_COMMANDS
from moot.api.shapes import SHAPES
from moot.api.shapes.base import SCHEMA_TEMPLATE, describe_type
from moot.api.shapes.conversations import ROWS
from moot.api.v1.validation_messages import Shape


def schemas(*more: type[Struct]) -> dict[str, Shape]:
    """`more` are the replies of extensions."""
    _, structs = msgspec.json.schema_components(
        (*SHAPES, *more), ref_template=SCHEMA_TEMPLATE, schema_hook=describe_type
    )
    structs["AckData"]["properties"]["type"]["enum"] = [*SOCKET_COMMANDS]
    for row in ROWS:
        structs[row.__name__]["additionalProperties"] = True
    return _each_as_sent(structs)


def _each_as_sent(schemas: dict[str, Shape]) -> dict[str, Shape]:
    """Schemas by name: a member may have the name of a keyword, such as `default`."""
    return {name: _as_sent(schema) for name, schema in schemas.items()}


def _as_sent(shape: Any) -> Any:
    """The schema as it is sent: amounts are numbers, a member with a default may be missing."""
    if isinstance(shape, list):
        return [_as_sent(part) for part in cast("list[Any]", shape)]
    if not isinstance(shape, dict):
        return shape
    schema: Shape = {
        keyword: _each_as_sent(part) if keyword == "properties" else _as_sent(part)
        for keyword, part in cast("Shape", shape).items()
    }
    if schema.get("format") == "decimal":
        return {**{name: part for name, part in schema.items() if name != "format"}, "type": "number"}
    if schema.pop("default", ...) is None:
        options = [option for option in schema.pop("anyOf") if option != {"type": "null"}]
        return {**schema, **(options[0] if len(options) == 1 else {"anyOf": options})}
    return schema
