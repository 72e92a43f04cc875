"""`tfg cluster`: show the devices and dead tasks of a TensorFlow cluster."""

from __future__ import annotations

import itertools
from typing import Any

import click

from .. import render
from ..helps import GroupedCommand
from ..main import DONE, REFUSED
from ..options import format_option, needing, quiet_option


@click.command(cls=GroupedCommand)
@click.argument("address")
@click.option("--reset", is_flag=True, help="Close all sessions and drop the variables of the containers.")
@click.option("--container", "containers", multiple=True, metavar="NAME",
              help="With --reset: drop the variables of this container, not of the default one; repeatable.")  # fmt: skip
@format_option()
@quiet_option
@needing("--container", "--reset")
def command(address: str, reset: bool, containers: tuple[str, ...], format_: str, quiet: bool) -> int:
    """List the devices of a server's cluster with their memory, and the dead tasks.

    ADDRESS is the HOST:PORT or grpc://HOST:PORT of any server of the cluster. The command opens a session, measures how long
    each device takes to answer, and closes the session. TensorFlow's servers have no call that lists sessions or the memory
    in use.

    \b
    tfg cluster localhost:2222
    tfg cluster grpc://localhost:2222 --reset
    """
    from ...formats.api.clusters import describe_cluster
    from ..sessions import cluster_address

    place = address if "://" in address else f"grpc://{address}"
    cluster_address(place, quiet)  # a note where others can read along
    survey = describe_cluster(
        place,
        reset=reset,
        containers=containers,
        note=lambda text: render.note(text, quiet),
    )
    if reset:
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
    units = {"memory": "memory_bytes", "answers in": "answers_in_ms"}
    made = f"a session opens in {survey.session_seconds * 1e3:.1f} ms"
    render.emit(
        "tfg.cluster/1", survey, format_, lambda: [render.Table(columns, rows, "devices", units=units), render.Text(made)]
    )
    return REFUSED if survey.silent else DONE
