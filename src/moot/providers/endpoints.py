"""The services Moot can speak to, as data: where each is, what it speaks, whose key it takes.

An endpoint is a family (how a service speaks), a base URL and a few facts. The built-in ones are listed here;
`moot.toml` may add others and change these. Where an endpoint is comes from the operator alone: the list
below, `<NAME>_BASE_URL` in the environment, or `moot.toml`, never from a request. Its key goes to that host
and to no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from ipaddress import ip_address
from socket import gethostname
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.providers import known_models
from moot.providers.contract import Traits
from moot.providers.keys import SETTINGS_FILE, ApiKey, Secret, find_key
from moot.providers.shared_throttle import SharedThrottle
from moot.providers.throttle import EndpointLimits, Throttle

if TYPE_CHECKING:
    from moot.core.shared_state import SharedState
    from moot.providers.client import ProviderClient
    from moot.providers.family import Family

FamilyName = Literal["openai_responses", "openai_chat", "anthropic", "google"]
CONNECT_SECONDS = 10.0
"""How long a connection may take, where nobody says otherwise."""


class Endpoint(Struct, frozen=True):
    name: str
    title: str
    family: FamilyName
    base_url: str
    """Empty: nowhere, until the operator says where."""
    keys: tuple[str, ...] = ()
    """The variables that may hold its key, the first one first."""
    url_variable: str = ""
    traits: Traits = Traits()
    accent: str = "plain"
    """By which of the names in `openai_chat.ACCENTS` it speaks that dialect."""
    limits: EndpointLimits = EndpointLimits()
    model: str = ""
    """A good one to begin with, and not a dear one. Empty: one must be named."""
    local: bool = False
    """A server on a machine of one's own: it needs no key, costs nothing, and may take its time."""
    moved: bool = False
    """The operator has said where it is; it may not want a key there."""
    pinned: tuple[str, ...] = ()
    """The traits that the operator has written down: no rule about a model outweighs them."""


RESPONSES_TRAITS = Traits(chaining=True, tools=True, hosted=("web_search", "code"))
HOSTED_TRAITS = Traits(tools=True, hosted=("web_search", "code"))
TOOL_TRAITS = Traits(tools=True)
SERVER_TRAITS = Traits(deadlines=False)

