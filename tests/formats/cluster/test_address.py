"""Addresses of servers."""

from __future__ import annotations

import pytest

from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.cluster.address import Address


def test_addresses():
    assert Address.parse("grpc://ps0.example.com:2222") == Address("ps0.example.com", 2222)
    secure = Address.parse("grpcs://[::1]:443?ca=a/b.pem&cert=c.pem&key=k.pem")
    assert secure == Address("::1", 443, True, "a/b.pem", "c.pem", "k.pem")
    assert (secure.target, str(secure)) == ("[::1]:443", "grpcs://[::1]:443")


NONE = (
    "grpc://:1 grpc://a grpc://a:b grpc://a:99999 http://a:1 a:1 grpc://a:1/x grpc://u@a:1 grpc://a:1?ca=x "
    "grpcs://a:1?cert=x grpcs://a:1?x=y grpc://[::1:2"
)
LOOPBACK = {"localhost": True, "127.8.0.1": True, "[::1]": True, "10.0.0.1": False, "ps0": False}


@pytest.mark.parametrize("text", NONE.split())
def test_what_is_no_address(text):
    with pytest.raises(InvalidArgumentError):
        Address.parse(text)


@pytest.mark.parametrize(("host", "expected"), LOOPBACK.items())
def test_what_stays_on_this_machine(host, expected):
    assert Address.parse(f"grpc://{host}:1").is_loopback is expected
