"""The picture of `tfg view` in a real browser: texts at edges, files, the small map, paper, screen readers."""

import struct
import time

import pytest

from tests.browser import PROGRAM
from tests.cli import test_view_browser as shared
from tests.cli.test_view_browser import is_visible, names, panel, search, selected

# Starting the browser alone takes seconds.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed: apt install chromium"),
]
browser, pages, opened = shared.browser, shared.pages, shared.opened


def saved(browser, folder, button):
    """The file that a button saves."""
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    before = set(folder.iterdir())
    browser.click(button)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        browser.evaluate("1")
        whole = [path for path in folder.iterdir() if path not in before and path.suffix in (".svg", ".png")]
        if whole and whole[0].stat().st_size:
            browser.requests[:] = [url for url in browser.requests if not url.startswith(("blob:", "data:"))]
            return whole[0]
        time.sleep(0.02)
    raise AssertionError("nothing was saved")


def test_the_picture_is_saved_as_seen(opened, tmp_path):
    browser = opened("xor")
    browser.emulate("dark")
    picture = saved(browser, tmp_path, "#svg")
    assert picture.name == "xor.pbtxt.svg"
    size = browser.evaluate(
        "(({width, height}) => [width, height])(document.getElementById('surface').getBoundingClientRect())"
    )
    image = saved(browser, tmp_path, "#png").read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert list(struct.unpack(">II", image[16:24])) == [2 * round(length) for length in size], "two pixels for one"
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    fill = browser.evaluate("getComputedStyle(document.querySelector('.box > .shape')).fill")
    assert paper in picture.read_text() and fill in picture.read_text(), "without a style sheet it looks the same"
    shown = names(browser)
    browser.call("Page.navigate", url=picture.as_uri())
    browser.wait("document.documentElement.localName === 'svg'")
    alone = browser.evaluate("[...document.querySelectorAll('text')].map(text => text.textContent)")
    assert set(shown) <= set(alone)
    browser.requests.remove(picture.as_uri())


def test_the_minimap_shows_and_moves_what_is_seen(opened):
    browser = opened("xor")
    assert not is_visible(browser, "#minimap"), "all is seen"
    for _ in range(6):
        browser.press("+")
    assert is_visible(browser, "#minimap")
    place = "(({x, y, width, height}) => [x + width / 2, y + height / 2])(document.querySelector('#minimap .seen').getBBox())"
    before = browser.evaluate(place)
    corner = browser.evaluate(
        "(({right, bottom}) => [right - 30, bottom - 30])(document.getElementById('minimap').getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=corner[0], y=corner[1], button="left", clickCount=1)
    after = browser.evaluate(place)
    assert after[0] > before[0] and after[1] > before[1]


def test_boxes_have_roles_and_names(opened):
    browser = opened("xor")
    search(browser, "logits")
    tree = [node for node in browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    said = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree]
    assert ("button", "logits, BiasAdd, 0.2% of FLOPs") in said
    assert any(role == "button" and name.startswith("hidden/, 17 nodes") for role, name in said)
    active = browser.evaluate(
        "document.getElementById(document.getElementById('surface').getAttribute('aria-activedescendant')).ariaLabel"
    )
    assert active.startswith("logits")


def test_paper_shows_picture_and_panel_alone(opened):
    browser = opened("xor")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    seen = {part: is_visible(browser, part) for part in ("header", "#minimap", "#surface", "#panel")}
    assert seen == {"header": False, "#minimap": False, "#surface": True, "#panel": True}
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate("getComputedStyle(document.getElementById('panel')).overflow") == "visible", "all of it is printed"
    browser.call("Emulation.setEmulatedMedia", media="")


# Texts at edges that lie under a box or over another text.
HIDDEN_WORDS = """(() => {
    const place = element => element.getBoundingClientRect();
    const isOver = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const words = [...document.querySelectorAll('.word')];
    const boxes = [...document.querySelectorAll('.box > .shape')].map(place);
    return words.filter((word, i) => boxes.some(box => isOver(place(word), box))
        || words.some((other, j) => j > i && isOver(place(word), place(other)))).map(word => word.textContent);
})()"""


@pytest.mark.parametrize("name", ["xor", "scaler", "calls"])
def test_texts_at_edges_are_free(opened, name):
    browser = opened(name)
    browser.press("E")
    for _ in range(8):
        browser.press("+")
    assert browser.evaluate("document.querySelectorAll('.word').length") > 3
    assert browser.evaluate(HIDDEN_WORDS) == []


def test_a_saved_model_opens_on_its_signature(opened):
    browser = opened("scaler")
    assert panel(browser).splitlines()[:2] == ["Signature", "serving_default"]
    shown = names(browser)
    assert {"x", "scaled", "calls", "mul"} < set(shown), "the signature's names, and the nodes of the called functions"
    call = next(name for name in shown if name.startswith("__inference_signature_wrapper_apply"))
    browser.click("#surface > g > .frame > .head > .name")
    assert "mul" not in names(browser)
    function, _, node = call.partition(" · ")
    box = browser.evaluate("document.querySelector('.box.selected').textContent")
    assert function in box and node in box and panel(browser).splitlines()[:2] == ["StatefulPartitionedCall", node]
    browser.click(".box.selected")
    search(browser, "mul")
    address = browser.evaluate("location.hash")
    assert address == f"#node={node}/StatefulPartitionedCall/mul" and selected(browser) == "mul"
    said = panel(browser).splitlines()
    assert said[:2] == ["Mul", "mul"] and "scaler_saved_model" not in said
    browser.evaluate("[...document.querySelectorAll('#panel .link')].find(link => link.textContent === 'x').click()")
    assert browser.evaluate("document.querySelector('.selected > .name').textContent") == "x", "the value that the call passes"


def test_calls_in_a_graph_open_in_place(opened):
    browser = opened("calls")
    for call, functions in (("chosen", "double, negate"), ("smoothed", "smooth"), ("grown", "below, double")):
        search(browser, call)
        assert all(
            name in browser.evaluate("document.querySelector('.box.selected').textContent") for name in functions.split(", ")
        )
        browser.press("e")
        assert (
            browser.evaluate("document.querySelector('.frame.selected > .head > .name').textContent")
            == f"{call} · {functions}"
        )
    shown = names(browser)
    assert {"double/", "negate/", "below/", "Neg", "Exp", "Tanh", "Less"} < set(shown)
    assert "a0" not in shown, "an argument is the value that is passed"
    for path, lit in (("chosen/negate/Neg", 3), ("smoothed/Exp", 2), ("grown/double/AddV2", 4)):
        browser.call("Page.navigate", url=f"{opened.path.as_uri()}#node={path}")
        browser.wait(f"document.querySelector('.selected > .name')?.textContent === {path.rpartition('/')[2]!r}")
        assert browser.evaluate("document.querySelectorAll('.edge.incoming').length") == lit, f"pieces of the edge to {path}"
    words = browser.evaluate("[...document.querySelectorAll('.word')].map(word => word.textContent)")
    assert not any("tensors" in word for word in words), "each edge is a single tensor"
