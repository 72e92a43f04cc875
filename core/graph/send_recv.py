"""Partitions of a graph in a single graph: _Send and _Recv nodes are connected by name.

TensorFlow partitions a graph by devices before a run. Dumps of partitions hold _Send and _Recv nodes, which match by the
name of the tensor and both devices.
"""

from __future__ import annotations

from typing import Final

from ..support.errors import InvalidArgumentError
from .graph import Graph, Node

SENDS: Final = ("_Send", "_HostSend")
RECEIVES: Final = ("_Recv", "_HostRecv")
_Key = tuple[bytes, bytes, bytes]


def connected(graph: Graph) -> Graph:
    """Return a copy in which every _Recv forwards the input of the matching _Send; the graph itself if nothing matches.

    InvalidArgumentError if two nodes send the same tensor between the same devices, or the dtypes of a pair differ.
    """
    receivers = [node for node in graph if node.op in RECEIVES]
    senders = _senders(graph) if receivers else {}
    matching = [node for node in receivers if _key(node) in senders]
    if not matching:
        return graph
    result = graph.copy()
    for node in matching:
        _connect(result, result.node(node.name), result.node(senders[_key(node)].name))
    return result


def _senders(graph: Graph) -> dict[_Key, Node]:
    senders: dict[_Key, Node] = {}
    for node in graph:
        if node.op in SENDS:
            other = senders.setdefault(_key(node), node)
            if other is not node:
                message = f"'{other.name}' sends the same tensor between the same devices"
                raise InvalidArgumentError(message, node=node.name, op=node.op)
    return senders


def _key(node: Node) -> _Key:
    return node.attr("tensor_name"), node.attr("send_device"), node.attr("recv_device")


def _connect(graph: Graph, receiver: Node, sender: Node) -> None:
    """Turn the receiver into an Identity of the sent value, with the sender's control inputs."""
    (value,) = sender.inputs
    # The send waited for these nodes, and so did the receiver by way of the send.
    waits = dict.fromkeys((*receiver.control_inputs, *sender.control_inputs))
    dtype = receiver.attr("tensor_type")
    if value.dtype is not None and value.dtype.base is not dtype:
        raise InvalidArgumentError(
            f"'{sender.name}' sends {value.dtype.base}, not {dtype}", node=receiver.name, op=receiver.op
        )
    for name in list(receiver.attrs):
        receiver.remove_attr(name)
    receiver.change_op("Identity")
    receiver.set_attr("T", dtype)
    graph.set_inputs(receiver, (value,), waits)
