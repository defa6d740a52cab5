"""What MOOT_DEBUG=1 prints, and what it does not."""

from __future__ import annotations

import socketserver
import threading
from pathlib import Path

from tests.cli.terminal import environment, piped

WORDS = b'no entry for alice of db-17, password "s3c-ret"'


class Refusing(socketserver.BaseRequestHandler):
    """A PostgreSQL that refuses everyone, and says too much."""

    def handle(self) -> None:
        self.request.recv(4096)
        fields = b"SFATAL\0C28P01\0M" + WORDS + b"\0DKey (token)=(hidden-in-a-row) exists.\0\0"
        self.request.sendall(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields)


def test_the_words_of_a_database_are_redacted(tmp_path: Path) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        address = f"postgresql://alice:s3c-ret@127.0.0.1:{port}/moot?sslmode=disable"
        env = {**environment(tmp_path / "data"), "MOOT_STORE": address, "MOOT_DEBUG": "1"}
        ended = piped(env, "list")
        server.shutdown()
    assert ended.returncode == 1
    assert "no entry for … of db-17" in ended.stderr
    for secret in ("alice", "s3c-ret", "hidden-in-a-row"):
        assert secret not in ended.stdout + ended.stderr
