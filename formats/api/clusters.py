"""The function behind `tfg cluster`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.support.arguments import takes
from ..cluster.address import Address
from ..cluster.survey import Survey, survey
from .prepared_sessions import names_of


@takes(address=str, reset=bool)
def describe_cluster(
    address: str,
    *,
    reset: bool = False,
    containers: Sequence[str] | str = (),
    note: Callable[[str], None] | None = None,
) -> Survey:
    """Return the devices of the TensorFlow cluster of a server, the seconds until each answers, and the silent tasks.

    `address` is grpc://HOST:PORT or grpcs://HOST:PORT?ca=FILE. `reset` first ends all sessions and drops the variables of
    `containers`, by default of the unnamed container. `note` gets remarks while the function waits for the server.
    UnavailableError where the server does not answer, InvalidArgumentError for a text that is no address.
    """
    return survey(Address.parse(address), reset=reset, containers=names_of(containers), note=note)
