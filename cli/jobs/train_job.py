"""Implementation of `tfg train`."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...core.graph.graph import Graph
from ...core.runtime.guards.process_limits import lift_time_limit
from ...core.runtime.session.runner import KeyboardInterruption, Runner
from ...core.support.errors import DeadlineExceededError, InvalidArgumentError
from ...core.support.log import tell
from ...core.support.words import counted
from ...core.training.losses import NamedLoss
from ...core.training.train_step import Clipping
from ...core.types.tensors import Tensor
from ...formats.api.training_runs import FitReport, TrainingReport, fit, train
from ...formats.runs.names import Names
from ...formats.value_literals import value_of
from .. import render
from ..main import COMPARISON_FAILED, DONE, INTERRUPTED
from ..models import save_model
from ..sessions import SessionOptions

if TYPE_CHECKING:
    from ...core.runtime.session.session_like import SessionLike
    from ...core.training.levenberg_marquardt import Iteration
    from ...core.training.trainer import LeastSquares, Progress, Trainer
    from ...formats.state import TrainingPosition


@dataclasses.dataclass(frozen=True, slots=True)
class TrainOptions:
    """The options of `tfg train`, without the session options."""

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
    checkpoint_every: int | None
    resume: bool
    save_model: str | None
    output: str | None
    text: bool
    dump_stages: bool
    format_: str
    quiet: bool

    @property
    def clipping(self) -> Clipping | None:
        """Return the clipping of --clip KIND=LIMIT."""
        return None if self.clip is None else Clipping(self.clip[0], _number("--clip", self.clip[1]))


@dataclasses.dataclass(frozen=True, slots=True)
class _TrainingSnapshot:
    """The variables after a step."""

    state: Mapping[str, Tensor]
    step: int


class TrainJob:
    """A run of `tfg train`: the graph, the options, and the history of losses."""

    schema: ClassVar[str]
    """The name of the schema of `result`."""

    def __init__(self, graph: Graph, session: SessionOptions, options: TrainOptions) -> None:
        self.graph = graph
        self.session = session
        self.options = options
        self.quiet = options.quiet or not session.speaks
        session.check_state(options.save_state, graph)
        self.exit_code = DONE
        self.has_diverged = False
        names = self.names = Names(graph, session.signature)
        self.loss, self.feeds = self._with_loss(names)
        self.losses: list[float] = []
        self.done = 0

    def _with_loss(self, names: Names) -> tuple[str | NamedLoss, dict[str, Any]]:
        """Return the loss by names of tensors, and the feeds; the labels of a loss by name are fed by their own word."""
        named = None if self.options.loss in self.graph else NamedLoss.parse(self.options.loss)
        if named is None:
            minimized = names.output(self.options.loss).name
            return minimized, names.complete(names.feeds(self.options.feeds), [minimized])
        output = names.only_output(named.output, "--loss").name
        word, text = names.unknown_feed(self.options.feeds, named.labels)
        feeds = names.complete(names.feeds(pair for pair in self.options.feeds if pair[0] != word), [output])
        return NamedLoss(named.kind, output, word), {**feeds, word: value_of(text, None, f"--feed {word}")}

    def run(self) -> None:
        """Train, save and write as the options ask."""
        raise NotImplementedError

    def result(self) -> dict[str, Any]:
        """Return the output of --format json."""
        raise NotImplementedError

    def sections(self) -> Iterator[render.Section]:
        """A plot of the losses, and the first and the last of them; in CSV all."""
        if self.options.format_ == "csv":
            steps = enumerate(self.losses, self.done + 1)
            yield render.Table(("step", "loss"), list(steps), name="history")
            return
        if len(self.losses) > 2:
            yield render.Text(render.plot(self.losses), "loss", "code")
        if self.losses:
            numbers = sorted({1, len(self.losses)})
            rows = [(self.done + number, self.losses[number - 1]) for number in numbers]
            yield render.Table(("step", "loss"), rows)

    def _save(self, runner: Runner, graph: Graph) -> None:
        lift_time_limit()
        if not self.session.speaks:
            return
        self._save_last(runner)
        if self.options.save_model and not self.has_diverged:
            save_model(self.options.save_model, self.graph, runner.session, self.names, (), self.quiet)
        if self.options.output:
            from ...formats.saving import save

            save(graph, self.options.output, text=self.options.text or None)
            render.note(f"wrote {counted(len(graph), 'node')} to {render.place(self.options.output)}", self.quiet)
            if not (self.options.save_state or self.options.save_model):
                render.note("the file lacks the trained values: --save-state or --save-model saves them", self.quiet)

    def _save_last(self, runner: Runner) -> None:
        if self.options.save_state and not self.has_diverged:
            self._save_state(self._noted(runner))

    def _noted(self, runner: Runner) -> Mapping[str, Tensor]:
        """Return the variables to save now."""
        return runner.state()

    def _save_state(self, state: Mapping[str, Tensor], when: str = "") -> None:
        """Write the variables, if there are any, and say `when` they were like that."""
        if self.options.save_state and state:
            self.session.write_state(self.options.save_state, state, self.graph)
            render.note(f"saved the variables{when} to {self.options.save_state}", self.quiet)


class FirstOrderJob(TrainJob):
    """Training by gradient steps."""

    schema = "tfg.train/1"
    report: TrainingReport

    def run(self) -> None:
        options = self.options
        self.snapshot = _TrainingSnapshot({}, 0)
        try:
            with render.ProgressBar("step", options.steps, self.quiet) as bar, contextlib.ExitStack() as stack:
                self.report = train(
                    self.graph, self.loss, self.feeds, steps=options.steps, optimizer=options.optimizer, lr=options.lr,
                    settings={name: _number(name, text) for name, text in options.settings}, schedule=options.schedule,
                    clipping=options.clipping, variables=options.variables, batch=options.batch,
                    open_session=self._open, on_start=lambda trainer: self._begin(trainer, stack),
                    on_step=lambda step: self._go_on(step, bar),
                )  # fmt: skip
        except DeadlineExceededError:
            lift_time_limit()
            self._save_state(self.snapshot.state, f" as they were after step {self.snapshot.step}")
            raise
        if self.report.has_diverged:
            self._diverged(self.report.history[-1])
        self._save(self.trainer.runner, self.report.session.graph)

    def _open(self, graph: Graph) -> SessionLike:
        """Return a session of the training graph, with the variables of the graph itself initialized."""
        if self.session.company is not None:
            self.session.company.require_same(self._digest(graph), "graph, feed or number of steps")
        return self.session.initialized(graph, self.graph, self.quiet)

    def _begin(self, trainer: Trainer, stack: contextlib.ExitStack) -> int:
        """Give the variables the values that training starts from, and return the number of steps behind these values."""
        self.trainer = trainer
        company = self.session.company
        if company is not None:
            company.require_rows(trainer.rows)
        self.session.restore(trainer.runner, self.quiet)
        self.done = self._resume(trainer.runner)
        if company is not None and not company.is_alone:
            trainer.runner.restore(company.common_state(trainer.runner.state))
        self.snapshot = self._snapshot(trainer.runner)
        self.interruption = stack.enter_context(KeyboardInterruption(self._notify))
        return self.done

    def _go_on(self, step: Progress, bar: render.ProgressBar) -> bool:
        """Record a step, and save the variables as the options ask; False ends the training."""
        self.losses.append(step.loss)
        bar.update(step.step, f"loss {step.loss:.6g}")
        if len(self.losses) == 1 and self.session.company is not None:
            self.session.company.require_division()
        if not math.isfinite(step.loss):
            return False
        self.snapshot = self._snapshot(self.trainer.runner)
        self._checkpoint(self.trainer.runner)
        if self.interruption.requested:
            self._interrupted()
        return not self.interruption.requested

    def _digest(self, graph: Graph) -> bytes:
        """Return a digest of the settings that all training processes must share."""
        from ...formats.saving import to_bytes

        options = self.options
        digest = hashlib.sha256(repr((self.loss, options.batch, options.steps, options.checkpoint_every)).encode())
        digest.update(to_bytes(graph))
        for name, value in self.feeds.items():
            array = np.asarray(value)
            digest.update(repr((name, array.dtype, array.shape)).encode())
            digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
        return digest.digest()

    def _resume(self, runner: Runner) -> int:
        """Restore the state of --save-state for --resume, if the file exists; return its number of steps."""
        progress = self._progress() if self.options.resume else None
        if progress is None or self.options.save_state is None:
            return 0
        runner.restore(self.session.common_state(self.options.save_state, runner.graph))
        runner.session.draw_on(progress.streams)
        render.note(f"resuming after step {progress.steps}", self.quiet)
        return progress.steps

    def _progress(self) -> TrainingPosition | None:
        """Return the progress of --save-state as seen by the first process; None without a state."""
        from ...formats.state import TrainingPosition, holds_state, read_progress

        path, company = self.options.save_state, self.session.company
        progress = None
        if self.session.speaks and path is not None and holds_state(path):
            progress = read_progress(path)
            if progress is None:
                problem = f"'{path}' has no step number to resume from"
                raise InvalidArgumentError(problem, hint="start a new training from these values with --state")
        if company is None:
            return progress
        told = json.loads(company.from_first(json.dumps(progress and dataclasses.asdict(progress)).encode()))
        return told and TrainingPosition(**told)

    def _snapshot(self, runner: Runner) -> _TrainingSnapshot:
        """Return the variables to save in case a deadline interrupts the next step."""
        is_needed = self.options.save_state and self.session.timeout is not None
        return _TrainingSnapshot(self._noted(runner) if is_needed else {}, self.trained)

    @property
    def trained(self) -> int:
        """The number of steps behind the variables."""
        return self.done + len(self.losses)

    def _noted(self, runner: Runner) -> Mapping[str, Tensor]:
        """Return the variables to save, with the progress of training if a later run may resume."""
        from ...formats.state import TrainingPosition

        state = super()._noted(runner)
        is_needed = state and (self.options.checkpoint_every or self.options.resume)
        return {**state, **TrainingPosition(self.trained, runner.session.streams()).entries()} if is_needed else state

    def _checkpoint(self, runner: Runner) -> None:
        every, path = self.options.checkpoint_every, self.options.save_state
        if path and every and self.trained % every == 0 and self.trained < self.options.steps and self.session.speaks:
            self.session.write_state(path, self._noted(runner), self.graph)
            tell("checkpoint after step %d", self.trained)

    def result(self) -> dict[str, Any]:
        report = self.report
        return {
            "optimizer": report.optimizer,
            "variables": report.variables,
            "train_op": report.train_op,
            "init_op": report.init_op,
            "history": report.history,
            "stages": dict(report.stages) if self.options.dump_stages else {},
        }

    def sections(self) -> Iterator[render.Section]:
        if self.options.dump_stages:
            rows = [(stage, len(nodes), node) for stage, nodes in self.report.stages for node in nodes]
            yield render.Table(("phase", "nodes", "node"), rows, name="stages")
        yield from super().sections()

    def _diverged(self, step: Progress) -> None:
        """Print the error, even with --quiet. The diverged variables are useless, so an older saved state stays unchanged."""
        self.exit_code = COMPARISON_FAILED
        self.has_diverged = True
        unsaved = "; the variables are not saved" if self.options.save_state else ""
        render.note(f"error: the loss is {step.loss} in step {step.step}; training stops{unsaved}")
        render.note("hint: try a lower --lr, or --clip")

    def _interrupted(self) -> None:
        self.exit_code = INTERRUPTED
        if self.session.company is not None:
            self.session.company.part("was interrupted")

    def _notify(self) -> None:
        render.note("interrupted: finishing the current step; press Ctrl-C again to stop at once", self.quiet)


class LeastSquaresJob(TrainJob):
    """Levenberg-Marquardt on residuals."""

    schema = "tfg.train.least_squares/1"
    report: FitReport
    problem: LeastSquares | None = None

    def run(self) -> None:
        steps: int = self.options.steps
        try:
            with render.ProgressBar("iteration", steps, self.quiet) as progress:
                self.report = fit(
                    self.graph, self.loss, self.feeds, variables=self.options.variables, iterations=steps,
                    open_session=lambda graph: self.session.open(graph, self.quiet, implied=True).session,
                    on_start=self._begin, on_step=lambda iteration: self._record(iteration, progress),
                )  # fmt: skip
        except DeadlineExceededError:
            lift_time_limit()
            self._keep(is_cut=True)
            raise
        self._keep()

    def _keep(self, is_cut: bool = False) -> None:
        """Save the variables, the best so far where the search `is_cut`."""
        if self.problem is not None:
            if is_cut:
                self.problem.keep_best()
            self._save(self.problem.runner, self.graph)

    def _begin(self, problem: LeastSquares) -> None:
        self.problem = problem

    def result(self) -> dict[str, Any]:
        names = ("parameters", "cost", "converged", "reason", "history")
        return {"optimizer": "lm", **{name: getattr(self.report, name) for name in names}}

    def sections(self) -> Iterator[render.Section]:
        yield from super().sections()
        report = self.report
        ending = "converged" if report.converged else "stopped"
        count = counted(len(report.history), "iteration")
        yield render.Text(f"{ending} after {count}: {report.reason}\nhalf the sum of squares: {report.cost:.10g}")

    def _record(self, iteration: Iteration, progress: render.ProgressBar) -> None:
        self.losses.append(iteration.cost)
        progress.update(iteration.number, f"cost {iteration.cost:.6g}")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(f"{name}={text}: {text} is not a number") from None
