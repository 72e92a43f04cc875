"""The lookup tables of a graph: the node that creates each table, and the names of the table's contents in a state."""

from __future__ import annotations

import os
from typing import Final

from ..registry.op_facts import has_fact, ops_with
from ..support import dataclasses
from ..types.dtypes import DType, resource
from ..types.tensors import Tensor
from .graph import Graph, Node, Output
from .traversal import copied_from, trail_end

TABLES: Final = ops_with("table")
IMPORTS: Final = tuple(op for op in ops_with("fills_table") if op not in ops_with("initializes_table"))
"""The ops that replace all contents of a table, as a restored checkpoint does."""
_OBJECT_KEY: Final = ".ATTRIBUTES/"
"""The part of a key by which TensorFlow 2 names an attribute of a Python object, and no node."""
KEYS: Final = "-keys"
VALUES: Final = "-values"


@dataclasses.dataclass(frozen=True, slots=True)
class TableNodes:
    """A lookup table of a graph. `name` is the name for states and checkpoints: the name in the graph's own saver, or the
    node's.
    """

    node: Node
    name: str
    key_dtype: DType
    value_dtype: DType
    is_saved: bool
    """True if checkpoints hold the contents; an initializer fills any other table."""

    @property
    def entries(self) -> tuple[str, str]:
        """The names of the keys and of the values in a state."""
        return f"{self.name}{KEYS}", f"{self.name}{VALUES}"

    @property
    def exports_buckets(self) -> bool:
        """True for a dense table, whose contents are its buckets: a row each, although TensorFlow's shape function of the op
        that fills tables asks for vectors.
        """
        # The export of a dense table has a row for each bucket, empty ones too.
        return "Dense" in self.node.op

    @property
    def filling_op(self) -> str:
        """The op that fills the table with keys and values."""
        return self.op("Import") if self.is_saved else self.op("Import").replace("LookupTableImport", "InitializeTable")

    def op(self, name: str) -> str:
        """Return the op `LookupTable<name>` for a handle of the table's kind: a string reference, or a resource."""
        return f"LookupTable{name}" if self.node.output().base_dtype is not resource else f"LookupTable{name}V2"


def find_tables(graph: Graph) -> dict[str, TableNodes]:
    """Return the lookup tables of the graph's own nodes by the names in states, in the order of the graph."""
    tables: dict[str, TableNodes] = {}
    for node in graph:
        if node.op in TABLES:
            stem = _saved_name(node)
            # Two tables of one Python name: only the first can have the name in a state.
            name = node.name if stem is None or stem in tables else stem
            tables[name] = TableNodes(
                node, name, node.attr("key_dtype"), node.attr("value_dtype"), has_fact(node.op, "saved_table")
            )
    return tables


def saved_tables(graph: Graph) -> dict[str, TableNodes]:
    """Return the tables whose contents a checkpoint holds, by name."""
    return {name: table for name, table in find_tables(graph).items() if table.is_saved}


def _saved_name(node: Node) -> str | None:
    """Return the name under which the graph's own saver keeps a table; None without such a saver.

    TensorFlow's Saver uses the name that Python gave to the table, without the scopes of the node.
    """
    for user in node.uses:
        if user.op in IMPORTS and user.inputs[0].node is node:
            key = restored_key(user.inputs[1])
            if key is not None and key.endswith(KEYS) and _OBJECT_KEY not in key:
                return key.removesuffix(KEYS)
    return None


def restored_key(value: Output) -> str | None:
    """Return the checkpoint key of a value that a node of the same graph restores; None for any other value."""
    value = trail_end(value, copied_from)
    names = value.node.inputs[1].node.attr_of(Tensor, "value") if has_fact(value.node.op, "restores") else None
    if names is None or value.index >= names.size:
        return None
    return os.fsdecode(names.numpy().ravel()[value.index])
