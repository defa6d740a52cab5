"""`[tools.NAME]` in `moot.toml`, and its mistakes, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Invalid
from moot.settings import Settings, load
from moot.tools.tool_settings import ToolServerSettings
from moot.web.logging_setup import secrets_of


def read(data: Path, text: str, **environ: str) -> Settings:
    (data / "moot.toml").write_text(text)
    return load({"MOOT_DATA": str(data), **environ})


def test_a_server_is_a_command_or_a_url(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        """
        [tools.search]
        title = "The library"
        command = "uvx"
        args = ["search-server", "--quiet"]
        env = { REGION = "eu" }
        pass_env = ["SEARCH_API_KEY"]
        allow = ["lookup"]
        seconds = 10

        [tools.far_off]
        url = "https://tools.example.org/mcp"
        key_variable = "FAR_KEY"
        read_only = false
        deny = ["erase"]
        """,
    )
    search, far = settings.tools
    assert search == ToolServerSettings(
        name="search",
        title="The library",
        command=("uvx", "search-server", "--quiet"),
        env={"REGION": "eu"},
        pass_env=("SEARCH_API_KEY",),
        allow=("lookup",),
        seconds=10,
    )
    assert (search.read_only, search.admits("lookup"), search.admits("other")) == (True, True, False)
    assert (far.title, far.url, far.key_variable) == ("far_off", "https://tools.example.org/mcp", "FAR_KEY")
    assert (far.read_only, far.admits("erase"), far.admits("other")) == (False, False, True)


def test_a_server_on_this_machine_may_be_reached_in_the_clear(tmp_path: Path) -> None:
    assert read(tmp_path, '[tools.near]\nurl = "http://127.0.0.1:9000/mcp"').tools[0].url


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("", 'it needs either a command = "…" or a url = "https://…".'),
        ('command = "x"\nurl = "https://x"', "it needs either"),
        ('command = ""', "command is a program"),
        ('command = "x"\nargs = "y"', "Expected `array`, got `str` - at `$.args`"),
        ('command = "x"\nshell = true', "unknown field `shell`"),
        ('command = "x"\nenv = { "A B" = "1" }', "env and pass_env name variables"),
        ('command = "x"\npass_env = ["sk-live-1234"]', "env and pass_env name variables"),
        ('command = "x"\nkey_variable = "K"', "key_variable is for a url"),
        ('command = "x"\nseconds = 0', "seconds must be more than 0 and at most 120."),
        ('command = "x"\nallow = []', "allow = [] leaves nothing"),
        ('command = "x"\ntitle = "a\\nb"', "title is one line"),
        ('url = "http://tools.example.org/mcp"', "url must begin with https://"),
        ('url = "ftp://tools.example.org"', "url must be an address"),
        ('url = "https://me:pw@tools.example.org"', "must not carry a user or a password"),
        ('url = "https://tools.example.org/mcp?key=${OPENAI_API_KEY}"', "without ? or #"),
        ('url = "https://x"\npass_env = ["A"]', "args, env and pass_env are for a command"),
        ('url = "https://x"\nkey_variable = "sk-live-1234"', "key_variable is the name of a variable"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, table: str, complaint: str) -> None:
    with pytest.raises(Invalid) as told:
        read(tmp_path, f"[tools.search]\n{table}\n")
    assert str(told.value).startswith(f"{tmp_path / 'moot.toml'}: [tools.search]")
    assert complaint in str(told.value)
    assert "sk-live" not in str(told.value)


@pytest.mark.parametrize("name", ["web_search", "code", "Search", "a__b", "a_", '"a b"', '"a/b"', "x" * 33])
def test_a_name_must_be_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="cannot be the name of a tool server"):
        read(tmp_path, f'[tools.{name}]\ncommand = "x"\n')


def test_what_a_server_is_told_in_confidence_is_not_logged(tmp_path: Path) -> None:
    text = '[tools.s]\ncommand = "x"\nenv = { A = "hidden-in-the-file" }\npass_env = ["B"]'
    settings = read(tmp_path, text, B="hidden-in-the-environment")
    assert {"hidden-in-the-file", "hidden-in-the-environment"} <= set(secrets_of(settings))
    assert "hidden" not in repr(settings)
