"""tfg in a notebook that Jupyter's own machinery runs."""

from __future__ import annotations

import re
import shutil

import pytest

pytestmark = pytest.mark.slow

nbformat = pytest.importorskip("nbformat", reason="the extra tfg[notebook] is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra tfg[notebook] is not installed")
pytest.importorskip("ipykernel", reason="the extra tfg[notebook] is not installed")

CELLS = (
    """\
import tfg
g = tfg.GraphBuilder()
g.Neg(g.Placeholder(dtype="float", shape=[2], name="x"), name="y")
g.graph""",
    "g.graph['y']",
    "tfg.explain(g.graph)",
    """\
v = tfg.GraphBuilder()
v.variable([1.0, 2.0], name="w")
v.global_variables_initializer()
session = tfg.Session(v.graph)
session.run("init")
session""",
    "g.graph.view()",
    "g.graph['z']",
)
REPRS = (
    "<Graph 2 nodes, 1 input, 1 output>",
    "<Node y: Neg, 1 input>",
    "<GraphFacts: 2 nodes, 1 input, 1 output>",
    "<Session on <Graph 5 nodes, 0 inputs, 1 variable>: 1 of 1 variable initialized>",
)


@pytest.fixture(scope="module")
def outputs():
    """The one output of each cell; the last cell fails."""
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    cells[-1].metadata["tags"] = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return [cell.outputs[0] for cell in notebook.cells]


def test_objects_have_text_and_tables(outputs):
    for output, text in zip(outputs, REPRS):
        assert output.data["text/plain"] == text
        assert "<table>" in output.data["text/html"]


def test_the_table_of_a_session_tells_what_is_initialized(outputs):
    cells = re.findall(r"<td.*?>(.*?)</td>", outputs[3].data["text/html"])
    assert cells == ["w", "float", "[2]", "True"]


def test_a_small_graph_has_a_picture(outputs):
    if shutil.which("dot") is None:
        pytest.skip("the program 'dot' is not installed")
    assert "<svg" in outputs[0].data["image/svg+xml"]


def test_a_page_is_a_frame(outputs):
    assert outputs[4].data["text/html"].startswith("<iframe")


def test_a_traceback_shows_the_hint(outputs):
    assert outputs[5].ename == "NotFoundError"
    assert "hint: " in "\n".join(outputs[5].traceback)
