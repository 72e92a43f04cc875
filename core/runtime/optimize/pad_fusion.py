"""Fusion of a convolution with the steps around that only move positions: the convolution does the moves, without a copy.

Before the convolution stand, from the outside in: zeros around the images, every d-th position put into the batch, and an
axis for images of a single spatial dimension. Behind the convolution the axis goes and the positions come back. A window
over every d-th position is a window with dilation d: `tf.nn.convolution` writes dilations so.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph.graph import Node
from ...inference.binding import with_attrs
from ...planning.plan import Step, on_own_slots
from ...registry.op_facts import has_fact
from ...registry.registry import blockwise_way

_RANK: Final = 4
"""Dimensions of a batch of images."""
_IMAGE_AXES: Final = {1: 1, 2: 2, 1 - _RANK: 1, 2 - _RANK: 2}
"""The axes of an image by the numbers that name them."""


class Along(NamedTuple):
    """The padding and dilation of a fused convolution along an axis of the input.

    `pads` are the zeros (before, after) that count in the end, `spacing` is the dilation of the window; `batch_pads` is the
    number of zeros while positions are in the batch, where sizes have to divide evenly.
    """

    pads: tuple[int, int] = (0, 0)
    spacing: int = 1
    batch_pads: int = 0

    def padded(self, before: int, after: int) -> Along:
        """Return the same window with more zeros around the input."""
        return Along((self.pads[0] + before, self.pads[1] + after), self.spacing, self.batch_pads + before + after)

    def fits(self, size: int, window: int) -> bool:
        """True where all steps would work, and a result is left."""
        return (size + self.batch_pads) % self.spacing == 0 and size + sum(self.pads) > (window - 1) * self.spacing


@dataclasses.dataclass(frozen=True, slots=True)
class PadFusion:
    """The work that a fused convolution of images (N, H, W, C) takes over: along H and W, and the place of an added axis."""

    along: tuple[Along, Along] = (Along(), Along())
    axis: int | None = None

    @property
    def rank(self) -> int:
        """The rank of the input."""
        return _RANK if self.axis is None else _RANK - 1

    @property
    def only_pads(self) -> bool:
        """True where the result is the convolution's, unchanged."""
        return self.axis is None and all(along.spacing == 1 for along in self.along)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the fused convolution that differ from the node's."""
        if self.along == (Along(), Along()):
            return {}
        pads = (0, 0, *self.along[0].pads, *self.along[1].pads, 0, 0)
        padding = {"padding": "EXPLICIT", "explicit_paddings": pads}
        return padding if self.only_pads else padding | {"dilations": (1, *(along.spacing for along in self.along), 1)}

    def fits(self, shape: tuple[int, ...], window: Sequence[int]) -> bool:
        """True for an input of which the unfused steps would make the same result."""
        if len(shape) != self.rank or len(window) != _RANK:
            return False
        sizes = self.expanded(shape)[1:-1]
        return all(along.fits(size, places) for along, size, places in zip(self.along, sizes, window))

    def expanded(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape with the added axis."""
        return shape if self.axis is None else (*shape[: self.axis], 1, *shape[self.axis :])

    def squeezed(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape without the added axis."""
        return shape if self.axis is None else shape[: self.axis] + shape[self.axis + 1 :]


@dataclasses.dataclass(slots=True, eq=False)
class PadFused(Step):
    """A convolution fused with the steps around as a single step; `node` is the convolution's.

    The inputs are the image, the filters, and the constants of the other steps. Where shapes do not fit, `body` runs: the
    steps on `slots` slots of their own, the inputs first; `steps` are the same steps as in the plan.
    """

    fusion: PadFusion = PadFusion()
    body: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    slots: int = 0


class PadFusedCall:
    """The call of a fused convolution; the call takes the keywords of the kernel's epilogue.

    `kernel` is the convolution's, a functools.partial with its attributes; `run_body` runs the steps by their own kernels
    on a list of slots.
    """

    def __init__(self, step: PadFused, kernel: Any, run_body: Callable[[list[Any]], None]) -> None:
        self.step = step
        self.fusion = step.fusion
        self.keywords = with_attrs(kernel.keywords, step.fusion.attrs)
        self.kernel = kernel
        self.run_body = run_body

    def __call__(
        self, x: Any, filters: Any, *others: Any, epilogue: Any = None, bias: Any = None, producer: Any = None
    ) -> Any:
        fusion = self.fusion
        if not fusion.fits(x.shape, filters.shape):
            images = x if producer is None else producer.whole()
            return _finished(self._by_steps(images, filters, *others), epilogue, bias)
        keywords = dict(self.keywords)
        if epilogue is not None:
            keywords["epilogue"] = lambda made: epilogue(made.reshape(fusion.squeezed(made.shape)))
        if bias is not None:
            keywords["bias"] = bias
        if producer is not None:
            keywords["producer"] = producer
        made = self.kernel(x.reshape(fusion.expanded(x.shape)), filters, **keywords)
        return made.reshape(fusion.squeezed(made.shape))

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
    """Return the steps, with convolutions and the steps around them fused."""
    search = _PadSearch(steps, fetched)
    fusions = {id(fused.steps[-1]): fused for step in steps if (fused := search.fused(step)) is not None}
    needless: set[int] = set()
    inner = {id(part) for fused in fusions.values() for part in fused.steps[:-1]}
    for step in reversed(steps):
        if id(step) in inner and search.is_read_by(step, needless | fusions.keys()):
            needless.add(id(step))
    return [fusions.get(id(step), step) for step in steps if id(step) not in needless]


class _PadSearch:
    """The search for steps around convolutions."""

    def __init__(self, steps: Sequence[Step], fetched: Collection[int]) -> None:
        self.fetched = fetched
        self.made_by = {slot: step for step in steps for slot in step.outputs}
        self.readers: dict[int, list[Step]] = collections.defaultdict(list)
        for step in steps:
            for slot in (*step.inputs, *step.controls):
                self.readers[slot].append(step)

    def is_read_by(self, step: Step, readers: Collection[int]) -> bool:
        """True for a step whose readers are all among the given steps."""
        return all(slot not in self.fetched and all(id(by) in readers for by in self.readers[slot]) for slot in step.outputs)

    def fused(self, step: Step) -> PadFused | None:
        """Return a convolution fused with the steps around; None where there are none, and for other steps."""
        if not _takes_pads(step):
            return None
        parts, fusion = [step], PadFusion()
        for layer in (self._axis, self._spacing, self._zeros):
            match = layer(step.node, parts, fusion)
            if match is not None:
                around, fusion = match
                parts = [around[0], *parts, *around[1:]]
        x, filters = parts[0].inputs[0], step.inputs[1]
        if len(parts) == 1 or filters in (x, *(slot for part in parts for slot in part.outputs)):
            return None
        inputs, body, local = on_own_slots(parts, (x, filters))
        return PadFused(step.node, inputs, parts[-1].outputs, fusion=fusion, body=body, steps=tuple(parts), slots=len(local))

    def _axis(self, node: Node, parts: Sequence[Step], fusion: PadFusion) -> _Layer | None:
        """Return the layer of an axis that is added before the convolution and removed behind."""
        before, after = self._before(parts, fact="new_axis"), self._after(parts, fact="without_axes")
        if before is None or after is None or (axis := self._constant(before.inputs[1])) is None:
            return None
        squeezed = after.node.attr("squeeze_dims")
        (place, *others) = {_IMAGE_AXES.get(n) for n in (*axis.reshape(-1).tolist(), *squeezed)}
        if place is None or others or axis.size != 1 or not squeezed or node.attr("padding") == b"EXPLICIT":
            return None
        return [before, after], dataclasses.replace(fusion, axis=place)

    def _spacing(self, node: Node, parts: Sequence[Step], fusion: PadFusion) -> _Layer | None:
        """Return the layer of positions that are put into the batch before the convolution and come back behind."""
        before, after = self._before(parts, fact="space_to_batch"), self._after(parts, fact="batch_to_space")
        if before is None or after is None or not _is_valid(node) or {*node.attr("strides"), *node.attr("dilations")} != {1}:
            return None
        blocks, pads, others, crops = (self._constant(step.inputs[i]) for step in (before, after) for i in (1, 2))
        if blocks is None or pads is None or crops is None or not np.array_equal(blocks, others):
            return None
        if not pads.shape == crops.shape == (len(blocks), 2) or min(pads.min(initial=0), crops.min(initial=0)) < 0:
            return None
        rows = [(pair - cut, block, pair.sum()) for pair, cut, block in zip(pads, crops, blocks)]
        dilations = [Along((int(net[0]), int(net[1])), int(block), int(zeros)) for net, block, zeros in rows]
        places = _places(fusion)[: len(dilations)]
        if len(places) < len(dilations) or any(min(*along.pads, along.spacing - 1) < 0 for along in dilations):
            return None
        return [before, after], _with_along(fusion, dict(zip(places, dilations)))

    def _zeros(self, node: Node, parts: Sequence[Step], fusion: PadFusion) -> _Layer | None:
        """Return the layer of zeros around the images."""
        before = self._before(parts, fact="zero_padding")
        pairs = None if before is None or not _is_valid(node) else self._constant(before.inputs[1])
        if before is None or pairs is None or len(pairs) != fusion.rank or pairs.min() < 0 or pairs[[0, -1]].any():
            return None
        padded = {place: fusion.along[place].padded(*map(int, pair)) for place, pair in zip(_places(fusion), pairs[1:-1])}
        return [before], _with_along(fusion, padded)

    def _before(self, parts: Sequence[Step], fact: str) -> Step | None:
        """Return the step that makes the parts' input, where the step's op has the fact."""
        maker = self.made_by.get(parts[0].inputs[0])
        return maker if maker is not None and has_fact(maker.node.op, fact) and _is_step(maker) else None

    def _after(self, parts: Sequence[Step], fact: str) -> Step | None:
        """Return the only step that reads the parts' result, where the step's op has the fact."""
        (slot,) = parts[-1].outputs
        readers = self.readers[slot]
        if slot in self.fetched or len(readers) != 1 or slot not in readers[0].inputs[:1]:
            return None
        return readers[0] if has_fact(readers[0].node.op, fact) and _is_step(readers[0]) else None

    def _constant(self, slot: int) -> Any:
        """Return the constant numbers of a slot as the graph has them; else None."""
        maker = self.made_by.get(slot)
        return maker.node.attr("value").numpy() if maker is not None and maker.node.is_constant else None


_Layer = tuple[list[Step], PadFusion]
"""(the steps before and behind, the fusion with them)."""


def _takes_pads(step: Step) -> bool:
    """True for a convolution with attributes for explicit padding and dilation."""
    definition = step.node.op_def
    is_able = definition is not None and "explicit_paddings" in definition.attrs and "dilations" in definition.attrs
    return is_able and blockwise_way(step.node.op) is not None and _is_step(step)


def _is_valid(node: Node) -> bool:
    return bool(node.attr("padding") == b"VALID")


def _is_step(step: Step) -> bool:
    return type(step) is Step and len(step.outputs) == 1 and is_plain(step)


def _places(fusion: PadFusion) -> list[int]:
    """Return the places in `along` of the input's axes."""
    return [place for place in range(len(fusion.along)) if place + 1 != fusion.axis]


def _with_along(fusion: PadFusion, changes: Mapping[int, Along]) -> PadFusion:
    first, second = (changes.get(place, along) for place, along in enumerate(fusion.along))
    return dataclasses.replace(fusion, along=(first, second))


def is_plain(step: Step) -> bool:
    """True for a step that takes and returns values alone, with channels last, outside training."""
    if not step.takes_values_alone:
        return False
    definition = step.node.op_def
    if definition is not None and _ASKED.isdisjoint(definition.attrs):  # most nodes; saves making their defaults
        return True
    return not step.node.attr("is_training") and step.node.attr("data_format", b"NHWC") in (b"NHWC", b"NDHWC")


_ASKED: Final = frozenset(("is_training", "data_format"))
