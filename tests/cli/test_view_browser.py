"""The page of `tfg view` in a real browser: Chromium without a window."""

import dataclasses
import json
import pathlib
import re
import time

import numpy as np
import pytest

import tfg as tfg_library
from tests.browser import PROGRAM, Browser
from tests.cli.running import SAMPLES, tfg
from tests.functions import define
from tests.pages import NASTY, UNKNOWN_OPS, calling_graph, graph_of_unknown_ops, large_graph, nasty_graph, nasty_nodes
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.model_view import model_view
from tfg.core.graph.metagraph import Asset
from tfg.core.support.escaping import printable_line
from tfg.formats import load, save
from tfg.formats.api.viewing import make_page, page_look
from tfg.formats.page.writing import to_html

# Starting the browser alone takes seconds.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed: apt install chromium"),
]
NODES = 10_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    result = Browser(tmp_path_factory.mktemp("profile"))
    yield result
    result.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of graphs, each written once."""
    folder = tmp_path_factory.mktemp("pages")
    graphs = {
        "large": large_graph(folder, NODES),
        "nasty": nasty_graph(folder),
        "xor": SAMPLES / "xor.pbtxt",
        "scaler": SAMPLES / "scaler_saved_model",
        "calls": calling_graph(folder),
        "model": SAMPLES / "keras_classifier",
        "unknown": graph_of_unknown_ops(folder),
    }
    written = {}

    def page(name):
        if name not in written:
            written[name] = folder / f"{name}.html"
            if name == "packed":
                book = make_page(model_view(load(graphs["large"])), "packed", "")
                written[name].write_text(to_html(book, packed_from=1), encoding="utf-8")
                return written[name]
            done = tfg("view", graphs[name], *([] if name == "model" else ["--raw"]), "-o", written[name])
            assert done.code == 0, done.err
        return written[name]

    return page


@pytest.fixture(scope="module")
def valued(tmp_path_factory):
    """A page of a graph with a constant and with the value of a variable."""
    folder = tmp_path_factory.mktemp("valued")
    g = GraphBuilder()
    weights = g.VariableV2(shape=[2, 3], dtype="float", name="weights")
    table = g.Const(value=np.array([0, 1, 1, np.nan, 9], np.float32), dtype="float", name="table")
    g.AddV2(weights, g.Sum(table, 0, name="sum"), name="end")
    save(g.graph, folder / "graph.pb")
    np.savez(folder / "state.npz", weights=np.arange(6, dtype=np.float32).reshape(2, 3))
    (folder / "cost.json").write_text('{"table": 1, "weights": 4, "gone": 5}')
    (folder / "owner.json").write_text('{"end": "serving", "weights": "training"}')
    overlays = [word for name in ("cost", "owner") for word in ("--overlay", folder / f"{name}.json")]
    done = tfg("view", folder / "graph.pb", "-o", folder / "page.html", "--state", folder / "state.npz", *overlays)
    assert done.code == 0, done.err
    return folder / "page.html"


@pytest.fixture
def opened(browser, pages):
    """Opens a page; at the end nothing may have gone wrong, and nothing but the file may have been asked for."""

    def open_page(name):
        path = name if isinstance(name, pathlib.Path) else pages(name)
        browser.complaints.clear()
        browser.requests.clear()
        browser.emulate("light")
        open_page.seconds = browser.open(path)
        open_page.path = path
        return browser

    yield open_page
    assert browser.complaints == []
    assert set(browser.requests) == {open_page.path.as_uri()}


def boxes(browser):
    return browser.evaluate("document.querySelectorAll('.box').length")


def panel(browser):
    """Return the text of the panel, without empty lines."""
    return re.sub(r"\n+", "\n", browser.evaluate("document.getElementById('panel').innerText"))


def selected(browser):
    return browser.evaluate("document.querySelector('.selected > .name, .selected > .head > .name')?.textContent")


def is_visible(browser, selector):
    return browser.evaluate(f"document.querySelector({selector!r}).checkVisibility()")


def names(browser):
    """The first line of each box and frame."""
    return browser.evaluate("[...document.querySelectorAll('.box > .name, .head > .name')].map(name => name.textContent)")


def test_a_large_graph_opens(opened, record_property):
    browser = opened("large")
    record_property("seconds", opened.seconds)
    assert 2 <= boxes(browser) <= 60
    assert f"{NODES}" in panel(browser)
    assert opened.seconds < 30, "it takes one or two; a machine may be busy"


def test_search_opens_what_is_needed(opened):
    browser = opened("large")
    before = boxes(browser)
    browser.press("/")
    browser.type("node_7342")
    assert browser.evaluate("document.querySelectorAll('#results li b').length") == 1
    browser.press("Enter")
    assert panel(browser).splitlines()[:2] == ["AddV2", "tower_7/layer_73/block_734/node_7342"]
    assert selected(browser) == "node_7342" and boxes(browser) > before
    assert browser.evaluate("document.querySelectorAll('.frame .frame .box').length") > 0
    box = "document.querySelector('.selected').getBoundingClientRect()"
    assert browser.evaluate(f"{box}.left > 0 && {box}.right < innerWidth && {box}.top > 0 && {box}.bottom < innerHeight")
    assert browser.evaluate("document.querySelectorAll('.edge.incoming').length") >= 2
    assert not is_visible(browser, "#results"), "the list does not cover the node"
    browser.press("Escape")
    assert selected(browser) is None


def test_a_packed_page_shows_the_same(opened):
    shown = []
    for name in ("large", "packed"):
        browser = opened(name)
        browser.wait("document.querySelectorAll('.box').length > 0")
        before = boxes(browser)
        browser.click(".box.scope")
        browser.wait("document.querySelector('.frame.selected') !== null")
        browser.press("/")
        browser.type("node_7342")
        browser.press("Enter")
        browser.wait("document.querySelector('#panel h2').textContent.endsWith('node_7342')")
        words = browser.evaluate("[...document.querySelectorAll('.word, .box > text')].map(text => text.textContent)")
        result = panel(browser)
        browser.press("Escape")
        browser.press("Escape")
        browser.press("a")
        browser.wait(f"document.querySelectorAll('.box').length === {before}")
        legends = []
        for title in ("Dtype", "Bytes"):
            colour_by(browser, title)
            legends.append(browser.evaluate("document.getElementById('legend').innerText"))
        shown.append((before, words, result, legends))
    assert shown[0] == shown[1] and "Consumers" in shown[0][2] and "float" in shown[0][3][0]


def test_search_by_op(opened):
    browser = opened("xor")
    browser.press("/")
    browser.type("matmul")
    answer = browser.evaluate("[...document.querySelectorAll('#results li')].map(row => row.innerText)")
    assert len(answer) > 2 and all("matmul" in row.lower() for row in answer)
    assert f"{len(answer)} found" in browser.evaluate("document.getElementById('popup').innerText")
    names = browser.evaluate("[...document.querySelectorAll('#results b')].map(name => name.innerText)")
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert panel(browser).splitlines()[1] == names[1] and is_visible(browser, "#results"), "arrows walk with the list open"
    browser.press("Enter")
    assert panel(browser).splitlines()[1] == names[1] and not is_visible(browser, "#results")
    browser.press("n")
    assert panel(browser).splitlines()[1] == names[2], "n goes on to the next"
    browser.press("N")
    assert panel(browser).splitlines()[1] == names[1]


def results(browser, text):
    """What a search lists."""
    browser.press("/")
    browser.evaluate("document.getElementById('search').value = ''")
    browser.type(text)
    return browser.evaluate("[...document.querySelectorAll('#results li')].map(row => row.innerText)")


def test_search_ranks_by_what_is_meant(opened):
    browser = opened("model")
    assert results(browser, "hidden")[0] == "sequential/hidden/ scope", "the scope of this name before all in it"
    browser.press("Enter")
    assert panel(browser).splitlines()[1] == "sequential/hidden/" and "Relu" in names(browser), "it opens"
    rows = results(browser, "normalized")
    kinds = [next(i for i, row in enumerate(rows) if row.endswith(end)) for end in ("scope", "Mul", "VarHandleOp")]
    assert kinds == sorted(kinds), "scopes, what computes, variables"
    graph = opened("xor")
    rows = results(graph, "kernel")
    last = rows[-1].rpartition(" ")[2]
    assert last in ("Const", "Assign", "NoOp") and not rows[0].endswith((" Const", " Assign"))


def test_search_by_dtype_attribute_and_expression(opened):
    for name in ("model", "packed"):
        browser = opened(name)
        browser.wait("document.querySelectorAll('.box').length > 0")
        wanted = {"model": ("debug_name", "resource", "norm.*(add|rsqrt)"), "packed": ("addv2", "float", "node_1+2$")}[name]
        for text in wanted:
            assert results(browser, text), text
        assert all(re.search(wanted[2], row.rpartition(" ")[0].lower()) for row in results(browser, wanted[2])), "no more"
    assert results(browser, "node_[") == [] and results(browser, "constructor") == []


def test_all_that_is_found_is_lit(opened):
    browser = opened("model")
    lit = "[...document.querySelectorAll('.hit > .name')].map(name => name.textContent)"
    results(browser, "matmul")
    browser.press("Escape")
    assert sorted(browser.evaluate(lit)) == ["classes/", "hidden/"], "the boxes with a MatMul"
    browser.press("E")
    assert browser.evaluate(lit) == ["MatMul", "MatMul"]
    browser.press("Escape")
    assert browser.evaluate(lit) == []


def test_results_are_a_listbox(opened):
    browser = opened("xor")
    browser.press("/")
    browser.type("matmul")
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    assert ("combobox", "Search names, ops, dtypes and attributes") in roles and ("listbox", "Found nodes") in roles
    options = [name for role, name in roles if role == "option" and "MatMul" in name]
    assert len(options) > 2
    browser.press("ArrowDown")
    chosen = "document.getElementById(document.getElementById('search').getAttribute('aria-activedescendant'))"
    assert browser.evaluate(f"{chosen}.innerText") in options
    assert browser.evaluate(f"{chosen}.ariaSelected") == "true"


def search(browser, text):
    browser.press("/")
    browser.type(text)
    browser.press("Enter")


def test_the_address_leads_to_what_is_shown(opened):
    browser = opened("xor")
    search(browser, "loss")
    assert browser.evaluate("location.hash") == "#node=loss"
    search(browser, "hidden/kernel/read")
    read = browser.evaluate("location.hash")
    assert read == "#node=hidden/kernel/read" and "hidden/kernel/read" in panel(browser).splitlines()
    browser.press("a")
    assert browser.evaluate("location.hash") == f"{read}&all=1"
    for go, name in (("back", "hidden/kernel/read"), ("back", "loss"), ("forward", "hidden/kernel/read")):
        browser.evaluate(f"new Promise(done => {{ addEventListener('popstate', done, {{ once: true }}); history.{go}() }})")
        assert panel(browser).splitlines()[1] == name
        assert browser.evaluate("document.getElementById('whole').ariaPressed") == "false"
    browser.click(".box.scope")
    scope = browser.evaluate("location.hash")
    title = panel(browser).splitlines()[1]
    assert scope == f"#scope={title.removesuffix('/')}"
    browser.open(open_path := opened.path)
    assert selected(browser) is None
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=open_path.as_uri() + scope)
    browser.wait("document.readyState === 'complete' && !!document.querySelector('.selected')")
    assert panel(browser).splitlines()[1] == title


def test_the_way_to_the_selection_and_its_name(opened):
    browser = opened("xor")
    search(browser, "logistic_loss/Log1p")
    steps = "[...document.querySelectorAll('#trail li')].map(step => step.innerText)"
    assert browser.evaluate(steps) == ["Graph", "logistic_loss", "Log1p"]
    browser.click(".copy")
    browser.wait("document.querySelector('.copy').innerText === 'Copied'")
    browser.press("/")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="v", modifiers=2, commands=["paste"])
    assert browser.evaluate("document.getElementById('search').value") == "logistic_loss/Log1p"
    browser.press("Escape")
    browser.click("#trail li:nth-child(2) button")
    assert panel(browser).splitlines()[1] == "logistic_loss/"
    browser.click("#trail li button")
    assert selected(browser) is None


def test_scopes_open_and_close_by_click(opened):
    browser = opened("large")
    before = boxes(browser)
    browser.click(".box.scope")
    assert boxes(browser) > before
    name = browser.evaluate("document.querySelector('.frame.selected > .head > .name').textContent")
    assert panel(browser).splitlines()[0].startswith("Scope of")
    assert name in panel(browser)
    browser.click(".frame.selected > .head > .name")
    assert boxes(browser) == before


def test_the_panel_says_what_explain_knows(opened):
    browser = opened("xor")
    facts = tfg("explain", SAMPLES / "xor.pbtxt", "loss", "--format", "json").json["nodes"][0]
    browser.press("/")
    browser.type("loss")
    browser.press("Enter")
    said = panel(browser)
    assert facts["role"] in said and facts["stage"] in said and facts["evidence"] in said
    for name in (*facts["node"]["inputs"], *(consumer["name"] for consumer in facts["consumers"])):
        assert name.removesuffix(":0") in said
    source = facts["node"]["inputs"][0].removesuffix(":0")
    browser.evaluate(f"[...document.querySelectorAll('#panel .link')].find(b => b.textContent === '{source}').click()")
    assert panel(browser).splitlines()[1] == source


def test_values_are_shown_and_saved(opened, valued, tmp_path):
    browser = opened(valued)
    search(browser, "table")
    said = panel(browser)
    assert "min\n0\nmax\n9\nmean\n2.75\nstandard deviation\n3.63146" in said, "by hand: the square root of 13.1875"
    assert "elements\n5\nzeros\n1\nNaN\n1\nInf\n0" in said and "0, 1, 1, nan, 9" in said
    heights = browser.evaluate("[...document.querySelectorAll('.histogram rect')].map(bar => bar.height.baseVal.value)")
    assert len(heights) == 24 and heights[2] == max(heights) == 2 * heights[0] and heights[1] == 0
    search(browser, "weights")
    assert "mean\n2.5" in panel(browser)
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click(".download")
    deadline = time.monotonic() + 300
    while not (tmp_path / "weights.npy").exists() and time.monotonic() < deadline:
        browser.evaluate("1")
        time.sleep(0.02)
    browser.requests[:] = [url for url in browser.requests if not url.startswith("blob:")]
    assert np.load(tmp_path / "weights.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    """A page with the values of a run: an image, a map for each channel, and scores of classes with hostile labels."""
    folder = tmp_path_factory.mktemp("run")
    g = GraphBuilder()
    image = g.Placeholder(dtype="float", shape=[1, 2, 3, 3], name="image")
    kernel = g.Const(value=np.eye(3, 4, dtype=np.float32).reshape(1, 1, 3, 4), dtype="float", name="kernel")
    maps = g.Conv2D(image, kernel, strides=[1, 1, 1, 1], padding="SAME", name="maps")
    g.Softmax(g.Reshape(maps, [1, -1], name="flat"), name="scores")
    save(g.graph, folder / "graph.pb")
    np.save(folder / "image.npy", np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3) * 15)
    (folder / "labels.json").write_text(json.dumps(LABELS))
    options = ["--values", "--feed", f"image=@{folder / 'image.npy'}"]
    done = tfg("view", folder / "graph.pb", "-o", folder / "page.html", *options, "--labels", folder / "labels.json")
    assert done.code == 0, done.err
    return folder / "page.html"


LABELS = [*NASTY, *"abcdefghijk"]
PIXELS = """(({ width, height }, context) => [width, height, [...context.getImageData(0, 0, width, height).data]])(
    document.querySelector('.picture'), document.querySelector('.picture').getContext('2d'))"""


def test_values_of_a_run_are_pictures(opened, run_page):
    browser = opened(run_page)
    search(browser, "image")
    browser.wait("document.querySelector('.picture')?.width === 3")
    width, height, data = browser.evaluate(PIXELS)
    assert (width, height) == (3, 2) and [data[i] for i in range(len(data)) if i % 4 < 3] == [i * 15 for i in range(18)]
    search(browser, "maps")
    browser.wait("document.querySelector('.picture')?.width === 15")
    assert browser.evaluate(PIXELS)[:2] == [15, 2], "four maps of 3 columns, side by side"
    assert "4 of 4 channels" in panel(browser) and "mean" in panel(browser)
    search(browser, "scores")
    labels = browser.evaluate("[...document.querySelectorAll('.classes td:first-child')].map(cell => cell.textContent)")
    assert len(labels) == 8 and set(labels) <= {printable_line(label) for label in LABELS}
    assert browser.evaluate("document.querySelectorAll('.score rect').length") == 8
    assert browser.evaluate("window.bad === undefined") and browser.evaluate("document.querySelectorAll('img').length") == 0


def colour_by(browser, title):
    chosen = f"[...select.options].findIndex(option => option.text === '{title}')"
    change = "select.dispatchEvent(new Event('change'))"
    browser.evaluate(f"{{ const select = document.getElementById('colours'); select.value = {chosen}; {change} }}")


def test_overlays_colour_and_label(opened, valued):
    browser = opened(valued)
    browser.press("a")
    fills = """Object.fromEntries([...document.querySelectorAll('#surface .box:not(.scope)')].map(box =>
        [box.querySelector('.name').textContent, getComputedStyle(box.querySelector('.shape')).fill]))"""
    labels = """Object.fromEntries([...document.querySelectorAll('.box:has(> .overlay)')].map(box =>
        [box.querySelector('.name').textContent, box.querySelector('.overlay').textContent]))"""
    legend = "document.getElementById('legend').innerText.split('\\n')"
    colour_by(browser, "cost")
    assert browser.evaluate(labels) == {"table": "1", "weights": "4"}
    assert browser.evaluate(legend) == ["1", "1.75", "4", "no value"]
    answer = browser.evaluate(fills)
    assert len({answer[name] for name in ("table", "weights", "end")}) == 3
    colour_by(browser, "owner")
    assert browser.evaluate(labels) == {"end": "serving", "weights": "training"}
    assert set(browser.evaluate(legend)) == {"serving", "training"}
    colour_by(browser, "Bytes")
    assert browser.evaluate(labels)["weights"] == "24 B" and browser.evaluate(labels)["table"] == "20 B"
    colour_by(browser, "Dtype")
    assert browser.evaluate(labels)["end"] == "float"


def test_several_overlays_stand_above_a_box(opened, valued):
    browser = opened(valued)
    browser.press("a")
    colour_by(browser, "cost")
    weights = "[...document.querySelectorAll('.box')].find(box => box.textContent.includes('weights'))"
    label = f"{weights}.querySelector('.overlay').textContent"
    choose = "[...document.querySelectorAll('#labels label')].find(row => row.innerText.trim() === {!r}).firstChild.click()"
    browser.click("#labels summary")
    for title in ("owner", "Bytes"):
        browser.evaluate(choose.format(title))
    assert browser.evaluate(label) == "4 · training · 24 B"
    browser.evaluate(choose.format("owner"))
    colour_by(browser, "Bytes")
    assert browser.evaluate(label) == "24 B", "the colour's own label stands there once"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A page of two graphs: anshapes differ, another constant, another activation, another attribute."""
    folder = tmp_path_factory.mktemp("compared")
    for name, rows, last, activation in (("before", 2, 3.0, "Tanh"), ("after", 4, 3.5, "Relu")):
        g = GraphBuilder()
        x = g.Placeholder(dtype="float", shape=[rows, 3], name="x")
        product = g.MatMul(x, g.Const(value=[[1.0], [2.0], [last]], dtype="float", name="w"), name="product")
        g.Sum(getattr(g, activation)(product, name=activation), 0, name="sum", keep_dims=name == "after")
        save(g.graph, folder / f"{name}.pb")
    done = tfg("view", folder / "before.pb", "--diff", folder / "after.pb", "-o", folder / "page.html")
    assert done.code == 0, done.err
    return folder / "page.html"


