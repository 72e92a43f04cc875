"""The function behind `tfg train`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ...core.graph.graph import Graph
from ...core.runtime.session.runner import Runner
from ...core.runtime.session.session import Session
from ...core.support.arguments import takes
from ...core.support.display import Report
from ...core.support.words import counted
from ...core.training.optimizers import find_optimizer, optimizer_name
from ...core.training.schedules import parse_schedule
from ...core.training.train_step import add_training
from ...core.training.trainer import Progress, Trainer
from .sessions import State, as_tensors, named, opened


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class TrainingReport(Report):
    """A training: the nodes that it added to `session.graph`, and the loss of each step before the update."""

    main_table: ClassVar[str] = "history"

    optimizer: str
    variables: tuple[str, ...]
    train_op: str
    init_op: str
    history: tuple[Progress, ...]
    session: Session
    """The session of the training graph, whose variables have the trained values."""

    @property
    def losses(self) -> list[float]:
        """The losses in the order of the steps."""
        return [step.loss for step in self.history]

    @property
    def state(self) -> dict[str, Any]:
        """The values of all variables as NumPy arrays, by name."""
        return {name: tensor.numpy() for name, tensor in Runner(self.session).state().items()}

    def headline(self) -> str:
        losses = f", loss {self.losses[0]:.6g} to {self.losses[-1]:.6g}" if self.history else ""
        return f"{counted(len(self.history), 'step')} of {self.optimizer}{losses}"


@takes(
    graph=Graph, loss=str, feeds=Mapping | None, steps=int, optimizer=str, lr=float | int | None, settings=Mapping | None,
    schedule=str | None, variables=str, batch=int | None, state=Mapping | None, seed=int | None,
)  # fmt: skip
def train(
    graph: Graph,
    loss: str,
    feeds: Mapping[str, Any] | None = None,
    *,
    steps: int = 100,
    optimizer: str = "adam",
    lr: float | None = None,
    settings: Mapping[str, float] | None = None,
    schedule: str | None = None,
    variables: str = "",
    batch: int | None = None,
    state: State | None = None,
    seed: int | None = 0,
    on_step: Callable[[Progress], object] = lambda step: None,
) -> TrainingReport:
    """Minimize a tensor of the graph by its variables, and return the losses and the session with the trained values.

    `loss` is a floating-point tensor's name. `feeds` are the same in each step, or `batch` rows of them in turn.
    `optimizer`, `settings` (hyperparameters by name), `lr` and `schedule` are those of `tfg train`; `variables` is a regular
    expression for the names of the variables to train, by default all that the loss depends on. Training begins with the
    initial values, or those of `state`, and ends early at a loss that is not finite. `on_step` sees each step.
    InvalidArgumentError where the loss depends on no such variable. The graph given stays as it is.
    """
    name = optimizer_name(optimizer)
    method = find_optimizer(name).configured(settings or {})
    rule = parse_schedule(schedule) if schedule else None
    training = add_training(graph, graph.result(loss).name, method, variables=variables, learning_rate=lr, schedule=rule)
    session = opened(training.graph, None, seed)
    trainer = Trainer(training, {graph.output(key).name: value for key, value in named(feeds).items()}, batch, session)
    trainer.runner.initialize(training.init_op)
    if state is not None:
        trainer.runner.restore(as_tensors(state))
    history = []
    for step in trainer.steps(steps):
        history.append(step)
        on_step(step)
        if not math.isfinite(step.loss):
            break
    return TrainingReport(name, training.variables, training.train_op, training.init_op, tuple(history), session)
