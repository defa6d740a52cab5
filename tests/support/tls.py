"""TLS for servers of tests: a certificate, and a proxy before a server that speaks none."""

from __future__ import annotations

import datetime
import ipaddress
import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM


class Certificate:
    """Signed by itself, for these names. Whoever is to trust it is given `path` as a root."""

    def __init__(self, folder: Path, names: Sequence[str] = ("127.0.0.1", "localhost")) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server of the tests")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([*map(_name, names)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        self.path, self.key = folder / "server.crt", folder / "server.key"
        self.path.write_bytes(certificate.public_bytes(PEM))
        self.key.write_bytes(
            key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class TlsProxy:
    """Speaks TLS to its clients and plainly to the server. For PostgreSQL a client asks for TLS first, and is
    told S."""

    def __init__(
        self, certificate: Certificate, connect: Callable[[], socket.socket], *, asked: bool = False
    ) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.path, certificate.key)
        self._connect = connect
        self._asked = asked
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="TLS proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(caller,), daemon=True).start()

    def _pass(self, caller: socket.socket) -> None:
        with suppress(OSError, ValueError), caller:
            if self._asked and len(caller.recv(8)) == 8:
                caller.sendall(b"S")
            with self._context.wrap_socket(caller, server_side=True) as client, self._connect() as server:
                while True:
                    waiting = [client] if client.pending() else select.select([client, server], [], [])[0]
                    for end in waiting:
                        data = end.recv(65536)
                        if not data:
                            return
                        (server if end is client else client).sendall(data)
