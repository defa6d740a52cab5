"""All providers by name, each made when it is first needed, and models by their full name.

A model is named `provider/model`: `openai/gpt-6-luna`, `local/smollm2-135m`, `ollama/llama3.2`,
`local//path/to/file.gguf`. `human` is a person. An installed package may add a provider by the entry point
`moot.providers`: a function without arguments.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from difflib import get_close_matches
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Fault, Invalid, Unavailable
from moot.core.terms import HUMAN, Model, Request
from moot.extension import loaded
from moot.models import discovery, ollama, openmp
from moot.models.installs import InstallManager
from moot.models.local_provider import LocalProvider, check_local_models
from moot.models.model_files import ModelFiles, OnInstallProgress, no_progress
from moot.providers import endpoints, known_models, prices
from moot.providers.client import ProviderClient
from moot.providers.contract import CONNECT_SECONDS, Chunk, Provider, Traits
from moot.providers.endpoints import BUILT_IN, ENDPOINTS, Endpoint
from moot.providers.keys import ApiKey, Secret
from moot.providers.read_pacer import ReadPacer
from moot.providers.saved_keys import NO_KEYS, SavedKeys

if TYPE_CHECKING:
    from moot.core.ephemeral_store import EphemeralStore

Factory = Callable[[], Provider]
MOST_NAMED = 4
"""Of the models that may have been meant, so many are named."""


class DefaultModel(Struct, frozen=True):
    name: str
    why: str = ""
    """The key for which it was chosen, if one was: it will cost money."""


class HumanProvider(Provider):
    """The provider of people, so that no caller needs to ask whether a seat is a person's.

    It is never called: what people say comes as commands (`rules/participation.py`).
    """

    @property
    def traits(self) -> Traits:
        return Traits(deadlines=False, schema="words", sampling=False)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        message = "A person is not called: they speak up."
        raise Fault("unavailable", "permanent", billed=False, message=message)
        yield  # never reached: it makes this a generator


class ProviderRegistry:
    def __init__(
        self,
        providers: Mapping[str, Provider],
        *,
        models: Path,
        environ: Mapping[str, str],
        offline: bool = False,
        preferred: str = "",
        scripted: Factory | None = None,
        services: Iterable[Endpoint] = ENDPOINTS,
        keys: Mapping[str, Secret] | None = None,
        saved_keys: SavedKeys | None = None,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """`keys` are those of `moot.toml`. Without `saved_keys`, none can be saved."""
        self.model_files = ModelFiles(models, environ=environ, offline=offline)
        self.installs = InstallManager(self.model_files, self._check_engine, self.pull_with_ollama)
        self.endpoints = {endpoint.name: endpoint for endpoint in services}
        self.saved_keys = saved_keys
        self._keys = dict(keys or {})
        self._preferred = preferred
        self._connect_seconds = connect_seconds
        self._ephemeral: EphemeralStore | None = None
        self._pacer: ReadPacer | None = None
        self._ready: dict[str, Provider] = dict(providers)
        self._keys_in_use: dict[str, ApiKey | None] = {}
        """The keys of the clients that were made here."""
        self._replaced: list[Provider] = []
        """Clients whose key has changed: calls that they have begun go on."""
        self._factories: dict[str, Factory] = {"local": self._local, HUMAN: HumanProvider}
        for endpoint in self.endpoints.values():
            self._factories[endpoint.name] = partial(self._service, endpoint)
        if scripted is not None:
            self._factories["scripted"] = scripted
        for entry in entry_points(group="moot.providers"):
            self._factories.setdefault(entry.name, lambda entry=entry: entry.load()())
        for _, brought in loaded().of(lambda extension: extension.providers):
            self._factories = {**brought, **self._factories}

    def share_limits(self, ephemeral: EphemeralStore) -> None:
        """Apply the limits of each service to all processes that share this state together."""
        self._ephemeral = ephemeral

    def pace_reads(self, pacer: ReadPacer) -> None:
        """Read the replies of all services once per tick of this pacer."""
        self._pacer = pacer
        for provider in self._ready.values():
            self._paced(provider)

    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._ready, *self._factories)))

    def get(self, name: str) -> Provider:
        """The provider of this name. Raises Invalid if there is none, Unavailable if its key is missing."""
        self._drop_outdated(name)
        if name not in self._ready:
            if name not in self._factories:
                close = get_close_matches(name.lower(), self.names(), n=1)
                hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(self.names())}."
                raise Invalid(f"There is no provider called {name!r}. {hint}")
            self._ready[name] = self._paced(self._factories[name]())
        return self._ready[name]

    def _drop_outdated(self, name: str) -> None:
        """Forget the client of a service whose key has changed since it was made."""
        if name in self._keys_in_use and self._keys_in_use[name] != self.key(self.endpoints[name]):
            del self._keys_in_use[name]
            self._replaced.append(self._ready.pop(name))

    def stamp(self) -> tuple[int, int]:
        """Changes with the installed models and the saved keys: lists made before are out of date."""
        return self.installs.finished, self.saved_keys.stamp() if self.saved_keys else 0

    def _saved(self) -> Mapping[str, Secret]:
        return self.saved_keys.all() if self.saved_keys else NO_KEYS

    def unproven(self) -> frozenset[str]:
        """The services whose saved key has not passed a test: their models are used only where named."""
        return self.saved_keys.unproven() if self.saved_keys else frozenset()

    def with_key(self, name: str, key: Secret) -> Provider:
        """The service of this name with a key that a user supplied for one debate."""
        endpoint = self.endpoints.get(name)
        if endpoint is None or not endpoint.keys:
            raise Invalid(f"{name!r} takes no key.")
        # Without variables of its own, this key is the only one.
        keyless = replace(endpoint, keys=())
        return self._paced(
            endpoints.make_client(
                keyless, self.model_files.environ, {name: key}, connect=self._connect_seconds
            )
        )

    def _paced(self, provider: Provider) -> Provider:
        if self._pacer is not None and isinstance(provider, ProviderClient):
            provider.pace_reads(self._pacer)
        return provider

    def has_key(self, name: str) -> bool:
        """Whether this service can be called: with a key of the server's, or without any."""
        endpoint = self.endpoints.get(name)
        if endpoint is None:
            return True
        return not endpoints.needs_key(endpoint) or self.key(endpoint) is not None

    def service_health(self) -> dict[str, bool]:
        """The services with a key, and whether their last call was answered. Makes no call."""
        keyed = (name for name, endpoint in self.endpoints.items() if self.key(endpoint) is not None)
        return {name: getattr(self._ready.get(name), "healthy", True) for name in keyed}

    def down_for(self, name: str) -> float:
        """Seconds for which this service is known to be down; 0 where it may be called, or nobody knows."""
        return getattr(self._ready.get(name), "down_for", 0.0)

    def model(self, name: str, *, needs_key: bool = True) -> Model:
        """A model by its full name, without its price. Raises Invalid for a name that cannot be one, and
        Unavailable where its service cannot be called from here, if that is needed."""
        provider, slash, model = name.partition("/")
        if provider == HUMAN:
            return Model(HUMAN, model or HUMAN)
        if not slash:
            provider, model = "local", name
        if not model:
            raise Invalid(f"A model is named provider/model, not {name!r}. `moot models` lists what is here.")
        if provider == "local":
            self._check_local_name(model, bare=not slash)
        try:
            if needs_key:
                self.get(provider)
        except Unavailable as error:
            if hint := self._nearest_known(provider, model):
                raise Invalid(f"{hint} {error}") from None
            raise
        return known_models.with_traits(provider, model, self.traits(provider, model))

    def key(self, endpoint: Endpoint) -> ApiKey | None:
        return endpoints.key_of(endpoint, self.model_files.environ, self._keys, self._saved())

    def traits(self, provider: str, model: str) -> Traits:
        """What a model can do, as far as is known. Its service needs no key for that."""
        if provider in self.endpoints and provider not in self._ready:
            return endpoints.traits_of(self.endpoints[provider], model)
        return self.get(provider).traits_of(model)

    def check(self, model: Model) -> None:
        """Raises Invalid for an effort, a verbosity or a service tier that the model does not accept."""
        if model.effort is None and model.verbosity is None and not model.service_tier:
            return
        traits = self.traits(model.provider, model.name)
        if model.effort is not None and model.effort not in traits.efforts:
            takes = f"takes: {', '.join(traits.efforts)}" if traits.efforts else "is not known to take any"
            raise Invalid(f"{model.label} does not take the effort {model.effort}. It {takes}.")
        if model.verbosity is not None and not traits.verbosity:
            raise Invalid(f"{model.label} is not known to take a verbosity.")
        if model.service_tier:
            self._check_service_tier(model, traits.service_tiers)

    def _check_service_tier(self, model: Model, tiers: tuple[str, ...]) -> None:
        asked = model.service_tier
        if asked in tiers and prices.has_service_tier(model.provider, model.name, asked):
            return
        others = f" It takes: {', '.join(tiers)}." if tiers and asked not in tiers else ""
        raise Invalid(f"{model.label} is not known to have the service tier {asked}.{others}")

    async def default_model(self) -> str:
        """The model to use if none is named, never a person.

        It is that of MOOT_MODEL, or else the first of: a service with a key (which costs money), a running
        server, an installed file, the one to download.
        """
        return (await self.default()).name

    async def default(self) -> DefaultModel:
        """The default model, and the key for which it was chosen, if one was."""
        if self._preferred and self._preferred.partition("/")[0] != HUMAN:
            return DefaultModel(self._preferred)
        choice = discovery.default_choice(await self.usable())
        endpoint = self.endpoints.get(choice.name.partition("/")[0])
        keyed = choice.kind == "key" and endpoint is not None and self.key(endpoint) is not None
        return DefaultModel(choice.name, choice.why if keyed else "")

    async def usable(self) -> tuple[discovery.AvailableModel, ...]:
        """The models, best first, and what is missing for those that cannot be used."""
        possible = True
        try:
            check_local_models()
        except Unavailable:
            possible = False
        services = tuple(self.endpoints.values())
        return await discovery.find_models(
            self.model_files,
            self.model_files.environ,
            services,
            self._keys,
            saved=self._saved(),
            unproven=self.unproven(),
            local=possible,
        )

    def _check_engine(self) -> None:
        """Raises Unavailable if local models cannot run here; fetches what the engine lacks."""
        check_local_models()
        openmp.install(self.model_files)

    async def pull_with_ollama(self, name: str, report: ollama.OnPull) -> None:
        """Have a running Ollama pull a model. Raises Unavailable."""
        endpoint = self.endpoints.get("ollama")
        if endpoint is None:
            raise Unavailable("Ollama is not among the endpoints of this server.")
        await ollama.pull(endpoint, self.key(endpoint), name, self.model_files.environ, report)

    async def prepare(self, models: Iterable[Model], progress: OnInstallProgress = no_progress) -> None:
        """Ask model servers whether they have theirs, and download the local models that are missing.

        Raises Unavailable with the remedy, and Invalid with the nearest name for one that a server lacks.
        """
        models = tuple(models)
        await self._check_servers(models)
        names = sorted({model.name for model in models if model.provider == "local"})
        if names:
            check_local_models()
        for name in names:
            if name in self.model_files.catalogue and name not in self.model_files.installed():
                await asyncio.to_thread(self.model_files.install, name, progress)
        if names:
            await asyncio.to_thread(openmp.install, self.model_files)

    async def _check_servers(self, models: Sequence[Model]) -> None:
        """Ask the model servers of these models, such as Ollama, before a debate is opened."""
        wanted = {model.provider for model in models}
        for server in (self.endpoints[name] for name in wanted & self.endpoints.keys()):
            # Servers that the operator has added may have no list of models.
            if not server.local or server.name not in BUILT_IN or not server.base_url:
                continue
            rows = await discovery.served_models(server, self.key(server), self.model_files.environ)
            names = None if rows is None else [row.name.partition("/")[2] for row in rows]
            for model in (each for each in models if each.provider == server.name):
                _check_served(server, model.name.removesuffix(":latest"), names)

    async def close(self) -> None:
        async with AsyncExitStack() as closing:  # closes the others even if one fails
            for provider in (*self._ready.values(), *self._replaced):
                closing.push_async_callback(provider.close)
            closing.push_async_callback(self.installs.close)

    def _check_local_name(self, name: str, *, bare: bool) -> None:
        """Raises Invalid, with the nearest name, if there is no such local model.

        A name without a provider may be a mistyped one of a service, or of a person.
        """
        local = (*self.model_files.catalogue, *self.model_files.installed())
        if name in local:
            return
        with suppress(Unavailable):
            self.model_files.path(name)
            return
        if bare and name.lower() in self.endpoints:
            raise Invalid(f"{name} is a provider: name one of its models too. {self._examples(name.lower())}")
        rows = [row for endpoint in self.endpoints for row in known_models.catalogue(endpoint)]
        meant = [row.label for row in rows if bare and row.name == name]
        if not meant and bare:
            # "gpt-6" is the beginning of a name; of several services, the maker's own comes first.
            starting = [row for row in rows if row.name.startswith(f"{name.lower()}-")]
            meant = [row.label for row in starting if row.provider == starting[0].provider][:MOST_NAMED]
        if not meant:
            others = {row.name: row.label for row in rows} | {HUMAN: HUMAN} if bare else {}
            others |= {each: each if bare else f"local/{each}" for each in local}
            meant = [others[close] for close in get_close_matches(name.lower(), others, n=1)]
        hint = f"Did you mean {' or '.join(meant)}?" if meant else "`moot models` lists what is here."
        raise Invalid(f"There is no local model {name}. {hint}")

    def _examples(self, provider: str) -> str:
        """A few models of this provider, the recommended one first."""
        recommended = self.endpoints[provider].model
        known = [row.name for row in known_models.catalogue(provider)]
        alike = get_close_matches(recommended, known, n=MOST_NAMED, cutoff=0.0) if recommended else known
        names = list(dict.fromkeys((*([recommended] if recommended else ()), *alike)))
        if not names:
            return f"Say {provider}/MODEL. `moot models` lists what is here."
        return f"Such as: {', '.join(f'{provider}/{each}' for each in names[:MOST_NAMED])}."

    def _nearest_known(self, provider: str, model: str) -> str:
        """The name that was probably meant, where this one is not known."""
        names = [row.name for row in known_models.catalogue(provider)]
        names += [self.endpoints[provider].model] if provider in self.endpoints else []
        close = get_close_matches(model.lower(), names, n=1) if model not in names else []
        return (
            f"{provider}/{model} is not a known model. Did you mean {provider}/{close[0]}?" if close else ""
        )

    def _service(self, endpoint: Endpoint) -> Provider:
        client = endpoints.make_client(
            endpoint,
            self.model_files.environ,
            self._keys,
            saved=self._saved(),
            connect=self._connect_seconds,
            ephemeral=self._ephemeral,
        )
        self._keys_in_use[endpoint.name] = self.key(endpoint)
        return client

    def _local(self) -> LocalProvider:
        return LocalProvider(self.model_files)


def _check_served(server: Endpoint, name: str, names: Sequence[str] | None) -> None:
    """Raises Unavailable if the server does not answer, Invalid if it lacks the model. None: no answer."""
    if names is None:
        start = "Start it with `ollama serve`" if server.name == "ollama" else "Start it"
        address = server.base_url.removesuffix("/v1")
        message = f"{server.title} is not running at {address}."
        raise Unavailable(message, f"{start}, set {server.url_variable}, or choose another model.")
    # A llama.cpp server has one model, whatever it is called.
    if name in names or server.name == "llamacpp":
        return
    close = get_close_matches(name, names, n=1)
    others = f"It has: {', '.join(names[:10])}." if names else "It has none."
    hint = f"Did you mean {server.name}/{close[0]}?" if close else others
    if server.name == "ollama":
        hint = f"{hint} To pull it: moot models install ollama/{name}"
    raise Invalid(f"{server.title} has no model {name}. {hint}")