ENDPOINTS = (
    Endpoint(
        name="openai",
        title="OpenAI",
        family="openai_responses",
        base_url="https://api.openai.com/v1",
        keys=("OPENAI_API_KEY",),
        url_variable="OPENAI_BASE_URL",
        traits=RESPONSES_TRAITS,
        accent="openai",
        model="gpt-6-luna",
    ),
    Endpoint(
        name="anthropic",
        title="Anthropic",
        family="anthropic",
        base_url="https://api.anthropic.com",
        keys=("ANTHROPIC_API_KEY",),
        url_variable="ANTHROPIC_BASE_URL",
        traits=HOSTED_TRAITS,
        model="claude-haiku-5-5",
    ),
    Endpoint(
        name="google",
        title="Google Gemini",
        family="google",
        base_url="https://generativelanguage.googleapis.com",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_variable="GEMINI_BASE_URL",
        traits=HOSTED_TRAITS,
        model="gemini-3.8-flash",
    ),
    Endpoint(
        name="mistral",
        title="Mistral",
        family="openai_chat",
        base_url="https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        url_variable="MISTRAL_BASE_URL",
        traits=TOOL_TRAITS,
        accent="mistral",
        model="mistral-small-latest",
    ),
    Endpoint(
        name="openrouter",
        title="OpenRouter",
        family="openai_chat",
        base_url="https://openrouter.ai/api/v1",
        keys=("OPENROUTER_API_KEY",),
        url_variable="OPENROUTER_BASE_URL",
        traits=TOOL_TRAITS,
        accent="openrouter",
        model="openai/gpt-oss-120b",
    ),
    Endpoint(
        name="groq",
        title="Groq",
        family="openai_chat",
        base_url="https://api.groq.com/openai/v1",
        keys=("GROQ_API_KEY",),
        url_variable="GROQ_BASE_URL",
        traits=Traits(schema="json", tools=True),
        accent="groq",
        model="openai/gpt-oss-120b",
    ),
    Endpoint(
        name="deepseek",
        title="DeepSeek",
        family="openai_chat",
        base_url="https://api.deepseek.com",
        keys=("DEEPSEEK_API_KEY",),
        url_variable="DEEPSEEK_BASE_URL",
        traits=Traits(schema="json", tools=True),
        accent="deepseek",
        model="deepseek-flash",
    ),
    Endpoint(
        name="xai",
        title="xAI",
        family="openai_responses",
        base_url="https://api.x.ai/v1",
        keys=("XAI_API_KEY",),
        url_variable="XAI_BASE_URL",
        traits=replace(RESPONSES_TRAITS, hosted=("web_search",)),
        accent="xai",
        model="grok-4.3",
    ),
    Endpoint(
        name="ollama",
        title="Ollama",
        family="openai_chat",
        base_url="http://127.0.0.1:11434/v1",
        keys=("OLLAMA_API_KEY",),
        url_variable="OLLAMA_BASE_URL",
        traits=SERVER_TRAITS,
        accent="ollama",
        local=True,
    ),
    Endpoint(
        name="lmstudio",
        title="LM Studio",
        family="openai_chat",
        base_url="http://127.0.0.1:1234/v1",
        keys=("LM_API_TOKEN",),
        url_variable="LMSTUDIO_BASE_URL",
        traits=SERVER_TRAITS,
        accent="lmstudio",
        local=True,
    ),
    Endpoint(
        name="llamacpp",
        title="llama.cpp",
        family="openai_chat",
        base_url="http://127.0.0.1:8080/v1",
        keys=("LLAMA_API_KEY",),
        url_variable="LLAMACPP_BASE_URL",
        traits=SERVER_TRAITS,
        local=True,
    ),
    # At its usual port, 8000, may listen anything, ourselves included: it must be named.
    Endpoint(
        name="vllm",
        title="vLLM",
        family="openai_chat",
        base_url="",
        keys=("VLLM_API_KEY",),
        url_variable="VLLM_BASE_URL",
        traits=SERVER_TRAITS,
        accent="vllm",
        local=True,
    ),
)
BUILT_IN = {endpoint.name: endpoint for endpoint in ENDPOINTS}


# --- where it is --------------------------------------------------------------------------------------


