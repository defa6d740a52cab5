from __future__ import annotations

import ssl

import aiohttp.connector
import pytest

from tests.faults import certificates
from tests.faults.certificates import Certificates


@pytest.fixture(scope="session")
def made_certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def trusted(made_certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> Certificates:
    """This machine trusts our authority, as it would with SSL_CERT_FILE set before the start."""
    context = ssl.create_default_context(cafile=str(made_certificates.authority))
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", context)
    return made_certificates
