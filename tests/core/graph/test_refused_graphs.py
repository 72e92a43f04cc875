"""The library on graphs that `check` refuses: nothing but TfgErrors, from whatever attribute of whatever kind."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tfg
from tfg.core.inference.inference import infer
from tfg.core.support.errors import InternalError, InvalidArgumentError, TfgError
from tfg.core.types.tensors import Placeholder

VALUES = (
    "type: DT_FLOAT", "type: 0", "type: 77", "type: DT_FLOAT_REF", "i: 3", 's: "abc"', "b: true", "f: 1.5", 'placeholder: "T"',
    'func { name: "nope" }', "list { type: DT_FLOAT }", "list { i: 3 }", "shape { dim { size: -7 } }",
    "shape { unknown_rank: true }", "tensor { dtype: DT_FLOAT }", "tensor { dtype: 55 }", "",
)  # fmt: skip
X = 'node { name: "x" op: "Placeholder" %s }'
FLOAT_X = X % 'attr { key: "dtype" value { type: DT_FLOAT } }'
Y = 'node { name: "y" op: "Square" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
ENDS = 'node { name: "%s" op: "%s" input: "x" attr { key: "%s" value { VALUE } } %s }'
FLOAT_T = 'attr { key: "T" value { type: DT_FLOAT } }'
GRAPHS = {
    "input's dtype": X % 'attr { key: "dtype" value { VALUE } }' + Y,
    "input's shape": X % 'attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { VALUE } }' + Y,
    "T": FLOAT_X + ENDS % ("y", "Square", "T", ""),
    "colocation": FLOAT_X + ENDS % ("y", "Square", "_class", FLOAT_T),
    "shapes noted": FLOAT_X + ENDS % ("y", "Square", "_output_shapes", FLOAT_T),
    "a cast's result": FLOAT_X + ENDS % ("y", "Cast", "DstT", 'attr { key: "SrcT" value { type: DT_FLOAT } }'),
    "a call's results": FLOAT_X + ENDS % ("y", "PartitionedCall", "Tout", 'attr { key: "Tin" value { list { type: 1 } } }'),
}


def gave(call):
    """Return the exception of a call of the library, None without an exception."""
    try:
        call()
    except TfgError as error:
        return error
    return None


@pytest.mark.sampled(16)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_nothing_but_errors_of_tfg(kind, value, tmp_path):
    data = GRAPHS[kind].replace("VALUE", value).encode()
    if gave(lambda: tfg.load(data)) is not None:
        return
    calls = {
        "dtypes": lambda g: [(o.dtype and o.dtype.numpy, o.base_dtype.size) for node in g for o in node.outputs()],
        "attributes": lambda g: [dict(node.attrs) for node in g],
        "check": lambda g: g.check(),
        "infer": lambda g: infer(g),
        "run": lambda g: tfg.Session(g).run("y:0", {"x": np.float32([1])}),
        "gradients": lambda g: tfg.gradients(g, ["y"], ["x"]),
        "jacobian": lambda g: tfg.jacobian(g, "y", "x", {"x": np.float32([1])}),
        "count_flops": lambda g: tfg.count_flops(g, ["y"]),
        "explain": lambda g: tfg.explain(g),
        "optimize": lambda g: tfg.optimize(g, ["y"]),
        "builder": lambda g: tfg.GraphBuilder(g).Square(g["y"].output()),
        "save": lambda g: tfg.save(g, tmp_path / "g.pb"),
        "save as text": lambda g: tfg.save(g, tmp_path / "g.pbtxt"),
    }
    for name, call in calls.items():
        graph = tfg.load(data)
        assert not isinstance(gave(lambda call=call, graph=graph: call(graph)), InternalError), name


def test_a_value_that_a_caller_gives_is_copied_and_pickled():
    value = Placeholder("T")
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(InvalidArgumentError, match="attribute 'T' gets its value from the caller of a function"):
        _ = value.numpy
