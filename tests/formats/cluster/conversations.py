"""What is said to a cluster of one ps and two workers: each conversation was recorded and is replayed.

Each takes the address of a server and returns what it found. `python -m scripts.record_cluster` records.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run_tfg
from tfg import GraphBuilder, save
from tfg.core.graph.graph import Graph
from tfg.core.runtime.session.runner import Runner
from tfg.core.support.errors import TfgError
from tfg.core.types.dtypes import from_numpy
from tfg.formats.cluster.address import Address
from tfg.formats.cluster.cluster_session import ClusterSession
from tfg.formats.cluster.master import Master

SAVED_MODEL = SAMPLES / "scaler_saved_model"
PS, WORKER = "/job:ps/task:0", "/job:worker/task:1"
VALUES = [
    *(np.array([[0, 1, 2]], kind) for kind in "bBhHiIlLefdFD?"),
    np.array([b"", b"\xff\x00", "ä".encode()], object),
    np.zeros((0, 3), np.float32),
    np.array(b"alone", object),
    np.float64(0.5),
    np.array([], object),
]
"""A value for each kind of dtype, among them empty ones and scalars."""


def linear() -> Graph:
    """A line through points: its weights on the ps, the loss on a worker."""
    g = GraphBuilder()
    with g.device(PS):
        w = g.VariableV2(dtype="float32", shape=[2, 1], name="w")
        g.Assign(w, np.float32([[1], [2]]), name="w/Assign")
        b = g.VarHandleOp(dtype="float32", shape=[1], shared_name="bias", name="b")
        g.AssignVariableOp(b, np.float32([3]), name="b/Assign")
        g.VariableV2(dtype="float32", shape=[1], name="unset")
        step = g.VariableV2(dtype="int64", shape=[], name="step")
        g.Assign(step, np.int64(0), name="step/Assign")
        g.AssignAdd(step, np.int64(1), name="next")
    with g.device(WORKER):
        x = g.Placeholder(dtype="float32", shape=[None, 2], name="x")
        y = g.AddV2(g.MatMul(x, w), g.ReadVariableOp(b, dtype="float32"), name="y")
        g.Mean(g.Square(y), np.int32([0, 1]), name="loss")
    return g.graph


def identities() -> Graph:
    g = GraphBuilder()
    for i, value in enumerate(VALUES):
        dtype = "string" if np.asarray(value).dtype == object else from_numpy(np.asarray(value).dtype).name
        with g.device(WORKER):
            g.Identity(g.Placeholder(dtype=dtype, shape=None, name=f"p{i}"), name=f"i{i}")
    return g.graph


def steps(address: str) -> dict[str, Any]:
    """Initialized, fed, fetched, assigned to, read, traced; what goes wrong."""
    session = ClusterSession(linear(), address)
    session.run(["w/Assign", "b/Assign", "step/Assign"])
    runner = Runner(session)
    by_name: dict[str, Any] = {"y": session.run("y:0", {"x:0": [[1, 1]]})}
    runner.assign("w", lambda _: np.float32([[5], [6]]))
    runner.assign("bias", lambda _: np.float32([1]), "add")
    by_name["state"] = {name: tensor.numpy() for name, tensor in runner.state().items()}
    by_name["times"] = session.traced(["y:0"], {"x:0": [[1, 1]]})
    by_name["both"] = session.run(["x:0", "next", "y:0", "x:0"], {"x:0": [[0, 1]]})
    by_name["errors"] = [error_of(session, *words) for words in (("unset:0",), ("y:0",), ("loss:0", {"x:0": [[1, 2, 3]]}))]
    session.close()
    return by_name


def error_of(session: ClusterSession, *words: Any) -> TfgError:
    try:
        session.run(*words)
    except TfgError as error:
        return error
    raise AssertionError(f"{words} went well")


def dtypes(address: str) -> list[Any]:
    """Values of all dtypes, there and back."""
    session = ClusterSession(identities(), address)
    result = session.run([f"i{i}:0" for i in range(len(VALUES))], {f"p{i}:0": value for i, value in enumerate(VALUES)})
    session.close()
    return result


def partial(address: str) -> list[Any]:
    """A run in two parts."""
    g = GraphBuilder()
    a, b = (g.Placeholder(dtype="float32", shape=[], name=name) for name in "ab")
    total = g.AddV2(a, a, name="double")
    g.Mul(total, b, name="product")
    session = ClusterSession(g.graph, address)
    run = session.partial_run(["double:0", "product:0"], ["a:0", "b:0"])
    results = [run.run(["double:0"], {"a:0": 3}), run.run(["product:0"], {"b:0": 5})]
    session.close()
    return results


def reset(address: str) -> dict[str, Any]:
    """The devices; what a reset leaves of a session and of its variables."""
    session = ClusterSession(linear(), address)
    session.run(["step/Assign"])
    master = Master(Address.parse(address))
    by_name: dict[str, Any] = {"devices": master.devices()}
    master.reset(["ps"], 60)
    by_name["lost"] = error_of(session, "step:0")
    by_name["after"] = error_of(session, "step:0")
    session.close()
    master.close()
    return by_name


def commands(address: str, folder: pathlib.Path) -> dict[str, Any]:
    """What commands say, in this order."""
    graph, state = folder / "linear.pb", folder / "state.npz"
    save(linear(), graph)
    on, x = ("--on", address), ("--feed", "x=[[1,1],[2,0]]")
    lines = {
        "run": ("run", graph, "--init", "--assign", "w=[[5],[6]]", "--fetch", "y", *x, "--save-state", state),
        "restored": ("run", graph, "--state", state, "--fetch", "loss", *x),
        "train": ("train", graph, "--loss", "loss", "--var", "w", "--init", "--lr", 0.1, "--steps", 2, *x, "--format", "json"),
        "grad": ("grad", graph, "--y", "y", "--x", "w", "--jacobian", "--format", "json", *x),
        "check": ("grad", graph, "--y", "loss", "--x", "w", "--check", *x),
        "flops": ("flops", graph, "--measured", "--fetch", "y", "--runs", 1, *x, "--format", "json"),
        "missing": ("run", graph, "--fetch", "unset"),
    }
    return {name: run_tfg(*line, *on) for name, line in lines.items()}


def survey(address: str) -> dict[str, Any]:
    """What `tfg cluster` says, then how it ends all sessions."""
    session = ClusterSession(linear(), address)
    session.run(["step/Assign"])
    lines = {
        "table": (address.removeprefix("grpc://"),),
        "json": (address, "--format", "json"),
        "reset": (address, "--reset", "--container", "ps", "--format", "json"),
    }
    by_name: dict[str, Any] = {name: run_tfg("cluster", *line) for name, line in lines.items()}
    by_name["after"] = error_of(session, "step:0")
    session.close()
    return by_name


def saved_model(address: str, folder: pathlib.Path) -> dict[str, Any]:
    """What the signatures of a SavedModel give, whose variables are read here, its table there."""
    on = ("--on", address, "--format", "json")
    x = ("--feed", "x=[[1, 2], [3, 1]]")
    labels = ("--feed", "labels=[[4, -2], [12, -1]]")
    lines = {
        "scaled": ("run", SAVED_MODEL, "--signature", "serving_default", *x, "--save-state", folder / "scaled.npz"),
        "found": ("run", SAVED_MODEL, "--signature", "index", "--feed", 'names=["height", "depth"]'),
        "trained": ("train", SAVED_MODEL, "--loss", "mse(scaled)", "--lr", 0.05, "--steps", 3, *x, *labels),
    }
    return {name: run_tfg(*line, *on) for name, line in lines.items()}


def lost(address: str, lose: Any) -> dict[str, Any]:
    """A worker is lost and comes back; `lose` sees to it, given what to do while the worker is away."""
    session = ClusterSession(linear(), address)
    session.run(["w/Assign", "b/Assign", "step/Assign"])
    session.run("next")
    by_name: dict[str, Any] = {}

    def away() -> None:
        by_name["error"] = error_of(session, "y:0", {"x:0": [[1, 1]]})

    lose(away)
    session.retries = 3
    by_name["y"] = session.run("y:0", {"x:0": [[1, 1]]})
    by_name["step"] = session.run("step:0")
    session.close()
    return by_name
