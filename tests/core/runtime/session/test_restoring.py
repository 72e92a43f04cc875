"""States that do not list a graph's variables singly."""

from __future__ import annotations

import os

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.tensors import Tensor, as_bytes_array
from tfg.formats.state import read_state


def test_slices_of_partitioned_variables_come_from_the_whole(tmp_path) -> None:
    """A checkpoint holds a partitioned variable as a whole; the graph's Restore op names the slice of a variable."""
    g = GraphBuilder()
    variables = [g.variable(np.zeros((2, 2), np.float32), name=f"w/part_{i}") for i in range(2)]
    prefix = g.constant(np.array(b"x", object), name="prefix")
    names, specs = [np.array(texts, object) for texts in ([b"w", b"w"], [b"4 2 0,2:0,2", b"4 2 2,2:-"])]
    for variable, value in zip(variables, g.RestoreV2(prefix, names, specs, dtypes=["float", "float"])):
        g.Assign(variable.handle, value)
    tfg.save(g.graph, str(tmp_path / "graph.pb"))
    whole = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.savez(tmp_path / "state.npz", w=whole)
    session = tfg.Session(tfg.load(str(tmp_path / "graph.pb")))
    Runner(session).restore(read_state(tmp_path / "state.npz"))
    np.testing.assert_array_equal(np.concatenate(session.run(["w/part_0:0", "w/part_1:0"])), whole)


@pytest.mark.parametrize("spec", ["x", "4 0,2:0,1", "4 0,", "4 -1,2", "4 " + "9" * 30 + ",1", "\udc80"])
def test_a_slice_that_is_none_is_refused(tmp_path, spec):
    """The slice of a partitioned variable in a graph is untrusted text."""
    g = GraphBuilder()
    part = g.VariableV2(dtype="float32", shape=[2], name="part")
    texts = [g.constant(as_bytes_array([os.fsencode(text)])) for text in ("whole", spec)]
    (value,) = g.RestoreV2(g.constant(as_bytes_array(b"prefix")), *texts, dtypes=["float32"])
    g.Assign(part, value)
    runner = Runner(Session(g.graph))
    with pytest.raises(InvalidArgumentError, match=r"is not a slice of shape \(4\)"):
        runner.restore({"whole": Tensor.from_numpy(np.ones(4, np.float32))})
