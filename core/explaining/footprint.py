"""The size of a graph: parameters by purpose, and the peak memory of a run."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from ..graph.call_kinds import CallKind, CallSite, Form, call_kind, call_site
from ..graph.call_signatures import signature_of
from ..graph.graph import Function, Graph, Node, Output
from ..graph.instantiation import function_called, with_attrs
from ..graph.traversal import nodes_of_kind
from ..inference.inference import Answers, Inference, infer, unchanged
from ..planning.plan import Loop, Step
from ..support import dataclasses
from ..support.errors import TfgError
from ..types.shapes import Shape, TensorSpec
from ..types.tensors import FuncRef, Tensor
from .purposes import Purposes
from .roles import Roles

_MAX_DEPTH: Final = 100
"""How many calls deep functions are looked into."""
_MAX_INFERRED: Final = 50_000
"""Shapes are not derived in graphs of more nodes, where that would take long."""


@dataclasses.dataclass(frozen=True, slots=True)
class Holding:
    """The total of constants, or of the variables of a purpose: `trainable`, `slots` of optimizers, `other`, `unused`."""

    purpose: str
    """`trainable`, `slots`, `other`, `constants` or `unused`."""
    tensors: int
    """How many tensors there are."""
    elements: int
    """How many elements they have together."""
    bytes: int
    """The bytes of all elements."""


@dataclasses.dataclass(frozen=True, slots=True)
class PeakMemory:
    """An estimate of the peak memory of a run of `fetches` beside variables and constants, and the node at the peak.

    Each value counts from the step that makes the value to the last step that reads it. A value that shares the memory of
    another counts nothing, as a loop's result that no iteration changes, nor does a size that is known before the run. The
    values inside of a function count while its call runs, those of a branch as of the largest. Unknown dimensions are taken
    as 1; `unknown` counts values of unknown rank, all left out.
    """

    fetches: tuple[str, ...]
    """The fetches of the run."""
    bytes: int
    """The bytes of the values at the peak."""
    node: str
    """The node at the peak."""
    unknown: int
    """How many values of unknown rank are not counted."""


def holdings(graph: Graph, roles: Roles, purposes: Purposes) -> tuple[Holding, ...]:
    """Return the totals of variables and constants by purpose, without empty ones; unknown dimensions are taken as 1."""
    # The order is that of the report.
    held: dict[str, list[tuple[int, int]]] = {"trainable": [], "slots": [], "other": [], "constants": [], "unused": []}
    for variable in roles.variables.values():
        held[purposes.of(variable)].append((_elements(variable.shape), variable.dtype.size))
    constants = [node.attr_of(Tensor, "value") for node in nodes_of_kind(graph, lambda kind: kind.is_constant)]
    held["constants"] = [(tensor.size, tensor.dtype.size) for tensor in constants if tensor is not None]
    return tuple(
        Holding(purpose, len(each), sum(count for count, _ in each), sum(count * size for count, size in each))
        for purpose, each in held.items()
        if each
    )


def _elements(shape: Shape) -> int:
    """Return the number of elements if unknown dimensions are 1."""
    return math.prod(dim if isinstance(dim, int) else 1 for dim in shape.dims or ())


def inferred(graph: Graph) -> Inference | None:
    """Return the shapes that follow from the inputs'; None for very many nodes, and if `tfg check` says why not."""
    if len(graph) > _MAX_INFERRED:
        return None
    try:
        return infer(graph)
    except TfgError:
        return None


def peak_memory(graph: Graph, fetches: Sequence[str], inference: Inference) -> PeakMemory:
    """Return the estimate for a run of `fetches`."""
    from ..planning.planner import compile_plan  # lazy: most facts need no plan

    plan = compile_plan(graph, [graph.fetch(name) for name in fetches])
    walk = _Walk(inference, graph.functions)
    peak, node = walk.steps(plan.steps)
    return PeakMemory(tuple(fetches), peak, node, walk.unknown)


