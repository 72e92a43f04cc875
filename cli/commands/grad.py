"""`tfg grad`: add gradient nodes to a graph, or evaluate derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..helps import GroupedCommand
from ..options import (
    GraphReader,
    excluding,
    feed_option,
    format_option,
    gathered,
    graph_options,
    graph_output_options,
    needing,
    quiet_option,
)
from ..sessions import SessionOptions, session_options_for
from ..tolerance import tolerance_option

if TYPE_CHECKING:
    from ..jobs.grad_job import GradOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.option("--y", "ys", multiple=True, metavar="TENSOR", help="Tensor to differentiate; repeatable.")
@click.option("--x", "xs", multiple=True, metavar="TENSOR", help="Tensor to differentiate with respect to; repeatable.")
@click.option("--grad-y", "grad_ys", multiple=True, metavar="TENSOR", help="Incoming gradients of the ys, in order.")
@click.option("--stop", "stops", multiple=True, metavar="TENSOR", help="Stop gradients at this tensor; repeatable.")
@click.option("--colocate", is_flag=True, help="Put gradient nodes on the devices of their forward nodes.")
@graph_output_options("Write the graph with the gradient nodes here; - is standard output.")
@click.option("--check", is_flag=True, help="Compare with central differences; exit with 3 if they differ.")
@tolerance_option("--check", "1e-4, or 1e-3 in single precision")
@click.option("--jacobian", is_flag=True, help="Print all derivatives of y with respect to x.")
@click.option(
    "--mode",
    type=click.Choice(("auto", "forward", "reverse")),
    default="auto",
    help="For --jacobian: the mode of differentiation.",
)
@click.option("--vjp", metavar="VALUE", help="Print v^T J for this v, shaped like y.")
@click.option("--jvp", metavar="VALUE", help="Print J v for this v, shaped like x.")
@click.option("--hessian-vector", metavar="VALUE", help="Print H v for this v, shaped like x.")
@feed_option
@session_options_for(
    "--check", "--jacobian", "--vjp", "--jvp", "--hessian-vector", "--feed", "--init", "--state", start=True, cluster=True
)
@format_option()
@quiet_option
@graph_options
@gathered("grad_job.GradOptions")
@needing("--colocate", "--output")
@needing("--tolerance", "--check")
@needing("--mode", "--jacobian")
@excluding("--grad-y --stop --output", "--check --jacobian --vjp --jvp --hessian-vector")
@excluding("--jacobian --vjp --jvp --hessian-vector", "--check")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: GradOptions) -> int:
    """Add gradient nodes to GRAPH under gradients/, or evaluate derivatives of y with respect to x.

    If --feed, --init or --state give values, the command prints the gradient at these values.

    y may be any tensor, not only a loss; several ys share a single backward pass. VALUE is as in --feed.

    \b
    tfg grad model.pb --y loss --x w --x b -o with_gradients.pb
    tfg grad model.pb --y logits --x image --feed image=@x.npy --jacobian --format json
    tfg grad model.pb --y loss --x w --feed x='normal(8,4)' --init --check
    """
    from ..jobs.grad_job import GradJob

    return GradJob(reader.load(graph), session, options).run()
