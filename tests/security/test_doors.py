"""Every door into a run keeps a graph from files unless told otherwise: all commands, and all of the library."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.security import escapes
from tests.security.hostile import HOSTILE, IN_MAIN_OP, SECRET, Folder, hostile_graph
from tfg import GraphBuilder
from tfg.cli import main
from tfg.core.comparing.verify_rewrite import GraphRuns, verify
from tfg.core.flops.measured import measure
from tfg.core.gradients.jacobian import check_gradient
from tfg.core.graph.purity import impurity
from tfg.core.runtime.session.drawn_feeds import Feeds
from tfg.core.runtime.session.runner import Runner
from tfg.core.support.errors import PermissionDeniedError
from tfg.core.training.optimizers import find_optimizer
from tfg.core.training.train_step import add_training
from tfg.core.training.trainer import LeastSquares, Trainer
from tfg.formats import save, to_bytes

FEED = ("--feed", "x=1", "--init")
RUNS = {
    "run": [
        ("run", "{}", "--fetch", "y", *FEED),
        ("run", "{}", "--init-op", "bad_init"),
        ("run", "{}", "--init", "--fetch", "loss", "--feed", "x=1", "--cache-stats"),
    ],
    "grad": [
        ("grad", "{}", "--y", "y", "--x", "x", "--check", *FEED),
        ("grad", "{}", "--y", "y", "--x", "x", "--jacobian", *FEED),
        ("grad", "{}", "--y", "loss", "--x", "x", "--vjp", "1", "--jvp", "1", *FEED),
        ("grad", "{}", "--y", "y", "--x", "x", "--hessian-vector", "1", "--feed", "x=1", "--init-op", "bad_init"),
    ],
    "train": [
        ("train", "{}", "--loss", "loss", "--feed", "x=1", "--steps", "1", "--init-op", "init"),
        ("train", "{}", "--loss", "loss", "--feed", "x=1", "--steps", "1", "--init-op", "bad_init"),
        ("train", "{}", "--loss", "loss", "--optimizer", "lm", "--feed", "x=1", "--steps", "1", "--init-op", "init"),
    ],
    "flops": [("flops", "{}", "--measured", "--fetch", "y", "--runs", "1", *FEED)],
    "layers": [("layers", "{}", "--measured", "--fetch", "y", *FEED)],
    "optimize": [("optimize", "{}", "--fetch", "y", "--fetch", "loss", "--verify", "--init-op", "init", "--feed", "x=1")],
    "compare": [("compare", "{}", "{}", "--fetch", "y", "--fetch", "loss", *FEED)],
    "reduce": [("reduce", "{}", "--fetch", "y", "--test", "false", "-o", "{out}", *FEED)],
    "join": [("join", "{}", str(SAMPLES / "collatz.pbtxt"), "-o", "{out}/", "--init-op", "bad_init")],
    "convert": [("convert", "{}", "{out}", "--freeze", "--to", "x", "--init-op", "bad_init")],
    "view": [
        ("view", "{}", "-o", "{out}.html", "--measured", "--fetch", "y", *FEED),
        ("view", "{}", "-o", "{out}.html", "--values", "--fetch", "y", *FEED),
    ],
}
"""The ways in which each command runs a graph."""
LOOKS = {
    "dump": [("dump", "{}", "--shapes"), ("dump", "{}", "--stages")],
    "explain": [("explain", "{}"), ("explain", "{}", "text")],
    "draw": [("draw", "{}", "-o", "{out}.dot")],
    "view": [("view", "{}", "-o", "{out}.html")],
    "diff": [("diff", "{}", "{}")],
    "ops": [("ops", "--missing", "{}")],
    "completion": [("completion", "bash")],
    "checkpoint": [],
    "scalars": [],
    "cache": [("cache",)],
    "path": [("path", "{}", "x", "y")],
    "convert": [("convert", "{}", "{out}", "--to", "text"), ("convert", "{}", "{out}", "--inline-functions")],
    "grad": [("grad", "{}", "--y", "loss", "--x", "x", "-o", "{out}")],
    "flops": [("flops", "{}", "--fetch", "text", "--fetch", "loss", "--backward")],
    "layers": [("layers", "{}")],
    "unfreeze": [("unfreeze", "{}", "-o", "{out}", "--to", "y", "--verify")],
    "optimize": [("optimize", "{}", "--fetch", "text", "--fetch", "loss", "-o", "{out}")],
}
"""The ways in which each command looks at a graph, or changes it, without running it."""


# A command that is in neither table needs no more than a graph.
LOOKS |= {name: [(name, "{}")] for name in main.commands() if name not in RUNS | LOOKS}


def invocations(table):
    return [pytest.param(way, id=f"{name}-{number}") for name in table for number, way in enumerate(table[name])]


def call(way, folder, kind, *more):
    path, out = folder.save(kind), str(folder.root / "out")
    return run(*(word.format(path, out=out) for word in way), *more)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_all_commands_that_run_graphs_are_known_here():
    """A command that opens sessions has its ways in RUNS; dump runs pipelines only, and takes bounds and folders for them."""
    commands = {name: main.root.get_command(None, name) for name in main.commands()}
    assert {*RUNS, *LOOKS} == set(commands)
    assert {name for name, command in commands.items() if "allow_files" in {p.name for p in command.params}} == {*RUNS, "dump"}


def test_the_elements_that_dump_shows_are_under_the_same_gate(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lines").write_text(SECRET)
    g = GraphBuilder()
    g.TextLineDataset(str(tmp_path / "data" / "lines"), "", np.int64(0), name="lines")
    save(g.graph, tmp_path / "g.pb")
    refused = run("dump", tmp_path / "g.pb", "--elements", "lines")
    assert refused.code == main.REFUSED and "the graph may not" in refused.err and SECRET not in refused.out + refused.err
    assert SECRET in run("dump", tmp_path / "g.pb", "--elements", "lines", "--allow-files", tmp_path / "data").out


def test_the_options_of_a_session_are_the_same_everywhere():
    shared = ("init", "init_op", "state", "seed", "allow_files", "max_memory", "timeout", "signature")
    commands = [main.root.get_command(None, name) for name in RUNS]
    told = {tuple((p.name, *p.opts, p.help) for p in command.params if p.name in shared) for command in commands}
    assert len(told) == 1
    assert sorted(name for name, *_ in told.pop()) == sorted(shared)


@pytest.mark.sampled(22)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("way", invocations(RUNS))
def test_refused(way, kind, folder):
    before = folder.files()
    done = call(way, folder, kind)
    errors = [line for line in done.err.splitlines() if line.startswith("error:")]
    assert (done.code, len(errors)) == (main.REFUSED, 1), done.err
    assert "hostile" in errors[0]
    assert folder.files() == before
    assert not (folder.root / "out").exists()
    assert SECRET not in done.out + done.err


@pytest.mark.sampled(22)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("way", invocations(RUNS))
def test_allowed(way, kind, folder):
    before = folder.files()
    done = call(way, folder, kind, "--allow-files", str(folder.data))
    assert done.code == 0, done.err
    writes = kind in ("WriteFile", "SaveV2", "PrintV2", "CreateSummaryFileWriter", "main op that writes")
    assert (folder.files() != before) == writes


@pytest.mark.sampled(22)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("way", invocations(LOOKS))
def test_looking_touches_no_file(way, kind, folder):
    before = folder.files()
    done = call(way, folder, kind)
    assert done.code != main.USAGE, done.err
    assert "Traceback" not in done.err
    assert folder.files() == before
    assert SECRET not in done.out + done.err
    assert not any(SECRET.encode() in path.read_bytes() for path in folder.root.glob("out*"))


def started(graph, **options):
    runner = Runner(tfg.Session(graph, **options))
    runner.initialize("init")
    return runner


def train(graph, session):
    training = add_training(graph, "loss:0", find_optimizer("sgd").configured({}), learning_rate=0.1)
    trainer = Trainer(training, X) if session is None else Trainer(training, X, session=session.on_graph(training.graph))
    trainer.initialize("init")
    list(trainer.steps(1))


def least_squares(graph, session):
    runner = started(graph) if session is None else Runner(session)
    LeastSquares(graph, "loss:0", X, "", runner).residuals_at(np.ones(1))


def verified(graph, session):
    after, _ = tfg.optimize(graph, ["y:0"], ["x:0"])
    opened = tfg.Session if session is None else session.on_graph
    verify(*(GraphRuns(one, {"y:0": "y:0"}, opened) for one in (graph, after)), Feeds(graph, X, ["y:0"]), 1e-4)


X = {"x:0": np.float32(1)}
DOORS = {
    "Session": lambda graph, session: (session or tfg.Session(graph)).run("y:0", X),
    "on_graph": lambda graph, session: (session or tfg.Session(graph)).on_graph(graph.copy()).run("y:0", X),
    "measure": lambda graph, session: measure(session or tfg.Session(graph), ["y:0"], X, runs=1),
    "check": lambda graph, session: check_gradient(graph, "y:0", "x:0", X, session=session),
    "jacobian": lambda graph, session: tfg.jacobian(graph, "y:0", "x:0", X, session=session),
    "vjp": lambda graph, session: tfg.vjp(graph, "y:0", "x:0", np.float32(1), X, session=session),
    "jvp": lambda graph, session: tfg.jvp(graph, "y:0", "x:0", np.float32(1), X, session=session),
    "hessian_vector": lambda graph, session: tfg.hessian_vector(graph, "y:0", "x:0", np.float32(1), X, session=session),
    "Trainer": train,
    "LeastSquares": least_squares,
    "verify": verified,
}


@pytest.mark.sampled(18)
@pytest.mark.parametrize("kind", sorted(set(HOSTILE) - IN_MAIN_OP))
@pytest.mark.parametrize("door", DOORS)
def test_the_library_refuses_what_it_is_not_told(door, kind, folder):
    graph = hostile_graph(kind, folder)
    before = folder.files()
    with pytest.raises(PermissionDeniedError, match="hostile"):
        DOORS[door](graph, None)
    assert folder.files() == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("door", DOORS)
def test_the_library_takes_over_what_its_caller_allowed(door, folder):
    graph = hostile_graph("WriteFile", folder)
    DOORS[door](graph, started(graph, files=tfg.FileAccess.everything()).session)
    assert folder.written.exists()


@pytest.mark.parametrize("kind", sorted(set(HOSTILE) - IN_MAIN_OP))
def test_optimize_embeds_nothing(kind, folder):
    before = folder.files()
    after, _ = tfg.optimize(hostile_graph(kind, folder), ["text:0", "loss:0"])
    assert SECRET.encode() not in to_bytes(after)
    assert folder.files() == before


def test_sessions_on_copies_keep_time_and_memory(folder):
    graph = hostile_graph("ReadFile", folder)
    session = tfg.Session(graph, timeout=9, max_memory=99)
    other = session.on_graph(graph.copy())
    assert (other._limits.timeout, other._limits.max_memory) == (9, 99)


def test_what_touches_files_is_never_folded_merged_or_moved(folder):
    place = escapes.Place(folder.data)
    graphs = {name: escapes.graph(make, place) for name, make in escapes.ESCAPES.items()}
    assert not [name for name, graph in graphs.items() if impurity(graph, graph["op"]) is None]
