"""Datasets as graphs, and made of graphs."""

import numpy as np

from tests.opcases import graph_case, strings
from tests.pipelines import NO_REWRITES, NUMBER, elements, function, int64, numbers, slices


def begun(g, dataset, spec=NUMBER):
    iterator = g.IteratorV2(shared_name="", container="", **spec)
    g.MakeIterator(dataset, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **spec)
    return [f"next:{i}" for i in range(len(spec["output_types"]))]


def there_and_back(key, op, make, spec=NUMBER, take=6, **attrs):
    def build(g):
        dataset = g.OptionsDataset(make(g), serialized_options=NO_REWRITES, **spec)
        following = begun(g, g.DatasetFromGraph(getattr(g, op)(dataset, **attrs)), spec)
        return [["start"], *[following] * take]

    return graph_case(f"{op} {key} {attrs}", op, build)


def mapped(g):
    double = function(g, "double", ["int64", "int64"], lambda b, x, y: [b.Mul(x, y)])
    factor = g.constant(int64(3))
    node = g.MapDataset(numbers(g, 5), [factor], f=double, Targuments=["int64"], preserve_cardinality=True, **NUMBER)
    return g.ShuffleDataset(node, int64(5), int64(1), int64(2), **NUMBER)


def drawn(g):
    def draw(b, x):
        return [b.RandomUniformInt(np.int32([]), int64(0), int64(9), seed=1, seed2=2)]

    draw = function(g, "draw", ["int64"], draw, stateful=True)
    return g.MapDataset(numbers(g, 3), [], f=draw, Targuments=[], **NUMBER)


def looked_up(g):
    table = g.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="", container="")
    filled = g.LookupTableImportV2(table, strings("a", "b"), np.int64([5, 6]))
    find = function(g, "find", ["string", "resource"], lambda b, x, t: [b.LookupTableFindV2(t, x, int64(-1))])
    dataset = g.MapDataset(slices(g, strings("b", "a", "c")), [table], f=find, Targuments=["resource"], **NUMBER)
    with g.control_dependencies([filled]):
        data = g.DatasetToGraphV2(dataset)
    return [["start"], *[begun(g, g.DatasetFromGraph(data))] * 4]


def no_graph(g):
    g.DatasetFromGraph(np.array(b"nothing", object), name="made")
    return [["made"]]


def options(g):
    dataset = g.OptionsDataset(numbers(g, 3), serialized_options=NO_REWRITES, **NUMBER)
    g.GetOptions(g.TakeDataset(dataset, int64(2), **NUMBER), name="inner")
    g.GetOptions(numbers(g, 3), name="none")
    return [["inner:0"], ["none:0"]]


ROWS = elements(("float32", (2,)), ("string", ()))
CASES = [
    there_and_back("mapped", "DatasetToGraph", mapped),
    there_and_back("drawn", "DatasetToGraph", drawn),
    there_and_back("drawn", "DatasetToGraph", drawn, allow_stateful=True),
    there_and_back("mapped", "DatasetToGraphV2", mapped),
    there_and_back("drawn", "DatasetToGraphV2", drawn, external_state_policy=2),
    there_and_back(
        "rows", "DatasetToGraphV2", lambda g: slices(g, np.float32([[1, 2], [3, 4]]), strings("a", "")), ROWS, take=3
    ),
    graph_case("table", "DatasetToGraphV2", looked_up),
    graph_case("nothing", "DatasetFromGraph", no_graph),
    graph_case("options", "GetOptions", options),
]
