"""`moot keys`: the keys of model services, saved on this machine, listed, removed and tested.

A key is typed at a prompt that does not show it, or read from standard input: never from the command line,
which other users and the shell's history can see.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moot.cli.options import command_group
from moot.cli.render.output import Terminal, add_row, make_table
from moot.cli.run_command import run
from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.providers.endpoints import Endpoint
    from moot.providers.keys import ApiKey
    from moot.providers.saved_keys import SavedKeys, TestState
    from moot.settings import Settings

app = command_group("keys", "Keys of model services, saved on this machine: set, list, test, remove.")
Provider = Annotated[str, Parameter(help="The service, such as openai: see `moot keys list`.")]
MAX_INPUT = 4096
CLUSTER = "No key is saved here: debates of this store run on workers, which read their environment only."


@app.default
@app.command(name="list")
def listed() -> int:
    """The services that take a key, whether one is set, and where it comes from. No key is shown."""
    from moot.providers.endpoints import needs_key

    here = _settings()
    table = make_table("", "service", "key", "")
    for endpoint in sorted(_takers(here), key=lambda each: not needs_key(each)):
        key = _key(here, endpoint)
        source = _source(here, endpoint, key)
        failed = source == SOURCES["failed"]
        mark = ("✗", "bold red") if failed else ("●", "green") if key else ("○", "dim")
        add_row(
            table,
            mark,
            (endpoint.name, "bold" if key else ""),
            source,
            (_note(here, endpoint), "dim"),
        )
    terminal = Terminal.out()
    terminal.table(table)
    terminal.line("")
    if here.saved_keys is None:
        terminal.line("  ", CLUSTER)
    else:
        terminal.line("  Save one with: moot keys set SERVICE")
        terminal.line("  A saved key is used before one in the environment or in moot.toml.")
    return 0


@app.command(name="set")
def set_key(provider: Provider, /) -> int:
    """Save a key: typed at a hidden prompt, or from standard input. A running server uses it at once."""
    from moot.providers.keys import Secret

    here = _settings()
    endpoint, saved = _endpoint(here, provider), _saved(here)
    saved.save(endpoint.name, Secret(_ask_for_key(endpoint)))
    terminal = Terminal.out()
    terminal.line(f"Saved the key for {endpoint.title} in {saved.folder}; only you can read it.")
    if variable := _variable_set(here, endpoint):
        terminal.line(f"{variable} is set too; the saved key is used until `moot keys remove {provider}`.")
    terminal.line(f"Test it with: moot keys test {endpoint.name}")
    terminal.line("Until a test accepts it, its models are used only where you name them.")
    return 0


@app.command
def remove(provider: Provider, /) -> int:
    """Remove a saved key. One in the environment or in moot.toml is used again."""
    here = _settings()
    endpoint, saved = _endpoint(here, provider), _saved(here)
    terminal = Terminal.out()
    if not saved.remove(endpoint.name):
        terminal.line(f"No key is saved for {endpoint.title}.")
    else:
        terminal.line(f"Removed the saved key for {endpoint.title}.")
    if key := _key(here, endpoint):
        terminal.line(f"The key in {key.source} is used.")
    return 0


@app.command
def test(provider: Provider, /) -> int:
    """Ask the service whether it accepts the key that is set. This costs nothing."""
    from moot.providers.key_check import check_key

    here = _settings()
    endpoint = _endpoint(here, provider)
    key = _key(here, endpoint)
    checked = run(check_key(endpoint, key, here.environ))
    if here.saved_keys is not None and key is not None and key.origin == "settings":
        here.saved_keys.record_test(endpoint.name, key.secret, ok=checked.ok)
    terminal = Terminal.out() if checked.ok else Terminal.err()
    terminal.line(("✓ ", "green") if checked.ok else ("✗ ", "bold red"), checked.message)
    if checked.fix:
        terminal.line("  ", checked.fix)
    return 0 if checked.ok else 1


SOURCES: dict[TestState, str] = {
    "untested": "saved, not tested",
    "accepted": "saved",
    "failed": "saved, test failed",
}
"""Of a saved key, by its last test."""


def _settings() -> Settings:
    from moot import settings

    return settings.load()


def _takers(here: Settings) -> list[Endpoint]:
    return [endpoint for endpoint in here.endpoints if endpoint.keys]


def _endpoint(here: Settings, name: str) -> Endpoint:
    """Raises Invalid, with the nearest name, for one that is no service."""
    from difflib import get_close_matches

    from moot.providers.keys import shown

    endpoints = {endpoint.name: endpoint for endpoint in _takers(here)}
    if name in endpoints:
        return endpoints[name]
    close = get_close_matches(name.lower(), endpoints, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(endpoints)}."
    raise Invalid(f"There is no service {shown(name)!r} that takes a key. {hint}")


def _saved(here: Settings) -> SavedKeys:
    if here.saved_keys is None:
        raise Invalid(CLUSTER)
    return here.saved_keys


def _key(here: Settings, endpoint: Endpoint) -> ApiKey | None:
    from moot.providers.endpoints import key_of
    from moot.providers.saved_keys import NO_KEYS

    return key_of(endpoint, here.environ, here.keys, here.saved_keys.all() if here.saved_keys else NO_KEYS)


def _source(here: Settings, endpoint: Endpoint, key: ApiKey | None) -> str:
    if key is None:
        return "not set"
    if key.origin != "settings" or here.saved_keys is None:
        return f"set in {key.source}"
    return SOURCES[here.saved_keys.test_state(endpoint.name)]


def _note(here: Settings, endpoint: Endpoint) -> str:
    """What else there is to know of a row."""
    from moot.providers.endpoints import needs_key

    key, variable = _key(here, endpoint), _variable_set(here, endpoint)
    if key is not None and key.origin == "settings" and variable:
        return f"{variable} is set too, and not used"
    if key is None:
        return f"(or set {' or '.join(endpoint.keys)})" if needs_key(endpoint) else "needs none"
    return ""


def _variable_set(here: Settings, endpoint: Endpoint) -> str:
    return next((name for name in endpoint.keys if here.environ.get(name, "").strip()), "")


def _ask_for_key(endpoint: Endpoint) -> str:
    """The key, without the blanks around it. Raises Invalid for none."""
    if sys.stdin.isatty():
        from getpass import getpass

        key = getpass(f"Key for {endpoint.title} (not shown): ").strip()
    else:
        key = sys.stdin.read(MAX_INPUT).strip()
    if not key:
        raise Invalid("No key was given. Type it at the prompt, or send it by standard input.")
    return key
