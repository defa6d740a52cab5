"""Where services are, whose key goes where, and what the operator may write about it."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from moot import settings
from moot.core.errors import Fault, Invalid, Unavailable
from moot.core.terms import FREE, ChatMessage, Model, Request
from moot.engine.arena import Arena
from moot.models.registry import ProviderRegistry
from moot.providers.client import ProviderClient
from moot.providers.contract import CONNECT_SECONDS, ReplyDone, Traits
from moot.providers.endpoint_settings import EndpointTable
from moot.providers.endpoints import (
    BUILT_IN,
    ENDPOINTS,
    Endpoint,
    is_plaintext,
    key_of,
    make_client,
    traits_of,
    with_base_url,
    with_environ_url,
)
from moot.providers.keys import Environ, Secret
from moot.providers.known_models import LOCAL_OUTPUT_TOKENS
from moot.providers.scripted import ScriptedProvider
from moot.providers.throttle import EndpointLimits
from moot.providers.wire_formats import load_wire_format
from moot.providers.wire_formats.openai_chat_request import ACCENTS
from moot.rules.debate_setup import SeatSetup
from moot.settings import Settings
from moot.store.memory import MemoryStore
from tests.support.for_each import for_each

KEY = "canary-4711-canary"
ASK = Request(Model("openai", "gpt-6-luna"), "", (ChatMessage("user", "Go."),), 10)
Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The settings of a `moot.toml` with these words, and an environment."""

    def load_it(file: str = "", **environ: str) -> Settings:
        (tmp_path / "moot.toml").write_text(file)
        return settings.load({"MOOT_DATA": str(tmp_path), **environ})

    return load_it


def named(here: Settings, name: str) -> Endpoint:
    return next(endpoint for endpoint in here.endpoints if endpoint.name == name)


# --- the built-in ones --------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_every_endpoint_has_a_family_and_an_address(endpoint: Endpoint) -> None:
    assert load_wire_format(endpoint.wire_format, endpoint.accent).name == endpoint.wire_format
    assert endpoint.url_variable
    assert endpoint.local or endpoint.base_url.startswith("https://")
    assert not is_plaintext(endpoint.base_url)


def test_the_variables_of_keys_are_those_that_services_name() -> None:
    assert BUILT_IN["google"].keys == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert BUILT_IN["google"].url_variable == "GEMINI_BASE_URL"
    variables = [variable for endpoint in ENDPOINTS for variable in endpoint.keys]
    assert len(variables) == len(set(variables))


