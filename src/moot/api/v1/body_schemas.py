"""The JSON Schema of the bodies that v1 takes, for the API description.

A member is described by the docstring below it. pydantic can collect these docstrings too, but it reads the
source of each class when the class is made; here the source is read when a description is asked for, which
most processes never do.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from typing import get_args

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import ModelSchema

from moot.api.v1.bodies import BODIES, Body
from moot.api.v1.create_debate import CreateDebate
from moot.api.v1.fields import FORMATS, PROVIDERS, Capabilities, contract_first
from moot.api.v1.validation_messages import Shape
from moot.core.terms import HostedTool
from moot.tools.contract import TOOL_NAME_PATTERN

HOSTED = get_args(HostedTool)


def schemas(
    capabilities: Capabilities, *more: type[Body], template: str = "#/components/schemas/{model}"
) -> dict[str, Shape]:
    """The JSON Schema of every body by its name, with the formats and providers that there are."""
    _, shapes = models_json_schema(
        [(body, "validation") for body in (CreateDebate, *BODIES, *more)],
        ref_template=template,
        schema_generator=_DescribedBodies,
    )
    components: dict[str, Shape] = shapes["$defs"]
    # Not `anyOf` beside `properties`: generated clients would take any object for a debate.
    components["CreateDebate"]["if"] = {"not": {"required": ["judge"]}}
    some = {"required": ["judges"], "properties": {"judges": {"minItems": 1}}}
    components["CreateDebate"]["then"] = some
    components["CreateDebate"]["properties"]["format"]["enum"] = [
        *contract_first(capabilities.formats, FORMATS)
    ]
    components["ModelChoice"]["properties"]["provider"]["enum"] = [
        *contract_first(capabilities.providers, PROVIDERS)
    ]
    hosted = "|".join(name for name in capabilities.tools if name in HOSTED)
    servers = "|".join(name for name in capabilities.tools if name not in HOSTED)
    several = f"|(?:{servers})(?:/{TOOL_NAME_PATTERN})?" if servers else ""
    components["Config"]["properties"]["tools"]["items"]["pattern"] = f"^(?:{hosted}{several})$"
    return components


class _DescribedBodies(GenerateJsonSchema):
    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        shape = super().model_schema(schema)
        body: type[Body] = schema["cls"]
        for name, field in body.model_fields.items():
            owner = next(base for base in body.__mro__ if name in vars(base).get("__annotations__", ()))
            text = _docstrings(owner.__module__).get(owner.__name__, {}).get(name)
            if text:
                shape["properties"][field.alias or name].setdefault("description", text)
        return shape


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of members of the classes in a module, by class and member.

    Without the source, as in a program that is shipped as bytecode, there are none.
    """
    try:
        tree = ast.parse(getsource(sys.modules[module]))
    except OSError:
        return {}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    texts: dict[str, dict[str, str]] = {node.name: {} for node in classes}
    for node in classes:
        for member, below in pairwise(node.body):
            match member, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                    texts[node.name][name] = cleandoc(text)
                case _:
                    pass
    return texts
