"""Datasets that keep elements, in memory and in files."""

from tests.opcases import graph_case, normal, strings
from tests.pipelines import NO_REWRITES, NUMBER, elements, int64, numbers, pipeline, slices, text

FOLDER = "/tmp/tfg_cases/datasets_cached/"
ROWS, NAMES = normal(3, 2), strings("a", "", "cc")
BOTH = elements(("float32", (2,)), ("string", ()))


def cached(kind):
    def make(g):
        shuffled = g.ShuffleDataset(numbers(g, 6), int64(6), int64(1), int64(2), **NUMBER)
        if kind == "CacheDataset":
            node = g.CacheDataset(shuffled, text(""), **NUMBER)
        else:
            handle = g.DummyMemoryCache() if kind == "DummyMemoryCache" else g.AnonymousMemoryCache()[0]
            node = g.CacheDatasetV2(shuffled, text(""), handle, **NUMBER)
        return g.RepeatDataset(node, int64(2), **NUMBER)

    return pipeline(f"{kind}", "CacheDataset" if kind == "CacheDataset" else "CacheDatasetV2", make, take=14, plain=True)


def in_file(key, make, spec, take=5):
    """A pass that writes a cache, a pass that reads the cache, and the tensors in the file."""

    def build(g):
        path = f"{FOLDER}{key}"
        g.WriteFile(g.constant(text(f"{FOLDER}folder")), g.constant(text("")), name="folder")
        cache = g.CacheDataset(make(g), text(path), **spec)
        cache = g.OptionsDataset(cache, serialized_options=NO_REWRITES, **spec)
        iterator = g.IteratorV2(shared_name="", container="", **spec)
        g.MakeIterator(cache, iterator, name="start")
        g.IteratorGetNext(iterator, name="next", **spec)
        names = [f"      {i}_{j}" for i in range(2) for j in range(len(spec["output_types"]))]
        types = [*spec["output_types"]] * 2
        g.RestoreV2(text(path), strings(*names), strings(*[""] * len(names)), dtypes=types, name="kept")
        following = [f"next:{i}" for i in range(len(spec["output_types"]))]
        kept = [f"kept:{i}" for i in range(len(names))]
        return [["folder"], *[["start"], *[following] * take] * 2, kept]

    return graph_case(f"CacheDataset in a file {key}", "CacheDataset", build)


CASES = [
    *(cached(kind) for kind in ("CacheDataset", "DummyMemoryCache", "AnonymousMemoryCache")),
    in_file("rows and names", lambda g: slices(g, ROWS, NAMES), BOTH),
    in_file("numbers", lambda g: numbers(g, 3), NUMBER),
]