def with_environ_url(endpoint: Endpoint, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint where the environment says it is."""
    url = environ.get(endpoint.url_variable, "").strip() if endpoint.url_variable else ""
    return with_base_url(endpoint, url, endpoint.url_variable) if url else endpoint


def with_base_url(endpoint: Endpoint, url: str, source: str) -> Endpoint:
    """The endpoint at another address, which `source` gave; raises Invalid where that is none."""
    return replace(endpoint, base_url=_with_usual_path(check_url(url, source), endpoint), moved=True)


def check_url(url: str, source: str) -> str:
    """A base URL, or Invalid with what is wrong. What may be a password in it is not repeated."""
    where = _parse_url(url)
    if where is None:
        raise Invalid(f"{source} must be an address such as https://host/v1.")
    if where.username is not None or where.password is not None:
        raise Invalid(f"{source} must not carry a user or a password: keys have variables of their own.")
    if where.query or where.fragment:
        raise Invalid(f"{source} must end with its path, without ? or #.")
    return url.rstrip("/")


def proxy_to(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy on the way there, if any; raises Invalid for what is none, and does not repeat it either."""
    from moot.providers.transport import proxy_for

    proxy = proxy_for(url, environ)
    if proxy is not None and _parse_url(proxy) is None:
        named = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        raise Invalid(f"The proxy in {named} must be an address such as http://host:3128.")
    return proxy


def _parse_url(url: str) -> SplitResult | None:
    try:
        where = urlsplit(url)
        host, _port = where.hostname, where.port
    except ValueError:
        return None
    return where if where.scheme in ("http", "https") and host else None


def _with_usual_path(url: str, endpoint: Endpoint) -> str:
    """People give the bare host as often as the path below which the service really is."""
    if urlsplit(url).path:
        return url
    usual = urlsplit(BUILT_IN[endpoint.name].base_url).path if endpoint.name in BUILT_IN else ""
    return url + (usual or ("/v1" if endpoint.local else ""))


def is_plaintext(url: str) -> bool:
    """Whether others on the way could read along."""
    where = urlsplit(url)
    return where.scheme == "http" and not _is_loopback(where)


def _is_loopback(where: SplitResult) -> bool:
    host = where.hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


# --- what may be asked of it --------------------------------------------------------------------------


def traits_of(endpoint: Endpoint, model: str) -> Traits:
    """What this model can do there; what the operator has said comes first."""
    traits = known_models.refine(endpoint.name, model, endpoint.traits)
    if not endpoint.pinned:
        return traits
    return replace(traits, **{name: getattr(endpoint.traits, name) for name in endpoint.pinned})


def key_of(endpoint: Endpoint, environ: Mapping[str, str], kept: Mapping[str, Secret]) -> ApiKey | None:
    return find_key(endpoint.name, endpoint.keys, environ, kept)


def needs_key(endpoint: Endpoint) -> bool:
    return bool(endpoint.keys) and not endpoint.local and not endpoint.moved


def key_hint(endpoint: Endpoint) -> str:
    return f"Set {' or '.join(endpoint.keys)}." if endpoint.keys else f"Add it to [keys] in {SETTINGS_FILE}."


def family(endpoint: Endpoint) -> Family:
    """How it speaks. A family's module is loaded when the first of its services is asked."""
    module = import_module(f"moot.providers.{endpoint.family}")
    if endpoint.family != "openai_chat":
        return module.FAMILY
    if endpoint.accent not in module.ACCENTS:
        raise Invalid(f"There is no accent called {endpoint.accent!r}: {', '.join(module.ACCENTS)}.")
    return module.family(module.ACCENTS[endpoint.accent])


def make_client(
    endpoint: Endpoint,
    environ: Mapping[str, str],
    kept: Mapping[str, Secret],
    *,
    connect: float = CONNECT_SECONDS,
    shared_state: SharedState | None = None,
) -> ProviderClient:
    """Raises Unavailable where a key is missing, or nobody has said where the service is.

    With `shared_state`, the limits of the endpoint hold for all who share them.
    """
    from moot.providers.client import ProviderClient

    if not endpoint.base_url:
        fix = f"Set {endpoint.url_variable}."
        raise Unavailable(f"Moot does not know where {endpoint.title} is.", fix)
    key = key_of(endpoint, environ, kept)
    if key is None and needs_key(endpoint):
        fix = f'Or write it into {SETTINGS_FILE}, below [keys]: {endpoint.name} = "…".'
        raise Unavailable(f"There is no key for {endpoint.title}. {key_hint(endpoint)}", fix)
    word = key.secret.reveal() if key else ""
    if key and not (word.isascii() and word.isprintable()):
        raise Invalid(f"The key from {key.source} has characters that no key has. Copy it once more.")
    return ProviderClient(
        family(endpoint),
        endpoint.base_url,
        key=word,
        traits=endpoint.traits,
        refine=lambda model, _traits: traits_of(endpoint, model),
        connect=connect,
        disarm=endpoint.local,
        throttle=Throttle(
            endpoint.limits, shared=_shared_throttle(endpoint, shared_state) if shared_state else None
        ),
        proxy=proxy_to(endpoint.base_url, environ),
    )


def _shared_throttle(endpoint: Endpoint, shared_state: SharedState) -> SharedThrottle:
    # What listens on the machine itself is another service on each.
    here = _is_loopback(urlsplit(endpoint.base_url))
    limits = endpoint.limits
    return SharedThrottle(
        shared_state,
        f"{endpoint.name} on {gethostname()}" if here else endpoint.name,
        concurrent=limits.concurrent if limits.written else None,
        per_minute=limits.per_minute,
    )