@pytest.mark.parametrize(
    ("name", "given", "url"),
    [
        ("openai", "http://127.0.0.1:9000", "http://127.0.0.1:9000/v1"),
        ("openai", "https://gateway.example/openai/", "https://gateway.example/openai"),
        ("groq", "http://127.0.0.1:9000/", "http://127.0.0.1:9000/openai/v1"),
        ("openrouter", "http://127.0.0.1:9000", "http://127.0.0.1:9000/api/v1"),
        ("ollama", "http://box:11434", "http://box:11434/v1"),
        ("ollama", "http://box:11434/v1", "http://box:11434/v1"),
        ("vllm", "http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("anthropic", "http://127.0.0.1:9000", "http://127.0.0.1:9000"),
    ],
)
def test_an_address_may_be_the_bare_host(name: str, given: str, url: str) -> None:
    endpoint = BUILT_IN[name]
    here = with_environ_url(endpoint, {endpoint.url_variable: given})
    assert here.base_url == url
    assert here.moved


@pytest.mark.parametrize(
    "url",
    [
        "api.openai.com",
        "ftp://api.openai.com",
        "https://",
        "https://host:port/v1",
        f"https://user:{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
        "https://host/v1#there",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        with_base_url(BUILT_IN["openai"], url, "OPENAI_BASE_URL")
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value, chain=True)[-1:])


def test_plain_http_is_in_the_clear_but_on_this_machine() -> None:
    assert is_plaintext("http://gateway.example/v1")
    assert not is_plaintext("https://gateway.example/v1")
    assert not is_plaintext("http://127.0.0.1:8000/v1")
    assert not is_plaintext("http://[::1]:8000/v1")
    assert not is_plaintext("http://localhost/v1")


# --- keys ---------------------------------------------------------------------------------------------


def test_a_key_of_the_environment_comes_before_one_of_the_file() -> None:
    google = BUILT_IN["google"]
    kept = {"google": Secret("from the file")}
    found = key_of(google, {"GOOGLE_API_KEY": KEY}, kept)
    assert found is not None
    assert (found.source, found.secret.reveal()) == ("GOOGLE_API_KEY", KEY)
    found = key_of(google, {"GEMINI_API_KEY": " ", "OPENAI_API_KEY": KEY}, kept)
    assert found is not None
    assert found.source == "moot.toml"


def test_without_a_key_a_service_says_what_to_set() -> None:
    with pytest.raises(Unavailable) as caught:
        make_client(BUILT_IN["openai"], {}, {})
    assert str(caught.value).endswith("Run `moot keys set openai`, or set OPENAI_API_KEY.")


def test_a_key_that_was_copied_badly_is_noticed_before_it_is_sent() -> None:
    with pytest.raises(Invalid, match="from OPENAI_API_KEY") as caught:
        make_client(BUILT_IN["openai"], {"OPENAI_API_KEY": f"{KEY}\nX: y"}, {})
    assert KEY not in str(caught.value)


def test_a_server_or_a_moved_service_needs_none() -> None:
    assert isinstance(make_client(BUILT_IN["ollama"], {}, {}), ProviderClient)
    gateway = with_base_url(BUILT_IN["openai"], "http://127.0.0.1:9", "OPENAI_BASE_URL")
    assert isinstance(make_client(gateway, {}, {}), ProviderClient)


def test_nobody_guesses_where_vllm_is() -> None:
    with pytest.raises(Unavailable) as caught:
        make_client(BUILT_IN["vllm"], {}, {})
    assert caught.value.fix == "Set VLLM_BASE_URL."


def test_no_repr_tells_a_key(load: Load) -> None:
    here = load(f'[keys]\nmistral = "{KEY}"\n', OPENAI_API_KEY=KEY)
    key = key_of(named(here, "openai"), here.environ, here.keys)
    for shown in (here, here.keys, here.environ, key, key and key.secret, Environ(A=KEY), Secret(KEY)):
        assert KEY not in repr(shown)
        assert KEY not in f"{shown}"
    assert KEY not in repr(Settings(data=here.data, environ={"OPENAI_API_KEY": KEY}))
    assert here.environ["OPENAI_API_KEY"] == KEY


async def test_a_key_goes_to_its_own_host_and_to_no_other() -> None:
    seen: dict[str, list[str]] = {"home": [], "away": []}

    def host(name: str, answer: Callable[[], web.Response]) -> TestServer:
        async def post(request: web.Request) -> web.Response:
            seen[name].append(str(dict(request.headers)))
            return answer()

        app = web.Application()
        app.router.add_post("/{path:.*}", post)
        return TestServer(app)

    async with host("away", lambda: web.Response(text="no")) as away:
        elsewhere = str(away.make_url("/v1/responses"))
        async with host("home", lambda: web.Response(status=307, headers={"Location": elsewhere})) as home:
            openai = with_base_url(BUILT_IN["openai"], str(home.make_url("/v1")), "OPENAI_BASE_URL")
            here = make_client(openai, {"OPENAI_API_KEY": KEY, "MISTRAL_API_KEY": "another"}, {})
            with pytest.raises(Fault, match="redirects to another address"):
                [chunk async for chunk in here.stream(ASK)]
            await here.close()
    assert seen["away"] == []
    assert KEY in seen["home"][0]
    assert "another" not in seen["home"][0]


# --- what the operator writes -------------------------------------------------------------------------


def test_a_custom_endpoint_is_as_it_was_written(load: Load) -> None:
    here = load(
        """
        [endpoints.mine]
        family = "openai_chat"
        base_url = "https://models.example.org/v1/"
        key_variable = "MINE_KEY"
        accent = "mistral"
        model = "big"
        thinks = true
        efforts = ["low", "high"]
        schema = "json"
        sampling = false
        prefill = true
        context = 32000
        output = 8000
        concurrent = 2
        per_minute = 30
        """,
        MINE_KEY=KEY,
    )
    mine = named(here, "mine")
    assert (mine.wire_format, mine.base_url, mine.keys) == (
        "openai_chat",
        "https://models.example.org/v1",
        ("MINE_KEY",),
    )
    assert mine.limits == EndpointLimits(2, 30, written=True)
    can = traits_of(mine, "gpt-4o")
    assert can == Traits(
        thinks=True,
        efforts=("low", "high"),
        schema="json",
        sampling=False,
        prefill=True,
        context=32_000,
        output=8000,
    )
    providers = ProviderRegistry({}, models=here.models, environ=here.environ, services=here.endpoints)
    assert providers.model("mine/big").max_tokens == 8000
    providers.check(replace(providers.model("mine/big"), effort="low"))
    with pytest.raises(Invalid, match="low, high"):
        providers.check(replace(providers.model("mine/big"), effort="medium"))


def test_a_built_in_endpoint_may_be_changed_by_its_name(load: Load) -> None:
    here = load(
        '[endpoints.openai]\nbase_url = "https://gateway.example"\nchaining = false\nconcurrent = 3\n'
        "[limits.openai]\nper_minute = 60\n[limits.groq]\nconcurrent = 1\n"
    )
    openai = named(here, "openai")
    assert openai.base_url == "https://gateway.example/v1"
    assert not openai.traits.chaining
    assert openai.keys == ("OPENAI_API_KEY",)
    assert openai.limits == EndpointLimits(3, 60, written=True)
    assert named(here, "groq").limits == EndpointLimits(1, None, written=True)
    assert named(here, "anthropic") == BUILT_IN["anthropic"]


def test_the_environment_says_where_before_the_file_does(load: Load) -> None:
    here = load(
        '[endpoints.openai]\nbase_url = "https://file.example"\n', OPENAI_BASE_URL="https://env.example/x"
    )
    assert named(here, "openai").base_url == "https://env.example/x"


def test_an_endpoint_that_no_longer_speaks_responses_does_not_chain(load: Load) -> None:
    openai = named(load('[endpoints.openai]\nfamily = "openai_chat"\n'), "openai")
    assert load_wire_format(openai.wire_format, openai.accent).name == "openai_chat"
    assert not openai.traits.chaining


def test_a_server_of_ones_own_may_take_its_time(load: Load) -> None:
    here = load('[endpoints.box]\nfamily = "openai_chat"\nbase_url = "http://box:8000/v1"\nlocal = true\n')
    box = named(here, "box")
    assert not box.traits.deadlines
    providers = ProviderRegistry({}, models=here.models, environ=here.environ, services=here.endpoints)
    assert providers.model("box/anything").max_tokens == LOCAL_OUTPUT_TOKENS


CUSTOM = '[endpoints.mine]\nfamily = "openai_chat"\nbase_url = "https://mine.example"\n'


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("[keys\n", "not TOML"),
        ("[key]\n", "no table [key]"),
        ('[keys]\nopnai = "x"\n', "[keys]: one of its names is not that of an endpoint"),
        ('[keys]\n"sk-1234" = "openai"\n', "[keys]: one of its names is not that of an endpoint"),
        ("[keys]\nopenai = 7\n", "the key of openai must be written in quotation marks"),
        ('[keys]\nopenai = ""\n', "the key of openai must be written in quotation marks"),
        ('keys = "x"\n', "[keys] is a table"),
        ('[endpoints.mine]\nbase_url = "https://mine.example"\n', "[endpoints.mine]: it needs a family"),
        ('[endpoints.mine]\nfamily = "openai_chat"\n', "[endpoints.mine]: it needs a family"),
        (
            '[endpoints.mine]\nfamily = "chat"\nbase_url = "https://mine.example"\n',
            "[endpoints.mine]: Invalid enum",
        ),
        (CUSTOM + 'api_key = "x"\n', "[endpoints.mine]: Object contains unknown field `api_key`"),
        (CUSTOM + 'accent = "welsh"\n', "no accent 'welsh'"),
        (CUSTOM + "chaining = true\n", "chaining is for the family openai_responses"),
        (CUSTOM + 'efforts = ["low"]\n', "efforts need an accent"),
        (CUSTOM + 'efforts = ["huge"]\naccent = "openai"\n', "[endpoints.mine]: Invalid enum"),
        (CUSTOM + "concurrent = 0\n", "concurrent must be 1 or more"),
        (CUSTOM + 'key_variable = "sk-1234"\n', "the key itself belongs into [keys]"),
        (CUSTOM + 'key_variable = "0123_KEY"\n', "the key itself belongs into [keys]"),
        (CUSTOM + 'key_variable = "mine_key"\n', "the key itself belongs into [keys]"),
        ('[endpoints.openai]\nbase_url = "gateway"\n', "[endpoints.openai]: base_url must be an address"),
        ('[endpoints.openai]\naccent = "openai"\n', "an accent is for the family openai_chat only"),
        ('[endpoints.local]\nfamily = "openai_chat"\nbase_url = "http://box"\n', "Choose another one"),
        ('[endpoints."a b"]\nfamily = "openai_chat"\nbase_url = "http://box"\n', "Choose another one"),
        ("[endpoints]\nmine = 7\n", "[endpoints.mine]: Expected"),
        ("endpoints = 7\n", "[endpoints] holds tables"),
        ("[limits.opnai]\nconcurrent = 1\n", "[limits.opnai]: there is no endpoint of that name"),
        ("[limits.openai]\nper_minute = -1\n", "[limits.openai]: per_minute must be 1 or more"),
        ("[limits.openai]\nrpm = 1\n", "[limits.openai]: Object contains unknown field `rpm`"),
        ('[prices."a/b"]\ninput = "1"\n', '[prices."a/b"]: a price is written'),
        ('[prices."a/b"]\ninput = "-1"\noutput = "1"\n', '[prices."a/b"]: a price is written'),
        ("prices = 7\n", "[prices] holds tables"),
    ],
)
def test_every_mistake_names_the_file_the_table_and_the_fix(load: Load, file: str, words: str) -> None:
    with pytest.raises(Invalid) as caught:
        load(file)
    assert "moot.toml" in str(caught.value)
    assert words in str(caught.value)
    assert "sk-1234" not in str(caught.value)


