"""Servers that answer something else than they were asked: errors that name the tensor, and no traceback."""

from __future__ import annotations

import numpy as np
import pytest

grpc = pytest.importorskip("grpc", reason="the extra tfg[cluster] is not installed")

import tfg  # noqa: E402
from tests.formats.cluster.exchange import serving  # noqa: E402
from tfg.core.support.errors import InternalError, TfgError, UnknownError  # noqa: E402
from tfg.core.types.tensors import Tensor  # noqa: E402
from tfg.formats.cluster.cluster_session import ClusterSession  # noqa: E402
from tfg.formats.codecs.tensor_proto import encode_tensor  # noqa: E402
from tfg.formats.protos import cluster_pb2 as pb  # noqa: E402
from tfg.formats.protos.graph_pb2 import TensorProto  # noqa: E402

GOOD = encode_tensor(Tensor.from_numpy(np.float32([1, 2])))


def proto(text):
    from google.protobuf import text_format

    return text_format.Parse(text, TensorProto())


ANSWERS = {
    "nothing": [],
    "another tensor": [("x:0", GOOD)],
    "a name that is none": [("^", GOOD), ("", GOOD)],
    "another dtype": [("y:0", encode_tensor(Tensor.from_numpy(np.int32([1, 2]))))],
    "a string": [("y:0", encode_tensor(Tensor.from_numpy(np.array([b"a"], object))))],
    "an unknown dtype": [("y:0", proto("dtype: DT_INVALID"))],
    "a negative size": [("y:0", proto("dtype: DT_FLOAT tensor_shape { dim { size: -3 } }"))],
    "a size past 64 bits": [("y:0", proto(f"dtype: DT_FLOAT tensor_shape {{ {2 * 'dim { size: 9000000000 } '} }}"))],
    "more than is there": [("y:0", proto('dtype: DT_FLOAT tensor_shape { dim { size: 9 } } tensor_content: "ab"'))],
    "a bomb": [("y:0", proto("dtype: DT_FLOAT tensor_shape { dim { size: 1000000000000 } } float_val: 1"))],
    "a handle": [("y:0", proto("dtype: DT_RESOURCE tensor_shape { } resource_handle_val { }"))],
}


def session_of(tensors):
    """A session on a server that answers every step with these tensors."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    b.Neg(x, name="y")

    def answer(method, request):
        if method == "CreateSession":
            return pb.CreateSessionResponse(session_handle="s").SerializeToString()
        if method != "RunStep":
            return b""
        named = [pb.NamedTensorProto(name=name, tensor=tensor) for name, tensor in tensors]
        return pb.RunStepResponse(tensor=named).SerializeToString()

    return b.graph, answer


@pytest.mark.parametrize("tensors", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_looked_at(tensors):
    graph, answer = session_of(tensors)
    with serving(answer) as address, pytest.raises(TfgError) as error:
        session = ClusterSession(graph, address)
        np.sum(session.run("y:0", {"x:0": [1, 2]}))
    assert not isinstance(error.value, InternalError)


def test_a_tensor_that_is_missing_is_named():
    graph, answer = session_of([])
    with serving(answer) as address, pytest.raises(UnknownError, match="'y:0' was fetched; the server's answer does not have"):
        ClusterSession(graph, address).run("y:0", {"x:0": [1, 2]})


def test_a_good_answer_among_others_is_taken():
    graph, answer = session_of([("y:0", GOOD), ("z:0", GOOD)])
    with serving(answer) as address:
        assert ClusterSession(graph, address).run("y:0", {"x:0": [1, 2]}).tolist() == [1, 2]


def test_an_answer_that_is_no_message_is_an_error():
    graph, answer = session_of([])

    def broken(method, request):
        return b"\xff\xff" if method == "RunStep" else answer(method, request)

    with serving(broken) as address, pytest.raises(TfgError):
        ClusterSession(graph, address).run("y:0", {"x:0": [1, 2]})
