"""`tfg cluster`: show the devices and dead tasks of a TensorFlow cluster."""

from __future__ import annotations

import itertools
from typing import Any

from .. import render
from ..main import DONE, REFUSED
from ..options import format_option, quiet_option
from ..requests import argument, command_of, option, request


@request
class ClusterOptions:
    """List the devices of a server's cluster with their memory, and the dead tasks.

    ADDRESS is the HOST:PORT or grpc://HOST:PORT of any server of the cluster. The command opens a session, measures how long
    each device takes to answer, and closes the session. TensorFlow's servers have no call that lists sessions or the memory
    in use.

    \b
    tfg cluster localhost:2222
    tfg cluster grpc://localhost:2222 --reset
    """

    address: str = argument()
    reset: bool = option(help="Close all sessions and drop the variables of the containers.")
    containers: tuple[str, ...] = option(
        "--container",
        metavar="NAME",
        needs="--reset",
        help="With --reset: drop the variables of this container, not of the default one; repeatable.",
    )
    format_: str = format_option()
    quiet: bool = quiet_option()


def _run(options: ClusterOptions) -> int:
    """Describe the cluster, and reset it if the options ask for that."""
    from ...formats.cluster.survey import describe_cluster
    from ..sessions import cluster_address

    quiet = options.quiet
    # TensorFlow's own tools write HOST:PORT.
    place = options.address if "://" in options.address else f"grpc://{options.address}"
    cluster_address(place, quiet)  # a note where others can read along
    survey = describe_cluster(place, reset=options.reset, containers=options.containers, note=render.noting(quiet))
    if options.reset:
        render.note("closed all sessions and dropped the variables", quiet)
    columns = ("device", "kind", "memory", "answers in", "master")
    rows: list[tuple[Any, ...]] = [
        (
            d.name,
            d.kind,
            render.Quantity(d.memory, f"{d.memory / 2**20:,.0f} MiB"),
            render.Quantity(None, "not asked")
            if seconds is None
            else render.Quantity(seconds * 1e3, f"{seconds * 1e3:.1f} ms"),
            "yes" if d.is_of_master else "",
        )
        for d, seconds in itertools.zip_longest(survey.devices, survey.seconds)
    ]
    rows += [(task, "", "", render.Quantity(None, "no answer"), "") for task in survey.silent]
    # The cells have units, so that CSV has numbers in the unit of its header.
    units = {"memory": "memory_bytes", "answers in": "answers_in_ms"}
    made = f"a session opens in {survey.session_seconds * 1e3:.1f} ms"
    render.emit(
        "tfg.cluster/1",
        survey,
        options.format_,
        lambda: [render.Table(columns, rows, "devices", units=units), render.Text(made)],
    )
    # A script learns of a dead task by the exit code, as of any other failure.
    return REFUSED if survey.silent else DONE


command = command_of(ClusterOptions, _run)
