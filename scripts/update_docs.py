"""The outputs of `$ tfg ...` in the console blocks of README.md and docs/; a part of regenerate.py."""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```console( fails)?\n(.*?)```", re.DOTALL)
"""Blocks of commands with output; ` fails` marks blocks that show an error."""
DONE, REFUSED, COMPARISON_FAILED = 0, 1, 3
IDLE = re.compile(r"(?<=passes that found nothing to do: )\d+")
INTERRUPTED = re.compile(r"node '[^']*' \(\w+\): (?=the run exceeded its time limit)")
"""The position of a run at the timeout: between two nodes or in a node."""
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
SPACED = re.compile(rf" *{NUMBER.pattern} *")
PATH = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
"""Where a shell that a command starts finds the tfg of this environment."""
COMMAND = [sys.executable, "-c", "from tfg.cli.main import main; main()"]


def derived() -> dict[pathlib.Path, str]:
    """The pages with fresh outputs."""
    return {path: _fresh(path) for path in PAGES}


def _fresh(page: pathlib.Path) -> str:
    """Return a page with the outputs of commands run in a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "sample_graphs", pathlib.Path(folder) / "sample_graphs")
        return rewritten(page.read_text(), folder)


def codes(fails: str) -> tuple[int, ...]:
    """The exit codes of the commands in a block."""
    return (REFUSED,) if fails else (DONE, COMPARISON_FAILED)


def run(command: str, folder: str, fails: str) -> str:
    """Return the terminal output of `tfg ...`, notes first."""
    program, *arguments = shlex.split(command)
    assert program == "tfg", command
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=folder, env=os.environ | {"PATH": PATH})
    assert done.returncode in codes(fails), f"{command}: {done.stderr}"
    return done.stderr + done.stdout


def rewritten(page: str, folder: str) -> str:
    """The page with fresh outputs."""

    def block(match: re.Match[str]) -> str:
        fails = match[1] or ""
        commands = [line[2:] for line in match[2].splitlines() if line.startswith("$ ")]
        outputs = [f"$ {command}\n{run(command, folder, fails)}" for command in commands]
        return f"```console{fails}\n" + "\n".join(outputs) + "```"

    return BLOCK.sub(block, page)


def same(one: str, other: str) -> bool:
    """True where two pages differ in nothing but times, where they ran out, how many passes did nothing, and last digits.

    Fewer digits are printed with more spaces.
    """
    one, other = (INTERRUPTED.sub("", IDLE.sub("#", without_times(page))) for page in (one, other))
    if SPACED.sub("#", one) != SPACED.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other))
    return all(abs(float(a) - float(b)) <= 0.01 * max(abs(float(a)), abs(float(b))) for a, b in pairs)


def without_times(page: str) -> str:
    """Return the page without the column `ms` of the tables."""
    lines: list[str] = []
    place: slice | None = None
    for line, below in itertools.pairwise([*page.splitlines(), ""]):
        if not line:
            place = None
        if "ms" in line.split() and set(below) == {"-", " "}:
            place = next(slice(*m.span()) for m in re.finditer("-+", below) if "ms" in line[slice(*m.span())].split())
        lines.append(line if place is None else line[: place.start] + line[place.stop :])
    return "\n".join(lines)