SECRETS = (
    "sk-proj-Zx81LmQ0aVt7Rk2b", "sk-proj-abcdef", "gsk_0123456789abcdefghijklmn", "AIzaSyA0123456789",
    "a1b2c3d4e5f60718293a", "correcthorsebatterystaplecorrect",
)  # fmt: skip
MISPLACED = (
    "[{}]\n", "[{0}]\n[{0}]\n", "[{}.x]\ny = 1\n", '{} = "x"\n', "x = {{ {0} = 1, {0} = 2 }}\n",
    "[endpoints.{}]\n", '[endpoints.{}]\nfamily = "openai_chat"\nbase_url = "https://mine.example"\n',
    '[endpoints.mine]\n{} = "x"\n', '[endpoints.mine]\nfamily = "{}"\n', CUSTOM + 'accent = "{}"\n',
    "[limits.{}]\nconcurrent = 1\n", "[limits.openai]\n{} = 1\n", "[prices.{}]\ninput = 1\n",
    "[keys]\n{} = 1\n",
    "[tools.{}]\n", '[tools.{}]\ncommand = "x"\n', '[tools.search]\ncommand = "x"\n{} = 1\n',
)  # fmt: skip
"""Where a key may come to stand that was pasted into the wrong place."""


@for_each("file", MISPLACED)
@for_each("key", SECRETS)
def test_a_key_in_the_place_of_a_name_is_not_repeated(load: Load, key: str, file: str) -> None:
    with pytest.raises(Invalid) as caught:
        load(file.format(key))
    assert key not in str(caught.value)


