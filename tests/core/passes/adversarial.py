"""Graphs before and after passes, in other dtypes, fed infinities, NaN, zeros of both signs, tiny and huge numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tfg.core.graph.graph import Graph, Node
from tfg.core.passes.base.accuracy import Accuracy
from tfg.core.passes.pipeline import optimize
from tfg.core.registry.op_facts import has_fact
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, TfgError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor

DTYPES = (dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.complex64, dtypes.int32)
_MEMORY = 2**24
UNITS = 8
"""The units in the last place that a rounding rewrite may be off."""


def specials(dtype: Any, with_subnormals: bool = True) -> Any:
    """Return numbers of a dtype at which laws of algebra break."""
    if dtype.kind == "c":
        parts = specials(np.zeros((), dtype).real.dtype, with_subnormals)
        pairs = np.stack(np.meshgrid(parts, parts), -1)
        return pairs.view(dtype).ravel()
    if dtype.kind in "iu":
        limits = ml_dtypes.iinfo(dtype)
        return np.array([limits.min, limits.min + 1, 0, 1, 2, 3, 7, limits.max // 3, limits.max - 1, limits.max], dtype)
    limits = ml_dtypes.finfo(dtype)
    least = float(limits.smallest_subnormal if with_subnormals else limits.smallest_normal)
    most = float(limits.max)
    sizes = [0, least, float(limits.smallest_normal), 1e-3, 1 / 3, 1, 3, 77.7, most**0.5, most / 3, most, np.inf]
    with np.errstate(over="ignore"):
        return np.array([np.nan, *sizes, *(-size for size in sizes)]).astype(dtype)


def retyped(graph: Graph, dtype: Any, sources: Sequence[Any] = (dtypes.float32,)) -> Graph:
    """Return a copy of a graph with another dtype in place of the dtypes `sources`."""
    made = graph.copy()
    for node in made:
        node.attrs = {name: _retyped(value, dtype, sources) for name, value in node.attrs.items()}
        node.forget_dtypes()
    return made


def _retyped(value: Any, dtype: Any, sources: Sequence[Any]) -> Any:
    if isinstance(value, list):
        return [_retyped(item, dtype, sources) for item in value]
    if isinstance(value, Tensor) and value.dtype in sources:
        return Tensor.from_numpy(value.numpy().astype(dtype.numpy), dtype)
    return dtype if isinstance(value, dtypes.DType) and value in sources else value


def feeds_of(graph: Graph, rng: np.random.Generator, with_subnormals: bool) -> dict[str, Any]:
    """Return special and ordinary numbers, mixed at random; integers are small in half of the draws, because they may be
    indices.

    A subnormal number has few digits, so an error of a unit in the last place may be as large as the number.
    """
    feeds = {}
    for node in graph:
        if node.op == "Placeholder":
            dims = node.attrs["shape"].dims
            sizes = (2, 3) if dims is None else [d if isinstance(d, int) else 2 for d in dims]
            dtype = node.attrs["dtype"].numpy
            is_index = dtype.kind in "iub" and rng.random() < 0.5
            pool = np.array([0, 1], dtype) if is_index or dtype.kind == "b" else specials(dtype, with_subnormals)
            drawn = rng.choice(pool.astype(object), sizes).astype(dtype) if dtype.kind == "V" else rng.choice(pool, sizes)
            if dtype.kind not in "iub":
                plain = rng.normal(size=sizes) * 10.0 ** rng.integers(-3, 4, sizes)
                drawn = np.where(rng.random(sizes) < rng.choice([0.2, 0.7]), plain.astype(dtype), drawn)
            feeds[f"{node.name}:0"] = drawn.astype(dtype)
    return feeds


def differences(
    graph: Graph, fetches: Sequence[str], passes: str, draws: int, fast_math: bool = False, seed: int = 0
) -> Iterator[tuple[Accuracy, set[str], str]]:
    """The class that passes report, the rules that fired, and how a draw breaks the class; nothing where none does."""
    fed = [f"{node.name}:0" for node in graph if node.op == "Placeholder"]
    after, report = optimize(graph, fetches, fed, passes, fast_math=fast_math)
    fired = {rule for record in report.passes for rule in record.fired}
    yield report.accuracy, fired, ""
    if report.accuracy is Accuracy.RELAXED or not fired:
        return
    sessions = [Session(one, seed=7, max_memory=_MEMORY) for one in (graph, after)]
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        feeds = feeds_of(graph, rng, report.accuracy is Accuracy.EXACT)
        try:
            expected = sessions[0].run(list(fetches), feeds)
        except TfgError:
            continue
        results = sessions[1].run(list(fetches), feeds)
        scales = _scales(after, fetches, feeds)
        for name, want, got, scale in zip(fetches, expected, results, scales):
            problem = _problem(np.asarray(want), np.asarray(got), report.accuracy, np.asarray(scale))
            if problem:
                yield report.accuracy, fired, f"{name}: {problem}; feeds {feeds}"


def _scales(graph: Graph, fetches: Sequence[str], feeds: dict[str, Any]) -> list[Any]:
    """Return the graph's values for the magnitudes of all operands: sums of magnitudes for sums of operands."""
    copy = graph.copy()
    for node in copy:
        node.attrs = {name: _magnitudes(value) if isinstance(value, Tensor) else value for name, value in node.attrs.items()}
        if node.op == "Sub" and node.attrs["T"].is_numeric:
            node.change_op("AddV2")
    for mean in {mean for node in copy for mean in _means(node) if mean.is_constant}:
        mean.set_attr("value", Tensor.from_numpy(-mean.constant_value(), mean.attrs["dtype"]))
    sizes = {name: _sizes(value) for name, value in feeds.items()}
    wide = retyped(copy, dtypes.float64, (dtypes.float32, dtypes.float16, dtypes.bfloat16))
    try:
        return _run(retyped(wide, dtypes.complex128, (dtypes.complex64,)), fetches, sizes)
    except InvalidArgumentError:  # a kernel takes no double
        return _run(copy, fetches, {name: sizes[name].astype(value.dtype) for name, value in feeds.items()})


