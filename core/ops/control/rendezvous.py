"""Ops at the edges between devices; the parts of a divided graph hold them."""

from __future__ import annotations

from ...graph.send_recv import RECEIVES, SENDS
from ...registry.registry import kernel, not_differentiable, shape, zero_flops
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ..shared.plain_shapes import no_outputs_shape, unknown_shape

not_differentiable(*SENDS, *RECEIVES)

zero_flops(*SENDS, *RECEIVES)


@kernel(*SENDS)
def send(value: Array) -> None:
    """Do nothing: in a single graph the receiver takes the value from its producer."""


shape(*SENDS)(no_outputs_shape)


@kernel(*RECEIVES)
def receive(ctx: KernelContext, *, tensor_name: str, send_device: str) -> Result:
    problem = f"no node of this graph sends '{tensor_name}' from {send_device}"
    raise InvalidArgumentError(f"{problem}: feed '{ctx.name}'")


shape(*RECEIVES)(unknown_shape)
