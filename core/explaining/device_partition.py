"""The division of a graph among devices, as TensorFlow does: placement of nodes, transfers between devices, conflicts."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..building.placement import DeviceSpec, Placement
from ..graph.graph import Graph, GraphLike, Node, Output, as_graph
from ..graph.send_recv import RECEIVES, connected
from ..inference.inference import Inference, infer
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Report
from ..support.errors import InvalidArgumentError
from ..support.grouping import JoinedNames
from ..support.words import counted
from ..types.dtypes import resource

CLIENT: Final = "the session's task"
"""The place of nodes that ask for no task: the task of the server that the client speaks to."""
_TENSOR, _REFERENCE, _CONTROL, _FEED, _FETCH = "tensor", "reference", "control", "feed", "fetch"


@dataclasses.dataclass(frozen=True, slots=True)
class Crossing:
    """A transfer between two devices, made once in every step that runs both ends: a pair of Send and Recv.

    `kind` is tensor, reference (the whole value of a variable is copied), control (no bytes, but a message), feed or fetch.
    `bytes` are None if the shape, or the length of strings, is not known before a run.
    """

    tensor: str
    """The tensor that moves."""
    kind: str
    """`tensor`, `reference`, `control` or `resource`."""
    source: str
    """The device that sends."""
    target: str
    """The device that receives."""
    dtype: str
    """The name of the dtype."""
    shape: str
    """The shape in words."""
    bytes: int | None
    """The bytes of a transfer; None if only a run tells."""
    consumers: tuple[str, ...]
    """The nodes that receive."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class PartitionFacts(Report, main_table="crossings"):
    """The device of every node, the crossings between devices, and the demands on devices that contradict each other."""

    devices: dict[str, str]
    """The device of each node, by the node's name."""
    crossings: tuple[Crossing, ...]
    """The transfers between devices."""
    conflicts: tuple[str, ...]
    """Demands that contradict each other, in words."""

    def headline(self) -> str:
        devices = len(set(self.devices.values()))
        return f"{counted(devices, 'device')}, {counted(len(self.crossings), 'crossing')}, {self.bytes:,} bytes"

    @property
    def bytes(self) -> int:
        """Return the bytes that cross in a step, as far as they are known."""
        return sum(crossing.bytes or 0 for crossing in self.crossings)


@checked
def explain_partition(graph: GraphLike, fetches: Sequence[str] = ()) -> PartitionFacts:
    """Return the placement of the nodes that `fetches` run, by default of all nodes, and the crossings between devices.

    Follows TensorFlow's placer with soft placement: nodes of a colocation group share a device, and so do users of a
    reference or of a resource's handle. A node without inputs goes to the device of an only user; a node that reads a shape
    stays with the tensor. A node that asks for no kind of device is taken to be on the CPU.
    """
    graph = as_graph(graph)
    fetched = [graph.result(name) for name in fetches]
    placer = _Placer(list(graph), Placement(graph))
    placed = placer.devices()
    needed = needed_nodes(fetched) if fetched else set(graph)
    nodes = [node for node in graph if node in needed]
    devices = {node.name: placed[node.name] for node in nodes}
    crossings = tuple(_crossings(nodes, devices, _shapes(graph), fetched))
    return PartitionFacts(devices, crossings, tuple(placer.conflicts()))


class _Placer:
    """The groups of nodes that share a device."""

    def __init__(self, nodes: Sequence[Node], colocation: Placement) -> None:
        self._nodes = nodes
        self._colocation = colocation
        # Beside the groups of `loc:@`, which a handle or a reference may join to larger ones.
        self._joined = JoinedNames()
        for group in self._colocation.groups():
            for name in group.members:
                self._joined.join(group.members[0], name)
        self._broken = [problem for node in nodes for problem in self._joined_by_handle(node)]

    def devices(self) -> dict[str, str]:
        """Return the device of each node by name."""
        demands = self._wanted()
        placed = {node.name: demands[self._joined.root(node.name)] for node in self._nodes}
        is_free = {node.name: placed[node.name] == DeviceSpec() for node in self._nodes}
        for node in self._nodes:
            # The users of one member do not move the others of its group.
            if is_free[node.name] and node.name not in self._joined.parents:
                placed[node.name] = self._heuristic(node, placed)
        return {name: _full_name(device) for name, device in placed.items()}

    def conflicts(self) -> Iterator[str]:
        """Yield the demands of the graph that no placement can meet."""
        for group in self._colocation.groups():
            yield from group.conflicts
        yield from self._broken

    def _wanted(self) -> dict[str, DeviceSpec]:
        """Return the merged demand of each group; nodes that own memory come before those that work on references to it."""
        demands: dict[str, DeviceSpec] = collections.defaultdict(DeviceSpec)
        # Sorting is stable: among equals the first node of the graph decides.
        for node in sorted(self._nodes, key=lambda node: any(_reference_inputs(node))):
            root = self._joined.root(node.name)
            device = _device(node)
            # With soft placement the first demand wins, and the others give way.
            if demands[root].conflict(device) is None:
                demands[root] = demands[root].merged(device)
        return demands

    def _joined_by_handle(self, node: Node) -> list[str]:
        """Join a node with the producers of its references and handles; return the demands that contradict their devices."""
        problems = []
        for value, takes_reference in zip(node.inputs, _reference_inputs(node)):
            if takes_reference:
                self._joined.join(value.node.name, node.name)
                conflict = _device(value.node).conflict(_device(node))
                if conflict is not None:
                    problems.append(
                        f"'{node.name}' ({node.op}) asks for {node.device}, but runs on {value.node.device} with its "
                        f"input '{value.name}'; without soft placement TensorFlow rejects the node"
                    )
        return problems

    @staticmethod
    def _heuristic(node: Node, placed: dict[str, DeviceSpec]) -> DeviceSpec:
        """Return the device for a node that asks for none: of an only user, or of the tensor whose metadata is read."""
        users = [user for user in node.uses if user.name in placed]
        # TensorFlow's placer calls such a node a generator: its value is made where it is used, and never sent.
        if not node.inputs and len(users) == 1 and len(node.outputs()) == 1:
            return placed[users[0].name]
        # A shape is smaller than its tensor: only the shape is sent.
        if has_fact(node.op, "metadata") and node.inputs and node.inputs[0].node.name in placed:
            return placed[node.inputs[0].node.name]
        return DeviceSpec()