def _means(node: Node) -> Sequence[Node]:
    """Return the node of the mean that a batch normalization subtracts."""
    place = 4 if node.op == "_FusedConv2D" and node.attr("fused_ops")[0] == b"FusedBatchNorm" else 3
    is_norm = has_fact(node.op, "batch_normalization") or place == 4
    return [node.inputs[place].node] if is_norm else []


def _run(graph: Graph, fetches: Sequence[str], feeds: dict[str, Any]) -> list[Any]:
    """The fetches of a graph, random draws alike, in little memory: a feed may be a size."""
    return Session(graph, seed=7, max_memory=_MEMORY).run(list(fetches), feeds)


def _magnitudes(value: Tensor) -> Tensor:
    is_number = value.dtype.is_floating or value.dtype.is_complex
    return Tensor.from_numpy(_sizes(value.numpy()).astype(value.dtype.numpy), value.dtype) if is_number else value


def _sizes(values: Any) -> Any:
    """Return absolute values, of complex numbers the absolute value of each part, in double precision."""
    if values.dtype.kind == "c":
        return np.abs(np.stack([values.real, values.imag], -1)).astype(np.float64).view(np.complex128)[..., 0]
    return np.abs(values.astype(np.float64)) if values.dtype.kind in "fV" else values


def _problem(want: Any, got: Any, accuracy: Accuracy, scale: Any) -> str:
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{want.dtype}{want.shape} became {got.dtype}{got.shape}"
    if want.dtype.kind not in "fcV":
        return "" if np.array_equal(want, got) else f"{want} became {got}"
    is_same = (_bits(want) == _bits(got)) | (np.isnan(want) & np.isnan(got))
    is_close = is_same if accuracy is Accuracy.EXACT else is_same | _are_close(want, got, scale)
    place = np.argwhere(~is_close)
    return f"{want[tuple(place[0])]!r} became {got[tuple(place[0])]!r}" if len(place) else ""


def _bits(values: Any) -> Any:
    if values.dtype.kind == "c":
        return values.view((np.void, values.dtype.itemsize)) if values.ndim else values
    return values.view(f"u{values.dtype.itemsize}")


def _are_close(want: Any, got: Any, scale: Any) -> Any:
    """Within units in the last place of the operands; the next number after the largest is an infinity."""
    real = np.zeros((), want.dtype).real.dtype if want.dtype.kind == "c" else want.dtype
    limits = ml_dtypes.finfo(real)
    eps, most, least = (float(limit) for limit in (limits.eps, limits.max, limits.smallest_normal))
    a, b = (values.astype(np.complex128 if values.dtype.kind == "c" else np.float64) for values in (want, got))
    if want.dtype.kind == "c":
        both = ~np.isfinite(a) & ~np.isfinite(b)
    else:
        both = np.isnan(a) & np.isnan(b)
        a, b = (np.clip(values, -most * (1 + eps), most * (1 + eps)) for values in (a, b))
    size = np.abs(scale.astype(np.complex128 if scale.dtype.kind == "c" else np.float64)) if scale.shape == a.shape else 0
    size = np.maximum(np.where(np.isfinite(size), size, 0), np.maximum(np.abs(a), np.abs(b)))
    with np.errstate(invalid="ignore", over="ignore"):
        return both | (np.abs(a - b) <= UNITS * (eps * size + least))
