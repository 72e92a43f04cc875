"""Any bytes lead to a graph or a TfgError."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.test_functions import TEXT as FUNCTIONS
from tests.formats.test_graphdef import TEXT
from tests.formats.test_saved_model import META
from tfg.core.support.errors import DataLossError, TfgError
from tfg.core.types.tensors import Tensor
from tfg.formats import load, open_checkpoint, to_bytes, to_text
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef, SaverDef

RECORDED = pathlib.Path(__file__).with_name("recorded")
BINARIES = [to_bytes(load(text.encode())) for text in (TEXT, FUNCTIONS, META)]
TEXTS = [text.encode() for text in (TEXT, FUNCTIONS, META)]

edit = st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 2), st.binary(min_size=1, max_size=6))
edits = st.lists(edit, max_size=4)


def edited(data, changes, keep):
    """Return a share of `data` with bytes replaced, inserted or deleted at relative positions."""
    result = bytearray(data[: int(len(data) * keep) + 1])
    for position, kind, piece in changes:
        at = int(position * len(result))
        result[at : at + (len(piece) if kind != 1 else 0)] = b"" if kind == 2 else piece
    return bytes(result)


def use_everything(data):
    try:
        graph = load(data)
        for node in graph:
            for value in map(node.attrs.get, node.attrs):
                if isinstance(value, Tensor):
                    value.numpy()
        for function in graph.functions.values():
            for node in function.body:
                dict(node.attrs)
        to_bytes(graph)
        to_text(graph)
    except TfgError:
        return


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(BINARIES + TEXTS), edits, st.sampled_from([1.0, 1.0, 0.9, 0.5, 0.1]))
def test_damaged_graphs(data, changes, keep):
    use_everything(edited(data, changes, keep))


def test_unknown_checkpoint_format():
    meta_graph = MetaGraphDef(saver_def=SaverDef(restore_op_name="restore", version=3))
    meta_graph.graph_def.node.add(name="restore", op="NoOp")
    with pytest.raises(DataLossError, match="unknown checkpoint format 3"):
        load(meta_graph.SerializeToString())


@pytest.mark.slow
@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.binary(max_size=60))
def test_random_bytes(data):
    use_everything(data)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(["v1", "v2.index", "v2.data-00000-of-00001"]), edits, st.sampled_from([1.0, 1.0, 0.5]))
def test_damaged_checkpoints(tmp_path_factory, name, changes, keep):
    folder = tmp_path_factory.mktemp("ck")
    for path in filter(pathlib.Path.is_file, RECORDED.iterdir()):
        data = path.read_bytes()
        (folder / path.name).write_bytes(edited(data, changes, keep) if path.name == name else data)
    try:
        reader = open_checkpoint(folder / name.partition(".")[0])
        for tensor in reader.names():
            assert isinstance(reader.read(tensor), np.ndarray)
    except TfgError:
        return


@pytest.mark.parametrize("text", TEXTS)
def test_every_truncation_of_a_text(text):
    for end in range(0, len(text), 37):
        use_everything(text[:end])
