"""Datasets of parsed Examples."""

import numpy as np

from tests.example_messages import example
from tests.opcases import graph_case
from tests.pipelines import NO_REWRITES, elements, int64
from tfg.core.types.shapes import UNKNOWN

MESSAGES = [example(a=[1, 2], b=[1.5], c=[b"x", b"y"]), example(a=[3], b=[2.5]), example(b=[0.5], c=[b"z"])]
TYPES = {"sparse_keys": [b"c"], "dense_keys": [b"b", b"a"], "sparse_types": ["string"], "Tdense": ["float32", "int64"]}


def parsed(op, messages=MESSAGES, **attrs):
    """Batches of two, with the sparse feature taken out of the variant."""
    dense = {"dense_shapes": [(), (None,)]}
    spec = elements(("int64", UNKNOWN), ("float32", UNKNOWN), ("variant", UNKNOWN))

    def build(g):
        values = g.constant(np.array(messages, object))
        one = g.TensorSliceDataset([values], Toutput_types=["string"], output_shapes=[()])
        batches = g.BatchDatasetV2(one, int64(2), np.array(False), **elements(("string", (None,))))
        defaults = [g.constant(np.float32(0)), g.constant(np.int64(-1))]
        dataset = getattr(g, op)(batches, int64(2), defaults, **TYPES, **dense, **attrs, **spec)
        dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        node = g.IteratorGetNext(iterator, name="next", **spec)
        parts = g.DeserializeSparse(node[2], dtype="string")
        names = ["next:0", "next:1", *(part.name for part in parts)]
        return [["start"], *[names] * 3]

    return graph_case(f"{op} {len(messages[1])} {attrs}", op, build)


def with_ragged(op):
    spec = elements(("variant", UNKNOWN), ("float32", UNKNOWN))

    def build(g):
        batch = g.TensorDataset([g.constant(np.array(MESSAGES, object))], Toutput_types=["string"], output_shapes=[(3,)])
        ragged = {"ragged_keys": [b"a"], "ragged_value_types": ["int64"], "ragged_split_types": ["int32"]}
        dense = {"sparse_keys": [], "sparse_types": [], "dense_keys": [b"b"], "Tdense": ["float32"], "dense_shapes": [()]}
        dataset = getattr(g, op)(batch, int64(1), [g.constant(np.float32(0))], **dense, **ragged, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name="start")
        node = g.IteratorGetNext(iterator, name="next", **spec)
        parts = g.RaggedTensorFromVariant(node[0], input_ragged_rank=1, output_ragged_rank=1, Tvalues="int64", Tsplits="int32")
        flat = [part.name for part in (*parts[0], parts[1])] if isinstance(parts[0], list) else [part.name for part in parts]
        return [["start"], [*flat, "next:1"], ["next:1"]]

    return graph_case(f"{op} ragged", op, build)


CASES = [
    parsed("ParseExampleDataset"),
    parsed("ParseExampleDatasetV2"),
    parsed("ParseExampleDatasetV2", deterministic="true"),
    parsed("ExperimentalParseExampleDataset"),
    parsed("ParseExampleDatasetV2", [MESSAGES[0], b"damaged", MESSAGES[2]]),
    with_ragged("ParseExampleDatasetV2"),
]
