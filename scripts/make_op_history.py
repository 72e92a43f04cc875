"""Write core/registry/op_history.txt: in which release of TensorFlow each op, attribute and allowed value came.

    /path/to/tensorflow-venv/bin/python scripts/make_op_history.py FOLDER

FOLDER has a file `RELEASE.pb` for each release before the installed one, such as `1.13.pb`: the OpList that TF_GetAllOpList
of the C API returns (OpRegistry::Export before 1.3), in the libraries of the release's wheel on PyPI, which ctypes opens.

An entry of an op counts from the first release since which all releases have the entry as the installed TensorFlow has it.
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from make_catalog import dtype_name, quoted, registered_ops
from tensorflow.core.framework import op_def_pb2

TARGET = pathlib.Path(__file__).parents[1] / "core" / "registry" / "op_history.txt"
GRAPH_VERSIONS = {
    "1.0": 21, "1.1": 21, "1.2": 22, "1.3": 24, "1.4": 24, "1.5": 24, "1.6": 26, "1.7": 26, "1.8": 26, "1.9": 26, "1.10": 26,
    "1.11": 27, "1.12": 27, "1.13": 27, "1.14": 38, "1.15": 134, "2.0": 119, "2.1": 175, "2.2": 175, "2.3": 440, "2.4": 561,
    "2.5": 716, "2.6": 808, "2.7": 898, "2.8": 987, "2.9": 1087, "2.10": 1205, "2.11": 1286, "2.12": 1395,
    "2.13": 1482, "2.14": 1575, "2.15": 1645, "2.16": 1766, "2.17": 1882, "2.18": 1994, "2.19": 2129, "2.20": 2288,
    "2.21": 2474,
}  # fmt: skip
"""TF_GRAPH_DEF_VERSION in the headers of the releases' wheels: tensorflow/core/public, version.h or release_version.h."""
DTYPES = {
    "variant": "1.4", "uint32": "1.5", "uint64": "1.5", "float8_e5m2": "2.12", "float8_e4m3fn": "2.12", "int4": "2.15",
    "uint4": "2.15", "float8_e4m3fnuz": "2.19", "float8_e4m3b11fnuz": "2.19", "float8_e5m2fnuz": "2.19", "int2": "2.20",
    "uint2": "2.20", "float4_e2m1fn": "2.21",
}  # fmt: skip
"""The first releases with these dtypes: TF_DataTypeSize of their libraries is not 0."""
HEADER = """\
# What came to TensorFlow's ops after release 1.0, written by scripts/make_op_history.py from the releases' own OpLists.
# A line has an op and its first release, then, after a bar each, a release and what came with it: `+attr` an attribute,
# `attr=` its present default, `attr:values` allowed values (* is all that no other entry names), `attr<n` values below n.
"""


def op_lists(folder):
    """Return the ops of all releases by name, by release."""
    ops = {}
    for release in GRAPH_VERSIONS:
        path = pathlib.Path(folder, f"{release}.pb")
        listed = op_def_pb2.OpList.FromString(path.read_bytes()).op if path.exists() else registered_ops()
        ops[release] = {op.name: op for op in listed}
    return ops


def attrs_of(op):
    return {attr.name: attr for attr in op.attr}


def form(op, newest):
    """Return the arguments of an op; an attribute with a default that the op lacks stands for the default."""
    own, known = attrs_of(op), attrs_of(newest)

    def element(arg):
        name = arg.type_list_attr or arg.type_attr
        if name and name not in own and known[name].HasField("default_value"):
            return known[name].default_value.type
        return name or arg.type

    return [[(element(arg), arg.number_attr, arg.is_ref) for arg in args] for args in (op.input_arg, op.output_arg)]


def is_like(op, newest):
    """True where nodes of the newest op may be nodes of `op`, new attributes aside."""
    known = attrs_of(newest)
    gone = [attr for attr in op.attr if attr.name not in known and not attr.HasField("default_value")]
    old, new = form(op, newest), form(with_attrs_of(newest, op), newest)
    return not gone and old == new


def with_attrs_of(newest, op):
    """Return the newest op without the attributes that `op` lacks."""
    result = op_def_pb2.OpDef()
    result.CopyFrom(newest)
    names = attrs_of(op)
    kept = [attr for attr in newest.attr if attr.name in names]
    del result.attr[:]
    result.attr.extend(kept)
    return result


def since(releases, holds):
    """Return the first of the releases since which all hold."""
    first = None
    for release in reversed(releases):
        if not holds(release):
            break
        first = release
    return first


def allowed(attr):
    """Return the texts of the allowed values; None where all are allowed."""
    if not attr.HasField("allowed_values"):
        return None
    listed = attr.allowed_values.list
    return [*map(dtype_name, listed.type), *map(quoted, listed.s)]


def value_entries(attr, olds):
    """Yield (release, entry) for the allowed values of an attribute, in releases that have the attribute."""
    releases, newest = list(olds), allowed(attr)
    lists = {release: allowed(old) for release, old in olds.items()}
    is_open = since(releases, lambda release: lists[release] is None)
    if newest is None and is_open == releases[0]:
        return
    names = newest or dict.fromkeys(name for listed in lists.values() for name in listed or ())
    by_release = {}
    for name in names:
        first = since(releases, lambda release, name=name: lists[release] is None or name in lists[release])
        if first is not None and (newest is None or first != releases[0]) and first != is_open:
            by_release.setdefault(first, []).append(name)
    for release, came in by_release.items():
        yield release, f"{attr.name}:{','.join(came)}"
    if newest is None:
        yield is_open, f"{attr.name}:*"


def attr_entries(attr, releases, ops):
    """Yield (release, entry) for an attribute of the newest op in the releases that have the op."""
    came = since(releases, lambda release: attr.name in attrs_of(ops[release]))
    if came != releases[0]:
        yield came, f"+{attr.name}"
    olds = {release: attrs_of(ops[release])[attr.name] for release in releases[releases.index(came) :]}
    present = since(list(olds), lambda release: olds[release].default_value == attr.default_value)
    if attr.HasField("default_value") and present != came:
        yield present, f"{attr.name}="
    yield from value_entries(attr, olds)
    least = since(list(olds), lambda release: olds[release].minimum <= attr.minimum or not olds[release].has_minimum)
    if least != came:
        yield least, f"{attr.name}<{max(old.minimum for old in olds.values())}"


def line(name, ops):
    newest = ops[list(ops)[-1]][name]
    own = {release: listed.get(name) for release, listed in ops.items()}
    first = since(list(ops), lambda release: own[release] is not None and is_like(own[release], newest))
    releases = list(ops)[list(ops).index(first) :]
    entries = {release: [] for release in releases}
    for attr in newest.attr:
        for release, entry in attr_entries(attr, releases, own):
            entries[release].append(entry)
    return " | ".join([f"{name} {first}", *(" ".join([release, *came]) for release, came in entries.items() if came)])


if __name__ == "__main__":
    ops = op_lists(sys.argv[1])
    versions = " ".join(f"{release}={version}" for release, version in GRAPH_VERSIONS.items())
    dtypes = " ".join(f"{name}={release}" for name, release in DTYPES.items())
    newest = sorted(ops[list(ops)[-1]])
    lines = [f"releases: {versions}", f"dtypes: {dtypes}", *(line(name, ops) for name in newest)]
    TARGET.write_text(HEADER + "".join(f"{text}\n" for text in lines))
