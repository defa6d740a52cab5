"""The reference pages that are written from the code: HTTP API, event types and the Python library.

Each function returns one page as Markdown. Nothing here is written by hand twice: routes come from the
server's own OpenAPI description, events and classes from their definitions and docstrings. The page of the
commands is written where they are known, in `cli/command_reference.py`.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter, defaultdict
from collections.abc import Sequence
from types import UnionType
from typing import Any, get_args

from msgspec import Struct

import moot
from moot.core import events
from moot.core.setup_field import REQUIRED, SetupField
from moot.core.setup_table import setup_fields

METHODS = ("get", "post", "put", "patch", "delete")


def http_api(description: Any) -> str:
    text = [
        "# HTTP API\n",
        "A running server has this reference with complete schemas and a form to try each route at `/docs`, "
        "and the OpenAPI description at `/openapi.json`. [The API guide](../api.md) explains how the routes "
        "work together.\n",
    ]
    routes = [
        (method, path, each[method])
        for path, each in description["paths"].items()
        for method in METHODS
        if method in each
    ]
    errors = Counter(error for *_, route in routes for error in _errors(route, description))
    usual = {error for error, count in errors.items() if count > len(routes) / 2}
    text += ["Most routes can also answer with these errors; a route lists only its others.\n"]
    text += ["| status | error |", "|---|---|"]
    text += [f"| {status} | {meaning} |" for status, meaning in sorted(usual)] + [""]
    by_tag = defaultdict[str, list[str]](list)
    for method, path, route in routes:
        by_tag[(route.get("tags") or ["Other"])[0]].append(_route(method, path, route, description, usual))
    for tag, described in by_tag.items():
        text += [f"## {tag[:1].upper()}{tag[1:]}\n", *described]
    return "\n".join(text)


def _errors(route: Any, description: Any) -> list[tuple[str, str]]:
    replies = route["responses"].items()
    return [(status, _cell(_resolved(reply, description))) for status, reply in replies if status >= "4"]


def _route(method: str, path: str, route: Any, description: Any, usual: set[tuple[str, str]]) -> str:
    lines = [f"### {route.get('summary', path)}\n", f"`{method.upper()} {path}`\n"]
    if route.get("description"):
        lines.append(route["description"] + "\n")
    parameters = [_resolved(parameter, description) for parameter in route.get("parameters", ())]
    if parameters:
        lines += ["| parameter | in | meaning |", "|---|---|---|"]
        lines += [f"| `{each['name']}` | {each['in']} | {_cell(each)} |" for each in parameters]
        lines.append("")
    body = route.get("requestBody", {}).get("content", {})
    for media_type, content in body.items():
        lines += [f"Body ({media_type}): {_schema_name(content.get('schema', {}))}\n"]
        lines += _members(content.get("schema", {}), description)
    lines += ["| status | reply |", "|---|---|"]
    for status, reply in route["responses"].items():
        resolved = _resolved(reply, description)
        if (status, _cell(resolved)) in usual:
            continue
        schemas = [_schema_name(each.get("schema", {})) for each in resolved.get("content", {}).values()]
        shape = "".join(f" {name}" for name in dict.fromkeys(schemas) if name and status < "4")
        lines.append(f"| {status} | {_cell(resolved)}{shape} |")
    return "\n".join(lines) + "\n"


def _members(schema: Any, description: Any) -> list[str]:
    members = _resolved(schema, description).get("properties", {})
    if not members:
        return []
    required = _resolved(schema, description).get("required", ())
    rows = [
        f"| `{name}`{' (required)' if name in required else ''} | {_type(each)} | {_cell(each)} |"
        for name, each in members.items()
    ]
    return ["| member | type | meaning |", "|---|---|---|", *rows, ""]


def _type(schema: Any) -> str:
    if "$ref" in schema:
        return _schema_name(schema)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[word]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any value"))


def _schema_name(schema: Any) -> str:
    return f"`{schema['$ref'].rsplit('/', 1)[1]}`" if "$ref" in schema else ""


def _resolved(value: Any, description: Any) -> Any:
    while "$ref" in value:
        target = description
        for key in value["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        value = target
    return value


def _cell(value: Any) -> str:
    return str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")


def event_types() -> str:
    text = [
        "# Event types\n",
        "The fields of each event with their types. [The event log](../events.md) says what each event "
        "means.\n",
    ]
    module = ast.parse(inspect.getsource(events))
    for node in (node for node in module.body if isinstance(node, ast.ClassDef)):
        tag = next((word.value for word in node.keywords if word.arg == "tag"), None)
        if not isinstance(tag, ast.Constant):
            continue
        text += [f"## {tag.value}\n", f"`{node.name}`. {ast.get_docstring(node) or ''}".strip() + "\n"]
        text += _fields(node.body)
    return "\n".join(text)


def _fields(body: Sequence[ast.stmt]) -> list[str]:
    """A table of the fields that are declared here; of one that is declared twice, the later."""
    rows = dict[str, str]()
    for index, statement in enumerate(body):
        if not isinstance(statement, ast.AnnAssign):
            continue
        default = f"`{ast.unparse(statement.value)}`" if statement.value else "required"
        kind, meaning = _type_and_meaning(statement.annotation)
        after = body[index + 1] if index + 1 < len(body) else None
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            meaning = " ".join(str(after.value.value).split())
        name = ast.unparse(statement.target)
        rows[name] = f"| `{name}` | `{kind}` | {default} | {meaning} |"
    return ["| field | type | default | |", "|---|---|---|---|", *rows.values(), ""] if rows else []


def _type_and_meaning(annotation: ast.expr) -> tuple[str, str]:
    """The type of a field, and the description with which it is `Annotated`, if it is."""
    match annotation:
        case ast.Subscript(ast.Name("Annotated"), ast.Tuple([kind, ast.Call(keywords=told)])):
            meaning = next((ast.literal_eval(word.value) for word in told if word.arg == "description"), "")
        case _:
            kind, meaning = annotation, ""
    return ast.unparse(kind).replace("|", "\\|"), meaning


def python_library() -> str:
    text = [
        "# Python library\n",
        "What `from moot import …` offers. [The library guide](../library.md) shows how to use it.\n",
    ]
    for name in sorted(moot.__all__, key=str.lower):
        text += [f"## {name}\n", *_public(getattr(moot, name))]
    return "\n".join(text)


def _public(member: Any) -> list[str]:
    """What the reference says of one public name: a class, a function, a union of classes or a module."""
    if isinstance(member, UnionType):
        return ["One of: " + ", ".join(f"`{kind.__name__}`" for kind in get_args(member)) + ".\n"]
    if not inspect.isclass(member):
        return [_docstring(member)]
    return [_docstring(member), *_struct_fields(member), *_methods(member)]


def _struct_fields(kind: type) -> list[str]:
    """The table of the fields of a struct, those that it inherits first."""
    bases = [base for base in reversed(kind.__mro__) if issubclass(base, Struct) and base is not Struct]
    return _fields([statement for base in bases for statement in _declared(base)])


def _declared(base: type[Struct]) -> list[ast.stmt]:
    """The statements of a class, or of the rows of the table of settings that it was made of."""
    if base.__name__.startswith("_"):
        rows = {row.name: row for row in setup_fields()}
        return [part for name in base.__struct_fields__ if name in rows for part in _setting(rows[name])]
    node = ast.parse(inspect.getsource(base)).body[0]
    return node.body if isinstance(node, ast.ClassDef) else []


def _setting(row: SetupField) -> list[ast.stmt]:
    kind = row.owner.__annotations__[row.name] if row.owner else row.type.__name__
    default = "" if row.default is REQUIRED else f" = {row.default!r}"
    return ast.parse(f"{row.name}: {kind}{default}\n{row.sentence!r}").body


def _methods(kind: type) -> list[str]:
    rows = list[str]()
    for name, method in inspect.getmembers(kind, inspect.isroutine):
        # From Python 3.13 on a cached property counts as a routine that has a module.
        ours = callable(method) and str(getattr(method, "__module__", "")).startswith("moot")
        if name.startswith("_") or not ours:
            continue
        sentence = (inspect.getdoc(method) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        rows.append(f"| `{name}{_signature(method)}` | {sentence} |")
    return ["| method | |", "|---|---|", *rows, ""] if rows else []


def _signature(method: Any) -> str:
    try:
        parameters = inspect.signature(method).parameters
    except ValueError:
        return "()"
    names = [str(each).split(":")[0].split("=")[0].strip() for each in parameters.values()]
    return "(" + ", ".join(name for name in names if name not in ("self", "cls")) + ")"


def _docstring(member: Any) -> str:
    """The docstring as Markdown: indented examples become blocks of Python."""
    lines, code = list[str](), False
    for line in (inspect.getdoc(member) or "").splitlines():
        if line.startswith("    ") and not code:
            lines.append("```python")
            code = True
        if line and not line.startswith("    ") and code:
            lines.append("```\n")
            code = False
        lines.append(line.removeprefix("    ") if code else line)
    return "\n".join([*lines, "```"] if code else lines) + "\n"
