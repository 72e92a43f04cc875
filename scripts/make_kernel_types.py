"""Write core/registry/kernel_types.txt, the dtypes of TensorFlow's CPU kernels, from an installed TensorFlow.

    /path/to/tensorflow-venv/bin/python scripts/make_kernel_types.py

A line has an op, then the possible types of each attribute. Ops with a kernel for all types are left out.
"""

import collections
import itertools
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import kernels

TARGET = pathlib.Path(__file__).parents[1] / "core" / "registry" / "kernel_types.txt"


def alternatives():
    """Return the kernels of each op, each a tuple of (attribute, type)."""
    by_name = collections.defaultdict(set)
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type == "CPU" and not kernel.label:
            names = sorted(c.name for c in kernel.constraint)
            types = {c.name: list(c.allowed_values.list.type) for c in kernel.constraint}
            by_name[kernel.op] |= {tuple(zip(names, combination)) for combination in itertools.product(*map(types.get, names))}
    return by_name


def merged(combinations):
    """Return the combinations in few rows of {attribute: types}: combinations that differ in a single attribute are merged."""
    rows = [{name: frozenset((type_,)) for name, type_ in combination} for combination in sorted(combinations)]
    for name in sorted({name for row in rows for name in row}):
        groups = collections.defaultdict(frozenset)
        for row in rows:
            groups[tuple(sorted((n, t) for n, t in row.items() if n != name))] |= row[name]
        rows = [dict(key) | {name: types} for key, types in groups.items()]
    return rows


def type_name(number):
    return types_pb2.DataType.Name(number).removeprefix("DT_").lower()


def line(op, row):
    return " ".join([op, *(f"{name}={','.join(map(type_name, sorted(row[name])))}" for name in sorted(row))])


if __name__ == "__main__":
    lines = [
        line(op, row)
        for op, combinations in sorted(alternatives().items())
        if () not in combinations and len({tuple(n for n, _ in c) for c in combinations}) == 1
        for row in merged(combinations)
    ]
    TARGET.write_text("".join(f"{text}\n" for text in lines))
