"""Sessions on a cluster, against what TensorFlow's servers answered when the same was said to them."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import time
from unittest import mock

import numpy as np
import pytest

grpc = pytest.importorskip("grpc", reason="the extra tfg[cluster] is not installed")

import tfg  # noqa: E402
from tests.cli.json_schemas import faults  # noqa: E402
from tests.cli.running import tfg as run_tfg  # noqa: E402
from tests.formats.cluster import conversations  # noqa: E402
from tests.formats.cluster.exchange import METHODS, Refusal, read, replaying, serving  # noqa: E402
from tfg.core.flops.measured import KernelRecorder  # noqa: E402
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor  # noqa: E402
from tfg.core.support.errors import (  # noqa: E402
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
)
from tfg.formats.cluster import cluster_session  # noqa: E402
from tfg.formats.cluster.cluster_session import ClusterSession  # noqa: E402
from tfg.formats.protos import cluster_pb2 as pb  # noqa: E402

RECORDED = pathlib.Path(__file__).parent / "recorded"
TASK = "/job:worker/replica:0/task:1"


def replay(name, *more):
    calls = read(RECORDED / f"{name}.json")
    with replaying(calls) as (address, left):
        result = getattr(conversations, name)(address, *more)
        wait_until(lambda: not left)  # what is abandoned is not waited for
    assert not left, [call.method for call in left]
    return result


def wait_until(condition):
    end = time.monotonic() + 300
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture(scope="module")
def steps():
    return replay("steps")


def test_every_call_of_the_service_is_in_a_conversation():
    assert {call.method for path in RECORDED.glob("*.json") for call in read(path)} == set(METHODS)


def test_values_are_fed_and_fetched(steps):
    assert steps["y"].tolist() == [[6]] and steps["y"].dtype == np.float32
    x, nothing, y, again = steps["both"]
    assert (x.tolist(), nothing, y.tolist(), again.tolist()) == ([[0, 1]], None, [[10]], [[0, 1]])
    assert y.flags.writeable


def test_variables_are_assigned_to_and_read(steps):
    state = steps["state"]
    assert {name: value.tolist() for name, value in state.items()} == {"w": [[5], [6]], "bias": [4], "step": 0}


def test_errors_name_node_op_and_task(steps):
    unset, unfed, shape = steps["errors"]
    assert isinstance(unset, FailedPreconditionError) and "/job:ps/replica:0/task:0" in unset.message
    assert (unset.node, unset.op) == ("unset", "VariableV2")
    assert isinstance(unfed, InvalidArgumentError) and TASK in unfed.message
    assert (unfed.node, unfed.op) == ("x", "Placeholder")
    assert isinstance(shape, InvalidArgumentError) and shape.node == "x"
    assert not any("{{" in str(error) or "\n" in str(error) for error in steps["errors"])


def test_times_are_told_by_device(steps):
    devices = {time.name: time.device for time in steps["times"]}
    assert devices["y"] == f"{TASK}/device:CPU:0"
    assert devices["w"] == "/job:ps/replica:0/task:0/device:CPU:0"
    assert "w from /job:ps/replica:0/task:0/device:CPU:0" in devices
    assert next(time for time in steps["times"] if time.name == "y").output_shapes == {0: (1, 1)}


def test_values_of_all_dtypes_come_back_as_they_went():
    for value, result in zip(conversations.VALUES, replay("dtypes"), strict=True):
        expected = np.asarray(value)
        if expected.dtype == object and not expected.ndim:
            assert result == expected.item()
            continue
        assert result.dtype == expected.dtype and result.shape == expected.shape and result.tolist() == expected.tolist()


def test_a_run_in_parts():
    assert replay("partial") == [[6], [30]]


def test_a_reset_ends_sessions_and_drops_variables():
    answers = replay("reset")
    assert [(device.name, device.is_of_master) for device in answers["devices"]] == [
        ("/job:worker/replica:0/task:0/device:CPU:0", True),
        ("/job:ps/replica:0/task:0/device:CPU:0", False),
        (f"{TASK}/device:CPU:0", False),
    ]
    assert isinstance(answers["lost"], AbortedError)
    assert isinstance(answers["after"], FailedPreconditionError)


def test_what_there_is_to_know_of_a_cluster():
    answers = replay("survey")
    assert [name for name, done in answers.items() if name != "after" and done.code] == []
    table = [line.split() for line in answers["table"].out.splitlines()]
    devices = ["/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0", f"{TASK}/device:CPU:0"]
    assert [line[:4] for line in table[3:6]] == [[name, "CPU", "256", "MiB"] for name in devices]
    assert [line[-1] for line in table[3:6]] == ["yes", "ms", "ms"]
    told = answers["json"].json
    assert faults(told) == []
    assert [device["name"] for device in told["devices"]] == devices
    assert len(told["seconds"]) == 3 and min(*told["seconds"], told["session_seconds"]) > 0
    assert "closed all sessions" in answers["reset"].err
    assert isinstance(answers["after"], AbortedError)


@pytest.mark.slow
def test_saved_models_run_on_a_cluster_as_here(tmp_path):
    answers = replay("saved_model", tmp_path)
    on_cluster = {name: done.json for name, done in answers.items() if not done.code}
    assert sorted(on_cluster) == ["found", "scaled", "trained"]
    x, labels = ("--feed", "x=[[1, 2], [3, 1]]"), ("--feed", "labels=[[4, -2], [12, -1]]")
    here = {
        "scaled": run_tfg("run", conversations.SAVED_MODEL, "--signature", "serving_default", *x, "--format", "json"),
        "found": run_tfg(
            "run", conversations.SAVED_MODEL, "--signature", "index", "--feed", 'names=["height", "depth"]', "--format", "json"
        ),
        "trained": run_tfg(
            "train", conversations.SAVED_MODEL, "--loss", "mse(scaled)", "--lr", 0.05, "--steps", 3, *x, *labels, "--format",
            "json",
        ),
    }  # fmt: skip
    assert {name: done.json for name, done in here.items()} == on_cluster
    with np.load(tmp_path / "scaled.npz") as state:
        assert sorted(state) == ["calls", "scale"]


@pytest.mark.slow
def test_commands_run_on_a_cluster(tmp_path):
    answers = replay("commands", tmp_path)
    assert [name for name, done in answers.items() if done.code] == ["missing"]
    assert "[[14.],\n [13.]]" in answers["run"].out
    assert "loss = 182.5" in answers["restored"].out
    assert [step["loss"] for step in answers["train"].json["history"]] == [30.5, pytest.approx(8.84)]
    assert np.ravel(answers["grad"].json["derivatives"][0]["jacobian"]).tolist() == [1, 1, 2, 0]
    assert answers["check"].out.rstrip().endswith("yes")
    assert faults(answers["flops"].json) == []
    timings = {timing["name"]: timing for timing in answers["flops"].json["timings"]}
    assert timings["MatMul"]["flops"] == 2 * 2 * 2 and timings["MatMul"]["device"].startswith(TASK)
    assert "node 'unset' (VariableV2): Attempting to use uninitialized value unset" in answers["missing"].err


@pytest.mark.slow
def test_commands_say_on_a_cluster_what_they_say_here(tmp_path):
    graph = tmp_path / "linear.pb"
    answers = replay("commands", tmp_path)
    x = ("--feed", "x=[[1,1],[2,0]]")
    assert run_tfg("run", graph, "--init", "--assign", "w=[[5],[6]]", "--fetch", "y", *x).out == answers["run"].out
    options = ("--loss", "loss", "--var", "w", "--init", "--lr", "0.1", "--steps", 2, "--format", "json")
    here = run_tfg("train", graph, *options, *x)
    assert here.json == answers["train"].json


def test_a_session_is_made_anew_when_a_server_was_lost():
    answers = replay("lost", lambda away: away())
    assert isinstance(answers["error"], UnavailableError)
    assert (answers["y"].tolist(), answers["step"]) == ([[6]], 1)


def simple():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    g.Identity(x, name="y")
    return g.graph


class Cluster:
    """Answers CreateSession with a handle each, and steps as it is told."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.requests = []
        self.sessions = 0

    def __call__(self, method, data):
        if method == "CreateSession":
            self.sessions += 1
            return pb.CreateSessionResponse(session_handle=str(self.sessions)).SerializeToString()
        if method != "RunStep":
            return b""
        self.requests.append(pb.RunStepRequest.FromString(data))
        outcome = self.outcomes.pop(0) if self.outcomes else 0
        if isinstance(outcome, Exception):
            raise outcome
        answer = pb.RunStepResponse(status_code=outcome, status_error_message="so it is")
        answer.tensor.add(name="y:0").tensor.dtype = 1
        return answer.SerializeToString()