@pytest.mark.parametrize("name", ["key", "endpoint", "openai_chat", "my-models", "Qwen2.5"])
def test_a_name_that_is_mistaken_is_repeated(load: Load, name: str) -> None:
    with pytest.raises(Invalid) as caught:
        load(f'["{name}"]\n')
    assert f"no table [{name}]" in str(caught.value)


@pytest.mark.parametrize(
    "key", ["a1b2c3d4e5f60718293a4b5c6d7e8f90", "A1B2C3D4E5F60718293A4B5C6D7E8F90", "SK_A1B2C3D4E5F60718293A"]
)
def test_a_key_where_its_variable_belongs_is_refused_without_repeating_it(load: Load, key: str) -> None:
    with pytest.raises(Invalid, match="such as MINE_API_KEY") as caught:
        load(CUSTOM + f'key_variable = "{key}"\n')
    assert key not in str(caught.value)


@pytest.mark.parametrize("name", ["MINE_API_KEY", "OPENAI_KEY_2", "_K", "MYVERYLONGCOMPANYNAME_API_KEY"])
def test_the_name_of_a_variable_is_taken(load: Load, name: str) -> None:
    assert named(load(CUSTOM + f'key_variable = "{name}"\n'), "mine").keys == (name,)


@pytest.mark.parametrize(
    "proxy", ["user:hunter2@proxy:3128", "proxy:3128", "socks5://user:hunter2@proxy", "http://user:hunter2@"]
)
def test_a_proxy_that_is_no_address_is_refused_without_repeating_it(proxy: str) -> None:
    with pytest.raises(Invalid, match="HTTPS_PROXY") as caught:
        make_client(BUILT_IN["openai"], {"OPENAI_API_KEY": KEY, "HTTPS_PROXY": proxy}, {})
    assert "hunter2" not in str(caught.value)
    assert proxy not in str(caught.value)


async def test_a_proxy_that_refuses_us_does_not_give_its_password_away() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        proxy = f"http://user:hunter2@127.0.0.1:{server.sockets[0].getsockname()[1]}"
        here = make_client(BUILT_IN["openai"], {"OPENAI_API_KEY": KEY, "HTTPS_PROXY": proxy}, {})
        with pytest.raises(Fault) as caught:
            [chunk async for chunk in here.stream(ASK)]
        await here.close()
    assert "407" in caught.value.detail
    assert "hunter2" not in caught.value.detail


