"""Errors of clusters: messages of TensorFlow 2.21's servers, as they came."""

from __future__ import annotations

import pytest

import tfg
from tfg.core.graph.graph import Graph
from tfg.core.support import errors
from tfg.formats.cluster.master import failure

ADDITIONAL = (
    "From /job:worker/replica:0/task:0:\nMatrix size-incompatible: In[0]: [2,2], In[1]: [3,2]\n\t [[{{node z}}]]\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling "
    "/tensorflow.WorkerService/RecvTensor:\n:UNKNOWN:Error received from peer  "
    '{grpc_message:"Matrix size-incompatible: In[0]: [2,2], In[1]: [3,2]\\n\\t [[{{node z}}]]", grpc_status:3}\n'
    "\t [[z_S11]]"
)
SEVERAL = (
    "\n=====================\nCANCELLED: From /job:worker/replica:0/task:0:\nRecvFromRemoteAsync is cancelled.\n"
    "\t [[{{node y_S5}}]]\nFAILED_PRECONDITION: From /job:ps/replica:0/task:0:\n"
    "Attempting to use uninitialized value v\n\t [[{{node v_S0}}]]\n=====================\n"
)
FED = (
    "From /job:worker/replica:0/task:0:\n"
    "Output 0 of type float does not match declared output type string for node {{node _recv_s_0}}"
)


def graph() -> Graph:
    g = tfg.GraphBuilder()
    g.VariableV2(dtype="float32", shape=[], name="v")
    g.Placeholder(dtype="string", shape=[], name="s")
    return g.graph


def test_the_task_that_failed_is_named():
    error = failure(3, ADDITIONAL)
    assert type(error) is errors.InvalidArgumentError and error.node == "z"
    assert error.message == "Matrix size-incompatible: In[0]: [2,2], In[1]: [3,2] (on /job:worker/replica:0/task:1)"


def test_what_was_cancelled_is_not_the_cause():
    error = failure(9, SEVERAL, graph())
    assert type(error) is errors.FailedPreconditionError
    assert (error.node, error.op) == ("v", "VariableV2")
    assert error.message == "Attempting to use uninitialized value v (on /job:ps/replica:0/task:0)"


def test_a_node_that_feeds_is_the_one_fed():
    assert failure(13, FED, graph()).node == "s"


def test_every_status_is_an_error():
    kinds = [type(failure(code, "x")).__name__ for code in range(1, 17)]
    assert kinds[:4] == ["CancelledError", "UnknownError", "InvalidArgumentError", "DeadlineExceededError"]
    assert kinds[9] == "AbortedError" and kinds[13] == "UnavailableError"
    assert failure(14, "").message == "the server states no reason"


def test_matrices_in_a_message_stay():
    assert failure(3, "want [[1, 2], [3, 4]], got [[{{node a}}]] here\n\t [[{{node b}}]]").message == (
        "want [[1, 2], [3, 4]], got here"
    )


LONG = 1 << 22
HOSTILE = {
    "rules": "=" * LONG,
    "rules on lines": "=====\n" * (LONG // 6),
    "opened": "[[" * (LONG // 2),
    "opened and closed": "[[]]" * (LONG // 4),
    "spaces": " " * LONG + "[[",
    "nodes": "{{node " * (LONG // 7),
    "tasks": "From /job:" * (LONG // 10),
    "remote": "from remote target /job:" * (LONG // 24),
    "codes": "=====\n" + "A: \n" * (LONG // 4) + "=====\n",
    "line feeds": "\n" * LONG,
}


@pytest.mark.parametrize("message", HOSTILE.values(), ids=HOSTILE)
def test_a_long_message_takes_no_time(message):
    """By the square of its length it would take minutes."""
    assert failure(3, message, graph()).message
