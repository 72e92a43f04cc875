"""The ways of a codec: that of the extra `tfg[fast]`, and that without."""

from __future__ import annotations

import pytest

from tfg.core.codecs import crc32c, snappy


@pytest.fixture(params=["plain", "fast"])
def way(request, monkeypatch):
    """Run a test with the packages of the extra, where they are installed, and without."""
    if request.param == "fast":
        for package in ("google_crc32c", "cramjam"):
            pytest.importorskip(package, reason="the extra tfg[fast] is not installed")
        assert crc32c.c_extension() is not None and snappy.c_extension() is not None
    else:
        monkeypatch.setattr(crc32c, "c_extension", lambda: None)
        monkeypatch.setattr(snappy, "c_extension", lambda: None)