def test_a_wrong_address_in_the_environment_names_its_variable() -> None:
    with pytest.raises(Invalid, match="MISTRAL_BASE_URL"):
        settings.load({"MISTRAL_BASE_URL": "mistral"})


def test_a_connection_may_take_equally_long_wherever_nobody_says_otherwise(load: Load) -> None:
    assert load().connect_seconds == Settings(data=load().data).connect_seconds == CONNECT_SECONDS
    assert load(MOOT_CONNECT_S="3").connect_seconds == 3


def test_a_server_of_ones_own_costs_nothing(load: Load) -> None:
    here = load(CUSTOM + "local = true\n" + CUSTOM.replace("mine", "theirs"))
    arena = Arena(
        here, MemoryStore(), ProviderRegistry({}, models=here.models, environ={}, services=here.endpoints)
    )
    assert arena.price("mine", "big") == FREE
    assert arena.price("theirs", "big") is None


# --- whose move it is to say how hard to think ---------------------------------------------------------


def test_a_provider_of_ones_own_says_what_its_models_take(tmp_path: Path) -> None:
    given = {"a": ScriptedProvider(), "b": ScriptedProvider(traits=Traits(efforts=("low",), deadlines=False))}
    providers = ProviderRegistry(given, models=tmp_path, environ={})
    providers.check(Model("a", "x", effort="max", verbosity="low"))
    assert providers.model("a/x").max_tokens > providers.model("b/x").max_tokens == LOCAL_OUTPUT_TOKENS
    providers.check(Model("b", "x", effort="low"))
    with pytest.raises(Invalid, match="It takes: low"):
        providers.check(Model("b", "x", effort="high"))


# --- in a library -------------------------------------------------------------------------------------


async def test_a_caller_sets_an_effort_where_it_names_the_model(tmp_path: Path) -> None:
    here = Settings(data=tmp_path, environ={"OPENAI_API_KEY": KEY})
    async with Arena.open(here) as arena:
        model = arena.model("openai/gpt-6-luna", effort="low", verbosity="high")
        assert (model.effort, model.verbosity, model.max_tokens) == ("low", "high", 16_384)
        assert model.price is not None
        setup = await arena.setup("A motion to try", models=[model, "openai/gpt-6-luna"])
        assert [seat.model.effort for seat in setup.seats] == ["low", None]
        assert setup.judges[0].model.effort is None
        wrong = SeatSetup(model=replace(model, effort="minimal"))
        with pytest.raises(Invalid, match="does not take the effort minimal"):
            await arena.setup("A motion to try", seats=[wrong, wrong])


async def test_a_debate_speaks_to_an_endpoint_of_ones_own(load: Load) -> None:
    said = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n'
    keys: list[str] = []

    async def post(request: web.Request) -> web.Response:
        keys.append(request.headers["Authorization"])
        return web.Response(body=said + b"data: [DONE]\n\n", content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", post)
    async with TestServer(app) as host:
        here = load(
            f'[keys]\nmine = "{KEY}"\n[endpoints.mine]\nfamily = "openai_chat"\n'
            f'base_url = "{host.make_url("/v1")}"\n'
        )
        async with Arena.open(here) as arena:
            model = arena.model("mine/some-model")
            provider = arena.providers.get("mine")
            request = Request(model, "", (ChatMessage("user", "Go."),), 10)
            chunks = [chunk async for chunk in provider.stream(request)]
    assert isinstance(chunks[-1], ReplyDone)
    assert model.price is None
    assert keys == [f"Bearer {KEY}"]


# --- the document -------------------------------------------------------------------------------------

DOCUMENT = (Path(__file__).parents[2] / "docs/providers.md").read_text("utf-8")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_every_endpoint_and_its_variables_are_documented(endpoint: Endpoint) -> None:
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| `{endpoint.name}` "))
    assert all(f"`{name}`" in row for name in (*endpoint.keys, endpoint.url_variable))


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL))
def test_the_examples_of_the_document_are_right(load: Load, example: str) -> None:
    assert load(example).endpoints


def test_all_that_may_be_written_is_documented() -> None:
    named = set(re.findall(r"^(?:\[endpoints\.\w+\]|(\w+) = )", DOCUMENT, re.MULTILINE))
    named |= set(re.findall(r"`(\w+)`", DOCUMENT)) | set(re.findall(r"`(\w+) = \w+`", DOCUMENT))
    assert set(EndpointTable.__struct_encode_fields__) <= named
    assert set(ACCENTS) <= named
