"""Nodes of old graphs as today's ops read them: TensorFlow makes the same changes when it imports a graph.

An upgraded node keeps its loaded attributes as its source, so a file that is read and written stays as it was where the
change only tells how to read it.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..registry.catalog import CATALOG
from ..support.errors import TfgError
from ..types.dtypes import DType
from ..types.shapes import UNSTATED, Shape

if TYPE_CHECKING:
    from ..support.versions import Versions
    from .node import Node

_DTYPES: Final = "TArgs"
_LAST_WITHOUT_UNKNOWN_RANKS: Final = 21
"""The last GraphDef version in which a Placeholder of shape () may have any shape (Placeholder's shape function)."""


@functools.cache
def _lists_dtypes(op: str) -> bool:
    """True for a fused op whose arguments were `num_args` of dtype T, until a list of dtypes named the dtype of each."""
    definition = CATALOG.get(op)
    return definition is not None and {"num_args", _DTYPES} <= definition.attrs.keys()


def complete_attrs(op: str, attrs: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    """Return the attributes of a node with `count` inputs, and those that are newer than the graph and have no default."""
    if not _lists_dtypes(op) or _DTYPES in attrs:
        return attrs
    dtype, arguments = attrs.get("T"), attrs.get("num_args")
    if not isinstance(dtype, DType) or not isinstance(arguments, int) or not 0 <= arguments <= count:
        return attrs
    return {**attrs, _DTYPES: [dtype] * arguments}


class Versioned(abc.ABC):
    """The versions of a graph, which say how to read its nodes."""

    _versions: Versions | None = None

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Node]:
        """Yield all nodes."""

    @property
    def versions(self) -> Versions | None:
        """The GraphDef versions that made the graph: set after the nodes of a file were added, they change old nodes."""
        return self._versions

    @versions.setter
    def versions(self, versions: Versions | None) -> None:
        self._versions = versions
        if versions is not None and versions.producer <= _LAST_WITHOUT_UNKNOWN_RANKS:
            for node in self:
                forget_unstated_shape(node, lambda: versions)


def forget_unstated_shape(node: Node, versions: Callable[[], Versions]) -> None:
    """Let a placeholder of shape () have any shape in a graph of an old version, whose writer wrote () for an unknown shape
    too.
    """
    # The versions are asked for last: they may have to be decoded from the file.
    if node.must_be_fed and _is_scalar(node) and versions().producer <= _LAST_WITHOUT_UNKNOWN_RANKS:
        node.set_attr("shape", UNSTATED)


def _is_scalar(node: Node) -> bool:
    """True for a placeholder of shape () whose op lets the shape out; PlaceholderV2 states every shape."""
    if node.op_def is None or not node.op_def.attrs["shape"].has_default:
        return False
    try:
        shape = node.attrs.get("shape")
    except TfgError:  # the check of the node reports a damaged attribute
        return False
    return isinstance(shape, Shape) and shape.dims == ()
