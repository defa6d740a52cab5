"""Model files of the Hugging Face Hub: what there is to know of one, and its download.

Only GGUF files are fetched, as data: no code of a repository is downloaded or run. The hub says how large a
file is and what its SHA-256 must be, before the first byte is fetched; `ModelFiles` checks the hash and puts
the file in place. A download continues at the byte where it was broken off. `HF_TOKEN` and `HF_ENDPOINT` are
taken from the environment; the package huggingface_hub is imported only when it is used.

Everything here blocks: call it through `asyncio.to_thread`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from logging import CRITICAL
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.installation import install_command
from moot.models.catalogue import CatalogueEntry, HubFile
from moot.providers.lenient_json import get_path

PREFIX = "hf:"
HUB = "https://huggingface.co"
REFERENCE = re.compile(
    r"hf:(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})/(?P<file>(?:[\w.-]+/)*[A-Za-z0-9][\w.-]*\.gguf)",
    re.ASCII,
)
SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
SHA256 = re.compile("[0-9a-f]{64}")
MAX_NAME = 64
MAX_BYTES = 2**50
"""No model file is larger than a petabyte."""


def parse_reference(text: str) -> HubFile:
    """The file that `hf:owner/repo/file.gguf` names. Raises Invalid."""
    match = REFERENCE.fullmatch(text)
    if match is None or ".." in text:
        raise Invalid("A model of the hub is named hf:owner/repo/file.gguf, with the name of one GGUF file.")
    if SPLIT.search(text):
        raise Invalid("This model is split into several files, which Moot cannot load. Choose a single file.")
    return HubFile(match["repo"], match["file"])


def local_name(file: HubFile) -> str:
    """What the model is called once it is installed: the name of its file."""
    return file.file.rpartition("/")[2].removesuffix(".gguf")[:MAX_NAME]


class Hub:
    """The hub that the environment names."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._endpoint = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB
        self._token = environ.get("HF_TOKEN", "").strip() or None

    @property
    def host(self) -> str:
        return urlsplit(self._endpoint).netloc

    def look_up(self, file: HubFile) -> CatalogueEntry:
        """A model of the hub with its size, hash and licence. Raises Unavailable with the remedy."""
        with self._errors(file):
            from huggingface_hub import HfApi

            api = HfApi(endpoint=self._endpoint, token=self._token)
            info = api.model_info(file.repo, files_metadata=True, timeout=20)
            found = {str(each.rfilename): each.lfs for each in info.siblings or ()}
        if file.file not in found:
            raise self._no_file(file, [name for name in found if name.endswith(".gguf")])
        # What the hub sends is not checked by its library.
        lfs: Any = found[file.file]
        sha256, size = getattr(lfs, "sha256", None), getattr(lfs, "size", None)
        if not isinstance(sha256, str) or not SHA256.fullmatch(sha256):
            raise Unavailable(f"{self.host} gives no hash for {file.file}, so it cannot be checked.")
        if type(size) is not int or not 0 < size <= MAX_BYTES:
            raise Unavailable(f"{self.host} gives no size for {file.file} that a file can have.")
        parameters = get_path(cast("Any", info).gguf, "total")
        name = local_name(file)
        return CatalogueEntry(
            name=name,
            title=name,
            licence=_licence(info),
            parameters=parameters if type(parameters) is int and parameters > 0 else 2 * size,
            size=size,
            sha256=sha256,
            hub=replace(file, revision=info.sha if isinstance(info.sha, str) and info.sha else "main"),
        )

    def download(self, file: HubFile, size: int, partial: BinaryIO, report: Callable[[int], None]) -> None:
        """Append what is missing to `partial`, which stands at its end. Raises Unavailable.

        `report` is called with the bytes that are there; what it raises ends the download. It stops where
        more comes than the hub had said, and nothing of that is kept.
        """
        start = partial.tell()
        with self._errors(file):
            from huggingface_hub import file_download, hf_hub_url, utils

            url = hf_hub_url(file.repo, file.file, revision=file.revision, endpoint=self._endpoint)
            cast("Any", file_download).http_get(
                url,
                _Bounded(
                    partial, size, f"{file.file} is larger than announced ({size:,} bytes); it was not kept."
                ),
                resume_size=start,
                headers=cast("Any", utils).build_hf_headers(token=self._token, library_name="moot"),
                expected_size=size,
                tqdm_class=_reporting(report),
            )

    @contextmanager
    def _errors(self, file: HubFile) -> Generator[None]:
        """Turn the errors of the hub into Unavailable, each with its remedy."""
        try:
            import httpx2
            from huggingface_hub import errors
            from huggingface_hub.utils import logging
        except ImportError:
            raise Unavailable(
                "The package huggingface_hub is not installed.", install_command("local")
            ) from None
        # Its messages go to the terminal, with addresses that are signed for us.
        logging.set_verbosity(CRITICAL)
        page = f"{self._endpoint}/{file.repo}"
        try:
            yield
        except errors.GatedRepoError:
            fix = f"Accept its terms at {page}, then set HF_TOKEN to a token of your account."
            raise Unavailable(f"{file.repo} is gated: its owner decides who may download it.", fix) from None
        except errors.RepositoryNotFoundError:
            fix = f"Check the name at {page}; if the repository is private, set HF_TOKEN."
            raise Unavailable(f"{self.host} has no public repository {file.repo}.", fix) from None
        except errors.EntryNotFoundError:
            raise self._no_file(file, []) from None
        except errors.OfflineModeIsEnabled:
            raise Unavailable("Downloads are forbidden (HF_HUB_OFFLINE).", "Unset HF_HUB_OFFLINE.") from None
        except errors.HfHubHTTPError as error:
            status = getattr(error.response, "status_code", "an error")
            token = "Check HF_TOKEN." if status in (401, 403) else "Try again later."
            raise Unavailable(f"{self.host} answered {status} for {file.repo}.", token) from None
        except (httpx2.ConnectError, httpx2.TimeoutException):
            fix = "Check the network and a proxy (HTTPS_PROXY); HF_ENDPOINT sets another hub."
            raise Unavailable(f"{self.host} cannot be reached.", fix) from None
        except httpx2.HTTPError:
            fix = "Install it again: the download continues where it stopped."
            raise Unavailable(f"The connection to {self.host} was lost.", fix) from None
        except OSError as error:
            if error.errno is not None:
                raise
            # The library's own check of the size.
            fix = "Install it again. If that does not help, choose another file."
            raise Unavailable(f"{self.host} sent less of {file.file} than it should have.", fix) from None
        except (TypeError, ValueError, KeyError, AttributeError):
            fix = "Check that HF_ENDPOINT names a hub; if it does, try again later."
            raise Unavailable(f"{self.host} answered with something that describes no model.", fix) from None

    def _no_file(self, file: HubFile, others: list[str]) -> Unavailable:
        close = get_close_matches(file.file, others, n=1) or others[:1]
        fix = (
            f"Did you mean {PREFIX}{file.repo}/{close[0]}?"
            if close
            else f"Look at {self._endpoint}/{file.repo}."
        )
        return Unavailable(f"{file.repo} has no file {file.file}.", fix)


