"""OpenVINO as an engine: inference on CPUs."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Final

import numpy as np

from ..graph.callers import function_references
from ..graph.frames import is_transparent, source_of
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_placeholder
from ..graph.traversal import trail_end
from ..numerics.work_division import is_undivided
from ..registry.registry import lowering
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.trials import cores
from ..types import dtypes
from ..types.arrays import Array
from ..types.shapes import UNKNOWN, Shape
from . import reasons
from .lowerable import UnsupportedOps, is_empty_constant
from .protocol import Cluster, Compiled, Declined, UnsupportedNodes
from .reasons import Reason

_PRECISIONS: Final = ("f32", "bf16", "f16")
_CAPABILITIES: Final = {"bf16": "BF16", "f16": "FP16"}
"""The CPU plugin's names of types of 16 bits that the processor computes faster in."""
_TYPES: Final = (dtypes.float32, dtypes.int32, dtypes.bool_)
"""The dtypes of the CPU plugin's arithmetic: other dtypes change silently: doubles become floats, int64 becomes int32, and
narrow integers saturate.
"""
_TOLD: Final = 1024
"""The largest number of elements of a constant that may be a shape, an axis or a list of indices and so decide a
translation. Larger constants are weights and stay out of the file for questions of translation.
"""
_UNTRANSLATED: Final = ("FrameworkNode", "TFFrameworkNode")


