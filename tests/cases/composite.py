"""Composite tensors as variants."""

import numpy as np

from tests.opcases import graph_case, normal

METADATA = b"\x08\x0d\x1a\x06a.Spec \x02"
PARTS = [normal(2, 3), np.array([True, False])]


def through(types=("float32", "bool"), metadata=METADATA, end=METADATA, parts=PARTS, vector=False):
    """Components into a variant and out of the variant."""

    def build(g):
        components = [g.PlaceholderWithDefault(part, shape=part.shape) for part in parts]
        encoded = g.CompositeTensorVariantFromComponents(components, metadata=metadata)
        encoded = g.Pack([encoded, encoded]) if vector else encoded
        node = g.CompositeTensorVariantToComponents(encoded, metadata=end, Tcomponents=list(types))
        return [[value.name for value in (node if isinstance(node, (tuple, list)) else [node])]]

    return build


def conditional(g):
    """Chosen as a whole by a V1 conditional."""
    choose = g.PlaceholderWithDefault(True, shape=[])
    encoded = [g.CompositeTensorVariantFromComponents(PARTS[:1], metadata=METADATA) for _ in range(2)]
    sides = [g.Switch(value, choose)[i] for i, value in enumerate(encoded)]
    node = g.CompositeTensorVariantToComponents(g.Merge(sides)[0], metadata=METADATA, Tcomponents=["float32"])
    return [[(node[0] if isinstance(node, (tuple, list)) else node).name]]


def summed(g):
    encoded = [g.CompositeTensorVariantFromComponents(PARTS[:1], metadata=METADATA) for _ in range(2)]
    node = g.CompositeTensorVariantToComponents(g.AddN(encoded), metadata=METADATA, Tcomponents=["float32"])
    return [[(node[0] if isinstance(node, (tuple, list)) else node).name]]


OP = "CompositeTensorVariantToComponents"
CASES = [
    graph_case("there and back", OP, through()),
    graph_case("one", OP, through(("float32",), parts=PARTS[:1])),
    graph_case("other metadata", OP, through(end=b"\x08\x03")),
    graph_case("no metadata", OP, through(metadata=b"", end=b"")),
    graph_case("damaged metadata", "CompositeTensorVariantFromComponents", through(metadata=b"\xff\xff")),
    graph_case("damaged metadata at the end", OP, through(end=b"\xff\xff")),
    graph_case("too few", OP, through(("float32",))),
    graph_case("other dtypes", OP, through(("float32", "int32"))),
    graph_case("vector", OP, through(vector=True)),
    graph_case("conditional", OP, conditional),
    graph_case("sum", "AddN", summed),
]