SPDX = {"apache-2.0": "Apache-2.0", "mit": "MIT", "cc-by-4.0": "CC-BY-4.0", "cc-by-nc-4.0": "CC-BY-NC-4.0"}
"""The hub writes the identifiers of licences in small letters."""


def _licence(info: Any) -> str:
    card = info.card_data
    licence = getattr(card, "license", None) or next(
        (tag.partition(":")[2] for tag in info.tags or () if tag.startswith("license:")), ""
    )
    named = getattr(card, "license_name", None) if licence == "other" else None
    return str(named or SPDX.get(str(licence), licence) or "unknown")


class _Bounded:
    """A file that takes no more bytes than it was said to have."""

    def __init__(self, file: BinaryIO, size: int, problem: str) -> None:
        self._file = file
        self._size = size
        self._problem = problem

    def write(self, data: bytes) -> int:
        if self._file.tell() + len(data) > self._size:
            self._file.seek(0)
            self._file.truncate()
            raise Unavailable(self._problem, "Choose another file, or another hub (HF_ENDPOINT).")
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _reporting(report: Callable[[int], None]) -> Any:
    """A class in the place of a progress bar that passes on the bytes that have come."""

    class Reporter:
        def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
            self._done = initial

        def update(self, count: int) -> None:
            report(self._done + count)
            self._done += count

        def __enter__(self) -> Reporter:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    return Reporter