def test_two_graphs_in_a_page(opened, compared):
    browser = opened(compared)
    assert "1 added, 1 removed, 3 changed" in panel(browser)
    labels = """Object.fromEntries([...document.querySelectorAll('.box:has(> .overlay)')].map(box =>
        [box.querySelector('.name').textContent, box.querySelector('.overlay').textContent]))"""
    expected = {
        "x": "changed",
        "w": "changed",
        "sum": "changed",
        "Tanh": "removed",
        "Relu": "added",
        "product": "shapes differ",
    }
    assert browser.evaluate(labels) == expected
    assert set(browser.evaluate("document.getElementById('legend').innerText.split('\\n')")) == set(expected.values())
    search(browser, "sum")
    changes = "[...document.querySelectorAll('.changes td')].map(cell => cell.textContent)"
    cells = browser.evaluate(changes)
    assert {tuple(cells[i : i + 3]) for i in range(0, len(cells), 3)} >= {
        ("keep_dims", "false", "true"),
        ("output 0", "float (1)", "float (1,1)"),
    }
    search(browser, "w")
    assert any("3.5" in cell for cell in browser.evaluate(changes))


def test_keys(opened):
    browser = opened("xor")
    browser.click(".box.scope")
    browser.press("e")
    closed = boxes(browser)
    browser.press("e")
    assert boxes(browser) > closed
    chosen = selected(browser)
    browser.press("ArrowDown")
    assert selected(browser) != chosen
    camera = "document.querySelector('#surface > g').getAttribute('transform')"
    places = [browser.evaluate(camera)]
    for key in ("+", "-", "f"):
        browser.press(key)
        places.append(browser.evaluate(camera))
    assert len(set(places)) >= 3
    brief = boxes(browser)
    browser.press("a")
    assert boxes(browser) != brief and browser.evaluate("document.getElementById('whole').ariaPressed") == "true"
    browser.press("?")
    assert browser.evaluate("document.getElementById('keys').open")
    assert "Chris Pettitt" in browser.evaluate("document.getElementById('keys').innerText")
    assert browser.evaluate("document.activeElement.textContent") == "Keys", "the first line, not the licence"