class OpenVino:
    """The OpenVINO engine. `precision` is the type of arithmetic with floats: f32, or bf16 or f16 on processors with that
    type.
    """

    name = "openvino"
    smallest = 4
    largest = 1000  # the time grows faster than the number: 1,000 sums in a row take 2 s to compile, 2,000 take 14
    needs_elements = True  # it crashes on others
    takes_variables = False
    takes_control_flow = False

    def __init__(self, precision: str | None = None) -> None:
        precision = precision or "f32"
        if precision not in _PRECISIONS:
            raise InvalidArgumentError(f"precision '{precision}' is not one of {', '.join(_PRECISIONS)}")
        self.precision = precision
        self.note = f"OpenVINO {ov.get_version()}, floats computed in {precision}"
        # Left alone, it would compute in bfloat16 wherever the processor can.
        self.settings = {"INFERENCE_PRECISION_HINT": precision}
        self.runs_at_once = cores()
        self.core = ov.Core()
        self.frontend = frontends.FrontEndManager().load_by_framework("tf")
        self.unsupported = UnsupportedOps.of(self.name)

    @functools.cached_property
    def faster(self) -> Sequence[OpenVino]:
        """Return engines for the types of 16 bits that the processor has instructions for."""
        able = self.core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") if self.precision == "f32" else ()
        return [OpenVino(precision) for precision, capability in _CAPABILITIES.items() if capability in able]

    def refuses(self, nodes: Sequence[Node], graph: Graph) -> Mapping[Node, Reason]:
        """Return nodes without tensors in OpenVINO, nodes in the table of unsupported ops, and nodes that the frontend does
        not translate.
        """
        refused = {node: reason for node in nodes if (reason := self._refusal(node)) is not None}
        rest = [node for node in nodes if node not in refused]
        return {**refused, **self._untranslated(rest)}

    def _refusal(self, node: Node) -> Reason | None:
        types = [*node.output_dtypes, *(value.dtype for value in node.inputs if not _is_small(value))]
        other = [dtype for dtype in types if dtype not in _TYPES]
        if other:
            return reasons.DTYPE_OF_OPENVINO.of(other[0])
        if next(function_references(node), None) is not None:
            return reasons.OWN_CALLS
        # A shape or an axis may be empty, as it is read while compiling.
        if any(is_empty_constant(value) for place, value in enumerate(node.inputs) if place not in self.static_inputs(node)):
            return reasons.EMPTY
        return self.unsupported.reason(node)

    def _untranslated(self, nodes: Sequence[Node]) -> Mapping[Node, Reason]:
        """Return the nodes that a partial conversion by the frontend leaves untranslated."""
        if not nodes:
            return {}
        # The frontend is asked about all nodes in one file, each cut off from its neighbours, so that a node that does not
        # translate takes no other along.
        graph, names = _loose_graph(nodes)
        model = input_model(self.frontend, graph)
        try:
            converted = self.frontend.convert_partially(model)
        except RuntimeError:  # one of the nodes does more harm than to stay as it is
            if len(nodes) == 1:
                return {nodes[0]: reasons.FAILS_TO_TRANSLATE}
            # Halving finds a few harmful nodes among thousands with few conversions.
            half = len(nodes) // 2
            return {**self._untranslated(nodes[:half]), **self._untranslated(nodes[half:])}
        left = _left_over(converted)
        return {names[name]: reasons.UNTRANSLATED for name in left if name in names}

    def static_inputs(self, node: Node) -> Sequence[int]:
        """Return the inputs that shapes follow from, to know the shapes and that no tensor is empty."""
        rule = lowering(node.op)
        return () if rule is None else [place % len(node.inputs) for place in rule.static]

    def compile(self, cluster: Cluster, values: Sequence[Array]) -> Compiled:
        """Compile the cluster for inputs of these shapes."""
        graph, inputs, outputs = cluster.as_graph(values)
        _require_no_nan(node.constant_value() for node in graph if node.is_constant)
        model = self._model(graph, inputs, outputs)
        try:
            converted = self.frontend.convert(model)
        # The message names no node: a second, partial conversion does.
        except RuntimeError as error:
            named = self._unsupported_nodes(graph, inputs, outputs)
            raise (error if named is None else named) from None
        return _Model(functools.partial(self._compiled, converted), inputs, outputs)

    def _compiled(self, model: Any, side_by_side: bool) -> Any:
        """Return a model compiled for runs that take all cores, or for several runs at once, each in a core."""
        # A run that is divided waits for the slowest core at each layer, and OpenVINO's threads spin meanwhile: MobileNetV2
        # takes 1.7 times the CPU time of a run in a single core on two busy cores.
        count = self.runs_at_once
        several = {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": count, "INFERENCE_NUM_THREADS": count}
        hints = several if side_by_side else {"PERFORMANCE_HINT": "LATENCY"}
        return self.core.compile_model(model, "CPU", self.settings | hints)

    def _model(self, graph: Graph, inputs: Sequence[Output], outputs: Sequence[Output]) -> Any:
        """Return the frontend's model from inputs to outputs."""
        model = input_model(self.frontend, graph)
        # The inputs and outputs are named in the order of the arguments; the frontend's own order may be another.
        model.override_all_inputs([place_of(model, value.node.name, value.index) for value in inputs])
        model.override_all_outputs([place_of(model, value.node.name, value.index) for value in outputs])
        return model

    def _unsupported_nodes(self, graph: Graph, inputs: Sequence[Output], outputs: Sequence[Output]) -> UnsupportedNodes | None:
        """Return an error with the nodes that the frontend does not convert for these shapes; None where no node is found."""
        model = self._model(graph, inputs, outputs)
        try:
            left = _left_over(self.frontend.convert_partially(model)) & {node.name for node in graph}
        except RuntimeError:
            return None
        return UnsupportedNodes(dict.fromkeys(sorted(left), reasons.UNTRANSLATED_SHAPES)) if left else None


def _left_over(converted: Any) -> set[str]:
    """Return the names of the nodes that a model holds unconverted."""
    return {op.get_friendly_name() for op in converted.get_ordered_ops() if op.get_type_name() in _UNTRANSLATED}


def _is_small(value: Output) -> bool:
    """Return True for a constant of integers that fit into int32."""
    made = source_of(value)
    if not made.node.is_constant or made.dtype is not dtypes.int64:
        return False
    # Axes and shapes are int64 in many graphs. OpenVINO keeps their values if they fit.
    numbers = made.node.constant_value()
    return bool((numbers == numbers.astype(np.int32)).all())


class _Model:
    """A model as a function of arrays, compiled for runs in all cores, and when runs come side by side for these, too."""

    def __init__(self, compile: Callable[[bool], Any], inputs: Sequence[Output], outputs: Sequence[Output]) -> None:
        self.compile = compile
        self.lock = threading.Lock()
        self.compiled: dict[bool, Any] = {}
        self.idle: dict[bool, list[Any]] = {False: [], True: []}
        """The requests that no run uses: a request holds the tensors of its run."""
        compiled = self._of(is_undivided())
        # Ports are merged where they are one tensor, and come in an order of their own.
        ports = _ports(compiled.inputs)
        made = _ports(compiled.outputs)
        self.places = [ports.get(_names(value)[0]) for value in inputs]
        self.results = [_port(made, value) for value in outputs]

    def _of(self, side_by_side: bool) -> Any:
        """Return the model for runs `side_by_side`, or for a run in all cores."""
        with self.lock:
            if side_by_side not in self.compiled:
                self.compiled[side_by_side] = self.compile(side_by_side)
            return self.compiled[side_by_side]

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Return new arrays for the outputs."""
        idle, compiled = self.idle[is_undivided()], self._of(is_undivided())
        try:
            request = idle.pop()  # atomic: other threads take requests at the same time
        except IndexError:
            request = compiled.create_infer_request()
        _require_no_nan(arrays)
        inputs = [np.asarray(array, order="C") for array in arrays]  # the tensors do not keep what they share
        for place, array in zip(self.places, inputs):
            if place is not None:
                # OpenVINO refuses to share read-only memory, which constants of a graph have.
                shared = array.flags.writeable and array.size > 1
                request.set_input_tensor(place, ov.Tensor(array, shared_memory=shared))
        request.infer()
        # The results are copied, because the next run of the request writes to the same memory.
        results = [np.array(request.get_output_tensor(place).data) for place in self.results]
        idle.append(request)
        return results


def _require_no_nan(arrays: Iterable[Array]) -> None:
    """Raise Declined if one of the arrays has NaN: Relu, Maximum and other operators would make a number of it."""
    # The minimum of an array is NaN if one of its elements is: a single pass, without an array of truth values.
    if any(array.dtype.kind == "f" and array.size and np.isnan(np.min(array)) for array in arrays):
        raise Declined("OpenVINO turns NaN into numbers, and an input or a constant has NaN")


def _ports(ports: Sequence[Any]) -> dict[str, int]:
    return {name: place for place, port in enumerate(ports) for name in port.get_names()}


def _names(value: Output) -> list[str]:
    """Return the names that OpenVINO may use for a tensor."""
    full = f"{value.node.name}:{value.index}"
    return [full] if value.index else [full, value.node.name]


def _port(ports: Mapping[str, int], value: Output) -> int:
    for name in _names(value):
        if name in ports:
            return ports[name]
    raise UnimplementedError(f"OpenVINO lost the tensor '{value.name}'", node=value.node.name, op=value.node.op)


def _loose_graph(nodes: Sequence[Node]) -> tuple[Graph, dict[str, Node]]:
    """Return the nodes with the constants that they take, and placeholders for all else; the nodes by their names there."""
    graph, made, own = Graph(), dict[Output, Output](), set(nodes)
    for node in nodes:
        inputs = []
        for value in node.inputs:
            original = _copied(value, own)
            if original not in made:
                made[original] = _stand_in(graph, original)
            inputs.append(made[original])
        copy = graph.add_node(graph.unique_name(node.name), node.op, inputs, (), node.attrs)
        made.update((output, copy.output(output.index)) for output in node.outputs())
    return graph, {node.name: node for node in nodes}


def _copied(value: Output, own: Set[Node]) -> Output:
    """Return the value that a value copies, as a frozen variable copies a constant; nodes in `own` count as no copies."""
    return trail_end(value, lambda v: v.node.inputs[0] if v.node not in own and is_transparent(v.node) else None)


def _stand_in(graph: Graph, value: Output) -> Output:
    node = value.node
    if node.is_constant and node.attrs["value"].size <= _TOLD:
        return graph.add_node(graph.unique_name(node.name), node.op, (), (), node.attrs).output()
    shape = Shape(node.attrs["value"].shape) if node.is_constant else UNKNOWN
    return add_placeholder(graph, f"{node.name}_{value.index}", value.dtype, shape).output()


# OpenVINO's package, imported without telemetry, which the package would send over the network during the import.

_TELEMETRY: Final = "openvino_telemetry"


def _imported() -> Any:
    """Return the package, imported as if the telemetry package were not installed."""
    if "openvino" in sys.modules or _TELEMETRY in sys.modules:
        return importlib.import_module("openvino")
    # None makes an import raise ImportError, and openvino then works without.
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[_TELEMETRY]


ov: Final = _imported()
frontends: Final = importlib.import_module("openvino.frontend")


# Reading of tfg's graphs by OpenVINO's TensorFlow frontend: through a file, the only way in by the public interface.


def input_model(frontend: Any, graph: Graph) -> Any:
    """Return the frontend's model of a graph, read from a temporary file, in memory where the system has such files."""
    saving = importlib.import_module("....formats", __name__)
    # Weights of a model would otherwise go to the disk and back for each group that is compiled.
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfg-", dir=folder) as place:
        path = os.path.join(place, "graph.pb")
        saving.save(graph, path)
        return frontend.load(path)


def place_of(model: Any, node: str, index: int) -> Any:
    """Return the place of a tensor in the frontend's model."""
    place = model.get_place_by_tensor_name(f"{node}:{index}")
    return place if place is not None or index else model.get_place_by_tensor_name(node)
