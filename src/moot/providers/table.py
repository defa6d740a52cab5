"""The providers by name, each made when it is first needed, and models by their full name.

A model is named `provider/model`: `local/smollm2-135m`, `ollama/llama3.2`, `local//path/to/file.gguf`. An
installed package may add a provider by the entry point `moot.providers`: a function without arguments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from moot.errors import Invalid, Unavailable
from moot.models import find
from moot.models.manager import Manager, Report, silently
from moot.providers.contract import Provider, Traits
from moot.providers.engine import check_possible
from moot.providers.local import Local
from moot.providers.openai_chat import OpenAIChat
from moot.terms import Model

Factory = Callable[[], Provider]
SHORT = 700
"""Output tokens of a model on this machine: a speech on a laptop should not take minutes."""


class Providers:
    def __init__(
        self,
        given: Mapping[str, Provider],
        *,
        models: Path,
        environ: Mapping[str, str],
        offline: bool = False,
        preferred: str = "",
        scripted: Factory | None = None,
        connect_seconds: float = 10.0,
    ) -> None:
        self.manager = Manager(models, environ=environ, offline=offline)
        self._preferred = preferred
        self._ready: dict[str, Provider] = dict(given)
        self._factories: dict[str, Factory] = {"local": self._local}
        for server in find.SERVERS:
            url = server.base_url
            self._factories[server.provider] = lambda url=url: OpenAIChat(
                url, traits=Traits(deadlines=False), patience=None, connect=connect_seconds, disarm=True
            )
        if scripted is not None:
            self._factories["scripted"] = scripted
        for entry in entry_points(group="moot.providers"):
            self._factories.setdefault(entry.name, lambda entry=entry: entry.load()())

    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._ready, *self._factories)))

    def get(self, name: str) -> Provider:
        if name not in self._ready:
            if name not in self._factories:
                raise Invalid(f"There is no provider called {name!r}. Try one of: {', '.join(self.names())}.")
            self._ready[name] = self._factories[name]()
        return self._ready[name]

    def model(self, name: str) -> Model:
        """A model by its full name, without its price."""
        provider, slash, model = name.partition("/")
        if not slash:
            provider, model = "local", name
        if not model:
            raise Invalid(f"A model is named provider/model, not {name!r}. `moot models` lists what is here.")
        here = self.get(provider)
        if isinstance(here, Local):
            return Model(provider, model, max_tokens=SHORT, small=here.traits_of(model).small)
        if any(server.provider == provider for server in find.SERVERS):
            return Model(provider, model, max_tokens=SHORT)
        return Model(provider, model, small=here.traits.small)

    async def default_model(self) -> str:
        """What is used where nobody names a model: a configured one, a running server, a local file."""
        if self._preferred:
            return self._preferred
        return find.default_model(await self.usable())

    async def usable(self) -> tuple[find.Found, ...]:
        """What can argue here, best first, and what is missing where something cannot."""
        available = set(self.names())
        try:
            check_possible()
        except Unavailable:
            available.discard("local")
        return await find.find(self.manager, self.manager.environ, available)

    async def prepare(self, models: Iterable[Model], progress: Report = silently) -> None:
        """Fetch the local models that are not here yet. Raises Unavailable with what to do."""
        wanted = sorted({model.name for model in models if model.provider == "local"})
        if wanted:
            check_possible()
        for name in wanted:
            if name in self.manager.catalogue and name not in self.manager.installed():
                await asyncio.to_thread(self.manager.install, name, progress)

    async def close(self) -> None:
        for provider in self._ready.values():
            await provider.close()

    def _local(self) -> Local:
        return Local(self.manager)