class _Walk:
    """A walk through steps in order that adds up the live values."""

    def __init__(self, inference: Inference, functions: Mapping[str, Function]) -> None:
        self._inference = inference
        self._functions = functions
        self._kinds: dict[str, CallKind | None] = {}
        self._bytes: dict[int, tuple[TensorSpec, int]] = {}
        """The bytes of values by the identities of their specs, which are kept so that these stay."""
        self._peaks: dict[str, int] = {}
        """The peaks inside of functions, each as of its first call; 0 while the function is walked through."""
        self._alike: dict[Hashable, int] = {}
        """The peaks inside of calls of equal functions with equal arguments."""
        self._answers = Answers(derived=inference.cache)
        self._depth = 0
        self.unknown = 0

    def steps(self, steps: Sequence[Step]) -> tuple[int, str]:
        """Return the peak in bytes, and the node that reaches the peak."""
        alive: dict[int, int] = {}
        total, peak, place = 0, 0, ""
        for step in steps:
            inside = self._inside(step)
            # There are no sizes for a step whose results share the memory of others.
            for slot, size in zip(step.outputs, self._sizes(step)):
                # A slot may be written twice, as by the branches of a V1 conditional; the second value takes the place of the
                # first.
                total += size - alive.get(slot, 0)
                alive[slot] = size
            # The results of a call and what lives inside of it count together: the call ends when its results are there.
            if total + inside > peak:
                peak, place = total + inside, step.node.name
            for slot in step.released:
                total -= alive.pop(slot, 0)
        return peak, place

    def _inside(self, step: Step) -> int:
        """Return the peak of what runs inside of a step: the parts of a V1 loop, or the functions of a call."""
        if isinstance(step, Loop):
            return max(self.steps(part)[0] for part in (step.head, step.body, step.tail))
        kind = self._kind(step.node)
        if kind is None or kind.counters or kind.form is Form.GRADIENT:
            return 0
        values = step.node.outputs() if kind.is_loop else kind.arguments(step.node.inputs)
        specs = [self._inference.specs[value] for value in values]
        return max(
            (self._called(reference, specs, call_site(step.node)) for reference in kind.references(step.node)), default=0
        )

    def _kind(self, node: Node) -> CallKind | None:
        """Return the kind of a node's call, which follows from its op."""
        op = node.op
        if op not in self._kinds:
            self._kinds[op] = call_kind(self._functions, node)
        return self._kinds[op]

    def _called(self, reference: FuncRef, specs: Sequence[TensorSpec], site: CallSite) -> int:
        """Return the peak inside of a function."""
        from ..planning.planner import plan_of_function  # lazy, as in `peak_memory`

        function = function_called(self._functions, reference.name)
        if function is None or len(function.pattern.args) != len(specs) or self._depth >= _MAX_DEPTH:
            return 0
        key = function.pattern, repr(reference.attrs), site, signature_of(specs)[0]
        if reference.name not in self._peaks and key in self._alike:
            self._peaks[reference.name] = self._alike[key]
        elif reference.name not in self._peaks:
            # Before the walk, so that a function that calls itself ends there.
            self._peaks[reference.name] = 0
            function = with_attrs(function.pattern, reference)
            arguments = dict(zip((arg.output() for arg in function.args), specs))
            # The walk inside needs the specs of the body; afterwards those of the caller are restored.
            outer, self._inference = self._inference, infer(function.body, arguments, self._functions, self._answers)
            self._depth += 1
            self._peaks[reference.name] = self._alike[key] = self.steps(plan_of_function(function, site).steps)[0]
            self._depth -= 1
            self._inference = outer
        return self._peaks[reference.name]

    def _sizes(self, step: Step) -> list[int]:
        """Return the bytes of each result that has memory of the step's own."""
        # A read is the memory of the variable, which is counted apart, as a constant is.
        node = step.node
        if step.is_view or node.is_constant or node.is_variable_read or isinstance(step, Loop):
            return []
        if self._kind(node) is None:
            return [self._size(value) for value in node.outputs()]
        kept = self._kept(node)
        return [0 if index in kept else self._size(value) for index, value in enumerate(node.outputs())]

    def _kept(self, node: Node) -> set[int]:
        """Return the results of a loop that are values from before it, such as the weights of a recurrent layer."""
        kind = self._kind(node)
        body = function_called(self._functions, node.attr("body").name) if kind is not None and kind.is_loop else None
        if body is None:
            return set()
        same = unchanged(body)
        # The body of a For takes the number of the iteration before the variables of the loop.
        return {index for index, arg in enumerate(body.args[len(body.args) - len(body.results) :]) if arg in same}

    def _size(self, value: Output) -> int:
        spec = self._inference.specs.get(value)
        # Nodes that are alike share their specs.
        if (known := self._bytes.get(id(spec))) is not None:
            return known[1]
        # A reference is the memory of a variable, and a handle points to it.
        if spec is None or spec.dtype.is_ref or spec.handle:
            return 0
        if spec.value is not None and spec.dtype.is_integer:  # a size, known before the run
            return 0
        if spec.shape.dims is None:
            self.unknown += 1
            return 0
        self._bytes[id(spec)] = spec, _elements(spec.shape) * spec.dtype.size
        return self._bytes[id(spec)][1]
