"""What a cluster says when something fails, as the errors that tfg's own sessions raise: with node, op and task."""

from __future__ import annotations

import re
from typing import Final

from ...core import errors
from ...core.errors import TfgError
from ...core.graph import Graph, Node

# By the numbers of gRPC's status codes, which are TensorFlow's.
_KINDS: Final[dict[int, type[TfgError]]] = {
    1: errors.CancelledError, 2: errors.UnknownError, 3: errors.InvalidArgumentError, 4: errors.DeadlineExceededError,
    5: errors.NotFoundError, 6: errors.AlreadyExistsError, 7: errors.PermissionDeniedError, 8: errors.ResourceExhaustedError,
    9: errors.FailedPreconditionError, 10: errors.AbortedError, 11: errors.OutOfRangeError, 12: errors.UnimplementedError,
    13: errors.UnknownError, 14: errors.UnavailableError, 15: errors.DataLossError, 16: errors.PermissionDeniedError,
}  # fmt: skip
"""A server's INTERNAL is no fault of tfg, as its InternalError would say."""

_SEVERAL: Final = re.compile(r"\n?=====+\n(.*?)\n?=====+\n?", re.DOTALL)
_CODE: Final = re.compile(r"^([A-Z_]+): ", re.MULTILINE)
_TASK: Final = re.compile(r"From (/job:\S+?):\n")
_REMOTE: Final = re.compile(r"from remote target (/job:\S+)")
_NODE: Final = re.compile(r"\{\{node ([^}]+)\}\}")
_TRAIL: Final = re.compile(r"\nAdditional GRPC error information.*|\s*\[\[.*?\]\](?=\s|$)", re.DOTALL)
_PARTED: Final = re.compile(r"_[SG]\d+$")
_FED: Final = re.compile(r"_(?:recv|arg)_(.+)_(\d+)(?:_\d+)?$")


def failure(code: int, message: str, graph: Graph | None = None) -> TfgError:
    """The error for a status: its kind by the code, and what the message tells of the node and of the task that it was on."""
    text = _first_cause(message)
    task, name = _REMOTE.search(text) or _TASK.search(text), _NODE.search(text)
    node = _node(graph, name[1]) if name else None
    said = _TRAIL.sub("", _TASK.sub("", text)).strip() or "the server gives no reason"
    where = f" (on {task[1]})" if task else ""
    kind = _KINDS.get(code, errors.UnknownError)
    return kind(said + where, node=node.name if node else name and name[1], op=node.op if node else None)


def _first_cause(message: str) -> str:
    """Of several errors in one message the first that is not the cancelling of what others were at."""
    block = _SEVERAL.search(message)
    if block is None:
        return message
    codes = list(_CODE.finditer(block[1]))
    ends = [*(code.start() for code in codes[1:]), len(block[1])]
    causes = [(code[1], block[1][code.end() : end]) for code, end in zip(codes, ends)]
    return next((text for code, text in causes if code != "CANCELLED"), block[1])


def _node(graph: Graph | None, name: str) -> Node | None:
    """The node of the graph that a node of its parts stands for: the master names the ends of edges between devices anew."""
    if graph is None:
        return None
    fed = _FED.fullmatch(_PARTED.sub("", name))
    candidates = (name, _PARTED.sub("", name), fed[1] if fed else name)
    return next((graph.node(candidate) for candidate in candidates if candidate in graph), None)
