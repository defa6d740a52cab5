"""The modules that a page imports before it can be shown, and their stylesheets.

A browser finds the imports of a module only when it has loaded the module, one level after another. The
document names them all, so that they are loaded in parallel; with the stylesheets in its head, nothing is
shown without style. The imports are read from the files themselves: nothing is listed twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath

from msgspec import Struct

ReadFile = Callable[[str], bytes | None]
"""A file by its path from the folder of the page, such as `static/app.js`."""

IMPORT = re.compile(rb"""^(?:import|export)\b(?:[^'"()=]*\bfrom)?\s*['"](\.{1,2}/[^'"]+)['"]""", re.MULTILINE)
PARTS = re.compile(rb'\$\{Parts\} place="(\w+)"')
"""Where a module draws the parts of extensions."""
STYLE = re.compile(rb"""\bensureStyle\(['"]([\w/-]+)['"]\)""")
SCRIPT = b'<script type="module"'


class PageAssets(Struct, frozen=True):
    """The modules in order: each after those that it imports."""

    modules: tuple[str, ...]
    styles: tuple[str, ...]


def missing_libraries(home: Traversable | None = None) -> str:
    """A sentence if this installation has no page, because the libraries of it are not there; else empty."""
    if (home or files("moot.web")).joinpath("vendor", "preact.js").is_file():
        return ""
    return (
        "This installation has no page: the libraries of the page are missing. In a checkout, `make setup` "
        "puts them there; elsewhere, install a wheel that `make wheel` has built."
    )


def page_assets(read: ReadFile, *entries: str, parts: Mapping[str, Sequence[str]]) -> PageAssets:
    """`parts`: the modules of extensions, by the place where they are drawn."""
    modules: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()

    def visit(path: str) -> None:
        if path in seen or (text := read(path)) is None:
            return
        seen.add(path)
        imports, styles, places = _names(text)
        for target in imports:
            visit(normpath(join(dirname(path), target)))
        for place in places:
            for part in parts.get(place, ()):
                visit(part)
        modules[path] = styles if path.startswith("static/") else ()

    for entry in entries:
        visit(entry)
    styles = dict.fromkeys(name for names in modules.values() for name in names)
    return PageAssets(tuple(modules), tuple(map(_style_path, styles)))


def _style_path(name: str) -> str:
    """A stylesheet of the page by its name, or that of an extension: `extensions/NAME/FILE`."""
    return f"static/{name}.css" if "/" in name else f"static/css/{name}.css"


def with_preloads(document: bytes, assets: PageAssets) -> bytes:
    """The document with the modules and stylesheets that it does not name already."""
    kinds = {**dict.fromkeys(assets.styles, "stylesheet"), **dict.fromkeys(assets.modules, "modulepreload")}
    missing = ((kind, f'"/{path}"') for path, kind in kinds.items())
    lines = [f'<link rel="{kind}" href={path}>\n' for kind, path in missing if path.encode() not in document]
    return document.replace(SCRIPT, "".join(lines).encode() + SCRIPT, 1)


@lru_cache(maxsize=256)
def _names(text: bytes) -> tuple[tuple[str, ...], ...]:
    """What a module imports, its stylesheets, and the places of parts in it."""
    return tuple(
        tuple(name.decode("ascii") for name in pattern.findall(text)) for pattern in (IMPORT, STYLE, PARTS)
    )
