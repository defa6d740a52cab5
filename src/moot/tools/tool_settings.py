"""The tool servers in `moot.toml`: `[tools.NAME]`.

A server is either a command that is run here or a URL. Models can use nothing that is not in this file.
Nothing in it is interpolated: a variable of the environment is passed on under its own name, or not at all.
Only tools that declare themselves read-only are offered, unless the operator sets `read_only = false`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from moot.core.errors import Invalid
from moot.providers.endpoints import check_url, is_plaintext
from moot.providers.keys import Environ, is_name, shown, shown_in
from moot.tools.contract import HOSTED, TOOL_SECONDS

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]|_(?=[a-z0-9-])){0,31}")
"""Without `__`, which separates a server from its tool, and without `_` at the end."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MAX_SECONDS = 120.0


class ToolServerTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A table `[tools.NAME]`."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])
    pass_env: tuple[str, ...] = ()
    url: str | None = None
    key_variable: str | None = None
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    read_only: bool = True
    seconds: float = TOOL_SECONDS
    title: str = ""


class ToolServerSettings(Struct, frozen=True):
    """A server as it is used. Its repr shows no value of a variable."""

    name: str
    title: str
    command: tuple[str, ...] = ()
    """With its arguments; empty if there is a URL."""
    env: dict[str, str] = field(default_factory=Environ)
    pass_env: tuple[str, ...] = ()
    url: str = ""
    key_variable: str = ""
    allow: tuple[str, ...] | None = None
    """Only these tools; None allows all."""
    deny: tuple[str, ...] = ()
    read_only: bool = True
    seconds: float = TOOL_SECONDS

    def admits(self, tool: str) -> bool:
        """Whether the operator allows this tool, whatever the server says of it."""
        return tool not in self.deny and (self.allow is None or tool in self.allow)


def servers(file: Mapping[str, Any], path: Path) -> tuple[ToolServerSettings, ...]:
    tables = file.get("tools", {})
    if not isinstance(tables, dict):
        raise Invalid(f"{path}: [tools] holds tables such as [tools.NAME].")
    rows = cast("dict[str, Any]", tables)
    return tuple(_read_server(name, table, f"{path}: [tools.{shown(name)}]") for name, table in rows.items())


def secret_values(server: ToolServerSettings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets of a server, which must not appear anywhere else."""
    passed = [environ.get(name, "") for name in (*server.pass_env, server.key_variable) if name]
    return tuple({value.strip() for value in (*server.env.values(), *passed) if value.strip()})


def _read_server(name: str, table: Any, source: str) -> ToolServerSettings:
    if name in HOSTED or not NAME.fullmatch(name) or not is_name(name):
        raise Invalid(f"{source}: {shown(name)!r} cannot be the name of a tool server. Choose another one.")
    try:
        written = msgspec.convert(table, ToolServerTable)
    except msgspec.ValidationError as error:
        fields = ", ".join(sorted(ToolServerTable.__struct_fields__))
        raise Invalid(f"{source}: {shown_in(str(error))}. It may have: {fields}.") from None
    for problem in _problems(written, source):
        raise Invalid(f"{source}: {problem}")
    return ToolServerSettings(
        name=name,
        title=" ".join(written.title.split()) or name,
        command=(written.command, *written.args) if written.command else (),
        env=Environ(written.env),
        pass_env=written.pass_env,
        url=written.url or "",
        key_variable=written.key_variable or "",
        allow=written.allow,
        deny=written.deny,
        read_only=written.read_only,
        seconds=written.seconds,
    )


def _problems(written: ToolServerTable, source: str) -> Iterable[str]:
    if (written.command is None) == (written.url is None):
        yield 'it needs either a command = "…" or a url = "https://…".'
    if written.command is not None:
        yield from _command_problems(written)
    if written.url is not None:
        yield from _url_problems(written, written.url, source)
    if not 0 < written.seconds <= MAX_SECONDS:
        yield f"seconds must be more than 0 and at most {MAX_SECONDS:g}."
    if written.allow == ():
        yield "allow = [] leaves nothing. Name its tools, or take the line away for all of them."
    if not written.title.isprintable() or len(written.title) > 60:
        yield "title is one line of at most 60 characters."


def _command_problems(written: ToolServerTable) -> Iterable[str]:
    if not (written.command or "").strip() or "\0" in "".join((written.command or "", *written.args)):
        yield 'command is a program, such as command = "uvx", and args = ["…"] what it is told.'
    if written.key_variable is not None:
        yield "key_variable is for a url. Pass a variable on with pass_env."
    # The name is not repeated: it may be a key.
    if not all(VARIABLE.fullmatch(name) for name in (*written.env, *written.pass_env)):
        yield "env and pass_env name variables, such as SEARCH_API_KEY."
    if any("\0" in value for value in written.env.values()):
        yield "a value in env cannot hold a zero byte."


def _url_problems(written: ToolServerTable, url: str, source: str) -> Iterable[str]:
    check_url(url, f"{source}: url")
    if is_plaintext(url):
        yield "url must begin with https://, unless it is on this machine."
    if written.args or written.env or written.pass_env:
        yield "args, env and pass_env are for a command. Take them away."
    if written.key_variable is not None and not VARIABLE.fullmatch(written.key_variable):
        yield "key_variable is the name of a variable, such as SEARCH_API_KEY; the key is in the environment."