def test_colours(opened):
    browser = opened("xor")
    fills = "[...document.querySelectorAll('.box > .shape')].map(shape => getComputedStyle(shape).fill).join()"
    by_name = {}
    for title in browser.evaluate("[...document.getElementById('colours').options].map(option => option.text)"):
        by_name[title] = browser.evaluate(fills), browser.evaluate("document.getElementById('legend').innerText")
        browser.press("c")
    assert list(by_name) == ["Kind", "Stage", "FLOPs", "Device", "Colocation", "Dtype", "Bytes"]
    assert len(set(by_name.values())) >= 4
    assert "gradients" in by_name["Stage"][1] and "no FLOPs" in by_name["FLOPs"][1]


def test_dark_and_light(opened):
    browser = opened("xor")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(paper)
    browser.emulate("dark")
    dark = browser.evaluate(paper)
    assert light != dark
    browser.click("#theme")
    assert browser.evaluate(paper) == light, "the button overrules the system"
    browser.press("d")
    assert browser.evaluate(paper) == dark


def test_pan_and_zoom_with_the_mouse(opened):
    browser = opened("xor")
    camera = "new DOMMatrix(getComputedStyle(document.querySelector('#surface > g')).transform).toJSON()"
    start = browser.evaluate(camera)
    for kind, x in (("mousePressed", 40), ("mouseMoved", 90), ("mouseReleased", 90)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=400, button="left", buttons=1, clickCount=1)
    moved = browser.evaluate(camera)
    assert moved["e"] == pytest.approx(start["e"] + 50) and moved["a"] == start["a"]
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=90, y=400, deltaX=0, deltaY=-200)
    browser.wait(f"{camera}.a > {moved['a']}")
    assert selected(browser) is None, "dragging selects nothing"


