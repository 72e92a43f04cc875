"""Graphs that touch files where they are run: each has x, a variable v, y and a loss that wait for a node called `hostile`."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np

import tfg
from tests.functions import define
from tests.opcases import string_array as strings
from tfg import GraphBuilder
from tfg.core.graph.graph import Graph, Node
from tfg.formats import to_bytes, write_checkpoint
from tfg.formats.protos.meta_graph_pb2 import CollectionDef, MetaGraphDef, SavedModel

SECRET = "what nobody else may know"


class Folder:
    """A folder that is opened or not, with a secret and a checkpoint in it, and a graph beside it."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.data = root, root / "data"
        self.data.mkdir()
        self.secret, self.written = self.data / "secret", self.data / "written"
        self.secret.write_text(SECRET)
        write_checkpoint(self.data / "old", {"v": np.float32(1)})

    def files(self) -> set[str]:
        return {str(path.relative_to(self.data)) for path in self.data.rglob("*")}

    def save(self, kind: str) -> str:
        """The path of a graph of this kind; a SavedModel where it starts with the hostile operation."""
        graph = hostile_graph(kind, self)
        if kind not in IN_MAIN_OP:
            path = self.root / "graph.pb"
            tfg.save(graph, str(path))
        else:
            path = self.root / "model"
            path.mkdir()
            (path / "saved_model.pb").write_bytes(_saved_model(graph).SerializeToString())
        return str(path)


Hostile = Callable[[GraphBuilder, Folder], Node]


def _write_file(g: GraphBuilder, folder: Folder) -> Node:
    return g.WriteFile(g.constant(str(folder.written)), g.constant("mine"), name="hostile")


def _read_file(g: GraphBuilder, folder: Folder) -> Node:
    return g.ReadFile(g.constant(str(folder.secret)), name="hostile").node


def _save(g: GraphBuilder, folder: Folder) -> Node:
    names, value = g.constant(strings(["v"])), g.constant(np.float32(2))
    return g.SaveV2(g.constant(str(folder.written)), names, g.constant(strings([""])), [value], name="hostile")


def _restore(g: GraphBuilder, folder: Folder) -> Node:
    prefix, names = g.constant(str(folder.data / "old")), g.constant(strings(["v"]))
    return g.RestoreV2(prefix, names, g.constant(strings([""])), dtypes=["float"], name="hostile")[0].node


def _matching(g: GraphBuilder, folder: Folder) -> Node:
    return g.MatchingFiles(g.constant(str(folder.data / "*")), name="hostile").node


def _print(g: GraphBuilder, folder: Folder) -> Node:
    return g.PrintV2(g.constant("mine"), output_stream=f"file://{folder.written}", name="hostile")


def _summary(g: GraphBuilder, folder: Folder) -> Node:
    numbers = g.constant(np.int32(1)), g.constant(np.int32(1))
    logs, suffix = g.constant(str(folder.written)), g.constant(".v2")
    return g.CreateSummaryFileWriter(g.SummaryWriter(), logs, *numbers, suffix, name="hostile")


def _table(g: GraphBuilder, folder: Folder) -> Node:
    table = g.HashTableV2(key_dtype="string", value_dtype="int64")
    return g.InitializeTableFromTextFileV2(table, g.constant(str(folder.secret)), key_index=-2, value_index=-1, name="hostile")


def _while(g: GraphBuilder, folder: Folder) -> Node:
    """A loop that reads a file once; it is declared to have no state."""
    define(g, "again", ["int32", "string"], lambda b, i, text: [b.Less(i, 1)])
    define(g, "read", ["int32", "string"], lambda b, i, text: [b.Add(i, 1), b.ReadFile(text, name="hostile")])
    start = g.constant(np.int32(0)), g.constant(str(folder.secret))
    return g.StatelessWhile([*start], cond="again", body="read", name="loop")[0].node


def _call(g: GraphBuilder, folder: Folder) -> Node:
    define(g, "read", ["string"], lambda b, path: [b.ReadFile(path, name="hostile")])
    text = g.PartitionedCall([g.constant(str(folder.secret))], Tout=["string"], f="read", name="call")[0]
    return g.Identity(text, name="called").node


HOSTILE: dict[str, Hostile] = {
    "WriteFile": _write_file,
    "ReadFile": _read_file,
    "SaveV2": _save,
    "RestoreV2": _restore,
    "MatchingFiles": _matching,
    "PrintV2": _print,
    "CreateSummaryFileWriter": _summary,
    "InitializeTableFromTextFileV2": _table,
    "StatelessWhile": _while,
    "PartitionedCall": _call,
    "main op that writes": _write_file,
    "main op that reads": _read_file,
}
IN_MAIN_OP = {"main op that writes", "main op that reads"}


def hostile_graph(kind: str, folder: Folder) -> Graph:
    """x; v = 2, set by `init`; y = x^3 and loss = (v x)^2, which wait for the hostile node, as `bad_init` does."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[], name="x")
    v = g.variable(np.float32(2), name="v")
    node = HOSTILE[kind](g, folder)
    init = g.group([v.initializer], name="init")
    g.group([init, node], name="bad_init")
    with g.control_dependencies([] if kind in IN_MAIN_OP else [node]):
        late = g.Identity(x)
        g.Mul(g.Square(late), late, name="y")
        g.Square(g.Mul(v, late), name="loss")
        g.Identity(node.output() if node.output_dtypes else g.constant("nothing"), name="text")
    return g.graph


def _saved_model(graph: Graph) -> SavedModel:
    """The graph, to be started by `bad_init`."""
    meta = MetaGraphDef()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.ParseFromString(to_bytes(graph))
    meta.collection_def["saved_model_main_op"].CopyFrom(CollectionDef(node_list=CollectionDef.NodeList(value=["bad_init"])))
    return SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
