"""Fusion of a convolution with a Pad before: the convolution pads its images with zeros by itself, without a copy."""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from ...inference.binding import with_attrs
from ...planning.plan import Step, on_own_slots
from ...registry.op_facts import has_fact
from ...registry.registry import blockwise_way
from ...support import dataclasses

_RANK: Final = 4
"""Dimensions of a batch of images."""


@dataclasses.dataclass(slots=True, eq=False)
class PadFused(Step):
    """A convolution fused with a Pad as a single step; `node` is the convolution's.

    The inputs are the images, the filters and the sizes of the Pad; `pads` are the zeros (before, after) along height and
    width. Where shapes do not fit, `body` runs: the steps on `slots` slots of their own, the inputs first; `steps` are the
    same steps as in the plan.
    """

    pads: tuple[tuple[int, int], ...] = ()
    body: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    slots: int = 0

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the fused convolution that differ from the node's."""
        return {"padding": "EXPLICIT", "explicit_paddings": (0, 0, *self.pads[0], *self.pads[1], 0, 0)}

    def fits(self, shape: tuple[int, ...], window: Sequence[int]) -> bool:
        """True for images of which the unfused steps would make the same result."""
        if not len(shape) == len(window) == _RANK:
            return False
        return all(size + sum(pair) >= places for size, pair, places in zip(shape[1:], self.pads, window))


class PadFusedCall:
    """The call of a fused convolution; the call takes the keywords of the kernel's epilogue.

    `kernel` is the convolution's, a functools.partial with its attributes; `run_body` runs the steps by their own kernels
    on a list of slots.
    """

    def __init__(self, step: PadFused, kernel: Any, run_body: Callable[[list[Any]], None]) -> None:
        self.step = step
        self.keywords = with_attrs(kernel.keywords, step.attrs)
        self.kernel = kernel
        self.run_body = run_body

    def __call__(
        self, x: Any, filters: Any, *others: Any, epilogue: Any = None, bias: Any = None, producer: Any = None
    ) -> Any:
        if self.step.fits(x.shape, filters.shape):
            options = {"epilogue": epilogue, "bias": bias, "producer": producer}
            return self.kernel(x, filters, **self.keywords, **{k: v for k, v in options.items() if v is not None})
        images = x if producer is None else producer.whole()
        return _finished(self._by_steps(images, filters, *others), epilogue, bias)

    def _by_steps(self, *inputs: Any) -> Any:
        slots = [*inputs, *[None] * (self.step.slots - len(inputs))]
        self.run_body(slots)
        return slots[self.step.body[-1].outputs[0]]


def _finished(result: Any, epilogue: Any, bias: Any) -> Any:
    if bias is not None:
        result = result + bias
    finish = None if epilogue is None else epilogue(result)
    if finish is not None:
        finish(slice(0, result.size // max(result.shape[-1], 1)), slice(0, result.shape[-1]))
    return result


def with_pad_fusions(steps: Sequence[Step], fetched: Collection[int]) -> list[Step]:
    """Return the steps, with convolutions and the Pads before them fused."""
    if not any(map(_takes_pads, steps)):
        return list(steps)
    made_by = {slot: step for step in steps for slot in step.outputs}
    readers: dict[int, set[int]] = collections.defaultdict(set)
    for step in steps:
        for slot in (*step.inputs, *step.controls):
            readers[slot].add(id(step))
    fusions = {id(step): fused for step in steps if (fused := _fused(step, made_by)) is not None}
    pads = [fused.steps[0] for fused in fusions.values()]
    needless = {id(pad) for pad in pads if pad.outputs[0] not in fetched and readers[pad.outputs[0]] <= fusions.keys()}
    return [fusions.get(id(step), step) for step in steps if id(step) not in needless]


def _fused(step: Step, made_by: dict[int, Step]) -> PadFused | None:
    """Return a convolution without padding fused with the Pad of its images; None without a Pad, and for other steps."""
    if not _takes_pads(step) or step.node.attr("padding") != b"VALID":
        return None
    pad = made_by.get(step.inputs[0])
    if pad is None or not has_fact(pad.node.op, "zero_padding") or not _is_step(pad):
        return None
    images, filters = pad.inputs[0], step.inputs[1]
    sizes = made_by.get(pad.inputs[1])
    pairs = sizes.node.attr("value").numpy() if sizes is not None and sizes.node.is_constant else None
    if filters in (images, *pad.outputs) or pairs is None or len(pairs) != _RANK or pairs.min() < 0 or pairs[[0, -1]].any():
        return None
    inputs, body, local = on_own_slots((pad, step), (images, filters))
    pads = tuple((int(before), int(after)) for before, after in pairs[1:-1])
    return PadFused(step.node, inputs, step.outputs, pads=pads, body=body, steps=(pad, step), slots=len(local))


def _takes_pads(step: Step) -> bool:
    """True for a convolution with an attribute for explicit padding."""
    definition = step.node.op_def
    is_able = definition is not None and "explicit_paddings" in definition.attrs
    return is_able and blockwise_way(step.node.op) is not None and _is_step(step)


def _is_step(step: Step) -> bool:
    return type(step) is Step and len(step.outputs) == 1 and is_plain(step)


def is_plain(step: Step) -> bool:
    """True for a step that takes and returns values alone, with channels last, outside training."""
    if not step.takes_values_alone:
        return False
    definition = step.node.op_def
    if definition is not None and _ASKED.isdisjoint(definition.attrs):  # most nodes; saves making their defaults
        return True
    return not step.node.attr("is_training") and step.node.attr("data_format", b"NHWC") in (b"NHWC", b"NDHWC")


_ASKED: Final = frozenset(("is_training", "data_format"))
