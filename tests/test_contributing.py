"""The additions of CONTRIBUTING.md, made in a copy of the checkout, touch exactly the files that the guide lists."""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

import tfg
from tests.recorded_answers import Answers

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(tfg.__file__).parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
FAMILY = "linalg"
"""The family of the guide's op. The copy loses the op first; the other families have no cases in the copy."""
CASES, RECORDED = f"tests/cases/{FAMILY}.py", f"tests/recorded/{FAMILY}.npz"
IGNORED = shutil.ignore_patterns("recorded", "fuzz", "live", "cases", "flops", "security", "formats", "engines", "datasets")


def examples(title: str, language: str = "python") -> list[str]:
    """The blocks of code in the section with this title."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## )", GUIDE, re.DOTALL | re.MULTILINE)
    assert section is not None
    return [textwrap.dedent(code) for _, code in re.findall(rf"(````?){language}\n(.*?) *\1", section[1], re.DOTALL)]


class Checkout:
    """A copy of the checkout without the guide's op; reports the changed files."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.path = folder / "tfg"
        for part in ("core", "cli", "formats", "scripts"):
            shutil.copytree(ROOT / part, self.path / part)
        shutil.copytree(ROOT / "tests", self.path / "tests", ignore=IGNORED)
        for name in ("__init__.py", "__main__.py", "pyproject.toml", "sample_graphs"):
            (self.path / name).symlink_to(ROOT / name)
        self.write("README.md", "")
        self._forget_op("Cross")
        self._before = self._contents()

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name: str, text: str) -> None:
        self.write(name, (self.path / name).read_text() + text)

    def run(self, *arguments: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(self.path.parent)}
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def changed(self) -> set[str]:
        """The files that are not as they were when last asked."""
        before, self._before = self._before, self._contents()
        return {name for name in before | self._before if before.get(name) != self._before.get(name)}

    def _contents(self) -> dict[str, bytes]:
        files = (path for path in self.path.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {str(path.relative_to(self.path)): path.read_bytes() for path in files}

    def _forget_op(self, op: str) -> None:
        family = self.path / f"core/ops/{FAMILY}/{FAMILY}.py"
        lines = family.read_text().splitlines()
        for node in reversed(ast.parse(family.read_text()).body):
            registrations = getattr(node, "decorator_list", [])
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                registrations = [node.value.func]
            if any(isinstance(one, ast.Call) and list(map(ast.unparse, one.args)) == [repr(op)] for one in registrations):
                del lines[registrations[0].lineno - 1 : node.end_lineno]
        self.write(f"core/ops/{FAMILY}/{FAMILY}.py", "\n".join(lines).replace(f" {op} ", " ") + "\n")
        self.write(CASES, "from tests.opcases import case, normal\n\nCASES = []\n")
        (self.path / RECORDED).parent.mkdir()
        Answers({}, {}).save(self.path / RECORDED)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with the guide's op, command and pass."""
    checkout = Checkout(tmp_path_factory.mktemp("packages"))
    block, cases = examples("Adding an op")
    checkout.append(f"core/ops/{FAMILY}/{FAMILY}.py", "\n\n" + block)
    checkout.append(CASES, f"CASES += [\n{cases}]\n")
    # What the guide's last step writes where TensorFlow is installed: TensorFlow's answers, these cases among them.
    shutil.copy(ROOT / RECORDED, checkout.path / RECORDED)
    command, test = examples("Adding a command")
    checkout.write("cli/commands/leaves.py", command)
    checkout.write("tests/cli/test_leaves.py", test)
    checkout.write("docs/commands/leaves.md", *examples("Adding a command", "markdown"))
    one_pass, test = examples("Adding a pass")
    checkout.write("core/passes/double_negation.py", one_pass)
    checkout.write("tests/core/passes/test_double_negation.py", test)
    checkout.run("scripts/regenerate.py", "ops", "outputs")
    return checkout


def test_additions_touch_as_many_files_as_the_guide_says(checkout):
    op = {f"core/ops/{FAMILY}/{FAMILY}.py", CASES, RECORDED}
    of_command = {"cli/commands/leaves.py", "tests/cli/test_leaves.py", "docs/commands/leaves.md"}
    of_pass = {"core/passes/double_negation.py", "tests/core/passes/test_double_negation.py"}
    assert checkout.changed() == op | of_command | of_pass
    assert "node " in (checkout.path / "docs/commands/leaves.md").read_text()


def test_what_the_guide_shows_passes_the_checks(checkout):
    of_ops = ["tests/core/ops/test_ops.py", "tests/core/gradients/test_op_gradients.py"]
    of_others = ["tests/cli/test_leaves.py", "tests/core/passes/test_double_negation.py", "tests/core/passes/test_order.py"]
    done = checkout.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *of_ops, *of_others, "-k", "not every_kernel")
    assert re.match(r"\d+ passed", done.splitlines()[-1])


TESTS_OF = {
    "core/ops/linalg/linalg.py": [r"pytest -q --op .* --op Cross ", r"pytest -q tests/core/"],
    "cli/commands/diff.py": [r"tests/cli/test_diff\.py .*tests/cli/test_diff_stream\.py"],
    "formats/api/notebook.py": [r"pytest -q tests/formats/api/test_notebook\.py$"],
    "tests/children.py": [r" tests/security/test_kills\.py"],
}
"""The commands that are printed for a file: by the ops of a family, the name of a command, the name of the test, an import."""


def test_the_tests_of_a_file_are_printed():
    done = subprocess.run([sys.executable, "scripts/tests_of.py", *TESTS_OF], cwd=ROOT, capture_output=True, text=True)
    patterns = [pattern for patterns in TESTS_OF.values() for pattern in patterns]
    for pattern, line in zip(patterns, done.stdout.splitlines(), strict=True):
        assert re.search(pattern, line), line