@pytest.mark.parametrize("outcome", [10, 14, Refusal(10, "lost"), Refusal(14, "lost")], ids=str)
def test_a_step_is_repeated_only_as_often_as_allowed(outcome):
    cluster = Cluster(outcome, outcome)
    with serving(cluster) as address:
        session = ClusterSession(simple(), address, retries=1)
        with pytest.raises((AbortedError, UnavailableError)):
            session.run("y:0", {"x:0": [1]})
        assert len(cluster.requests) == 2
        session.run("y:0", {"x:0": [1]})
        session.close()
    assert [request.session_handle for request in cluster.requests] == ["1", "2", "3"]
    assert len({request.request_id for request in cluster.requests}) == 3


def test_no_other_error_is_tried_again():
    cluster = Cluster(3)
    with serving(cluster) as address:
        session = ClusterSession(simple(), address, retries=5)
        with pytest.raises(InvalidArgumentError, match="so it is"):
            session.run("y:0", {"x:0": [1]})
        session.close()
    assert len(cluster.requests) == 1


def test_numbers_of_requests_are_of_no_session():
    cluster = Cluster()
    with serving(cluster) as address:
        for _ in range(2):
            session = ClusterSession(simple(), address)
            for _ in range(3):
                session.run("y:0", {"x:0": [1]})
            session.close()
    assert len({request.request_id for request in cluster.requests}) == 6


