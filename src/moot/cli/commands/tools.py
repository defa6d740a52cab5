"""`moot tools`: what speakers may be given to use, and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.tools.contract import ToolServerInfo

app = command_group("tools", "The tools that speakers may be given with --tool. Servers stand in moot.toml.")


@app.default
def tools() -> int:
    """The servers of `moot.toml` and their tools, by the names that --tool takes."""

    async def look() -> int:
        from moot.engine.arena import Arena

        async with Arena.open() as arena:
            return _table(await arena.tools.servers(), str(arena.settings.file))

    return run(look())


@app.command(name="try")
def attempt(
    name: Annotated[str, Parameter(help="server/tool, as `moot tools` has it.")],
    arguments: Annotated[str, Parameter(help='What it is told, as JSON: \'{"word": "moot"}\'.')] = "{}",
    /,
) -> int:
    """Use a tool once, as a speaker would, and show what a model would be given."""

    async def use() -> int:
        from moot.core.terms import ToolCall
        from moot.engine.arena import Arena
        from moot.tools.tool_listing import name_for_models

        async with Arena.open() as arena:
            server, _, tool = name.partition("/")
            if not tool or not arena.tools.knows(name) or not await arena.tools.tools_for([name]):
                raise Invalid(f"There is no tool {name!r}. `moot tools` lists what there is.")
            result = await arena.tools.call(ToolCall("try", name_for_models(server, tool), arguments), [name])
        if result.error:
            Terminal.err().line(result.error)
            return 1
        Terminal.out().raw(result.output + "\n")
        return 0

    return run(use())


def _table(kits: tuple[ToolServerInfo, ...], file: str) -> int:
    from moot.tools.contract import HOSTED

    terminal = Terminal.out()
    if not kits:
        terminal.line("No tool server is named yet: docs/tools.md shows how, in ", (file, "bold"), ".")
    table = make_table("tool", "", "what it does")
    table.columns[0].no_wrap = True
    for kit in kits:
        add_row(table, (kit.name, "bold"), kit.title, (kit.missing or "all of these:", "dim"))
        for tool in kit.tools:
            add_row(table, f"  {tool.name}", tool.title, (tool.description.partition("\n")[0], "dim"))
    for name in HOSTED:
        add_row(table, (name, "bold"), "", ("runs at the model's provider, where it has that", "dim"))
    terminal.table(table)
    return 0