def test_a_model_opens_on_its_layers(opened):
    browser = opened("model")
    titles = browser.evaluate("[...document.getElementById('pages').options].map(option => option.text)")
    assert titles == ["signature: serving_default"]
    assert {"hidden/", "normalized/", "classes/"} < set(names(browser))
    search(browser, "MatMul")
    said = panel(browser)
    assert "in the file" in said and "__inference" in said, "the name of the node in its function"


def test_weights_stand_on_the_op_that_reads_them(opened):
    browser = opened("model")
    search(browser, "sequential/hidden/MatMul")
    weights = "[...document.querySelectorAll('.weight > span > .link')].map(link => link.textContent)"
    assert browser.evaluate(weights) == ["sequential/hidden/kernel_1", "sequential/hidden/bias_1"], "the bias is added to it"
    weight = browser.evaluate("document.querySelector('.weight').innerText")
    assert "float (4,8)" in weight and "standard deviation" in weight and "hidden_kernel_1.npy" in weight
    assert browser.evaluate("document.querySelectorAll('.weight .histogram').length") == 1, "all of the bias are equal"
    assert "transpose_a\nfalse" in panel(browser).partition("Attributes by default")[2]
    search(browser, "sequential/hidden/Relu")
    assert browser.evaluate(weights) == []