def test_names_of_a_signature_stand_for_its_tensors():
    graph = simple()
    graph.meta = MetaGraph(
        signatures={"only": Signature("only", {"a": SignatureTensor("x:0")}, {"b": SignatureTensor("y:0")})}
    )
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(graph, address)
        session.run("b", {"a": [1]})
        session.close()
    (request,) = cluster.requests
    assert ([feed.name for feed in request.feed], list(request.fetch)) == (["x:0"], ["y:0"])


def test_a_step_has_the_time_that_the_session_gives_it():
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(simple(), address, timeout=2.5)
        session.run("y:0", {"x:0": [1]})
        session.close()
    assert cluster.requests[0].options.timeout_in_ms == 2500


def test_large_messages_pass():
    """gRPC takes 4 MiB unless it is told otherwise."""
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(simple(), address)
        session.run("y:0", {"x:0": np.zeros(2 << 20, np.float32)})
        session.close()
    assert len(cluster.requests[0].feed[0].tensor.tensor_content) == 8 << 20


def test_what_no_message_holds_is_refused_before_it_is_sent():
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(simple(), address)
        with pytest.raises(ResourceExhaustedError, match="for 'x:0'"):
            session.run("y:0", {"x:0": np.broadcast_to(np.float32(0), (2**29,))})
        session.close()
    assert not cluster.requests and not cluster.sessions


def test_names_are_looked_up_before_anything_is_sent():
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(simple(), address)
        with pytest.raises(NotFoundError):
            session.run("z:0")
        with pytest.raises(NotFoundError):
            session.run("y:0", {"z:0": 1})
        with pytest.raises(UnimplementedError):
            session.run("y:0", {"x:0": [1]}, hook=KernelRecorder())
        session.close()
    assert not cluster.sessions


def test_graphs_that_contradict_each_other_get_sessions_of_their_own():
    """Two extensions of a graph may use one name for different nodes."""
    cluster = Cluster()
    with serving(cluster) as address:
        session = ClusterSession(simple(), address)
        for op in ("Neg", "Exp"):
            g = tfg.GraphBuilder(simple())
            g.apply(op, g.graph.output("y:0"), name="more")
            session.on_graph(g.graph).run(["y:0", "more"], {"x:0": [1]})
        session.run("y:0", {"x:0": [1]})
        session.close()
    assert [request.session_handle for request in cluster.requests] == ["1", "2", "1"]


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate of its own for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("the program 'openssl' is not installed")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, *subject]
    subprocess.run(made, check=True, capture_output=True)
    return key, cert


