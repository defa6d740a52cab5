"""Self-made certificates: a good one, and three that a client must refuse."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

from msgspec import Struct

EXPIRED = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")


class Certificates(Struct, frozen=True):
    """`authority` is what a client must trust for `good` to be good."""

    authority: Path
    good: ssl.SSLContext
    expired: ssl.SSLContext
    wrong_host: ssl.SSLContext
    self_signed: ssl.SSLContext


def make(folder: Path) -> Certificates:
    subject = ["-subj", "/CN=Trusted by this test", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    _openssl(folder, "req", "-x509", *_new("authority"), "-days", "2", *subject)
    (folder / "ca.conf").write_text(CONFIGURATION)
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01")
    return Certificates(
        authority=folder / "authority.pem",
        good=_signed(folder, "good", "DNS:localhost,IP:127.0.0.1"),
        expired=_signed(folder, "expired", "DNS:localhost,IP:127.0.0.1", *EXPIRED),
        wrong_host=_signed(folder, "wrong", "DNS:elsewhere.example"),
        self_signed=_self_signed(folder, "self"),
    )


IDENTIFIERS = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid:always\n"
"""What Python 3.13 and newer insist on in a certificate (`ssl.VERIFY_X509_STRICT`)."""
CONFIGURATION = """
[ca]
default_ca = here
[here]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
default_days = 2
policy = anything
unique_subject = no
[anything]
commonName = supplied
"""


def _signed(folder: Path, name: str, names: str, *when: str) -> ssl.SSLContext:
    _openssl(folder, "req", "-new", *_new(name), "-subj", f"/CN={name}")
    (folder / f"{name}.ext").write_text(f"{IDENTIFIERS}subjectAltName={names}\n")
    authority = ["-cert", "authority.pem", "-keyfile", "authority.key", "-extfile", f"{name}.ext"]
    _openssl(
        folder, "ca", "-batch", "-notext", "-config", "ca.conf", *authority, *when,
        "-in", f"{name}.pem", "-out", f"{name}.crt",
    )  # fmt: skip
    return _context(folder / f"{name}.crt", folder / f"{name}.key")


def _self_signed(folder: Path, name: str) -> ssl.SSLContext:
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    _openssl(folder, "req", "-x509", *_new(name), "-days", "2", *subject)
    return _context(folder / f"{name}.pem", folder / f"{name}.key")


def _new(name: str) -> list[str]:
    """A fresh key (curves are quick to make) and what is to be certified."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    return [*curve, "-keyout", f"{name}.key", "-out", f"{name}.pem"]


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