TABLE = "[...document.querySelectorAll('#panel section')].find(part => part.querySelector('h3').textContent === {title!r})"


def column(browser, title, head):
    """The cells of a column in the table of a title."""
    return browser.evaluate(f"""(table => {{
        const place = [...table.querySelectorAll('th')].findIndex(cell => cell.innerText === {head!r});
        return [...table.querySelectorAll('tbody tr')].map(row => row.children[place].innerText);
    }})({TABLE.format(title=title)})""")


def sort(browser, title, head):
    buttons = f"[...{TABLE.format(title=title)}.querySelectorAll('.sort')]"
    browser.evaluate(f"{buttons}.find(button => button.textContent === {head!r}).click()")


def follow(browser, text):
    browser.evaluate(f"[...document.querySelectorAll('#panel .link')].find(link => link.textContent === {text!r}).click()")


def test_layers_and_weights_are_tables_to_sort(opened):
    browser = opened("model")
    layers = ["sequential/hidden", "sequential/normalized", "sequential/classes"]
    assert column(browser, "layers", "layer") == layers
    sort(browser, "layers", "parameters")
    assert column(browser, "layers", "parameters") == ["40", "32", "27"]
    sort(browser, "layers", "parameters")
    assert column(browser, "layers", "layer") == layers[::-1]
    sort(browser, "weights", "elements")
    elements = [int(cell) for cell in column(browser, "weights", "elements")]
    assert elements == sorted(elements, reverse=True) and elements[0] == 32 and len(elements) == 8
    sort(browser, "weights", "weight")
    assert column(browser, "weights", "weight") == sorted(column(browser, "weights", "weight"))
    follow(browser, "sequential/classes")
    assert panel(browser).splitlines()[1] == "sequential/classes/" and "Softmax" in names(browser)
    browser.evaluate("new Promise(done => { addEventListener('popstate', done, { once: true }); history.back() })")
    assert column(browser, "layers", "layer") == layers, "and back"


def test_an_op_in_a_table_is_searched_for(opened):
    browser = opened("unknown")
    assert column(browser, "ops without a kernel", "op") == [*UNKNOWN_OPS]
    follow(browser, UNKNOWN_OPS[0])
    lit = "[...document.querySelectorAll('.hit > .name')].map(name => name.textContent).sort()"
    assert browser.evaluate(lit) == ["pairs", "word_pairs"] and is_visible(browser, "#results")


