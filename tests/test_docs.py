"""The examples of README.md, docs/ and docstrings run, and print the outputs of the pages."""

from __future__ import annotations

import doctest
import inspect
import pathlib
import re
import runpy
import shlex
import shutil
import sys

import numpy as np
import pytest

import tfg
from tests import page_runner
from tests.cli.running import tfg as run
from tfg.cli import main

ROOT = pathlib.Path(tfg.__file__).parent
docs = runpy.run_path(str(ROOT / "scripts" / "update_docs.py"), run_name="update_docs")
PAGES = docs["PAGES"]


def page_id(page):
    return str(page.relative_to(ROOT).with_suffix(""))


@pytest.fixture
def clone(tmp_path, monkeypatch):
    (tmp_path / "sample_graphs").symlink_to(ROOT / "sample_graphs")
    monkeypatch.setenv("PATH", docs["PATH"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes_of(kind, examples):
    """Run the examples of a page, whose folder is the current one, in a process."""
    return page_runner.outcomes(kind, examples, pathlib.Path("results.json"))


def examples_of(page):
    """Yield the commands of a page, each with the codes that it may end with and the output that the page shows."""
    for fails, block in docs["BLOCK"].findall(page.read_text()):
        if re.search(r"convert .*\.onnx", block):
            pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            yield command, docs["codes"](fails), expected.strip()


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if docs["BLOCK"].search(page.read_text())], ids=page_id)
def test_console_examples(page, clone):
    examples = list(examples_of(page))
    # A process for each page: ops of a library that other tests, or other pages, load stay registered.
    outcomes = outcomes_of("commands", [command for command, _, _ in examples])
    for (command, codes, expected), done in zip(examples, outcomes, strict=True):
        assert done.code in codes, f"{command}: {done.err}"
        assert docs["same"](f"{done.err}{done.out}".strip(), expected), f"{command}: run scripts/regenerate.py outputs"


def test_headings_of_troubleshooting_are_parts_of_the_messages():
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    entries = re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert len(entries) > 15
    for heading, entry in entries:
        ((_, block),) = docs["BLOCK"].findall(entry)
        assert re.search(r"^error: (.*)", block, re.MULTILINE)[1].count(heading) == 1, heading


def test_main_command_of_the_readme(clone):
    text = (ROOT / "README.md").read_text()
    command, output = re.search(r"\.venv/bin/tfg (.*?)\n```\n\nIt prints\n\n```\n(.*?)```", text, re.DOTALL).groups()
    done = run(*shlex.split(command))
    assert done.code == 0
    assert docs["same"](f"{done.err}{done.out}", output)
    assert (clone / "xor.npz").exists()


LIBRARIES = ("jax", "optax", "ray", "pyspark", "apache_beam")
"""The libraries that examples import."""
LOGGING = {"ray", "pyspark", "apache_beam"}
"""Libraries that write a log to standard error."""


def snippets(page: pathlib.Path) -> list[tuple[str, str]]:
    """Return the examples of a page, each with the output that the page shows, if any."""
    shown = r"^```python\n(.*?)^```\n(?:\nIt prints\n\n```\n(.*?)^```)?"
    return re.findall(shown, page.read_text(), re.DOTALL | re.MULTILINE)


def imported(codes: list[str]) -> set[str]:
    """Return the libraries that examples import; skip the test where one is not here."""
    names = {name for name in LIBRARIES if any(re.search(rf"^(import|from) {name}\b", code, re.MULTILINE) for code in codes)}
    if "jax" in names:
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    if "optax" in names:
        pytest.importorskip("optax")
    if "ray" in names:
        pytest.importorskip("ray")
    if "pyspark" in names:
        pytest.importorskip("pyspark")
    if "apache_beam" in names:
        pytest.importorskip("apache_beam")
    if "pyspark" in names and shutil.which("java") is None:
        pytest.skip("the program 'java' is not installed")
    return names


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=page_id)
def test_python_examples(page, clone, monkeypatch):
    """The examples of each page run in a separate process, because examples register ops."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    codes, outputs = zip(*snippets(page))
    is_logging = not LOGGING.isdisjoint(imported(codes))
    for code, output, done in zip(codes, outputs, outcomes_of("snippets", codes), strict=True):
        assert done.code == 0 and (is_logging or not done.err), f"{code}: {done.err}"
        assert done.out == output if output else done.out.strip(), code


def documented():
    """The public functions and classes, and the members of the classes, by name."""
    for name in tfg.__all__:
        thing = getattr(tfg, name)
        yield name, thing
        if inspect.isclass(thing):
            yield from ((f"{name}.{member}", getattr(thing, member)) for member in vars(thing) if not member.startswith("__"))


DOCUMENTED = {name: thing for name, thing in documented() if ">>>" in (inspect.getdoc(thing) or "")}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstring_examples(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    (example,) = doctest.DocTestFinder(recurse=False).find(DOCUMENTED[name], name, globs={"tfg": tfg, "np": np})
    lines = []
    assert doctest.DocTestRunner().run(example, out=lines.append).failed == 0, "".join(lines)


def test_examples_of_docstrings_are_found():
    assert {"Model", "Session.run", "layers"} <= set(DOCUMENTED)


def test_every_command_is_in_the_docs():
    assert {page.stem for page in (ROOT / "docs/commands").iterdir()} == {"index", *main.commands()}
