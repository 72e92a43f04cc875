"""Snapshots in the first format, and lists of chunks."""

from tests.opcases import graph_case, normal, strings
from tests.pipelines import NO_REWRITES, NUMBER, elements, numbers, pipeline, slices, text

FOLDER = "/tmp/tfg_cases/snapshots/"
ROWS, NAMES = normal(3, 2), strings("a", "", "c" * 200)
BOTH = elements(("string", ()), ("float32", (2,)))


def snapshot(g, folder, data, spec, **attrs):
    return g.SnapshotDataset(data, text(FOLDER + folder), **attrs, **spec)


def passes(g, datasets, spec):
    """Passes over several datasets, one after another."""
    steps = []
    for i, dataset in enumerate(datasets):
        dataset = g.OptionsDataset(dataset, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(dataset, iterator, name=f"start{i}")
        g.IteratorGetNext(iterator, name=f"next{i}", **spec)
        steps += [[f"start{i}"], *[[f"next{i}:{j}" for j in range(len(spec["output_types"]))]] * 5]
    return steps


def written(compression):
    """A snapshot written under a name and read under the same name in another pipeline."""

    def build(g):
        attrs = {"compression": compression, "snapshot_name": "named"}
        first = snapshot(g, f"written {compression}", slices(g, NAMES, ROWS), BOTH, mode="write", **attrs)
        again = snapshot(g, f"written {compression}", slices(g, NAMES[:1], ROWS[:1]), BOTH, mode="read", **attrs)
        return passes(g, [first, again, again], BOTH)

    return graph_case(f"written {compression}", "SnapshotDataset", build)


def one(key, **attrs):
    return pipeline(key, "SnapshotDataset", lambda g: snapshot(g, key, numbers(g, 3), NUMBER, **attrs), take=5, passes=2)


def chunks(key, *names, other="DONE", contents=b""):
    def build(g):
        folder, spec = f"{FOLDER}chunks {key}/", elements(("string", ()))
        for i, name in enumerate([*(f"chunks/{name}" for name in names), other]):
            g.WriteFile(g.constant(text(folder + name)), g.constant(text(contents)), name=f"write{i}")
        node = g.ListSnapshotChunksDataset(text(folder), **spec)
        return [*([f"write{i}"] for i in range(len(names) + 1)), *passes(g, [node], spec)]

    return graph_case(f"chunks {key}", "ListSnapshotChunksDataset", build)


CASES = [
    *(written(compression) for compression in ("", "GZIP", "SNAPPY")),
    one("by its pipeline"),
    one("neither", mode="passthrough"),
    one("nothing there", mode="read"),
    one("another mode", mode="other"),
    one("another compression", compression="LZ4"),
    one("given up at once", pending_snapshot_expiry_seconds=0),
    chunks("of streams", "chunk_1_0_1", "chunk_0_1_1", "chunk_10_0_1", "chunk_0_10_2"),
    chunks("none"),
    chunks("failed", "chunk_1_0_1", other="ERROR", contents=b'code: INVALID_ARGUMENT message: "no"'),
]