def test_functions_and_signatures_are_pages(opened):
    browser = opened("scaler")
    titles = browser.evaluate("[...document.getElementById('pages').options].map(option => option.text)")
    assert titles[0] == "Graph" and "signature: serving_default" in titles
    assert any(title.startswith("function: ") for title in titles)
    for i, title in enumerate(titles[1:], 1):
        select = f"const s = document.getElementById('pages'); s.value = '{i}'; s.dispatchEvent(new Event('change'))"
        browser.evaluate(f"{{ {select} }}")
        assert panel(browser).splitlines()[1] == title.partition(": ")[2]
        assert boxes(browser) > 0


def test_nothing_that_a_graph_says_is_markup(opened):
    browser = opened("nasty")
    browser.press("a")
    elements = "[...new Set([...document.querySelectorAll('*')].map(element => element.localName))].sort()"
    before = browser.evaluate(elements)
    for key in ("E", "c", "c", "c", "d"):
        browser.press(key)
    count = browser.evaluate("[...document.querySelectorAll('.box:not(.scope)')].length")
    assert count > 20
    browser.press("/")
    for text in ("script", "img", "proto", "constructor"):
        browser.evaluate("document.getElementById('search').value = ''")
        browser.type(text)
        browser.press("Enter")
        assert text in panel(browser)
    after = browser.evaluate(elements)
    assert set(after) - set(before) <= {
        "b",
        "dd",
        "dl",
        "dt",
        "code",
        "ul",
        "li",
        "section",
        "strong",
        "p",
        "span",
        "button",
        "h3",
    }
    check_no_script(browser)


def check_no_script(browser):
    """Check that no text of a graph became a script, an element or an attribute that runs one."""
    assert browser.evaluate("window.bad === undefined")
    assert browser.evaluate("document.querySelectorAll('img, iframe, object, embed, a').length") == 0
    assert browser.evaluate("document.querySelectorAll('script').length") == 1 + browser.evaluate(
        "document.querySelectorAll('script:not([type])').length"
    )
    assert "\u202e" not in browser.evaluate("document.body.textContent")
    assert not browser.evaluate(
        "[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => a.name.startsWith('on')))"
    )


def test_what_a_file_says_of_itself_is_no_script(opened, tmp_path):
    graph = load(SAMPLES / "keras_classifier")
    usual = graph.meta.usual_signature
    renamed = dataclasses.replace(usual, name=NASTY[1], inputs={NASTY[0]: next(iter(usual.inputs.values()))})
    assets = (Asset("x:0", NASTY[3], str(tmp_path / "gone")),)
    signatures = {**graph.meta.signatures, NASTY[1]: renamed}
    graph.meta = dataclasses.replace(graph.meta, tensorflow_version=NASTY[0], signatures=signatures, assets=assets)
    (tmp_path / "page.html").write_text(tfg_library.view(graph).html, encoding="utf-8")
    browser = opened(tmp_path / "page.html")
    said = panel(browser)
    assert all(printable_line(NASTY[i]) in said for i in (0, 1, 3))
    check_no_script(browser)


def test_hostile_graphs_side_by_side_are_no_script(opened, tmp_path):
    before, after = nasty_nodes(), nasty_nodes()
    after.remove_node(list(after)[-1])
    before.file, after.file = NASTY[:2]
    names = [node.name for node in after]
    overlays = {title: dict.fromkeys(names, text) for title, text in zip(NASTY, reversed(NASTY))}
    (tmp_path / "page.html").write_text(tfg_library.view(before, diff=after, overlays=overlays).html, encoding="utf-8")
    browser = opened(tmp_path / "page.html")
    browser.press("s")
    browser.wait("document.querySelectorAll('#twin .box').length > 0")
    for key in ("E", *("c" * (len(NASTY) + 8)), "a"):
        browser.press(key)
    captions = browser.evaluate("document.getElementById('before').innerText + document.getElementById('after').innerText")
    assert all(printable_line(name) in captions for name in NASTY[:2])
    click_in(browser, "twin", browser.evaluate("document.querySelector('#twin .box .name').textContent"))
    check_no_script(browser)


# In each frame: boxes and frames that stand out of it or over each other, edges that leave it at a side.
MISPLACED = """[...document.querySelectorAll('.frame')].flatMap(frame => {
    const place = element => element.getBoundingClientRect();
    const outer = place(frame.querySelector(':scope > .shape'));
    const shapes = [...frame.querySelectorAll(':scope > :is(.box, .frame) > .shape')].map(place);
    const edges = [...frame.querySelectorAll(':scope > .edge')].map(place);
    const isIn = s => s.left >= outer.left && s.right <= outer.right && s.top >= outer.top && s.bottom <= outer.bottom;
    const out = shapes.filter(shape => !isIn(shape));
    const over = shapes.filter((a, i) => shapes.some((b, j) => j > i
        && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
    const wide = edges.filter(e => e.left < outer.left - 1 || e.right > outer.right + 1);
    return [...out, ...over, ...wide].map(rect => frame.querySelector('.head').textContent + JSON.stringify(rect));
})"""


@pytest.mark.parametrize("name", ["xor", "large", "nasty"])
def test_everything_stands_inside_the_scope_it_is_in(opened, name):
    browser = opened(name)
    for key in ("E", "a", "E"):
        browser.press(key)
        assert browser.evaluate(MISPLACED) == []
        assert key == "a" or browser.evaluate("document.querySelectorAll('.frame').length") > 0


