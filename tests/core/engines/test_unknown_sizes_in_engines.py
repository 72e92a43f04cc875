"""Programs on matrices of unknown sizes give NumPy's values in ONNX and JAX, for any sizes."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.inference.unknown_sizes import FED, INPUTS, ROWS, Program, arrays, expected
from tests.sampling import mostly_slow
from tfg.core.onnx.exporting import export
from tfg.formats.onnx_model import run_onnx, save_onnx

pytestmark = pytest.mark.engine


def assert_values(results, program, fed):
    for result, value in zip(results, expected(program.results, fed), strict=True):
        assert np.shape(result) == value.shape
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", mostly_slow(range(200), every=5))
def test_models_of_onnx(seed, tmp_path):
    """One model takes all sizes."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    program = Program(seed)
    inputs = {name.removesuffix(":0"): program.graph.output(name) for name in FED}
    save_onnx(export(program.graph, inputs, {f"r{i}": v.output for i, v in enumerate(program.results)}), tmp_path / "m.onnx")
    for rows in ROWS:
        fed = arrays(rows, seed)
        if expected(program.results, fed) is not None:
            assert_values(run_onnx(tmp_path / "m.onnx", fed), program, fed)


@pytest.mark.parametrize("seed", mostly_slow(range(200), every=5))
def test_functions_of_jax(seed):
    """Each combination of sizes is traced by itself."""
    jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    program = Program(seed)
    function, parameters = tfg.to_jax(program.graph, [value.output.name for value in program.results], FED)
    for rows in ROWS[::2]:
        fed = arrays(rows, seed)
        if expected(program.results, fed) is not None:
            with jax.enable_x64(True):
                results = function(parameters, *(fed[name] for name in INPUTS))
            assert_values(results, program, fed)
