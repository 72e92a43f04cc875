"""A program that uses tfg as a library: it runs, and type checkers find nothing in it."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import tfg

pytestmark = pytest.mark.slow

CLIENT = pathlib.Path(__file__).with_name("client.py")
ROOT = pathlib.Path(tfg.__file__).parent
MISTAKES = """\
import tfg
b = tfg.GraphBuilder()
b.MatMull(1.0, 2.0)
b.MatMul(1.0)
b.MatMul(1.0, 2.0, transpose=True)
b.MaxPool(1.0, ksize=[1], strides=[1], padding="SAM")
b.Assign(1.0, 2.0)
tfg.explain(b.graph, 3)
tfg.flop(b.graph)
tfg.explain(b.graph)[0]
tfg.draw(b.graph, dept=1)
tfg.run_batch(b.graph, "*.npz", steps="1")
"""
"""A mistake in each line from the third on."""


FILES = ("client.py", "mistakes.py")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the client, where `tfg` is the checkout whatever the checkout is called."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tfg").symlink_to(ROOT)
    shutil.copy(CLIENT, folder)
    (folder / "mistakes.py").write_text(MISTAKES)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    return folder


def mypy(folder):
    """Yield file and line of each error that mypy --strict finds."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", *FILES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "checked 2 source files" in done.stdout, done.stderr
    for name, line in re.findall(r"^(\w+\.py):(\d+): error", done.stdout, re.MULTILINE):
        yield name, int(line)


def pyright(folder):
    """Yield file and line of each error that pyright finds in strict mode."""
    pytest.importorskip("basedpyright", reason="the extra tfg[clients] is not installed")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, *FILES]
    report = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout)
    assert report["summary"]["filesAnalyzed"] == 2
    for problem in report["generalDiagnostics"]:
        if problem["severity"] == "error":
            yield pathlib.Path(problem["file"]).name, problem["range"]["start"]["line"] + 1


def test_the_client_runs():
    done = subprocess.run([sys.executable, CLIENT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nearest names: layer/product, y" in done.stdout


def test_the_client_uses_all_public_names():
    used = set(re.findall(r"\btfg\.(\w+)", CLIENT.read_text(encoding="utf-8")))
    assert set(tfg.__all__) - used == set()


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_find_the_mistakes_and_nothing_in_the_client(project, checker):
    """Without the mistakes, types that say nothing would pass too."""
    assert set(checker(project)) == {("mistakes.py", line) for line in range(3, MISTAKES.count("\n") + 1)}