IN_SIGHT = """[...document.querySelectorAll('[id^="item-"]')].map((box) => box.getBoundingClientRect()).every((box) =>
  box.width > 20 && box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight)"""


def resized(browser, width, height):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


@pytest.mark.parametrize("is_packed", [False, True])
def test_links_of_the_whole_and_overlays_of_dtypes_follow_from_the_entries(opened, tmp_path, is_packed):
    graph = load(SAMPLES / "xor.pbtxt")
    book = make_page(model_view(graph, raw=True), "xor", "")
    (tmp_path / "page.html").write_text(to_html(book, packed_from=1 if is_packed else 1000), encoding="utf-8")
    read = """readBook().then(async ({ pages: [page], entries, overlays, store }) => {
        await store.openView(page, true);
        const told = (title) => valuesOf(overlays.find((overlay) => overlay.title === title), entries);
        return [page.whole.links, told("Dtype"), told("Bytes")]; })"""
    links, dtypes, sizes = opened(tmp_path / "page.html").evaluate(read)
    place = {node: i for i, node in enumerate(graph)}
    edges = {(place[value.node], place[node], value.index) for node in graph for value in node.inputs}
    edges |= {(place[control], place[node], -1) for node in graph for control in node.control_inputs}
    joined = {(source, node) for source, node, output in edges if output >= 0}
    assert sorted(map(tuple, links)) == sorted(edge for edge in edges if edge[2] >= 0 or edge[:2] not in joined)
    first = {place[node]: node.output_dtypes[0].base.name for node in graph if node.output_dtypes}
    held = {place[node]: node.constant_value().nbytes for node in graph if node.is_constant and node.attrs["dtype"].size == 4}
    assert dict(dtypes) == first and held and held.items() <= dict(sizes).items()


def test_a_page_that_gets_its_size_late_shows_the_whole_graph(browser, pages):
    """A frame of a notebook has no size before the notebook is laid out."""
    resized(browser, 1, 1)
    browser.open(pages("scaler"))
    browser.wait("document.querySelectorAll('[id^=\"item-\"]').length > 1")
    assert not browser.evaluate(IN_SIGHT)
    resized(browser, 1400, 900)
    browser.wait(IN_SIGHT)


MIDDLE = "(({{x, y, width, height}}) => [x + width / 2, y + height / 2])(document.querySelector('{}').getBoundingClientRect())"


