"""Commands that tfg proposes for copying: a shell gives `tfg` the name as the graph has it, and runs nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import tfg
from tfg.cli.next_steps import in_commands
from tfg.core.types import dtypes

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the program 'bash' is not installed")

NAMES = [
    "y$(touch X)",
    "y`touch X`",
    "y'$(touch X)'",
    "y';touch X;'",
    'y"$(touch X)"',
    "y;touch X",
    "y\\'$(touch X)",
    "-y|touch X",
]
_TFG = "tfg() { printf '%s\\0' \"$@\"; }\n"


def words_of(commands, folder):
    """Return the words that bash gives to `tfg`, over all commands."""
    done = subprocess.run(["bash", "-c", _TFG + "\n".join(commands)], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr, os.listdir(folder)) == (0, "", [])
    return done.stdout.split("\0")


@pytest.mark.parametrize("name", NAMES)
def test_the_hint_to_rename_a_node(name, tmp_path):
    graph = tfg.Graph()
    graph.add_node(name, "NoOp")
    (hint,) = {in_commands(problem.hint) for problem in tfg.check(graph) if problem.hint and "rename" in problem.hint}
    assert f"rename{{node={name}:NAME}}" in words_of([hint.removeprefix("`").removesuffix("` renames it")], tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_next_commands_of_explain(name, tmp_path):
    graph = tfg.Graph()
    x = graph.add_node(name, "Placeholder", attrs={"dtype": dtypes.float32, "shape": tfg.Shape([2])})
    graph.add_node("out", "Neg", [x.output()], attrs={"T": dtypes.float32})
    given = words_of(map(in_commands, tfg.explain(graph).next_commands), tmp_path)
    assert f"{name}=uniform(2)" in given
