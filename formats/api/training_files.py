"""Files of the variables of a training, from which a later training continues."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...core.graph.graph import Graph
from ...core.runtime.session.runner import Runner
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, option
from ...core.support.log import tell
from ...core.types.tensors import Tensor
from ..state import TrainingPosition, check_state, holds_state, read_graph_state, read_progress, write_state
from .model_saving import with_twins


class TrainingFile:
    """A file of variables, slots included, that a training writes at the end and after every `every` steps.

    The file also holds the number of steps and the random streams if the training has checkpoints or `resumes`.
    """

    def __init__(self, path: str, graph: Graph, every: int | None = None, resumes: bool = False) -> None:
        self.path = path
        self.graph = graph
        self.every = every
        self.resumes = resumes
        check_state(path, graph)

    def resume(self, runner: Runner) -> int:
        """Restore the variables and the random streams, and return the number of steps; 0 without a file to resume."""
        position = self.position() if self.resumes else None
        if position is None:
            return 0
        runner.restore(self.values(runner.graph))
        runner.session.draw_on(position.streams)
        return position.steps

    def position(self) -> TrainingPosition | None:
        """Return the position of the training in the file, None without a file; InvalidArgumentError for another file."""
        if not holds_state(self.path):
            return None
        position = read_progress(self.path)
        if position is None:
            problem = f"'{self.path}' has no step number to resume from"
            raise InvalidArgumentError(problem, hint=Hint("start a new training from these values with ", option("state")))
        return position

    def values(self, graph: Graph) -> Mapping[str, Tensor]:
        """Return the values of variables in the file, by the names of a graph."""
        return read_graph_state(self.path, graph)

    def contents(self, runner: Runner, step: int) -> Mapping[str, Tensor]:
        """Return the contents of the file after a step."""
        state = runner.state()
        if not state or not (self.every or self.resumes):
            return state
        return {**state, **TrainingPosition(step, runner.session.streams()).entries()}

    def checkpoint(self, runner: Runner, step: int, steps: int) -> None:
        """Write the file after every `every` steps, apart from the last of the `steps`."""
        if self.every and step % self.every == 0 and step < steps:
            self.write(self.contents(runner, step))
            tell("checkpoint after step %d", step)

    def finish(self, runner: Runner, step: int) -> None:
        """Write the file after the last step."""
        state = self.contents(runner, step)
        if state:
            self.write(state)

    def write(self, state: Mapping[str, Tensor]) -> None:
        """Write the file, whole or not at all; a checkpoint has the form of the SavedModel's."""
        form = self.graph.meta.variables_prefix if self.graph.meta is not None else None
        write_state(self.path, with_twins(state, self.graph), form, self.graph)


def training_file(
    path: str | os.PathLike[str] | TrainingFile | None, graph: Graph, every: int | None, resumes: bool
) -> TrainingFile | None:
    """Return the file of a training; InvalidArgumentError for checkpoints or a continuation without a file."""
    if isinstance(path, TrainingFile):
        return path
    if path is None:
        if every is not None or resumes:
            raise InvalidArgumentError(
                "checkpoints and resuming need a file", hint=Hint("name a file with ", option("save-state"))
            )
        return None
    if every is not None and every < 1:
        raise InvalidArgumentError(f"checkpoint_every must be at least 1, not {every}")
    return TrainingFile(os.fspath(path), graph, every, resumes)