def test_a_window_of_another_size_shows_the_same(opened):
    browser = opened("scaler")
    box, window = MIDDLE.format(".selected"), MIDDLE.format("#surface")
    try:
        resized(browser, 700, 700)
        browser.wait(IN_SIGHT)
        resized(browser, 1400, 900)
        browser.wait(IN_SIGHT)
        search(browser, "x")
        browser.wait("document.querySelector('.selected') !== null")
        before = browser.evaluate(box)
        resized(browser, 1000, 700)
        browser.wait(f"{box}[0] < {before[0]} - 50")
        assert browser.evaluate(box) == pytest.approx(browser.evaluate(window), abs=2), "still in the middle"
    finally:
        resized(browser, 1400, 900)


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A page of two graphs of three blocks each: another first block, a removed and an added one, and another function."""
    folder = tmp_path_factory.mktemp("beside")
    for name, blocks, op in (("before", ["stem", "old", "head"], "Tanh"), ("after", ["stem", "head", "new"], "Elu")):
        g = GraphBuilder()
        define(g, "body", ["float32"], lambda b, a, op=op: [getattr(b, op)(b.Exp(a, name="exp"), name="end")])
        value = g.Placeholder(dtype="float32", shape=[4, 8], name="x")
        for block in blocks:
            for part in ("one", "two", "three", *("abcdef" * (block == "head" and name == "after"))):
                value = getattr(g, "Relu" if block != "stem" else op)(value, name=f"{block}/{part}")
        g.PartitionedCall([value], f="body", Tout=["float32"], name="call")
        save(g.graph, folder / f"{name}.pb")
    done = tfg("view", folder / "before.pb", "--diff", folder / "after.pb", "--raw", "-o", folder / "page.html")
    assert done.code == 0, done.err
    return folder / "page.html"


def shown_in(browser, surface):
    """The names of the boxes and frames of a picture, and of what is selected there."""
    script = "[...document.querySelectorAll('#{0} :is(.box, .head) > .name')].map(name => name.textContent)"
    chosen = "document.querySelector('#{0} .selected')?.querySelector(':scope > .name, :scope > .head > .name')?.textContent"
    return browser.evaluate(script.format(surface)), browser.evaluate(chosen.format(surface))


def click_in(browser, surface, name):
    names = f"[...document.querySelectorAll('#{surface} :is(.box, .head) > .name')]"
    browser.evaluate(f"{names}.find(each => each.textContent === {name!r}).parentNode.setAttribute('data-aim', '')")
    browser.click(f"#{surface} [data-aim] > .name")
    browser.evaluate("document.querySelector('[data-aim]')?.removeAttribute('data-aim')")


def test_two_graphs_side_by_side(opened, beside):
    browser = opened(beside)
    assert not is_visible(browser, "#twin")
    browser.click("#beside")
    browser.wait("document.querySelectorAll('#twin .box').length > 0")
    assert browser.evaluate("location.hash") == "#beside=1"
    assert browser.evaluate("[...document.querySelectorAll('.caption')].map(text => text.innerText)") == [
        "After after.pb",
        "Before before.pb",
    ]
    left, right = shown_in(browser, "twin")[0], shown_in(browser, "surface")[0]
    assert "old/" in left and "new/" in right and "old/" not in right and "new/" not in left


def test_what_is_opened_and_selected_in_a_picture_is_so_in_the_other(opened, beside):
    browser = opened(beside)
    browser.press("s")
    browser.wait("document.querySelectorAll('#twin .box').length > 0")
    counts = [{name: shown_in(browser, name)[0].count("two") for name in ("twin", "surface")}]
    for surface, other in (("surface", "twin"), ("twin", "surface")):
        click_in(browser, surface, "head/")
        browser.wait(f"document.querySelector('#{other} .selected') !== null")
        assert shown_in(browser, other)[1] == "head/"
        counts.append({name: shown_in(browser, name)[0].count("two") for name in ("twin", "surface")})
    assert counts[0] == counts[2] and counts[1]["twin"] - counts[0]["twin"] == counts[1]["surface"] - counts[0]["surface"] != 0
    search(browser, "stem/two")
    browser.wait("document.querySelector('#twin .selected > .name')?.textContent === 'two'")
    assert shown_in(browser, "surface")[1] == "two" and panel(browser).splitlines()[:2] == ["Elu", "stem/two"]
    browser.press("ArrowDown")
    browser.wait("document.querySelector('#twin .selected > .name')?.textContent === 'three'")
    search(browser, "old/two")
    browser.wait("document.querySelector('#twin .selected > .name')?.textContent === 'two'")
    assert shown_in(browser, "surface")[1] is None and panel(browser).splitlines()[1] == "old/two"
    browser.press("ArrowDown")
    assert panel(browser).splitlines()[1] == "old/three", "the keys are for the picture with the selection"
    address = browser.evaluate("location.hash")
    browser.press("s")
    assert not is_visible(browser, "#twin") and selected(browser) == "three" and panel(browser).splitlines()[1] == "old/three"
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=opened.path.as_uri() + address)
    browser.wait("document.querySelector('#twin .selected > .name')?.textContent === 'three'")


def test_two_pictures_move_in_step(opened, beside):
    browser = opened(beside)
    browser.press("s")
    browser.wait("document.querySelectorAll('#twin .box').length > 0")
    camera = "new DOMMatrix(getComputedStyle(document.querySelector('#{} > g')).transform).toJSON()"
    places = [camera.format(name) for name in ("surface", "twin")]
    start = [browser.evaluate(place) for place in places]
    assert start[0]["a"] == start[1]["a"], "as large as each other"
    point = browser.evaluate("(({x, y}) => [x + 8, y + 60])(document.querySelector('#twin').getBoundingClientRect())")
    for kind, x in (("mousePressed", 0), ("mouseMoved", 50), ("mouseReleased", 50)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=point[0] + x, y=point[1], button="left", buttons=1, clickCount=1)
    for before, after in zip(start, [browser.evaluate(place) for place in places], strict=True):
        assert after["e"] == pytest.approx(before["e"] + 50)
    browser.press("+")
    zooms = [browser.evaluate(place)["a"] for place in places]
    assert zooms[0] == zooms[1] > start[0]["a"]


def test_a_packed_page_has_two_pictures(opened, beside, tmp_path):
    before, after = (load(beside.with_name(f"{name}.pb")) for name in ("before", "after"))
    look = page_look(before, None, True, after)
    text = to_html(make_page(look.view, "packed", "", compared=look.compared), packed_from=1)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    shown = []
    for page in (beside, tmp_path / "page.html"):
        browser = opened(page)
        browser.wait("document.querySelectorAll('.box').length > 0")
        browser.press("s")
        browser.wait("document.querySelectorAll('#twin .box').length > 0")
        search(browser, "old/two")
        browser.wait("document.querySelector('#twin .selected > .name')?.textContent === 'two'")
        shown.append((shown_in(browser, "twin"), shown_in(browser, "surface"), panel(browser)))
    assert shown[0] == shown[1]


def test_functions_open_in_both_pictures(opened, beside):
    browser = opened(beside)
    browser.press("s")
    browser.wait("document.querySelectorAll('#twin .box').length > 0")
    search(browser, "call")
    browser.press("e")
    browser.wait("document.querySelectorAll('#twin .frame.selected').length === 1")
    assert {"end", "exp"} <= {name.lower() for name in shown_in(browser, "twin")[0]}
    texts = "[...document.querySelectorAll('#{} .box')].map(box => box.textContent)"
    ends = [[text for text in browser.evaluate(texts.format(name)) if "end" in text] for name in ("twin", "surface")]
    assert all("Tanh" in text for text in ends[0]) and all("Elu" in text for text in ends[1]) and all(ends)
    click_in(browser, "twin", "end")
    assert shown_in(browser, "surface")[1] == "end" and panel(browser).splitlines()[:2] == ["Elu", "end"]


def test_two_graphs_stand_above_each_other_in_a_small_window(opened, beside):
    browser = opened(beside)
    try:
        resized(browser, 420, 900)
        browser.press("s")
        browser.wait("document.querySelectorAll('#twin .box').length > 0")
        place = "document.querySelector('#{}').getBoundingClientRect().toJSON()"
        places = [browser.evaluate(place.format(name)) for name in ("twin", "surface")]
        first, second = ([place[side] for side in ("left", "right", "top", "bottom")] for place in places)
        assert first[:2] == second[:2] == [0, 420] and first[3] <= second[2]
        assert min(bottom - top for _, _, top, bottom in (first, second)) > 100
        assert browser.evaluate("document.documentElement.scrollWidth") == 420
    finally:
        resized(browser, 1400, 900)
