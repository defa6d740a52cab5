"""A small Hugging Face Hub and a small Ollama on loopback: real HTTP, range requests, and faults on request.

Of a repository it serves the description and the files, as the hub does: size and SHA-256 in the description,
a redirect to the file, and `Range`. `cut_after` cuts one connection after so many bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class LoopbackHub:
    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.hashes: dict[str, str] = {}
        """Hashes that are told in place of the right ones, by file."""
        self.told: Any = ...
        """Told in place of the description of every repository, with whatever types."""
        self.sent: bytes | None = None
        """Sent in place of every file, without saying how long it is."""
        self.gated: set[str] = set()
        """Repositories whose files need the token `TOKEN`."""
        self.cut_after: int | None = None
        self.cuts = 0
        self.ranges: list[str] = []
        """The `Range` of each request for a file."""
        self.tokens: list[str] = []
        self.pulls: dict[str, list[dict[str, Any]]] = {}
        """What Ollama says of a pull, line by line."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), name="hub", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environ(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.url, "HF_TOKEN": "", "OLLAMA_BASE_URL": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def description(self, repo: str) -> dict[str, Any]:
        siblings = [
            {
                "rfilename": name,
                "size": len(content),
                "blobId": "b" * 40,
                "lfs": {"size": len(content), "sha256": self._hash(name, content), "pointerSize": 134},
            }
            for name, content in self.repos[repo].items()
        ]
        return {
            "id": repo,
            "sha": COMMIT,
            "tags": ["gguf", "license:apache-2.0"],
            "cardData": {"license": "apache-2.0"},
            "gguf": {"total": 134_515_008, "architecture": "llama"},
            "siblings": siblings,
        }

    def _hash(self, name: str, content: bytes) -> str:
        return self.hashes.get(name) or hashlib.sha256(content).hexdigest()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.tokens.append(self.headers.get("Authorization", ""))
                path = self.path.partition("?")[0]
                if path == "/api/tags":
                    models = [{"name": f"{name}:latest", "size": 7} for name in hub.pulls]
                    self._json(200, {"models": models})
                elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)", path):
                    self._describe(match[1])
                elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
                    self._redirect(match[1], match[2])
                elif match := re.fullmatch(r"/cdn/([^/]+/[^/]+)/(.+)", path):
                    self._send(hub.repos[match[1]][match[2]])
                else:
                    self._json(404, {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                steps = hub.pulls.get(body["model"])
                if steps is None:
                    self._json(404, {"error": "pull model manifest: file does not exist"})
                    return
                lines = b"".join(json.dumps(step).encode() + b"\n" for step in steps)
                self._reply(200, lines, {"Content-Type": "application/x-ndjson"})

            def _describe(self, repo: str) -> None:
                if repo in hub.repos:
                    self._json(200, hub.description(repo) if hub.told is ... else hub.told)
                else:
                    self._json(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})

            def _redirect(self, repo: str, name: str) -> None:
                if repo in hub.gated and self.headers.get("Authorization") != "Bearer TOKEN":
                    self._json(401, {"error": "gated"}, {"X-Error-Code": "GatedRepo"})
                    return
                self._reply(302, b"", {"Location": f"/cdn/{repo}/{name}", "X-Repo-Commit": COMMIT})

            def _send(self, content: bytes) -> None:
                asked = self.headers.get("Range", "")
                hub.ranges.append(asked)
                if hub.sent is not None:
                    self.send_response(200)
                    self.send_header("Connection", "close")
                    self.end_headers()
                    with suppress(ConnectionError):
                        self.wfile.write(hub.sent)
                    self.close_connection = True
                    return
                start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
                rest = content[start:]
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(len(rest)))
                if asked:
                    self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                self.end_headers()
                if hub.cut_after is not None and hub.cuts > 0:
                    hub.cuts -= 1
                    self.wfile.write(rest[: hub.cut_after])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.close()
                    return
                self.wfile.write(rest)

            def _json(self, status: int, shape: Any, headers: dict[str, str] | None = None) -> None:
                kind = {"Content-Type": "application/json"}
                self._reply(status, json.dumps(shape).encode(), {**kind, **(headers or {})})

            def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
