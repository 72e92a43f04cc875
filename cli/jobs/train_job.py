"""Implementation of `tfg train`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...core.graph.graph import Graph
from ...core.runtime.execute.process_limits import lift_time_limit
from ...core.runtime.session.runner import KeyboardInterruption, Runner
from ...core.support import dataclasses
from ...core.support.errors import DeadlineExceededError, InvalidArgumentError
from ...core.support.words import counted
from ...core.training.losses import NamedLoss
from ...core.training.train_step import Clipping
from ...core.types.tensors import Tensor
from ...formats.api.names import Names
from ...formats.api.training_runs import FitReport, TrainingFile, TrainingReport, fit, train
from ...formats.state import TrainingPosition
from ...formats.value_literals import value_of
from .. import render
from ..commands.train import TrainOptions
from ..main import COMPARISON_FAILED, DONE, INTERRUPTED
from ..models import save_model
from ..options import missing_tensor

if TYPE_CHECKING:
    from ...core.runtime.session.session_like import SessionLike
    from ...core.training.trainer import Iteration, LeastSquares, Progress, Trainer
    from ..documents import Train


def run(options: TrainOptions) -> int:
    """Train a graph as the options say, and print the report."""
    # Levenberg-Marquardt has residuals for a loss, iterations for steps, and no state of an optimizer.
    kind: type[TrainJob] = LeastSquaresJob if options.optimizer == "lm" else FirstOrderJob
    job = kind(options.reader.load(options.graph), options)
    job.run()
    # All processes of a mesh have equal results: one prints them.
    if not options.session.is_first_process:
        return job.exit_code
    with render.beside(options.output):
        render.emit(job.schema, job.result(), options.format_, job.sections)
    return job.exit_code


@dataclasses.dataclass(frozen=True, slots=True)
class _TrainingSnapshot:
    """The variables after a step."""

    state: Mapping[str, Tensor]
    step: int


class TrainJob:
    """A run of `tfg train`: the graph, the options, and the history of losses."""

    schema: ClassVar[str]
    """The name of the schema of `result`."""

    def __init__(self, graph: Graph, options: TrainOptions) -> None:
        self.graph = graph
        self.session = options.session
        self.options = options
        self.quiet = options.quiet or not options.session.is_first_process
        options.session.check_state(options.save_state, graph)
        self.exit_code = DONE
        self.has_diverged = False
        self.names = Names(graph, options.session.signature)
        self.loss, self.feeds = self._with_loss()
        self.losses: list[float] = []
        self.done = 0

    def _with_loss(self) -> tuple[str | NamedLoss, dict[str, Any]]:
        """Return the loss by names of tensors, and the feeds; the labels of a loss by name are fed by their own word.

        Where the loss is of a layer inside functions, the graph becomes one without calls.
        """
        loss = self.options.loss
        if loss is None:
            raise missing_tensor("--loss", self.names.to_differentiate())
        named = None if loss in self.graph else NamedLoss.parse(loss)
        # Of a loss by name, the tensor that it is computed from has to be in the graph.
        words = [loss if named is None else named.output or ""]
        names = self.names = self.names.exposing(filter(None, words), render.noting(self.quiet))
        self.graph = names.graph
        given = tuple(names.by_name(self.options.feeds))
        if named is None:
            minimized = names.output(loss).name
            return minimized, names.complete(names.feeds(given), [minimized])
        output = names.only_output(named.output, "loss").name
        word, text = names.unknown_feed(given, named.labels)
        feeds = names.complete(names.feeds(pair for pair in given if pair[0] != word), [output])
        return NamedLoss(named.kind, output, word), {**feeds, word: value_of(text, None, f"--feed {word}")}

    def run(self) -> None:
        """Train, save and write as the options ask."""
        raise NotImplementedError

    def result(self) -> Any:
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
            # The plot has what lies between.
            numbers = sorted({1, len(self.losses)})
            rows = [(self.done + number, self.losses[number - 1]) for number in numbers]
            yield render.Table(("step", "loss"), rows)

    def _save(self, runner: Runner, graph: Graph) -> None:
        # The limit was for the training: what was trained is saved, however long that takes.
        lift_time_limit()
        if not self.session.is_first_process:
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
        """Write the variables after the last step."""
        if self.options.save_state:
            self._save_state(runner.state())

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
        self.session = self.session.of_many_runs()
        clipping = None if options.clip is None else Clipping(options.clip[0], _number("--clip", options.clip[1]))
        self.snapshot = _TrainingSnapshot({}, 0)
        self.file = None if options.save_state is None else _JobFile(self, options.save_state)
        try:
            with render.ProgressBar("step", options.steps, self.quiet) as bar, contextlib.ExitStack() as stack:
                self.report = train(
                    self.graph, self.loss, self.feeds, steps=options.steps, optimizer=options.optimizer, lr=options.lr,
                    settings={name: _number(name, text) for name, text in options.settings}, schedule=options.schedule,
                    clipping=clipping, variables=options.variables, batch=options.batch,
                    save_state=self.file, open_session=self._open, on_start=lambda trainer: self._begin(trainer, stack),
                    on_step=lambda step: self._go_on(step, bar),
                )  # fmt: skip
        except DeadlineExceededError:
            lift_time_limit()
            self._save_state(self.snapshot.state, f" as they were after step {self.snapshot.step}")
            raise
        if self.report.has_diverged:
            self._diverged(self.report.history[-1])
        self._save(self.trainer.runner, self.report.session.graph)
        self.session.tell_engine(self.quiet)

    def _open(self, graph: Graph) -> SessionLike:
        """Return a session of the training graph, with the variables of the graph itself initialized."""
        if self.session.process_group is not None:
            # Processes that train different graphs would wait for each other forever, or mix their gradients.
            self.session.process_group.require_same(self._digest(graph), "graph, feed or number of steps")
        return self.session.initialized(graph, self.graph, self.quiet)

    def _begin(self, trainer: Trainer, stack: contextlib.ExitStack) -> int:
        """Give the variables the values that training starts from, and return the number of steps behind these values."""
        self.trainer = trainer
        process_group = self.session.process_group
        if process_group is not None:
            # Before the first step, whose error XLA would word by its own shapes.
            process_group.require_rows(trainer.rows)
        self.session.restore(trainer.runner, self.quiet)
        self.done = trainer.done
        if self.done:
            render.note(f"resuming after step {self.done}", self.quiet)
        if process_group is not None and not process_group.is_alone:
            # Initializers draw numbers of their own in each process: all train the values of the first.
            trainer.runner.restore(process_group.common_state(trainer.runner.state))
        self.snapshot = self._snapshot(trainer.runner)
        # From here on Ctrl-C finishes a step. Before the first one it ends the command at once, as nothing is lost.
        self.interruption = stack.enter_context(KeyboardInterruption(self._notify))
        return self.done

    def _go_on(self, step: Progress, bar: render.ProgressBar) -> bool:
        """Record a step, and save the variables as the options ask; False ends the training."""
        self.losses.append(step.loss)
        bar.update(step.step, f"loss {step.loss:.6g}")
        # Which nodes go to XLA, and so what is divided, is known only after a step has run.
        if len(self.losses) == 1 and self.session.process_group is not None:
            self.session.process_group.require_division()
        # No later step can bring NaN back to numbers, and the snapshot of before stays the last.
        if not math.isfinite(step.loss):
            return False
        self.snapshot = self._snapshot(self.trainer.runner)
        if self.interruption.requested:
            self.exit_code = INTERRUPTED
            if self.session.process_group is not None:
                self.session.process_group.part("was interrupted")
        return not self.interruption.requested

    def _digest(self, graph: Graph) -> bytes:
        """Return a digest of the settings that all training processes must share."""
        from ...formats.saving import to_bytes

        options = self.options
        # Everything that must be equal in all processes, and nothing of a path or a machine.
        digest = hashlib.sha256(repr((self.loss, options.batch, options.steps, options.checkpoint_every)).encode())
        digest.update(to_bytes(graph))
        for name, value in self.feeds.items():
            array = np.asarray(value)
            digest.update(repr((name, array.dtype, array.shape)).encode())
            digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
        return digest.digest()

    def _snapshot(self, runner: Runner) -> _TrainingSnapshot:
        """Return the variables to save in case a deadline interrupts the next step."""
        is_needed = self.session.timeout is not None
        # A copy of all variables after each step is paid for only where a deadline may interrupt the next.
        state = self.file.contents(runner, self.trained) if self.file is not None and is_needed else {}
        return _TrainingSnapshot(state, self.trained)

    @property
    def trained(self) -> int:
        """The number of steps behind the variables."""
        return self.done + len(self.losses)

    def _save_last(self, runner: Runner) -> None:
        if self.file is not None and not self.has_diverged:
            self._save_state(self.file.contents(runner, self.trained))

    def result(self) -> Train:
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
        # A script must not go on with a model that was not trained.
        self.exit_code = COMPARISON_FAILED
        self.has_diverged = True
        unsaved = "; the variables are not saved" if self.options.save_state else ""
        render.note(f"error: the loss is {step.loss} in step {step.step}; training stops{unsaved}")
        render.note("hint: try a lower --lr, or --clip")

    def _notify(self) -> None:
        render.note("interrupted: finishing the current step; press Ctrl-C again to stop at once", self.quiet)


class _JobFile(TrainingFile):
    """The file of --save-state, which the first process reads and writes for all processes."""

    def __init__(self, job: FirstOrderJob, path: str) -> None:
        super().__init__(path, job.graph, job.options.checkpoint_every, job.options.resume)
        self.session = job.session

    def position(self) -> TrainingPosition | None:
        position, process_group = super().position() if self.session.is_first_process else None, self.session.process_group
        if process_group is None:
            return position
        # Only the first process has to have the file; the others get its position.
        told = json.loads(process_group.from_first(json.dumps(position and dataclasses.asdict(position)).encode()))
        return told and TrainingPosition(**told)

    def values(self, graph: Graph) -> Mapping[str, Tensor]:
        return self.session.common_state(self.path, graph)

    def write(self, state: Mapping[str, Tensor]) -> None:
        self.session.write_state(self.path, state, self.graph)

    def finish(self, runner: Runner, step: int) -> None:
        """Leave the last write to the job, which first ends the progress bar and the time limit."""


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
                # A search tries steps that it would take back: the best values so far are what counts.
                self.problem.keep_best()
            self._save(self.problem.runner, self.graph)

    def _begin(self, problem: LeastSquares) -> None:
        self.problem = problem

    def result(self) -> FitReport:
        return self.report

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
