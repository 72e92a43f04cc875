"""What `tfg train` does between its options and its output."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import DeadlineExceededError, InvalidArgumentError
from ..core.graph import Graph
from ..core.runtime.process_limits import lift_time_limit
from ..core.runtime.runner import Interruption, Runner
from ..core.tensors import Tensor
from ..core.training.levenberg_marquardt import Iteration, Solution, Tolerances
from ..core.training.optimizers import find_optimizer
from ..core.training.schedules import parse_schedule
from ..core.training.trainer import LeastSquares, Progress, Trainer
from ..core.training.updates import Clipping, TrainingGraph, add_training
from ..core.words import counted
from ..formats.state import write_state
from . import render
from .main import COMPARISON_FAILED, DONE, INTERRUPTED
from .names import Names
from .sessions import SessionOptions


@dataclasses.dataclass(frozen=True, slots=True)
class TrainOptions:
    """What `tfg train` is told beside how to open its session."""

    loss: str
    variables: str
    optimizer: str
    lr: float | None
    settings: tuple[tuple[str, str], ...]
    schedule: str | None
    clip: tuple[str, str] | None
    steps: int
    feeds: tuple[tuple[str, str], ...]
    batch: int | None
    save_state: str | None
    output: str | None
    text: bool
    dump_stages: bool
    format_: str
    quiet: bool

    @property
    def clipping(self) -> Clipping | None:
        """What --clip KIND=LIMIT asks for."""
        return None if self.clip is None else Clipping(self.clip[0], _number("--clip", self.clip[1]))


@dataclasses.dataclass(frozen=True, slots=True)
class _Kept:
    """The variables after a step."""

    state: Mapping[str, Tensor]
    step: int


class TrainJob:
    """One `tfg train`: the graph, its options, and the history of losses."""

    def __init__(self, graph: Graph, session: SessionOptions, options: TrainOptions) -> None:
        self.graph = graph
        self.session = session
        self.options = options
        self.quiet = options.quiet
        self.exit_code = DONE
        self.has_diverged = False
        names = Names(graph, session.signature)
        self.loss = names.output(options.loss).name
        self.feeds = names.feeds(options.feeds)
        self.losses: list[float] = []

    def run(self) -> None:
        """Train, save and write as the options ask."""
        raise NotImplementedError

    def result(self) -> dict[str, Any]:
        """What --format json prints."""
        raise NotImplementedError

    def sections(self) -> Iterator[render.Section]:
        """A plot of the losses, and the first and the last of them."""
        if len(self.losses) > 2:
            yield render.Text(render.plot(self.losses), "loss")
        if self.losses:
            numbers = sorted({1, len(self.losses)})
            yield render.Table(("step", "loss"), [(number, self.losses[number - 1]) for number in numbers])

    def _save(self, runner: Runner, graph: Graph) -> None:
        lift_time_limit()
        self._save_state(runner.state() if self.options.save_state and not self.has_diverged else {})
        if self.options.output:
            from ..formats.saving import save

            save(graph, self.options.output, text=self.options.text)
            render.note(f"wrote {counted(len(graph), 'node')} to {self.options.output}", self.quiet)

    def _save_state(self, state: Mapping[str, Tensor], when: str = "") -> None:
        """Write the variables, if there are any, and say `when` they were like that."""
        if self.options.save_state and state:
            write_state(self.options.save_state, state)
            render.note(f"saved the variables{when} to {self.options.save_state}", self.quiet)


class FirstOrderJob(TrainJob):
    """Training by gradient steps."""

    def __init__(self, graph: Graph, session: SessionOptions, options: TrainOptions) -> None:
        super().__init__(graph, session, options)
        settings = {name: _number(name, text) for name, text in options.settings}
        self.training: TrainingGraph = add_training(
            graph,
            self.loss,
            find_optimizer(options.optimizer).configured(settings),
            variables=options.variables,
            learning_rate=options.lr,
            schedule=parse_schedule(options.schedule) if options.schedule else None,
            clipping=options.clipping,
        )

    def run(self) -> None:
        kept, steps = _Kept({}, 0), self.options.steps
        try:
            trainer = self._begin()
            kept = self._snapshot(trainer.runner)
            with render.Progress("step", steps, self.quiet) as progress, Interruption(self._notify) as interruption:
                for step in trainer.steps(steps):
                    self._record(step, progress)
                    if not math.isfinite(step.loss):
                        self._diverged(step)
                        break
                    kept = self._snapshot(trainer.runner)
                    if interruption.requested:
                        self.exit_code = INTERRUPTED
                        break
        except DeadlineExceededError:
            lift_time_limit()
            self._save_state(kept.state, f" as they were after step {kept.step}")
            raise
        self._save(trainer.runner, self.training.graph)

    def _begin(self) -> Trainer:
        """A trainer whose variables have the values that training starts from."""
        trainer = Trainer(self.training, self.feeds, self.options.batch, self.session.session(self.training.graph))
        self.session.initialize(trainer.runner, self.quiet, implied=True)
        trainer.runner.initialize(self.training.init_op)
        self.session.restore(trainer.runner, self.quiet)
        return trainer

    def _snapshot(self, runner: Runner) -> _Kept:
        """What to save should a deadline cut the next step in two."""
        is_needed = self.options.save_state and self.session.timeout is not None
        return _Kept(runner.state() if is_needed else {}, len(self.losses))

    def result(self) -> dict[str, Any]:
        history = [{"step": i, "loss": loss} for i, loss in enumerate(self.losses, 1)]
        stages = dict(self.training.stages) if self.options.dump_stages else {}
        return {
            "optimizer": self.options.optimizer,
            "variables": self.training.variables,
            "train_op": self.training.train_op,
            "init_op": self.training.init_op,
            "history": history,
            "stages": stages,
        }

    def sections(self) -> Iterator[render.Section]:
        if self.options.dump_stages:
            rows = [(stage, len(nodes), node) for stage, nodes in self.training.stages for node in nodes]
            yield render.Table(("phase", "nodes", "node"), rows)
        yield from super().sections()

    def _record(self, step: Progress, progress: render.Progress) -> None:
        self.losses.append(step.loss)
        progress.update(step.step, f"loss {step.loss:.6g}")

    def _diverged(self, step: Progress) -> None:
        """Say so, --quiet or not. Such variables are of no use: a state that was saved before is left alone."""
        self.exit_code = COMPARISON_FAILED
        self.has_diverged = True
        unsaved = "; the variables are not saved" if self.options.save_state else ""
        render.note(f"error: the loss is {step.loss} in step {step.step}, with which training ends{unsaved}")
        render.note("hint: try a lower --lr, or --clip")

    def _notify(self) -> None:
        render.note("interrupted: the step under way is finished first; press Ctrl-C again to stop at once", self.quiet)


class LeastSquaresJob(TrainJob):
    """Levenberg-Marquardt on residuals."""

    solution: Solution

    def run(self) -> None:
        runner = self.session.open(self.graph, self.quiet, implied=True)
        problem = LeastSquares(self.graph, self.loss, self.feeds, self.options.variables, runner)
        steps: int = self.options.steps
        try:
            with render.Progress("iteration", steps, self.quiet) as progress:
                self.solution = problem.fit(
                    Tolerances(max_iterations=steps), lambda iteration: self._record(iteration, progress)
                )
        except DeadlineExceededError:
            lift_time_limit()
            problem.keep_best()
            raise
        finally:
            self._save(runner, self.graph)

    def result(self) -> dict[str, Any]:
        s = self.solution
        return {
            "optimizer": "lm",
            "parameters": s.parameters,
            "cost": s.cost,
            "converged": s.converged,
            "reason": s.reason,
            "history": s.iterations,
        }

    def sections(self) -> Iterator[render.Section]:
        yield from super().sections()
        s = self.solution
        ending = "converged" if s.converged else "stopped"
        yield render.Text(f"{ending} after {len(s.iterations)} iterations: {s.reason}\nhalf the sum of squares: {s.cost:.10g}")

    def _record(self, iteration: Iteration, progress: render.Progress) -> None:
        self.losses.append(iteration.cost)
        progress.update(iteration.number, f"cost {iteration.cost:.6g}")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(f"{name}={text}: {text} is no number") from None