@pytest.mark.slow
def test_tls_with_certificates_of_both_sides(certificate):
    key, cert = certificate
    texts = key.read_bytes(), cert.read_bytes()
    cluster = Cluster()
    with serving(cluster, grpc.ssl_server_credentials([texts], texts[1], True)) as address:
        session = ClusterSession(simple(), f"{address}?ca={cert}&cert={cert}&key={key}")
        session.run("y:0", {"x:0": [1]})
        session.close()
        stranger = pytest.raises(UnavailableError)
        with mock.patch.object(cluster_session, "CONNECT_SECONDS", 0.5), stranger:
            ClusterSession(simple(), f"{address}?ca={cert}")
    assert len(cluster.requests) == 1


def test_a_note_where_others_may_listen(tmp_path):
    tfg.save(simple(), tmp_path / "g.pb")
    with mock.patch.object(cluster_session, "CONNECT_SECONDS", 0.1):
        words = ("run", tmp_path / "g.pb", "--fetch", "y", "--feed", "x=[1]", "--on")
        assert "is not encrypted" in run_tfg(*words, "grpc://nowhere.invalid:1").err
        assert "is not encrypted" not in run_tfg(*words, "grpc://localhost:1").err
        assert "is not encrypted" not in run_tfg(*words, "grpcs://nowhere.invalid:1").err


def test_nobody_there():
    nobody = pytest.raises(UnavailableError, match="no server answers")
    with mock.patch.object(cluster_session, "CONNECT_SECONDS", 0.2), nobody:
        ClusterSession(simple(), "grpc://localhost:1")


@pytest.mark.parametrize("option", ["--seed 1", "--allow-files .", "--max-memory 1G", "--cache-stats", "--check-numerics"])
def test_options_that_servers_do_not_take_are_refused(option, tmp_path):
    tfg.save(simple(), tmp_path / "g.pb")
    done = run_tfg("run", tmp_path / "g.pb", "--fetch", "y", "--feed", "x=[1]", "--on", "grpc://localhost:1", *option.split())
    assert done.code == 2 and f"{option.split()[0]} has no effect with --on=grpc*: " in done.err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("--on=local:2", "local:N and dask://HOST:PORT need --each or --sweep"),
        ("--on=dask://localhost:1", "local:N and dask://HOST:PORT need --each or --sweep"),
        ("--on=localhost:2222", "write grpc://HOST:PORT"),
        ("--on=", "write grpc://HOST:PORT"),
        ("--on=grpcs://h:1?foo=3", "the options after ? are ca=FILE, and cert=FILE&key=FILE together"),
    ],
)
@pytest.mark.parametrize("command", ["run --fetch y --feed x=[1]", "flops --measured --fetch y --feed x=[1]"])
def test_what_is_no_cluster_is_refused_with_a_hint(command, given, problem, tmp_path):
    """In the form with `=` as in that with a space between."""
    tfg.save(simple(), tmp_path / "g.pb")
    name, *words = command.split()
    done = run_tfg(name, tmp_path / "g.pb", *words, given)
    assert done.code == 1 and problem in done.err
    assert run_tfg(name, tmp_path / "g.pb", *words, *given.split("=", 1)) == done


def test_options_of_clusters_that_would_do_nothing(tmp_path):
    tfg.save(simple(), tmp_path / "g.pb")
    done = run_tfg("run", tmp_path / "g.pb", "--fetch", "y", "--retry", 1)
    assert done.code == 2 and "--retry needs --on" in done.err
    done = run_tfg("flops", tmp_path / "g.pb", "--on", "grpc://localhost:1")
    assert done.code == 2 and "--on needs --measured" in done.err
    assert "no such option" in run_tfg("compare", tmp_path / "g.pb", "--on", "grpc://localhost:1").err.lower()
