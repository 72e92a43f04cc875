"""The examples of a page of the docs, run in a process of their own, where no other test has loaded an op library."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import pathlib
import shlex
import subprocess
import sys
import traceback
from collections.abc import Sequence

from tests.cli.running import ROOT, Outcome, process, tfg

_START = f"import sys; sys.path.insert(1, {str(ROOT)!r}); from tests.page_runner import main; main(*sys.argv[1:])"


def outcomes(kind: str, examples: Sequence[str], results: pathlib.Path) -> list[Outcome]:
    """Run `commands` of tfg or `snippets` of Python one after the other in a new process, which writes a file of results."""
    command = [sys.executable, "-c", _START, kind, str(results)]
    done = subprocess.run(command, input=json.dumps(examples), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [Outcome(**fields) for fields in json.loads(results.read_text())]


def main(kind: str, results: str) -> None:
    """Run the examples that standard input lists."""
    run = {"commands": run_command, "snippets": run_snippet}[kind]
    ended = [dataclasses.asdict(run(example)) for example in json.load(sys.stdin)]
    pathlib.Path(results).write_text(json.dumps(ended))


def run_command(line: str) -> Outcome:
    """Run a command; a time limit may end the process of a run, which therefore has its own."""
    words = shlex.split(line)[1:]
    return process(*words) if "--timeout" in words else tfg(*words)


def run_snippet(code: str) -> Outcome:
    """Run Python code with names of its own."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(code, {"__name__": "__main__"})
        except Exception:
            traceback.print_exc()
            return Outcome(1, out.getvalue(), err.getvalue())
    return Outcome(0, out.getvalue(), err.getvalue())
