"""tfg in a notebook that Jupyter's own machinery runs."""

from __future__ import annotations

import shutil

import pytest

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
    "tfg.Session(g.graph)",
    "g.graph.view()",
    "g.graph['z']",
)


@pytest.fixture(scope="module")
def outputs():
    """The one output of each cell; the last cell fails."""
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    cells[-1].metadata["tags"] = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs[0] for cell in notebook.cells]


def test_objects_have_text_and_tables(outputs):
    for output in outputs[:4]:
        assert output.data["text/plain"].startswith("<")
        assert "<table>" in output.data["text/html"] or "Session" in output.data["text/plain"]


def test_a_small_graph_has_a_picture(outputs):
    if shutil.which("dot") is None:
        pytest.skip("the program 'dot' is not installed")
    assert "<svg" in outputs[0].data["image/svg+xml"]


def test_a_page_is_a_frame(outputs):
    assert outputs[4].data["text/html"].startswith("<iframe")


def test_a_traceback_shows_the_hint(outputs):
    assert outputs[5].ename == "NotFoundError"
    assert "hint: " in "\n".join(outputs[5].traceback)
