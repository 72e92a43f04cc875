"""The functions behind `tfg train`, and the files from which a later training continues."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...core.graph.graph import Graph, GraphLike, as_graph
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session_like import SessionLike
from ...core.support import dataclasses
from ...core.support.arguments import checked, named
from ...core.support.display import Report
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, option
from ...core.support.json_documents import PYTHON_ONLY
from ...core.support.log import tell
from ...core.support.words import counted
from ...core.training.losses import NamedLoss, add_labelled_loss
from ...core.training.optimizers import find_optimizer, optimizer_name, parse_schedule
from ...core.training.train_step import Clipping, add_training
from ...core.training.trainer import Iteration, LeastSquares, Progress, Tolerances, Trainer, Vector
from ...core.types.arrays import Array
from ...core.types.tensors import Tensor
from ..state import State, TrainingPosition, as_tensors, check_state, holds_state, read_graph_state, read_progress, write_state
from .model_saving import with_twins
from .names import Names
from .outputs import expose
from .prepared_sessions import Opener, runtime_of_many_runs, session_on


class TrainingFile:
    """A file of variables, slots included, that a training writes at the end and after every `every` steps.

    The file also holds the number of steps and the random streams if the training has checkpoints or `resumes`.
    """

    def __init__(self, path: str, graph: Graph, every: int | None = None, resumes: bool = False) -> None:
        self.path, self.graph, self.every, self.resumes = path, graph, every, resumes
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
        # A file that no training continues from holds the variables alone, as other programs read them.
        if not state or not (self.every or self.resumes):
            return state
        return {**state, **TrainingPosition(step, runner.session.streams()).entries()}

    def checkpoint(self, runner: Runner, step: int, steps: int) -> None:
        """Write the file after every `every` steps, apart from the last of the `steps`."""
        # `finish` writes the last step.
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
        # tf.train.Checkpoint finds variables by the object graph, which the file takes from the SavedModel's checkpoint.
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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class TrainingReport(Report, main_table="history"):
    """A training: the nodes that it added to `session.graph`, and the loss of each step before the update."""

    optimizer: str
    variables: tuple[str, ...]
    train_op: str
    init_op: str
    history: tuple[Progress, ...]
    stages: tuple[tuple[str, tuple[str, ...]], ...]
    """The phases of the training graph, each with the names of the nodes that it added."""
    session: SessionLike
    """The session of the training graph, whose variables have the trained values."""

    @property
    def losses(self) -> list[float]:
        """The losses in the order of the steps."""
        return [step.loss for step in self.history]

    @property
    def has_diverged(self) -> bool:
        """True if the last loss is not finite."""
        return bool(self.history) and not math.isfinite(self.history[-1].loss)

    @property
    def state(self) -> dict[str, Array]:
        """The values of all variables as NumPy arrays, by name."""
        return _values(self.session)

    def headline(self) -> str:
        losses = f", loss {self.losses[0]:.6g} to {self.losses[-1]:.6g}" if self.history else ""
        return f"{counted(len(self.history), 'step')} of {self.optimizer}{losses}"


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class FitReport(Report, main_table="history"):
    """A fit by the method of Levenberg and Marquardt."""

    parameters: Vector
    """The fitted values: the elements of all variables, one variable after the other."""
    cost: float
    """Half the sum of squares at the end."""
    converged: bool
    """True if a tolerance ended the fit, not the number of iterations."""
    reason: str
    """Why the fit ended."""
    history: tuple[Iteration, ...]
    """The iterations."""
    session: SessionLike = dataclasses.field(metadata=PYTHON_ONLY)
    """The session whose variables have the fitted values."""
    optimizer: str = "lm"
    """`lm`."""

    @property
    def state(self) -> dict[str, Array]:
        """The values of all variables as NumPy arrays, by name."""
        return _values(self.session)

    def headline(self) -> str:
        return f"{counted(len(self.history), 'iteration')}, cost {self.cost:.6g}, {self.reason}"


def _values(session: SessionLike) -> dict[str, Array]:
    return {name: tensor.numpy() for name, tensor in Runner(session).state().items()}


@checked
def train(
    graph: GraphLike,
    loss: str | NamedLoss,
    feeds: Mapping[str, Any] | None = None,
    *,
    steps: int = 100,
    optimizer: str = "adam",
    lr: float | None = None,
    settings: Mapping[str, float] | None = None,
    schedule: str | None = None,
    clipping: Clipping | None = None,
    variables: str = "",
    batch: int | None = None,
    state: State | None = None,
    seed: int | None = 0,
    save_state: str | os.PathLike[str] | TrainingFile | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    open_session: Opener | None = None,
    on_start: Callable[[Trainer], int] | None = None,
    on_step: Callable[[Progress], object] | None = None,
) -> TrainingReport:
    """Minimize a tensor of the graph by its variables, and return the losses and the session with the trained values.

    `loss` is a floating-point tensor's name, or `mse(output, labels)`, `mae` or `crossentropy`, whose labels are fed by a
    name of their own. Names are those of the graph, of the usual signature, or of layers as `tfg.expose` finds them: then
    the session's graph has the bodies of functions in place of calls.

    `feeds` are the same in each step, or `batch` rows of them in turn. `optimizer`, `settings` (hyperparameters by name),
    `lr`, `schedule` and `clipping` are those of `tfg train`; `variables` is a regular expression for the names of the
    variables to train, by default all that the loss depends on. Training begins with the initial values, or those of
    `state`. Training ends early at a loss that is not finite, and if `on_step`, which sees each step, returns False;
    `on_start` sees the trainer before the first step, and returns how many of the `steps` are done already.

    `save_state` is a file for all variables after the last step, written also after every `checkpoint_every` steps; a loss
    that is not finite leaves the file as it was. With `resume`, training continues from the values and the step in the file,
    if the file exists, up to `steps` in total.

    `open_session` opens the session of the training graph, by default with `seed` and the fastest installed engine, unless
    TFG_ENGINE names one. InvalidArgumentError if the loss depends on no such variable. The given graph stays as it is.
    """
    graph = as_graph(graph)
    # The file is checked before the training: a dtype that it cannot hold is an error now, and not after an hour of steps.
    file = training_file(save_state, graph, checkpoint_every, resume)
    method = find_optimizer(optimizer).configured(settings or {})
    rule = parse_schedule(schedule) if schedule else None
    graph, minimized, values = _with_loss(graph, loss, feeds)
    training = add_training(graph, minimized, method, variables=variables, learning_rate=lr, schedule=rule, clipping=clipping)
    # The engine of a session that the caller opens is the caller's choice.
    session = session_on(training.graph, open_session, None, seed, runtime_of_many_runs() if open_session is None else None)
    trainer = Trainer(training, values, batch, session)
    trainer.runner.initialize(training.init_op)
    if state is not None:
        trainer.runner.restore(as_tensors(state))
    # The file comes after the initializers and `state`, as its values are the latest.
    trainer.done = file.resume(trainer.runner) if file is not None else 0
    done = trainer.done if on_start is None else max(trainer.done, on_start(trainer))
    history = list(_watched(trainer, steps, done, file, on_step))
    # A diverged training must not replace the last good checkpoint.
    if file is not None and not (history and not math.isfinite(history[-1].loss)):
        file.finish(trainer.runner, done + len(history))
    return TrainingReport(
        optimizer_name(optimizer), training.variables, training.train_op, training.init_op, tuple(history), training.stages,
        trainer.runner.session,
    )  # fmt: skip


def _watched(
    trainer: Trainer, steps: int, done: int, file: TrainingFile | None, on_step: Callable[[Progress], object] | None
) -> Iterator[Progress]:
    """Yield the steps until `on_step` returns False or a loss is not finite, and write checkpoints."""
    for step in trainer.steps(steps, done):
        yield step
        # The step has already been yielded, so the caller sees the last one, too. No checkpoint is made of a loss that is not
        # finite.
        if (on_step is not None and on_step(step) is False) or not math.isfinite(step.loss):
            return
        if file is not None:
            file.checkpoint(trainer.runner, step.step, steps)


@checked
def fit(
    graph: GraphLike,
    residuals: str | NamedLoss,
    feeds: Mapping[str, Any] | None = None,
    *,
    variables: str = "",
    iterations: int = 100,
    state: State | None = None,
    open_session: Opener | None = None,
    on_start: Callable[[LeastSquares], object] | None = None,
    on_step: Callable[[Iteration], None] | None = None,
) -> FitReport:
    """Minimize half the sum of squares of a tensor by the Levenberg-Marquardt method, and return the fitted parameters.

    `residuals` is a tensor's name, or `mse(output, labels)`, whose labels are fed by a name of their own, as for `train`.
    `variables` is a regular expression for the names of the variables to fit. The fit begins with the initial values, or those
    of `state`. `on_start` sees the problem before the first iteration, `on_step` each iteration. `open_session` opens the
    session. InvalidArgumentError if residuals or derivatives are not finite at the start.
    """
    graph = as_graph(graph)
    graph, minimized, values = _with_loss(graph, residuals, feeds, residuals=True)
    session = session_on(graph, open_session, state)
    problem = LeastSquares(graph, minimized, values, variables, Runner(session))
    if on_start is not None:
        on_start(problem)
    solution = problem.fit(Tolerances(max_iterations=iterations), on_step)
    return FitReport(solution.parameters, solution.cost, solution.converged, solution.reason, solution.iterations, session)


def _with_loss(
    graph: Graph, loss: str | NamedLoss, feeds: Mapping[str, Any] | None, *, residuals: bool = False
) -> tuple[Graph, str, dict[str, Any]]:
    """Return the graph with the loss, the name of the loss, and the feeds by names of tensors."""
    names, values = Names(graph), named(feeds)
    # A node may be called like a loss; then the text names the node.
    by_name = loss if isinstance(loss, NamedLoss) else None if loss in graph else NamedLoss.parse(loss)
    fed: dict[str, Any] = {}
    if by_name is None:
        graph, tensors = expose(graph, str(loss))
        minimized = graph.result(tensors[str(loss)]).name
    else:
        word = by_name.output or names.only_output(None, "loss").name
        labels, value = names.unknown_feed(tuple(values.items()), by_name.labels)
        graph, tensors = expose(graph, word)
        # The labels are no tensor of the graph yet: their shape and dtype decide those of the placeholder that is added.
        graph, minimized, fed = add_labelled_loss(
            graph, by_name.kind, tensors[word], labels, np.asarray(value), residuals=residuals
        )
        values = {name: value for name, value in values.items() if name != labels}
    # An argument is known by the names of the model itself, a node of a dissolved call by the graph with the loss.
    inputs = {graph.output(names.known(word, names.inputs) or word).name: value for word, value in values.items()}
    return graph, minimized, inputs | fed
