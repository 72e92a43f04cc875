"""The examples of README.md and docs/ run, and print the outputs of the pages."""

from __future__ import annotations

import pathlib
import re
import runpy
import shlex
import subprocess
import sys

import pytest

import tfg
from tests.cli.running import process
from tests.cli.running import tfg as run
from tfg.cli import main
from tfg.core.registry.catalog import CATALOG

ROOT = pathlib.Path(tfg.__file__).parent
docs = runpy.run_path(str(ROOT / "scripts" / "update_docs.py"), run_name="update_docs")
PAGES = docs["PAGES"]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    (tmp_path / "sample_graphs").symlink_to(ROOT / "sample_graphs")
    monkeypatch.setenv("PATH", docs["PATH"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def untouched(*words):
    """Run a command without op libraries, although other tests may have loaded op libraries into this process."""
    return (process if CATALOG.custom() else run)(*words)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_console_examples(page, clone):
    for fails, block in docs["BLOCK"].findall(page.read_text()):
        if re.search(r"convert .*\.onnx", block):
            pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            done = untouched(*shlex.split(command)[1:])
            assert done.code in docs["codes"](fails), f"{command}: {done.err}"
            printed = f"{done.err}{done.out}".strip()
            assert docs["same"](printed, expected.strip()), f"{command}: run scripts/regenerate.py outputs"


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


def snippets(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("page", "number"), [(page, n) for page in PAGES for n in range(len(snippets(page)))])
def test_python_examples(page, number, clone):
    """Each example runs in a separate process, because examples register ops."""
    if "import jax" in snippets(page)[number]:
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    done = subprocess.run([sys.executable, "-c", snippets(page)[number]], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_every_command_is_in_the_docs():
    assert {page.stem for page in (ROOT / "docs/commands").iterdir()} == {"index", *main.commands()}
