"""Programs of StableHLO in a process without tfg: dtypes, batches, signatures and variables. Skipped where JAX is missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import ml_dtypes  # noqa: E402

import tfg  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.support.errors import NotFoundError, UnimplementedError  # noqa: E402

VALUES = {
    "float32": np.float32([[1.5, -2]]),
    "float64": np.float64([[1 / 3, 2**60]]),
    "float16": np.float16([[1.5, -2]]),
    "bfloat16": np.array([[1.5, -2]], ml_dtypes.bfloat16),
    "int8": np.int8([[-3, 4]]),
    "int32": np.int32([[2**30, -1]]),
    "int64": np.int64([[2**40, -1]]),
    "uint8": np.uint8([[200, 1]]),
    "bool": np.array([[True, False]]),
    "complex64": np.complex64([[1 + 2j, -3]]),
}
DOUBLED = {
    "float32": [[3, -4]],
    "float64": [[2 / 3, 2**61]],
    "float16": [[3, -4]],
    "bfloat16": [[3, -4]],
    "int8": [[-6, 8]],
    "int32": [[-(2**31), -2]],
    "int64": [[2**41, -2]],
    "uint8": [[144, 2]],
    "bool": [[False, True]],
    "complex64": [[2 + 4j, -6]],
}
"""x + x by hand, modulo 2**bits for integers; not x for truth values."""
ALONE = """
import sys
sys.modules["tfg"] = None  # an import of tfg fails
import jax, ml_dtypes, numpy as np, pathlib
jax.config.update("jax_enable_x64", True)
for path in sorted(pathlib.Path().glob("*.stablehlo")):
    program = jax.export.deserialize(bytearray(path.read_bytes()))
    x = np.load(f"{path.stem}.npz")["x"]
    dtype = program.in_avals[0].dtype
    x = x.view(dtype) if x.dtype.kind == "V" else x
    for count in (1, 3):
        rows = np.concatenate([x] * count)
        results = program.call(rows)
        name, value = next(iter(results.items()))
        assert list(results) == [name] and str(value.dtype) == str(dtype), (path, value.dtype)
        value = np.asarray(value)
        np.save(f"{path.stem}.{count}.npy", value if value.dtype.kind in "iubc" else value.astype(np.float64))
assert not [name for name in sys.modules if name.startswith("tfg.")]
"""


def run_alone(folder):
    """Run all programs of a folder on batches of one and of three, in a process that cannot import tfg."""
    (folder / "alone.py").write_text(ALONE)
    done = subprocess.run([sys.executable, "-P", "alone.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_dtypes_and_batches(tmp_path):
    for name, value in VALUES.items():
        b = GraphBuilder()
        x = b.Placeholder(dtype=name, shape=[None, 2], name="x")
        b.LogicalNot(x, name="y") if name == "bool" else b.AddV2(x, x, name="y")
        assert tfg.convert(b.graph, tmp_path / f"{name}.stablehlo", "y:0", "x:0").size > 0
        np.savez(tmp_path / f"{name}.npz", x=value)
    run_alone(tmp_path)
    for name, expected in DOUBLED.items():
        for count in (1, 3):
            got = np.load(tmp_path / f"{name}.{count}.npy")
            np.testing.assert_array_equal(got, np.concatenate([expected] * count), err_msg=name)


def test_strings_are_refused_by_node(tmp_path):
    b = GraphBuilder()
    x = b.Placeholder(dtype="string", shape=[None, 2], name="x")
    b.StringLower(x, name="lower")
    node = next(node for node in b.graph if node.op != "Placeholder")
    with pytest.raises(UnimplementedError) as caught:
        tfg.convert(b.graph, tmp_path / "y.stablehlo", node.name, "x:0")
    assert node.name in f"{caught.value} {caught.value.details}" and caught.value.hint
    assert not (tmp_path / "y.stablehlo").exists()


def test_signatures_and_variables(tmp_path):
    """Each signature of a SavedModel is a program; the variable is a constant, with the value of the state."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 2], name="x")
    w = b.variable(np.float32(3), "w", resource=True)
    value = b.ReadVariableOp(w.handle, dtype="float32")
    b.Mul(x, value, name="times")
    b.AddV2(x, value, name="plus")
    b.global_variables_initializer()
    signatures = {"times": ({"x": "x:0"}, {"out": "times:0"}), "plus": ({"x": "x:0"}, {"out": "plus:0"})}
    tfg.save_model(b.graph, tmp_path / "model", state={"w": np.float32(5)}, signatures=signatures)
    x = np.float32([[1, 2]])
    graph = tfg.load(tmp_path / "model")
    for name in signatures:
        signature = graph.meta.signatures[name]
        tfg.convert(graph, tmp_path / f"{name}.stablehlo", signature.fetched, signature.fed)
        np.savez(tmp_path / f"{name}.npz", x=x)
        function, parameters = tfg.to_jax(graph, signature.fetched, signature.fed)
        assert parameters == {"w": 5}
        np.testing.assert_array_equal(function({"w": np.float32(7)}, x)["out"], [[7, 14]] if name == "times" else [[8, 9]])
    run_alone(tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "times.3.npy"), [[5, 10]] * 3)
    np.testing.assert_array_equal(np.load(tmp_path / "plus.3.npy"), [[6, 7]] * 3)


def test_without_flatbuffers(monkeypatch, tmp_path):
    """JAX imports the package when a program is written."""
    monkeypatch.setitem(sys.modules, "jax._src.export.serialization", None)
    b = GraphBuilder()
    b.Neg(b.Placeholder(dtype="float32", shape=[None], name="x"), name="y")
    with pytest.raises(NotFoundError, match="flatbuffers") as caught:
        tfg.convert(b.graph, tmp_path / "y.stablehlo", "y:0", "x:0")
    assert "tfg[xla]" in caught.value.hint
