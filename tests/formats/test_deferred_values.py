"""Variables with values read from the file on demand."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import tfg
from tests.children import fork_to
from tests.cli.running import tfg as run
from tfg.core.runtime.execute import tiers
from tfg.core.runtime.execute.tiers import Tier
from tfg.core.runtime.session.runner import Runner
from tfg.core.support import regular_files
from tfg.core.support.errors import DataLossError, ResourceExhaustedError
from tfg.core.transforms.freezing import freeze
from tfg.core.types.tensors import Tensor
from tfg.formats import load, open_checkpoint, write_checkpoint
from tfg.formats.checkpoint.bundle import Shards, read_index, write_index
from tfg.formats.codecs.numpy_files import write_npz
from tfg.formats.codecs.tensor_proto import encode_static_shape
from tfg.formats.protos.checkpoint_pb2 import BundleEntryProto
from tfg.formats.state import read_state, read_variables

SMALL, LARGE = np.float32([1, 2, 3]), np.arange(5000, dtype=np.float32)
VALUES = {"small": SMALL, "large": LARGE}


def graph_of(resource: bool) -> tfg.Graph:
    """Return a graph with two variables, a read of each, and an addition to the first."""
    g = tfg.GraphBuilder()
    small, large = (g.variable(np.zeros_like(value), name, resource=resource) for name, value in VALUES.items())
    g.Identity(small, name="y")
    g.Sum(large, np.int32([0]), name="total")
    g.apply("AssignAddVariableOp" if resource else "AssignAdd", small.handle, np.float32([1, 1, 1]), name="add")
    g.global_variables_initializer()
    return g.graph


@pytest.fixture(params=[False, True], ids=["by reference", "resource"])
def model(request, tmp_path):
    """A SavedModel of the two variables."""
    tfg.save(graph_of(request.param), tmp_path / "graph.pb")
    write_checkpoint(tmp_path / "state", VALUES)
    written = run(
        "run", tmp_path / "graph.pb", "--state", tmp_path / "state", "--fetch", "y", "--save-model", tmp_path / "model"
    )
    assert written.code == 0, written.err
    return tmp_path / "model"


@pytest.fixture
def reads(monkeypatch):
    """The names of the tensors that are read from checkpoints."""
    names: list[str] = []
    read = Shards.read
    monkeypatch.setattr(Shards, "read", lambda self, name, entry: names.append(name) or read(self, name, entry))
    return names


@pytest.fixture
def open_files(monkeypatch):
    """Files of any size stay open, as large ones do."""
    monkeypatch.setattr(regular_files, "IN_MEMORY", -1)


def data_file(model: pathlib.Path) -> pathlib.Path:
    return model / "variables" / "variables.data-00000-of-00001"


def started(model: pathlib.Path) -> tfg.Session:
    session = tfg.Session(load(model))
    session.start()
    return session


def variables_of(session: tfg.Session):
    return {variable.name: variable for variable in session.held_variables()}


def test_a_fetch_reads_the_variables_that_it_needs(model, reads):
    session = started(model)
    assert reads == []
    for _ in range(2):
        assert session.run("y:0").tolist() == SMALL.tolist()
    assert reads == ["small"]
    assert session.run("total:0") == LARGE.sum()
    assert reads == ["small", "large"]


@pytest.mark.parametrize("form", ["checkpoint", "version 1", "npz"])
def test_a_state_is_read_as_it_is_needed(form, tmp_path, monkeypatch):
    path = tmp_path / ("state.npz" if form == "npz" else "state")
    if form == "npz":
        write_npz(path, {name: Tensor.from_numpy(value) for name, value in VALUES.items()})
    else:
        write_checkpoint(path, VALUES, version=1 if form == "version 1" else 2)
    sizes = []
    read_at = regular_files.PositionedFile.read_at
    session = tfg.Session(graph_of(True))
    Runner(session).restore(read_variables(path))
    monkeypatch.setattr(
        regular_files.PositionedFile, "read_at", lambda *args: sizes.append(len(result := read_at(*args))) or result
    )
    assert session.run("y:0").tolist() == SMALL.tolist()
    if form != "version 1":  # both tensors are in one block of its table
        assert sum(sizes) < LARGE.nbytes
    assert session.run("total:0") == LARGE.sum()


def test_what_is_assigned_before_is_not_read(model, reads):
    session = started(model)
    runner = Runner(session)
    runner.assign("large", lambda _: np.ones(5000, np.float32))
    assert session.run("total:0") == 5000 and reads == []


def test_additions_begin_with_what_was_restored(model, reads):
    session = started(model)
    session.run("add")
    session.run("add")
    assert session.run("y:0").tolist() == (SMALL + 2).tolist()
    assert reads == ["small"]
    assert started(model).run("y:0").tolist() == SMALL.tolist()


def test_a_state_is_what_the_variables_were(model, reads, tmp_path):
    session = started(model)
    state = Runner(session).state()
    assert reads == []
    session.run("add")
    assert state["small"].numpy().tolist() == SMALL.tolist()
    assert Runner(session).state()["small"].numpy().tolist() == (SMALL + 1).tolist()
    saved = run("run", model, "--fetch", "y", "--save-state", tmp_path / "again")
    assert saved.code == 0, saved.err
    again = read_state(tmp_path / "again")
    assert {name: again[name].numpy().tolist() for name in VALUES} == {name: v.tolist() for name, v in VALUES.items()}


def test_freezing_reads_what_is_frozen(model, reads, tmp_path):
    graph = load(model)
    frozen = freeze(graph, Runner(started(model)).state(), ["y"])
    assert tfg.Session(frozen).run("y:0").tolist() == SMALL.tolist()
    assert reads == ["small"]
    done = run("convert", model, tmp_path / "frozen.pb", "--freeze", "--to", "total")
    assert done.code == 0, done.err
    assert tfg.Session(load(tmp_path / "frozen.pb")).run("total:0") == LARGE.sum()


def test_a_file_that_is_replaced_or_removed_is_read_as_it_was(model, open_files):
    session = started(model)
    other = data_file(model).with_suffix(".new")
    other.write_bytes(bytes(data_file(model).stat().st_size))
    os.replace(other, data_file(model))
    assert session.run("y:0").tolist() == SMALL.tolist()
    data_file(model).unlink()
    assert session.run("total:0") == LARGE.sum()


@pytest.mark.parametrize("change", ["overwrite", "cut"])
def test_a_file_that_is_changed_in_place_is_an_error(change, model, open_files):
    session = started(model)
    with open(data_file(model), "r+b") as file:
        file.write(bytes(20000)) if change == "overwrite" else file.truncate(0)
    for _ in range(2):
        for fetch, name in (("y:0", "small"), ("total:0", "large")):
            with pytest.raises(DataLossError, match=f"variable '{name}'") as error:
                session.run(fetch)
            assert error.value.node is not None


def test_damage_is_told_when_the_variable_is_read(model):
    damaged = bytearray(data_file(model).read_bytes())
    damaged[100] ^= 1  # the tensors lie there in the order of their names
    data_file(model).write_bytes(damaged)
    session = started(model)
    assert session.run("y:0").tolist() == SMALL.tolist()
    with pytest.raises(DataLossError, match="variable 'large': the checksum of tensor 'large'"):
        session.run("total:0")
    done = run("run", model, "--fetch", "total")
    assert done.code == 1 and "variable 'large'" in done.err
    done = run("run", model, "--fetch", "y", "--save-state", model / "copy")
    assert done.code == 1 and "variable 'large'" in done.err


def test_missing_data_is_told_at_the_start(model):
    size = data_file(model).stat().st_size
    os.truncate(data_file(model), size - 1)
    with pytest.raises(DataLossError, match="the file ends at byte"):
        started(model)
    data_file(model).unlink()
    with pytest.raises(tfg.errors.NotFoundError, match="with tensor"):
        started(model)


def test_a_hook_sees_arrays(model):
    graph = load(model)
    restore, feeds = graph.meta.start_steps[0]
    seen = []

    def hook(node, call, inputs):
        seen.extend(inputs if node.op in ("Assign", "AssignVariableOp") else ())
        return call(*inputs)

    tfg.Session(graph).run([restore], feeds, hook=hook)
    assert sum(isinstance(value, np.ndarray) and value.dtype == np.float32 for value in seen) == 2


def test_what_is_fetched_is_an_array(model):
    graph = load(model)
    _, feeds = graph.meta.start_steps[0]
    restoring = next(node for node in graph if node.op == "RestoreV2")
    assert all(type(value) is np.ndarray for value in tfg.Session(graph).run([f"{restoring.name}:{i}" for i in (0, 1)], feeds))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tier", [tier for tier in Tier if tier is not Tier.DATAFLOW])
def test_every_tier_restores(tier, model):
    with tiers.forcing(tier):
        session = tfg.Session(load(model))
    restore, feeds = session.graph.meta.start_steps[0]
    for _ in range(5):
        session.run("add")
        session.run([restore], feeds)
        assert session.run(["y:0", "total:0"])[0].tolist() == SMALL.tolist()


def test_limits_count_what_is_read(model):
    session = tfg.Session(load(model), max_memory=LARGE.nbytes - 100)
    assert session.run("y:0").tolist() == SMALL.tolist()
    with pytest.raises(ResourceExhaustedError):
        session.run("total:0")


def test_threads_read_a_variable_once(model, reads):
    session = started(model)
    variable = variables_of(session)["large"]
    barrier = threading.Barrier(8)
    results = []

    def read():
        barrier.wait()
        results.append(variable.read())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reads == ["large"] and all(value is results[0] for value in results)


def test_a_copy_and_a_memory_of_a_restored_variable(model):
    session = started(model)
    held = variables_of(session)
    memory = held["small"].memory()
    assert held["small"].value_shape == (3,) and memory.read().tolist() == SMALL.tolist()
    held["large"].copy(held["small"])
    held["small"].writable()[0] = 7
    assert memory.read().tolist() == [7, 2, 3] and held["large"].read().tolist() == SMALL.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("form", ["state", "state.npz"])
def test_forked_processes_read_the_same_file(form, tmp_path, open_files):
    values = {f"v{i}": np.full(3000, i, np.float32) for i in range(20)}
    if form == "state":
        write_checkpoint(tmp_path / form, values)
    else:
        np.savez(tmp_path / form, **values)
    tensors = read_state(tmp_path / form)

    def reads_right() -> bool:
        return all((tensors[name].read() == value).all() for _ in range(10) for name, value in values.items())

    children = [fork_to(reads_right) for _ in range(2)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


@pytest.mark.parametrize("missing", [(), ("preadv",), ("preadv", "pread")])
def test_systems_without_reads_at_a_position(missing, tmp_path, open_files, monkeypatch):
    for name in missing:
        monkeypatch.delattr(os, name, raising=False)
    write_checkpoint(tmp_path / "state", VALUES)
    write_npz(tmp_path / "state.npz", {name: Tensor.from_numpy(value) for name, value in VALUES.items()})
    for path in (tmp_path / "state", tmp_path / "state.npz"):
        tensors = read_state(path)
        assert {name: tensors[name].read().tolist() for name in VALUES} == {name: v.tolist() for name, v in VALUES.items()}
    reader = open_checkpoint(tmp_path / "state")
    os.truncate(tmp_path / "state.data-00000-of-00001", 1000)
    with pytest.raises(DataLossError, match="was truncated after tfg opened the file"):
        reader.read("large")


_RUN = """
import pathlib, re, sys
from tfg.cli import main
code = main.run(sys.argv[1:])
# The peak since the program began: ru_maxrss keeps the peak of the process that started it.
print(code, int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems: the peak of memory is read from /proc")
def test_a_gigabyte_that_no_fetch_needs_takes_no_memory(tmp_path):
    g = tfg.GraphBuilder()
    small = g.variable(SMALL, "small", resource=True)
    g.VarHandleOp(dtype="float32", shape=[1 << 28], shared_name="huge", name="huge")
    g.Identity(small, name="y")
    tfg.save(g.graph, tmp_path / "graph.pb")
    write_checkpoint(tmp_path / "state", {"small": SMALL})
    entries = read_index(f"{tmp_path}/state")[1]
    entries[b"huge"] = BundleEntryProto(dtype=1, shape=encode_static_shape((1 << 28,)), offset=16, size=1 << 30, crc32c=1)
    write_index(f"{tmp_path}/state.index", entries, 1)
    os.truncate(tmp_path / "state.data-00000-of-00001", 16 + (1 << 30))
    arguments = ["run", str(tmp_path / "graph.pb"), "--state", str(tmp_path / "state"), "--fetch", "y"]
    done = subprocess.run([sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True)
    code, megabytes = done.stdout.split()[-2:]
    assert code == "0" and int(megabytes) < 100 and "[1., 2., 3.]" in done.stdout
