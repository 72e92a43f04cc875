"""Datasets saved to folders and read again, and records written to files."""

from tests.opcases import graph_case, normal, strings
from tests.pipelines import NO_REWRITES, NUMBER, elements, function, int64, numbers, slices, text

FOLDER = "/tmp/tfg_cases/datasets_saved/"
ROWS, NAMES = normal(4, 2), strings("a", "", "cc", "d")
BOTH = elements(("float32", (2,)), ("string", ()))


def saved(key, make, spec, compression="", shards=1, take=8, version=""):
    """Write a dataset, and read the dataset shard by shard."""

    def build(g):
        folder = text(f"{FOLDER}{key} {compression} {shards} {version}")
        types = [str(t) for t in spec["output_types"]]
        shard = function(g, "shard", types, lambda b, *x: [b.FloorMod(b.Cast(x[0], DstT="int64"), int64(shards))])
        inner = function(g, "inner", ["variant"], lambda b, x: [b.Identity(x)])

        def read(b, nested):
            return [b.FlatMapDataset(nested, [], f=inner, Targuments=[], **spec)]

        reader = function(g, "reader", ["variant"], read)
        options = {"compression": compression, "shard_func": shard, "use_shard_func": shards > 1, "Tshard_func_args": []}
        g.SaveDataset(make(g), folder, [], name="save", **options)
        loaded = g.LoadDataset(folder, [], compression=compression, reader_func=reader, Treader_func_args=[], **spec)
        g.DatasetCardinality(loaded, name="count")
        loaded = g.OptionsDataset(loaded, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(loaded, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        following = [f"next:{i}" for i in range(len(types))]
        return [["save"], ["count:0"], ["start"], *[following] * take]

    return graph_case(f"SaveDataset {key} {compression} {shards}", "SaveDataset", build)


def passed(key, op, shards=1, compression="", read_as=""):
    """Passes that write their elements, and another node that reads the elements."""
    attrs = {"metadata": b"", "hash_valid": True, "hash": 77} if op == "SnapshotDatasetV2" else {"use_shard_func": shards > 1}

    def build(g):
        folder = f"{FOLDER}{op} {key} {shards} {compression}"
        shard = function(g, "shard", ["int64"], lambda b, x: [b.FloorMod(x, int64(shards))])
        inner = function(g, "inner", ["variant"], lambda b, x: [b.Identity(x)])
        reader = function(g, "reader", ["variant"], lambda b, x: [b.FlatMapDataset(x, [], f=inner, Targuments=[], **NUMBER)])
        given = {"compression": compression, "shard_func": shard, "Tshard_func_args": [], **attrs}
        if op == "SnapshotDatasetV2":
            given |= {"reader_func": reader, "Treader_func_args": []}
            kept, path = g.SnapshotDatasetV2(numbers(g, 5), text(folder), [], [], **given, **NUMBER), folder + "/77"
        else:
            kept, path = g.SaveDatasetV2(numbers(g, 5), text(folder), [], **given, **NUMBER), folder
        node = g.LoadDataset(text(path), [], compression=read_as, reader_func=reader, Treader_func_args=[], **NUMBER)
        steps = []
        for name, dataset in (("kept", kept), ("found", node)):
            dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **NUMBER)
            iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
            g.MakeIterator(dataset, iterator, name=f"start_{name}")
            g.IteratorGetNext(iterator, name=f"next_{name}", **NUMBER)
            steps += [[f"start_{name}"], *[[f"next_{name}:0"]] * 6]
        return steps * 2

    return graph_case(f"{op} {key} {shards} {compression}", op, build)


def written(op, compression=""):
    def build(g):
        path = f"{FOLDER}{op} {compression}.tfrecord"
        spec = elements(("string", ()))
        g.WriteFile(g.constant(text(path)), g.constant(text("old")), name="old")
        getattr(g, op)(slices(g, NAMES), text(path), text(compression), name="write")
        node = g.OptionsDataset(
            g.TFRecordDataset(text(path), text(compression), int64(0)), serialized_options=NO_REWRITES, **spec
        )
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(node, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        return [["old"], ["write"], ["start"], *[["next:0"]] * 5]

    return graph_case(f"{op} {compression}", op, build)


def nothing_saved(g):
    reader = function(g, "reader", ["variant"], lambda b, nested: [nested])
    loaded = g.LoadDataset(
        text(f"{FOLDER}nothing"), [], compression="", reader_func=reader, Treader_func_args=[], name="load", **NUMBER
    )
    return [[loaded.node.name]]


CASES = [
    passed("numbers", "SaveDatasetV2"),
    passed("numbers", "SaveDatasetV2", 2),
    passed("numbers", "SnapshotDatasetV2"),  # with several shards, what an earlier run left would come in another order
    passed("numbers", "SnapshotDatasetV2", compression="AUTO", read_as="SNAPPY"),
    passed("numbers", "SaveDatasetV2", compression="SNAPPY", read_as="SNAPPY"),
    saved("numbers", lambda g: numbers(g, 6), NUMBER),
    saved("numbers", lambda g: numbers(g, 6), NUMBER, "SNAPPY"),
    saved("numbers", lambda g: numbers(g, 6), NUMBER, "GZIP"),
    saved("numbers", lambda g: numbers(g, 6), NUMBER, shards=2),
    saved("rows and names", lambda g: slices(g, ROWS, NAMES), BOTH),
    saved("nothing", lambda g: numbers(g, 0), NUMBER, take=2),
    graph_case("nothing saved", "LoadDataset", nothing_saved),
    *(
        written(op, compression)
        for op in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")
        for compression in ("", "GZIP")
    ),
]
