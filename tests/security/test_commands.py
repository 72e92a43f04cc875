"""Every command that runs a graph keeps it to the folders of --allow-files."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg
from tests.security import escapes
from tfg import GraphBuilder, save

# Each command twice: the attempt stands before the loss, or is the initializer.
COMMANDS = {
    "run": ("run", "--fetch", "loss"),
    "grad --check": ("grad", "--y", "loss", "--x", "x", "--check"),
    "grad --jacobian": ("grad", "--y", "loss", "--x", "x", "--jacobian"),
    "train": ("train", "--loss", "loss", "--steps", "1"),
    "flops --measured": ("flops", "--fetch", "loss", "--measured"),
    "optimize --verify": ("optimize", "--fetch", "loss", "--verify"),
}
INITIALIZED = COMMANDS | {"convert --freeze": ("convert", "{0.root}/out.pb", "--freeze")}
PLAIN = ["ReadFile, parent", "WriteFile, link", "PrintV2, parent", "table, link"]
NAMES = [*PLAIN, *(name for name in escapes.ESCAPES if ", " not in name)]


@pytest.fixture
def place(tmp_path):
    return escapes.Place(tmp_path)


def _graph(place, name):
    """A loss that waits for the attempt, of a variable that starts with a value."""
    g = GraphBuilder()
    escapes.ESCAPES[name](g, place)
    variable = g.VariableV2(shape=[], dtype="float", name="v")
    g.Assign(variable, g.constant(np.float32(2)), name="v/Assign")
    x = g.Identity(variable, name="x")
    with g.control_dependencies([g.graph["op"]]):
        g.Square(x, name="loss")
    save(g.graph, place.root / "g.pb")
    return place.root / "g.pb"


def _assert_kept_in(place, name, command, *options):
    graph = _graph(place, name)
    before = place.outside()
    arguments = [argument.format(place) for argument in command[1:]]
    done = tfg(command[0], graph, *arguments, *options, "--allow-files", place.open)
    assert done.code == 1, (done.out, done.err)
    assert "error: node 'op' (" in done.err and "the graph may not" in done.err, done.err
    assert "hidden" not in done.out + done.err
    assert place.outside() == before


@pytest.mark.sampled(22)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_attempt_in_a_run(command, name, place):
    _assert_kept_in(place, name, COMMANDS[command], "--init-op", "v/Assign")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("command", INITIALIZED)
def test_an_attempt_in_the_initializer(command, name, place):
    _assert_kept_in(place, name, INITIALIZED[command], "--init-op", "op")
