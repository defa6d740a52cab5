"""Models of a running Ollama: pulled through its API, with progress.

Ollama downloads, checks and keeps them itself. Its reply to a pull is a JSON object on each line: what it is
doing, how many bytes of which file, and at the end `success` or an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import msgspec

from moot.core.errors import Invalid, Unavailable
from moot.providers import transport
from moot.providers.endpoints import Endpoint, proxy_to
from moot.providers.keys import ApiKey
from moot.providers.lenient_json import get_path, get_string

PREFIX = "ollama/"
SILENCE_SECONDS = 60.0
MAX_LINE = 64 * 1024
OnPull = Callable[[int, int], None]
"""Called with the bytes that are there, and with those that are known to be needed."""


async def pull(
    endpoint: Endpoint, key: ApiKey | None, name: str, environ: Mapping[str, str], report: OnPull
) -> None:
    """Have Ollama pull a model. Raises Unavailable with the remedy, and Invalid for a wrong proxy."""
    url = f"{endpoint.base_url.removesuffix('/v1')}/api/pull"
    headers = {"Authorization": f"Bearer {key.secret.reveal()}"} if key else {}
    layers: dict[str, tuple[int, int]] = {}
    try:
        async with (
            transport.open_session(read_timeout=SILENCE_SECONDS) as session,
            session.post(
                url,
                json={"model": name, "stream": True},
                headers=headers,
                allow_redirects=False,
                proxy=proxy_to(url, environ),
            ) as response,
        ):
            if response.status != 200:
                body = await transport.read_body(response, MAX_LINE)
                raise _refused(name, get_string(_parsed(body), "error") or f"answered {response.status}")
            async for line in response.content:
                step = _parsed(line)
                if error := get_string(step, "error"):
                    raise _refused(name, error)
                if get_string(step, "status") == "success":
                    return
                _count(layers, step)
                report(sum(done for done, _ in layers.values()), sum(total for _, total in layers.values()))
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise _not_running(endpoint) from None
    except (TimeoutError, aiohttp.ClientError, OSError):
        fix = "Install it again: Ollama continues where it stopped."
        raise Unavailable(f"The connection to Ollama was lost while it pulled {name}.", fix) from None
    raise Unavailable(f"Ollama stopped before {name} was complete.", "Install it again: it continues.")


def _parsed(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None


def _count(layers: dict[str, tuple[int, int]], step: Any) -> None:
    digest, total, done = (get_path(step, field) for field in ("digest", "total", "completed"))
    if isinstance(digest, str) and isinstance(total, int):
        layers[digest] = (done if isinstance(done, int) else 0, total)


def _refused(name: str, error: str) -> Unavailable:
    if "file does not exist" in error or "not found" in error:
        return Unavailable(
            f"Ollama knows no model {name}.", "Look for its name at https://ollama.com/library."
        )
    return Unavailable(f"Ollama could not pull {name}: {error[:200]}.", "Try again, or pull it with Ollama.")


def _not_running(endpoint: Endpoint) -> Unavailable:
    fix = f"Start it with `ollama serve`, or set {endpoint.url_variable}."
    return Unavailable(f"Ollama is not running at {endpoint.base_url.removesuffix('/v1')}.", fix)


def check_name(name: str) -> None:
    """Raises Invalid for what cannot be the name of a model."""
    if not name or len(name) > 200 or not name.isascii() or not name.isprintable() or " " in name:
        raise Invalid("A model of Ollama is named ollama/NAME, such as ollama/llama3.2.")
