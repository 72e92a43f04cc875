"""Op cases as data: inputs of ops. The expected answers are TensorFlow's, recorded by scripts/record_cases.py.

A file tests/cases/FAMILY.py holds `CASES`, a list of `case(...)` and `graph_case(...)`; the answers lie in
tests/recorded/FAMILY.npz under the case's key.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pathlib
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfg.core.building.builder import GraphBuilder
from tfg.core.registry import registry
from tfg.core.registry.registry import Cost
from tfg.core.support.versions import Versions
from tfg.core.types import dtypes
from tfg.core.types.shapes import UNKNOWN

CASES_DIR = pathlib.Path(__file__).with_name("cases")
RECORDED_DIR = pathlib.Path(__file__).with_name("recorded")


@dataclasses.dataclass(frozen=True)
class Case:
    """A graph, and the steps that a session runs on the graph.

    `build` adds the nodes and returns the fetches of each step; `feeds` are the placeholders' values, equal in each step.
    `differentiable`: the numeric gradient check covers the case (float64 inputs, a gradient registered), or only these
    inputs. `flops`: the count of the op's formula, made by hand; two cases with different counts determine a formula.
    """

    key: str
    op: str
    build: Callable[[GraphBuilder], Sequence[Sequence[str]]]
    feeds: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    is_single_op: bool = False
    differentiable: bool | tuple[int, ...] = True
    tolerance: float | None = None
    flops: Cost | None = None


def case(
    op: str,
    *inputs: Any,
    key: str = "",
    differentiable: bool | tuple[int, ...] = True,
    tolerance: float | None = None,
    flops: int | Cost | None = None,
    **attrs: Any,
) -> Case:
    """Return a case of an op on placeholders fed with `inputs` (a list for a list argument), with all outputs fetched.

    An error is an answer too. Python numbers become int32, float32 or string inputs; give arrays for other dtypes.
    """
    feeds: dict[str, np.ndarray] = {}
    names = [
        [_feed(feeds, f"x{i}_{j}", v) for j, v in enumerate(item)] if isinstance(item, list) else _feed(feeds, f"x{i}", item)
        for i, item in enumerate(inputs)
    ]

    def build(g: GraphBuilder) -> list[list[str]]:
        for name, value in feeds.items():
            g.Placeholder(dtype=dtypes.from_numpy(value.dtype), shape=value.shape, name=name.removesuffix(":0"))
        values = [[g.graph.output(n) for n in v] if isinstance(v, list) else g.graph.output(v) for v in names]
        node = g.add(op, values, attrs, "op")
        return [[f"op:{i}" for i in range(len(node.output_dtypes))] or ["op"]]

    cost = Cost(flops) if isinstance(flops, int) else flops
    return Case(key or _key(op, inputs, attrs), op, build, feeds, True, differentiable, tolerance, cost)


def graph_case(
    key: str, op: str, build: Callable[[GraphBuilder], Sequence[Sequence[str]]], tolerance: float | None = None, **feeds: Any
) -> Case:
    """A small graph: `build(g)` adds nodes and returns a list of fetches for each step; `feeds` fill placeholders by name."""
    return Case(key, op, build, {f"{n}:0": _read_only(np.asarray(v)) for n, v in feeds.items()}, tolerance=tolerance)


def unshaped(op: str, *inputs: np.ndarray, **attrs: Any) -> Case:
    """Return a case of an op with unknown input shapes: only the kernel accepts or refuses the shapes."""

    def build(g: GraphBuilder) -> Sequence[Sequence[str]]:
        node = g.add(op, [g.PlaceholderWithDefault(value, shape=UNKNOWN) for value in inputs], attrs, "op")
        return [[f"op:{i}" for i in range(len(node.output_dtypes))]]

    return Case(f"unshaped {_key(op, inputs, attrs)}", op, build)


def removed(op: str, *inputs: Any, version: int = 8, **attrs: Any) -> Case:
    """A case of an op that TensorFlow removed, in a graph of an older version."""
    current = case(op, *inputs, **attrs)

    def build(g: GraphBuilder) -> Sequence[Sequence[str]]:
        g.graph.versions = Versions(version)
        return current.build(g)

    return dataclasses.replace(current, build=build)


def normal(*shape: int, dtype: str = "float32", seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Normally distributed numbers, the same at every call."""
    values = np.random.default_rng(seed + 1000 * len(shape) + sum(shape)).standard_normal(shape) * scale
    if dtype.startswith("complex"):
        values = values + 1j * np.flip(values)
    return values.astype(dtypes.from_name(dtype).numpy)


