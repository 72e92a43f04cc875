"""What `--allow-files DIR` and `FileAccess.only` keep a graph from, however it names the files."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import numpy as np
import pytest

from tests.opcases import string_array as strings
from tests.security import escapes
from tfg import GraphBuilder, Session
from tfg.core.ops.shared.kernel_files import gate
from tfg.core.registry import registry
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import InvalidArgumentError, PermissionDeniedError, TfgError
from tfg.formats import open_checkpoint


@pytest.fixture
def place(tmp_path):
    return escapes.Place(tmp_path)


def _run(place, make, access=None):
    graph = escapes.graph(make, place)
    fetched = "read" if "read" in graph else "op"
    fetch = f"{fetched}:0" if graph[fetched].output_dtypes else fetched
    access = FileAccess.only(writable=[place.open]) if access is None else access
    return Session(graph, files=access).run([fetch])[0]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", escapes.ESCAPES)
def test_denied(name, place):
    before = place.outside()
    with pytest.raises(PermissionDeniedError) as error:
        _run(place, escapes.ESCAPES[name])
    assert (error.value.node, "`files=tfg.FileAccess.only(" in error.value.hint) == ("op", True)
    assert "hidden" not in str(error.value)
    assert place.outside() == before
    assert not [path for path in place.open.rglob("*") if path.suffix == ".tmp"]


def _calls(function, result):
    """`found`, and the functions that one of an op family may come to call."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isfunction(function) or function in result or not function.__module__.startswith("tfg.core."):
        return result
    result.add(function)
    codes = [function.__code__]
    for code in codes:
        codes += filter(inspect.iscode, code.co_consts)
    names = [name for code in codes for name in code.co_names]
    for called in [*map(function.__globals__.get, names), *(cell.cell_contents for cell in function.__closure__ or ())]:
        if isinstance(called, Callable):
            _calls(called, result)
    return result


@pytest.mark.slow
def test_every_op_that_opens_files_is_tried(place):
    tried = {node.op for make in escapes.ESCAPES.values() for node in escapes.graph(make, place)}
    registry.load_all_families()
    kernels = {op: result.function for op in registry.registered_ops() for result in registry.kernels(op)}
    opening = {op for op, function in kernels.items() if gate in _calls(function, set())}
    assert {"ReadFile", "SaveV2", "TFRecordDataset"} <= opening
    assert opening - tried == set()


@pytest.mark.parametrize("name", escapes.NOTHING_FOUND)
def test_a_pattern_finds_nothing(name, place):
    assert _run(place, escapes.NOTHING_FOUND[name]).tolist() == []


@pytest.mark.parametrize("path", ["{0.open}/a\0b", "a\0"])
@pytest.mark.parametrize("op", ["ReadFile", "MatchingFiles"])
def test_names_that_no_file_has(op, path, place):
    for access in (FileAccess.everything(), None):
        with pytest.raises(InvalidArgumentError, match="NUL"):
            _run(place, escapes.one_file(op, path), access)


def test_loops_of_links(place):
    for make in (
        escapes.one_file("ReadFile", "{0.open}/loop"),
        escapes.restore("{0.open}/loop/x"),
        escapes.write_file("{0.open}/loop/x"),
    ):
        for access in (FileAccess.everything(), None):
            with pytest.raises(TfgError):
                _run(place, make, access)


@pytest.mark.parametrize("op", ["SaveV2", "Save"])
def test_a_link_into_the_folder_stays(op, place, monkeypatch):
    """A checkpoint replaces links, and this one stands in a folder that is not open."""
    monkeypatch.chdir(place.closed)
    for name in ("in", "in.index", "in.data-00000-of-00001"):
        (place.closed / name).symlink_to(place.open / name)
    for prefix in ("in", "./in", "{0.closed}/in"):
        with pytest.raises(PermissionDeniedError):
            _run(place, escapes.save(prefix, op))
    assert all((place.closed / name).is_symlink() for name in ("in", "in.index", "in.data-00000-of-00001"))


def test_what_lies_in_the_folder_may_be_linked(place):
    """Links inside the folder are no way out of it: a checkpoint replaces them, as TensorFlow does, and reads through them."""
    _run(place, escapes.save("{0.open}/own"))
    for suffix in (".index", ".data-00000-of-00001"):
        (place.open / f"linked{suffix}").symlink_to(place.open / f"own{suffix}")
    assert open_checkpoint(place.open / "linked").read("v") == 2
    g = GraphBuilder()
    g.SaveV2(
        g.constant(f"{place.open}/linked"), g.constant(strings(["v"])), g.constant(strings([""])), [g.constant(3.0)], name="op"
    )
    Session(g.graph, files=FileAccess.only(writable=[place.open])).run(["op"])
    assert open_checkpoint(place.open / "own").read("v") == 2
    assert np.array_equal(open_checkpoint(place.open / "linked").read("v"), 3)


def test_a_file_that_is_read_may_be_written_anew(place):
    """A restored value may be a view of its file: writing the file must not take the bytes from under it."""
    data = np.arange(1 << 19, dtype=np.float32)
    prefix = f"{place.open}/big"
    g = GraphBuilder()
    g.SaveV2(g.constant(prefix), g.constant(strings(["v"])), g.constant(strings([""])), [g.constant(data)], name="save")
    g.RestoreV2(g.constant(prefix), g.constant(strings(["v"])), g.constant(strings([""])), dtypes=["float"], name="restore")
    g.WriteFile(g.constant(f"{prefix}.data-00000-of-00001"), g.constant("short"), name="write")
    session = Session(g.graph, files=FileAccess.only(writable=[place.open]))
    session.run(["save"])
    restored = session.run(["restore:0"])[0]
    session.run(["write"])
    assert np.array_equal(restored, data)
