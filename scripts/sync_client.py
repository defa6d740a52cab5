"""Writes the blocking client: `src/moot/client/sync_client.py`, made from `async_client.py`.

Each public method of `AsyncClient` is copied with its signature, types and docstring; its body becomes one
call that runs the asynchronous method to its end. Set-up and every build run this; git ignores the file.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src/moot/client"
SOURCE, TARGET = FOLDER / "async_client.py", FOLDER / "sync_client.py"
HEADER = '''"""The v1 API of a Moot server without asyncio: the methods of `AsyncClient`, blocking.

Generated from `async_client.py` by `scripts/sync_client.py`: do not edit.
"""
'''
REPLACEMENTS = (
    (r"async (def|with|for)", r"\1"),
    (r", for asyncio\.", ", with blocking calls."),
    (r"await ", ""),
    (r"AsyncGenerator\[(.*), None\]", r"Generator[\1, None, None]"),
    (r"AsyncGenerator", "Generator"),
    (r"AsyncClient", "Client"),
)
Method = ast.FunctionDef | ast.AsyncFunctionDef


def generate(source: str) -> str:
    """The text of the blocking client's module."""
    module = ast.parse(source)
    constants = [ast.unparse(node.targets[0]) for node in module.body if isinstance(node, ast.Assign)]
    (client,) = [node for node in module.body if isinstance(node, ast.ClassDef)]
    methods = "\n".join(_members(client, source.splitlines()))
    imports = "\n".join(
        [
            *(_blocking(ast.unparse(node)) for node in module.body if isinstance(node, ast.ImportFrom)),
            f"from moot.client.async_client import AsyncClient, {', '.join(constants)}",
            "from moot.client.run_sync import SyncRunner",
        ]
    )
    blocking = f"class Client(SyncRunner):\n{methods}\n"
    used = {node.id for node in ast.walk(ast.parse(blocking)) if isinstance(node, ast.Name)}
    needed = "\n".join(_needed_imports(imports, used | {"annotations"}))
    return f"{HEADER}\n{needed}\n\n\n{blocking}"


def _needed_imports(imports: str, used: set[str]) -> Iterator[str]:
    for node in ast.parse(imports).body:
        if isinstance(node, ast.ImportFrom):
            node.names = [alias for alias in node.names if (alias.asname or alias.name) in used]
            if node.names:
                yield ast.unparse(node)


def _members(client: ast.ClassDef, lines: list[str]) -> list[str]:
    docstring, *members = client.body
    end = docstring.end_lineno or 0
    copied = [_blocking("\n".join(lines[client.lineno : end]))]
    for method in members:
        if isinstance(method, Method) and _is_copied(method):
            copied += [_blocking("\n".join(lines[end : _head_end(method)])), _body(method)]
        end = method.end_lineno or 0
    return copied


def _is_copied(method: Method) -> bool:
    return method.name == "__init__" or not (method.name.startswith("_") or method.name == "close")


def _head_end(method: Method) -> int:
    """The last line of the signature or, if there is one, of the docstring."""
    first = method.body[0]
    is_kept = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return (is_kept and first.end_lineno) or first.lineno - 1


def _body(method: Method) -> str:
    decorators = [ast.unparse(node) for node in method.decorator_list]
    arguments = ", ".join(
        [argument.arg for argument in method.args.args[1:]]
        + [f"{argument.arg}={argument.arg}" for argument in method.args.kwonlyargs]
    )
    if "overload" in decorators:
        return ""
    if "property" in decorators:
        return f"        return self._client.{method.name}"
    if method.name == "__init__":
        return f"        super().__init__(AsyncClient({arguments}))"
    runner = "_iterate" if "AsyncGenerator" in ast.unparse(method.returns or method) else "_run"
    return f"        return self.{runner}(self._client.{method.name}({arguments}))"


def _blocking(text: str) -> str:
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return text


def main() -> None:
    code = generate(SOURCE.read_text("utf-8"))
    if not TARGET.is_file() or TARGET.read_text("utf-8") != code:
        unfinished = TARGET.with_suffix(f".{os.getpid()}")
        unfinished.write_text(code, "utf-8")
        unfinished.replace(TARGET)


if __name__ == "__main__":
    main()