def _device(node: Node) -> DeviceSpec:
    """Return the device that a node asks for; the empty device if the text names none, as `tfg check` reports."""
    try:
        return DeviceSpec.parse(node.device)
    except InvalidArgumentError:
        return DeviceSpec()


def _full_name(device: DeviceSpec) -> str:
    """Return the device with the parts that are left open: replica and task 0, the first CPU."""
    kind = f"/device:{device.kind or 'CPU'}:{device.index or 0}"
    if device.job is None and device.task is None:
        return f"{CLIENT}{kind}"
    return f"/job:{device.job or '?'}/replica:{device.replica or 0}/task:{device.task or 0}{kind}"


def _reference_inputs(node: Node) -> list[bool]:
    """Return for each data input whether the node must share the producer's device: for a reference or a resource's handle."""
    wants = node.op_def.input_dtypes(node.attrs) if node.op_def is not None else [value.dtype for value in node.inputs]
    return [dtype is not None and (dtype.is_ref or dtype is resource) for dtype in wants]


def _shapes(graph: Graph) -> Inference:
    """Return the specs of all tensors; one that the parts of a divided graph exchange has that of the producer's output."""
    whole = connected(graph)
    specs = infer(whole).specs
    return Inference({graph.node(output.node.name).output(output.index): spec for output, spec in specs.items()}, {})


def _crossings(
    nodes: Iterable[Node], devices: dict[str, str], shapes: Inference, fetches: Sequence[Output | Node]
) -> Iterator[Crossing]:
    consumers: dict[tuple[Output | Node, str], list[str]] = {}
    for node in nodes:
        here = devices[node.name]
        sources: tuple[Output | Node, ...] = (*node.inputs, *node.control_inputs)
        for source in sources:
            owner = source.node if isinstance(source, Output) else source
            if devices.get(owner.name, here) != here:
                # One transfer serves all readers on a device: TensorFlow's partitioner makes one Send and Recv for them.
                consumers.setdefault((source, here), []).append(node.name)
    for (source, target), users in consumers.items():
        owner = source.node if isinstance(source, Output) else source
        yield _crossing(source, _kind(source), devices[owner.name], target, tuple(users), shapes)
    for node in nodes:
        if node.op in RECEIVES:
            yield _received(node, shapes)
    # Feeds and fetches go through the memory of the task that the client speaks to.
    home = f"{CLIENT}/device:CPU:0"
    for node in nodes:
        if node.must_be_fed and devices[node.name] != home:
            yield _crossing(node.output(), _FEED, home, devices[node.name], (node.name,), shapes)
    for item in fetches:
        if isinstance(item, Output) and devices[item.node.name] != home:
            yield _crossing(item, _FETCH, devices[item.node.name], home, (), shapes)


def _received(node: Node, shapes: Inference) -> Crossing:
    """Return the crossing that a Recv node of a divided graph stands for."""
    names = ("tensor_name", "send_device", "recv_device")
    tensor, start, target = map(node.text_attr, names)
    # Servers mark a Recv so if the other end is the client, and not a device.
    kind = _FEED if node.attr("client_terminated") else _TENSOR
    crossing = _crossing(node.output(), kind, start, target, (node.name,), shapes)
    return dataclasses.replace(crossing, tensor=tensor)


def _kind(source: Output | Node) -> str:
    if isinstance(source, Node):
        return _CONTROL
    return _REFERENCE if source.is_reference else _TENSOR


def _crossing(
    source: Output | Node, kind: str, start: str, target: str, users: tuple[str, ...], shapes: Inference
) -> Crossing:
    if isinstance(source, Node):
        return Crossing(f"^{source.name}", kind, start, target, "", "", 0, users)
    spec = shapes.specs.get(source)
    shape = spec.shape if spec is not None else None
    dtype = source.dtype.base if source.dtype is not None else None
    size = None
    # The bytes of strings are known in a run alone.
    if shape is not None and shape.is_known and dtype is not None and not dtype.is_object:
        count = shape.num_elements
        size = count * dtype.size if isinstance(count, int) else None
    return Crossing(source.name, kind, start, target, str(dtype or ""), "?" if shape is None else str(shape), size, users)
