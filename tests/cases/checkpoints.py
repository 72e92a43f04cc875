"""Cases of the checkpoints family."""

import numpy as np

from tests.opcases import graph_case, integers, normal
from tests.opcases import string_array as strings

FOLDER = "/tmp/tfg_cases/"
VALUES = [normal(2, 3), integers(4, dtype="int64"), strings(["a", b"\x00b", ""]), np.array(True), np.zeros((0, 2), np.float64)]
NAMES = strings([f"v{i}" for i in range(len(VALUES))])
TYPES = ["float", "int64", "string", "bool", "double"]


def texts(g, *values):
    return g.constant(strings(list(values)))


def whole(version):
    """Save and restore all dtypes."""

    def build(g):
        path = g.constant(f"{FOLDER}whole{version}".encode())
        specs = texts(g, *[""] * len(VALUES))
        data = [g.constant(value) for value in VALUES]
        if version == 2:
            g.SaveV2(path, g.constant(NAMES), specs, data, name="save")
        else:
            g.Save(path, g.constant(NAMES), data, name="save")
        g.RestoreV2(path, g.constant(NAMES), specs, dtypes=TYPES, name="load")
        g.Restore(path, g.constant(b"v0"), dt="float", name="one")
        return [["save"], [f"load:{i}" for i in range(len(VALUES))], ["one:0"]]

    return graph_case(f"whole V{version}", "SaveV2" if version == 2 else "Save", build)


def slices(version):
    """Two saved halves of a tensor, and restored parts across the halves."""

    def build(g):
        path = g.constant(f"{FOLDER}slices{version}".encode())
        value = normal(4, 3)
        names, specs = texts(g, "v", "v"), texts(g, "4 3 0,2:-", "4 3 2,2:-")
        data = [g.constant(value[:2]), g.constant(value[2:])]
        (g.SaveV2 if version == 2 else g.SaveSlices)(path, names, specs, data, name="save")
        g.RestoreV2(path, names, texts(g, "", "4 3 1,2:0,2"), dtypes=["float"] * 2, name="load")
        g.RestoreSlice(path, g.constant(b"v"), g.constant(b"4 3 0,2:-"), dt="float", name="part")
        return [["save"], ["load:0", "load:1"], ["part:0"]]

    return graph_case(f"slices V{version}", "RestoreSlice" if version == 2 else "SaveSlices", build)


def shards():
    """Two files of format V1, restored by a pattern of both."""

    def build(g):
        for i in range(2):
            path = g.constant(f"{FOLDER}shards-0000{i}-of-00002".encode())
            g.Save(path, texts(g, f"v{i}"), [g.constant(VALUES[i])], name=f"save{i}")
        pattern = g.constant(f"{FOLDER}shards-?????-of-00002".encode())
        g.RestoreV2(pattern, texts(g, "v0", "v1"), texts(g, "", ""), dtypes=["float", "int64"], name="load")
        g.Restore(pattern, g.constant(b"v1"), dt="int64", name="one")
        g.Restore(pattern, g.constant(b"v2"), dt="int64", name="none")
        return [["save0"], ["save1"], ["load:0", "load:1"], ["one:0"], ["none:0"]]

    return graph_case("shards V1", "Restore", build)


def merge():
    def build(g):
        paths = [g.constant(f"{FOLDER}parts/p{i}".encode()) for i in range(2)]
        for i, path in enumerate(paths):
            g.SaveV2(path, texts(g, f"v{i}"), texts(g, ""), [g.constant(VALUES[i])], name=f"save{i}")
        target = g.constant(f"{FOLDER}merged".encode())
        g.MergeV2Checkpoints(texts(g, *(f"{FOLDER}parts/p{i}" for i in range(2))), target, name="merge")
        g.RestoreV2(target, texts(g, "v0", "v1"), texts(g, "", ""), dtypes=["float", "int64"], name="load")
        return [["save0"], ["save1"], ["merge"], ["load:0", "load:1"]]

    return graph_case("merge", "MergeV2Checkpoints", build)


def restore(key, name, path="whole2", dtype="float", spec=""):
    """Failing restores."""

    def build(g):
        place = g.constant(f"{FOLDER}{path}".encode())
        target = g.constant(f"{FOLDER}whole2".encode())
        save = g.SaveV2(target, texts(g, "v0"), texts(g, ""), [g.constant(VALUES[0])], name="save")
        with g.control_dependencies([save]):
            g.RestoreV2(place, texts(g, name), texts(g, spec), dtypes=[dtype], name="load")
        return [["save"], ["load:0"]]

    return graph_case(key, "RestoreV2", build)


CASES = [
    whole(2),
    shards(),
    whole(1),
    slices(2),
    slices(1),
    merge(),
    restore("missing file", "v0", path="nowhere"),
    restore("missing tensor", "nothing"),
    restore("wrong dtype", "v0", dtype="double"),
    restore("wrong shape", "v0", spec="3 3 0,2:-"),
    restore("slice", "v0", spec="2 3 1,1:0,2"),
]
