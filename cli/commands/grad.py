"""`tfg grad`: add gradient nodes to a graph, or evaluate derivatives."""

from __future__ import annotations

from typing import Literal

from ..options import (
    GraphReader,
    feed_option,
    format_option,
    graph_output_option,
    pair,
    quiet_option,
    text_option,
    tolerance_option,
)
from ..requests import argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options_for


@request
class GradOptions:
    """Add gradient nodes to GRAPH under gradients/, or evaluate derivatives of y with respect to x.

    If --feed, --init or --state give values, the command prints the gradient at these values.

    y may be any tensor, not only a loss; several ys share a single backward pass. VALUE is as in --feed.

    \b
    tfg grad model.pb --y loss --x w --x b -o with_gradients.pb
    tfg grad model.pb --y logits --x image --feed image=@x.npy --jacobian --format json
    tfg grad model.pb --y loss --x w --feed x='normal(8,4)' --init --check
    tfg grad model.pb --y logits --x image --feed image=@x.npy --override Relu=guided
    """

    graph: str = argument()
    ys: tuple[str, ...] = option("--y", metavar="TENSOR", help="Tensor to differentiate; repeatable.")
    xs: tuple[str, ...] = option("--x", metavar="TENSOR", help="Tensor to differentiate with respect to; repeatable.")
    # For graphs that are built; an evaluation takes its vector by --vjp.
    grad_ys: tuple[str, ...] = option(
        "--grad-y",
        metavar="TENSOR",
        excludes="--check --jacobian --vjp --jvp --hessian-vector",
        help="Incoming gradients of the ys, in order.",
    )
    stops: tuple[str, ...] = option(
        "--stop",
        metavar="TENSOR",
        excludes="--check --jacobian --vjp --jvp --hessian-vector",
        help="Stop gradients at this tensor; repeatable.",
    )
    overrides: tuple[tuple[str, str], ...] = option(
        "--override",
        type=pair("OP", "GRADIENT"),
        help="Let all nodes of OP have another gradient: guided, deconv, straight_through, that of another op, or one of "
        "--op-library; repeatable.",
    )
    colocate: bool = option(needs="--output", help="Put gradient nodes on the devices of their forward nodes.")
    output: str | None = graph_output_option(
        "Write the graph with the gradient nodes here; - is standard output.",
        excludes="--check --jacobian --vjp --jvp --hessian-vector",
    )
    text: bool = text_option()
    check: bool = option(help="Compare with central differences; exit with 3 if they differ.")
    tolerance: float | None = tolerance_option("--check", "1e-4, or 1e-3 in single precision", needs="--check")
    jacobian: bool = option(excludes="--check", help="Print all derivatives of y with respect to x.")
    # `auto` takes the mode with fewer passes, by the numbers of elements.
    mode: Literal["auto", "forward", "reverse"] = option(
        default="auto", show_default=False, needs="--jacobian", help="For --jacobian: the mode of differentiation."
    )
    vjp: str | None = option(metavar="VALUE", excludes="--check", help="Print v^T J for this v, shaped like y.")
    jvp: str | None = option(metavar="VALUE", excludes="--check", help="Print J v for this v, shaped like x.")
    hessian_vector: str | None = option(metavar="VALUE", excludes="--check", help="Print H v for this v, shaped like x.")
    feeds: tuple[tuple[str, str], ...] = feed_option()
    # Gradients that are only built need no session, so its options need one of these.
    session: SessionOptions = part(
        session_options_for(
            "--check",
            "--jacobian",
            "--vjp",
            "--jvp",
            "--hessian-vector",
            "--feed",
            "--init",
            "--state",
            start=True,
            cluster=True,
        )
    )
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)

    @property
    def products(self) -> dict[str, str]:
        """The products of the Jacobian or the Hessian that are asked for, and the vectors they are taken with."""
        texts = {"vjp": self.vjp, "jvp": self.jvp, "hessian_vector": self.hessian_vector}
        return {name: text for name, text in texts.items() if text}

    @property
    def runs(self) -> bool:
        """True if derivatives are evaluated, rather than built."""
        return self.check or self.jacobian or bool(self.products)


command = command_of(GradOptions, "grad_job.run")
