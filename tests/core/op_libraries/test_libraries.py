"""Op libraries: loaded from a file or a module, and named when they fail."""

from __future__ import annotations

import pytest

from tests.cli.running import tfg
from tfg.core.op_libraries.entry_points import installed_libraries
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import TfgError
from tfg.core.types import dtypes

LIBRARY = """
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import kernel

CATALOG.register("TwiceForTest(x: float) -> (y: float)")

@kernel("TwiceForTest")
def twice(x):
    return x + x
"""
GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "TwiceForTest" input: "x" }
"""


def test_command_line_loads_it(tmp_path):
    library, graph = tmp_path / "twice.py", tmp_path / "graph.pbtxt"
    library.write_text(LIBRARY)
    graph.write_text(GRAPH)
    assert "TwiceForTest" in tfg("explain", graph, "--missing").out
    assert tfg("run", graph, "--op-library", library, "--fetch", "y", "--feed", "x=[1, 2]").out == "y  float (2)\n[2., 4.]\n"
    load_op_library(str(library))  # a second time does nothing
    CATALOG.unregister("TwiceForTest")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_module_at_all", "needs module 'no_such_module_at_all'"),
        ("from tfg.core.registry.catalog import CATALOG\nCATALOG.register('MatMul(a: float) -> ()')", "already registered"),
        ("from tfg.core.registry.catalog import CATALOG\nCATALOG.register('what')", "is not of the form"),
        ("from tfg.core.registry.registry import kernel\n@kernel('Undeclared')\ndef f(): ...", "not declared"),
        ("1 +", "SyntaxError"),
    ],
)
def test_errors_name_the_library(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(TfgError, match=message) as caught:
        load_op_library(str(path))
    assert "bad.py" in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere.py", "no_such_module_at_all"])
def test_missing_libraries(name):
    done = tfg("dump", "graph.pb", "--op-library", name)
    assert done.code == 1
    assert name in done.err


KERNELS = """
import numpy as np
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import kernel

{spec}

@kernel("MatMul", T=("float",), engine="test")
def matmul(a, b, *, transpose_a):
    return np.zeros((1, 1), np.float32)

{end}
"""


def test_a_failing_library_leaves_nothing(tmp_path):
    path = tmp_path / "half.py"
    path.write_text(KERNELS.format(spec='CATALOG.register("HalfForTest() -> ()")', end="1 / 0"))
    before = list(registry.kernels("MatMul"))
    with pytest.raises(TfgError, match=r"half\.py.*ZeroDivisionError"):
        load_op_library(str(path))
    assert registry.kernels("MatMul") == before
    assert "HalfForTest" not in CATALOG


def test_kernels_of_a_library_go_first(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(KERNELS.format(spec="", end=""))
    load_op_library(str(path))
    first = registry.kernels("MatMul")[0]
    assert (first.engine, first.dtypes) == ("test", {"T": (dtypes.float32,)})
    registry.kernels("MatMul").remove(first)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@kernel('MatMul')\ndef f(a, b): ...", "already has a kernel"),
        ("CATALOG.register('OneForTest(x: float) -> ()')\n@kernel('OneForTest')\ndef f(): ...", "does not fit its op"),
        ("CATALOG.register('OneForTest(x: float) -> ()')\n@kernel('OneForTest')\ndef f(x, *, a): ...", "does not fit its op"),
        ("CATALOG.register('OneForTest() -> () {n: integer}')", "not one of"),
        ("CATALOG.register('OneForTest(x: N * float) -> ()')", "needs an attribute 'N"),
        ("CATALOG.register('OneForTest() -> () {n: int = x}')", "cannot be read"),
    ],
)
def test_clashes_and_bad_specs(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(f"from tfg.core.registry.catalog import CATALOG\nfrom tfg.core.registry.registry import kernel\n{text}")
    with pytest.raises(TfgError, match=message) as caught:
        load_op_library(str(path))
    assert "bad.py" in str(caught.value)
    assert "OneForTest" not in CATALOG


def test_installed_packages_offer_libraries(tmp_path, monkeypatch):
    package = tmp_path / "offer-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: offer\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[tfg.op_libraries]\noffered = offered_for_test\n")
    (tmp_path / "offered_for_test.py").write_text(LIBRARY.replace("TwiceForTest", "OfferedForTest"))
    assert "offered_for_test" not in installed_libraries()
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_libraries() == ["offered_for_test"]
    assert "OfferedForTest" in tfg("ops", "--custom", "--format", "csv").out
    CATALOG.unregister("OfferedForTest")


def test_a_failing_kernel_is_the_librarys_fault(tmp_path):
    """The error names the library of the kernel, also for a library's kernel of a TensorFlow op."""
    library, graph = tmp_path / "broken.py", tmp_path / "graph.pbtxt"
    library.write_text(LIBRARY.replace("TwiceForTest", "BrokenForTest").replace("x + x", "{}[x.size]"))
    graph.write_text(GRAPH.replace("TwiceForTest", "BrokenForTest"))
    outcome = tfg("run", graph, "--op-library", library, "--fetch", "y", "--feed", "x=[1, 2]")
    assert outcome.code == 1
    assert "node 'y' (BrokenForTest): its kernel failed: KeyError: 2" in outcome.err
    assert "a bug in the op library of op 'BrokenForTest'" in outcome.err
    assert "bug in tfg" not in outcome.err
    CATALOG.unregister("BrokenForTest")


def test_all_kernels_that_come_with_tfg_are_its_own():
    """Also where something else than the registry imported their file first."""
    builtin = [op for op in CATALOG if CATALOG.is_builtin(op)]
    assert [kernel.op for op in builtin for kernel in registry.kernels(op) if not kernel.is_own] == []


def test_links_that_lead_nowhere_are_no_library(tmp_path):
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    with pytest.raises(TfgError, match=r"op library .*loop\.py"):
        load_op_library(str(loop))
