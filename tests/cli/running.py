"""Running the command line inside the test process, and as a separate process."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

from tfg.cli import main

ROOT = pathlib.Path(main.__file__).parents[1]
SAMPLES = ROOT / "sample_graphs"
STAGES = sorted(str(path) for path in (SAMPLES / "variable_2").glob("*.pbtxt"))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Stream(io.TextIOWrapper):
    """A text stream in memory with a binary stream below, as standard output has."""

    def __init__(self, text: str = "") -> None:
        super().__init__(io.BytesIO(text.encode()), "utf-8")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


def tfg(*arguments: object, stdin: str = "") -> Outcome:
    """Run `tfg ARGUMENTS` in this process."""
    out, err = Stream(), Stream()
    with mock.patch("sys.stdin", Stream(stdin)), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.run([str(argument) for argument in arguments])
    return Outcome(code, out.text(), err.text())


def command_line(*arguments: object) -> list[str]:
    """The command that runs `tfg ARGUMENTS` as a process."""
    return [sys.executable, "-c", "from tfg.cli.main import main; main()", *map(str, arguments)]


def process(*arguments: object, stdin: str = "", **environment: str) -> Outcome:
    """Run `tfg ARGUMENTS` as a separate process."""
    done = subprocess.run(
        command_line(*arguments), input=stdin, capture_output=True, text=True, env=os.environ | environment, timeout=600
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
