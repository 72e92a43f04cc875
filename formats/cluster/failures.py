"""A cluster's failures as the errors that tfg's own sessions raise: with node, op and task."""

from __future__ import annotations

import re
from typing import Final

from ...core.graph.graph import Graph, Node
from ...core.support import errors
from ...core.support.errors import TfgError

# By gRPC's status codes, the same as TensorFlow's.
_KINDS: Final[dict[int, type[TfgError]]] = {
    1: errors.CancelledError, 2: errors.UnknownError, 3: errors.InvalidArgumentError, 4: errors.DeadlineExceededError,
    5: errors.NotFoundError, 6: errors.AlreadyExistsError, 7: errors.PermissionDeniedError, 8: errors.ResourceExhaustedError,
    9: errors.FailedPreconditionError, 10: errors.AbortedError, 11: errors.OutOfRangeError, 12: errors.UnimplementedError,
    13: errors.UnknownError, 14: errors.UnavailableError, 15: errors.DataLossError, 16: errors.PermissionDeniedError,
}  # fmt: skip
"""The errors of gRPC's status codes. INTERNAL becomes UnknownError: InternalError would call a server's fault a fault of
tfg.
"""

_RULE: Final = re.compile(r"={5,}")
_CODE: Final = re.compile(r"^([A-Z_]+): ", re.MULTILINE)
_TASK: Final = re.compile(r"From (/job:\S+?):\n")
_REMOTE: Final = re.compile(r"from remote target (/job:\S+)")
_NODE: Final = re.compile(r"\{\{node ([^{}]+)\}\}")
_MORE: Final = "\nAdditional GRPC error information"
_LONGEST: Final = 1 << 16
"""The number of characters of a server's message that are parsed: a hostile server may send two gigabytes."""
_PARTED: Final = re.compile(r"_[SG]\d+$")
_FED: Final = re.compile(r"_(?:recv|arg)_(.+)_(\d+)(?:_\d+)?$")


def failure(code: int, message: str, graph: Graph | None = None) -> TfgError:
    """Return the error for a status: the kind by the code, node and task from the message."""
    text = _first_cause(message[:_LONGEST])
    task, name = _REMOTE.search(text) or _TASK.search(text), _NODE.search(text)
    node = _node(graph, name[1]) if name else None
    said = _without_places(_TASK.sub("", text.partition(_MORE)[0])) or "the server states no reason"
    where = f" (on {task[1]})" if task else ""
    kind = _KINDS.get(code, errors.UnknownError)
    return kind(said + where, node=node.name if node else name and name[1], op=node.op if node else None)


def _first_cause(message: str) -> str:
    """Return the first of several errors in a message that is not a cancellation caused by another error."""
    lines = message.split("\n")
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line)]
    if len(rules) < 2:
        return message
    block = "\n".join(lines[rules[0] + 1 : rules[1]])
    codes = list(_CODE.finditer(block))
    ends = [*(code.start() for code in codes[1:]), len(block)]
    causes = [(code[1], block[code.end() : end]) for code, end in zip(codes, ends)]
    return next((text for code, text in causes if code != "CANCELLED"), block)


def _without_places(text: str) -> str:
    """Return a message without the places `[[node]]`, and without the spaces before each place."""
    said, position = [], 0
    while (start := text.find("[[", position)) >= 0 and (end := text.find("]]", start) + 2) > 1:
        is_place = end == len(text) or text[end].isspace()
        said.append(text[position:start].rstrip() if is_place else text[position:end])
        position = end
    return "".join([*said, text[position:]]).strip()


def _node(graph: Graph | None, name: str) -> Node | None:
    """Return the graph's node for a node of a partition: the master renames the ends of edges between devices."""
    if graph is None:
        return None
    fed = _FED.fullmatch(_PARTED.sub("", name))
    candidates = (name, _PARTED.sub("", name), fed[1] if fed else name)
    return next((graph.node(candidate) for candidate in candidates if candidate in graph), None)
