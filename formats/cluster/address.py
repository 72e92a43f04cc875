"""Where the server of a cluster is: grpc://HOST:PORT, or grpcs://HOST:PORT if a proxy speaks TLS."""

from __future__ import annotations

import ipaddress
import urllib.parse
from typing import Final

from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError
from ...core.support.untrusted import refuse_network

_FILES: Final = ("ca", "cert", "key")
SCHEMES: Final = ("grpc", "grpcs")


@dataclasses.dataclass(frozen=True, slots=True)
class Address:
    """A server by host and port; the files in PEM format are for TLS.

    `ca` are the certificates to trust instead of the system's, `cert` and `key` identify the client.
    """

    host: str
    port: int
    is_secure: bool = False
    ca: str | None = None
    cert: str | None = None
    key: str | None = None

    @staticmethod
    def parse(text: str) -> Address:
        """Parse grpc://HOST:PORT or grpcs://HOST:PORT?ca=FILE&cert=FILE&key=FILE; InvalidArgumentError for any other text."""
        # This check comes before any look-up: for the file of a stranger, not even a host name goes to a name server.
        refuse_network(text)
        try:
            parts = urllib.parse.urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise InvalidArgumentError(f"'{text}' is not an address: {error}") from None
        files = dict(urllib.parse.parse_qsl(parts.query))
        is_secure = parts.scheme == "grpcs"
        # TensorFlow's servers take no user and no password, and one in an address would be shown in messages.
        rest = parts.path.strip("/") or parts.fragment or parts.username
        if parts.scheme not in SCHEMES or not host or not port or rest or (files and not is_secure):
            raise InvalidArgumentError(
                f"'{text}' is not an address", hint="write grpc://HOST:PORT or grpcs://HOST:PORT?ca=FILE"
            )
        # A certificate without its key, and a key alone, identify nobody.
        if set(files) - set(_FILES) or ("cert" in files) != ("key" in files):
            raise InvalidArgumentError(f"'{text}': the options after ? are ca=FILE, and cert=FILE&key=FILE together")
        return Address(host, port, is_secure, **files)

    @property
    def target(self) -> str:
        """Return HOST:PORT in gRPC's form."""
        # An address of IPv6 has colons itself, and stands in brackets before the port.
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if nothing leaves this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{'grpcs' if self.is_secure else 'grpc'}://{self.target}"