def wide(*shape: int, seed: int = 0) -> np.ndarray:
    """As `normal`, in double precision."""
    return normal(*shape, dtype="double", seed=seed)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Uniformly distributed numbers, the same at every call."""
    values = np.random.default_rng(seed + 1000 * len(shape) + sum(shape)).uniform(low, high, shape)
    return values.astype(dtypes.from_name(dtype).numpy)


def integers(*shape: int, low: int = 0, high: int = 10, dtype: str = "int32", seed: int = 0) -> np.ndarray:
    """Integers in [low, high), the same at every call."""
    values = np.random.default_rng(seed + 1000 * len(shape) + sum(shape)).integers(low, high, shape)
    return values.astype(dtypes.from_name(dtype).numpy)


def i32(*values: Any) -> np.ndarray:
    """The values, or rows, as int32."""
    return np.array(values, np.int32)


def i64(*values: Any) -> np.ndarray:
    """The values, or rows, as int64."""
    return np.array(values, np.int64)


def strings(*values: Any) -> np.ndarray:
    """A string tensor from (nested) text or bytes."""
    return string_array(values)


def string_array(values: Any) -> np.ndarray:
    """A string tensor of the shape of `values`: text or bytes alone is a scalar."""
    array = np.asarray(values, object)
    flat = np.empty(array.size, object)
    flat[:] = [v.encode() if isinstance(v, str) else v for v in array.ravel()]
    return flat.reshape(array.shape)


def families() -> list[str]:
    """The names of all case files."""
    return sorted(p.stem for p in CASES_DIR.glob("*.py") if p.stem != "__init__")


def load_cases(family: str) -> list[Case]:
    """Return the cases of a family; keys must be unique."""
    cases: list[Case] = importlib.import_module(f"tests.cases.{family}").CASES
    keys = [c.key for c in cases]
    duplicates = {k for k in keys if keys.count(k) > 1}
    assert not duplicates, f"cases of {family} share the keys {duplicates}"
    return cases


@functools.cache
def by_op() -> dict[str, list[tuple[str, Case]]]:
    """Return the cases of each op, with their families."""
    cases: dict[str, list[tuple[str, Case]]] = {}
    for family in families():
        for item in load_cases(family):
            cases.setdefault(item.op, []).append((family, item))
    return dict(sorted(cases.items()))


def for_each(cases: Sequence[tuple[str, Case]], check: Callable[[str, Case], object]) -> None:
    """Check all cases of an op; the first failure names the case, the file of the case and the module of the op."""
    failures = []
    for family, item in cases:
        try:
            check(family, item)
        except Exception as error:
            error.add_note(f"{item.op}: case {item.key!r} of tests/cases/{family}.py; the op is in {registry.family(item.op)}")
            failures.append(error)
    if failures:
        failures[0].add_note(f"{len(failures)} of {len(cases)} cases fail")
        raise failures[0]


def _feed(feeds: dict[str, np.ndarray], name: str, value: Any) -> str:
    if isinstance(value, (str, bytes)):
        array = strings(value)[0]
        array = np.array(array, object)
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    else:
        array = np.asarray(value)
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    feeds[f"{name}:0"] = _read_only(array)
    return f"{name}:0"


def _read_only(array: np.ndarray) -> np.ndarray:
    """A view that fails a kernel which computes in its input, as constants do."""
    view = array.view()
    view.flags.writeable = False
    return view


def _key(op: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> str:
    shapes = "_".join(_input_text(value) for value in inputs)
    settings = ",".join(f"{k}={v}" for k, v in attrs.items())
    values = b"".join(_input_bytes(v) for v in inputs)
    return f"{op}[{shapes}]{settings}#{zlib.crc32(values):08x}"


def _input_bytes(value: Any) -> bytes:
    if isinstance(value, list):
        return b""
    array = np.asarray(value)
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


def _input_text(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(_input_text, value))
    array = np.asarray(value)
    return f"{array.dtype.name}{'x'.join(map(str, array.shape))}"
