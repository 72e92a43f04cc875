"""Tests are skipped for reasons that are allowed, and run in some step of .ci/run."""

from __future__ import annotations

import ast
import pathlib
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests import skips
from tests.cli.running import ROOT
from tests.sources import nodes_of

pytestmark = pytest.mark.slow

CI = ROOT / ".ci"
needs_checkout = pytest.mark.skipif(not CI.exists(), reason="this is no checkout of git")


def texts(node: ast.AST) -> str:
    """Return the text of a literal; of a formatted literal, with `?` for the values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values)
    assert isinstance(node, ast.Constant)
    return str(node.value)


def reasons() -> Iterator[tuple[pathlib.Path, str]]:
    """Yield the reasons in the tests: arguments of skip, skipif and importorskip."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in nodes_of(path):
            name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            if name not in ("skip", "skipif", "importorskip") or not ast.unparse(node.func).startswith("pytest."):
                continue
            given = [keyword.value for keyword in node.keywords if keyword.arg == "reason"]
            if not given and name == "importorskip":
                yield path, f"could not import '{texts(node.args[0]) if isinstance(node.args[0], ast.Constant) else 'keras'}'"
            else:
                yield path, texts(given[0] if given else node.args[0])


def test_every_reason_is_allowed_and_every_allowance_is_used():
    items = list(reasons())
    assert len(items) > 40
    assert not [(path, reason) for path, reason in items if skips.allowance(reason) is None]
    assert {skips.allowance(reason) for _, reason in items} == set(skips.ALLOWED)


def test_the_summary_says_why_in_one_line():
    line = skips.summary(["Skipped: takes minutes: one"] * 1200 + ["could not import 'tensorflow': none", "it rains"])
    assert line == (
        "1,202 skipped: 1,200 are asked for by name; 1 need TensorFlow (step live of .ci/run); "
        "1 have a reason that is not allowed (it rains)"
    )


@pytest.mark.parametrize(("reason", "code"), [("it rains", 1), ("takes minutes: one", 0)])
def test_a_skip_for_another_reason_is_an_error(reason, code, tmp_path):
    (tmp_path / "test_some.py").write_text(
        f"import pytest\ndef test_one(): pytest.skip({reason!r})\ndef test_two(): pass\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    words = [f"--outcomes={tmp_path / 'outcomes'}", str(tmp_path / "test_some.py")]
    done = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert "1 skipped: 1 " in done.stdout and ("error: a skip for this reason" in done.stdout) == bool(code)
    lines = (tmp_path / "outcomes").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["ran", "skipped"] and lines[1].endswith(f"\t{reason}")


@pytest.mark.parametrize(
    ("words", "ran"),
    [([], 1), (["-m", "not live"], 1), (["-n", "2"], 1), (["-m", "slow"], 1), (["-m", "slow or not slow"], 2)],
)
def test_slow_tests_run_where_they_are_asked_for(words, ran, tmp_path):
    """A line says how many were left out, also with several processes."""
    text = "import pytest\n@pytest.mark.slow\ndef test_slow(): pass\ndef test_quick(): pass\n"
    (tmp_path / "test_some.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-o", "markers=slow"]
    outcomes = tmp_path / "outcomes"
    done = subprocess.run(
        [*command, f"--outcomes={outcomes}", *words, str(tmp_path / "test_some.py")], cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stdout
    lines = outcomes.read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["ran"] * ran
    assert (b"left to .ci/run: tests: 1 by `-m slow`" in done.stdout) == ("slow" not in "".join(words))


def test_two_halves_of_a_sweep_are_the_whole(tmp_path):
    """Tests that are no sweeps run in both."""
    (tmp_path / "test_some.py").write_text(
        "import pytest\n@pytest.mark.sampled(3)\n@pytest.mark.parametrize('i', range(7))\ndef test_sweep(i): pass\n"
        "@pytest.mark.slow\n@pytest.mark.parametrize('i', range(3))\ndef test_others(i): pass\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-m", "slow"]
    ran = []
    for half in ("--half=0", "--half=1"):
        words = [half, f"--outcomes={tmp_path / 'outcomes'}", str(tmp_path / "test_some.py")]
        subprocess.run([*command, *words], cwd=ROOT, capture_output=True, check=True)
        lines = (tmp_path / "outcomes").read_text(encoding="utf-8").splitlines()
        ran.append({line.rpartition("::")[2] for line in lines})
    others = {f"test_others[{i}]" for i in range(3)}
    assert ran[0] == {"test_sweep[2]", "test_sweep[4]"} | others
    assert ran[1] == {"test_sweep[1]", "test_sweep[5]"} | others


@needs_checkout
def test_readme_commands_run_where_neither_dot_nor_a_browser_is(tmp_path):
    readme = runpy.run_path(str(CI / "readme.py"), run_name="readme")
    first, second = readme["commands"]()
    assert "pip install ." in first and "tfg run" in first and second.endswith("-m pytest -q -n 2")
    path = readme["machine"](tmp_path / "machine")["PATH"]
    assert shutil.which("python3", path=path) and shutil.which("sh", path=path)
    assert not any(shutil.which(program, path=path) for program in ("dot", "chromium", "google-chrome", "firefox", "apt-get"))


@needs_checkout
def test_a_test_that_no_step_runs_is_an_error(tmp_path):
    skipped = {"tests/a.py::one": "the program 'dot' is not installed", "tests/b.py": "the extra tfg[xla] is not installed"}
    lines = ["ran\ttests/c.py::three", *(f"skipped\t{nodeid}\t{reason}" for nodeid, reason in skipped.items())]
    (tmp_path / "readme").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "programs").write_text("ran\ttests/a.py::one\n", encoding="utf-8")
    (tmp_path / "engines").write_text("ran\ttests/b.py::two\n", encoding="utf-8")

    def outcomes(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(CI / "outcomes.py"), *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert outcomes("left", "programs extras", "readme").stdout == "tests/a.py::one\n"
    assert outcomes("check", "replay", "readme", "programs", "engines").returncode == 0
    missed = outcomes("check", "replay", "readme", "programs")
    assert missed.returncode == 1 and "tests/b.py ran in no step, not even in 'engines'" in missed.stdout
    assert outcomes("check", "engines", "readme", "programs").returncode == 0
