"""The function behind `--verify`: a graph beside a rewritten graph, a written file, or a model of another runtime."""

from __future__ import annotations

import contextlib
import functools
import glob
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...core.comparing.element_differences import Comparison, worse
from ...core.comparing.verify_rewrite import BatchRuns, Drawn, GraphRuns, LoneRefusal, Verdict, fetches_in_turn
from ...core.comparing.verify_rewrite import verify as verify_runs
from ...core.explaining.default_fetches import default_runs
from ...core.graph.graph import Graph, GraphLike, Node
from ...core.graph.metagraph import Signature
from ...core.graph.variable_nodes import find_variables
from ...core.passes.base.accuracy import Accuracy, tolerance_of
from ...core.runtime.session.drawn_feeds import Feeds
from ...core.runtime.session.function_signatures import as_run
from ...core.runtime.session.runner import Runner
from ...core.support import dataclasses
from ...core.support.arguments import checked, named, names_of
from ...core.support.atomic import atomic_file, atomic_folder, copy_new, file_errors
from ...core.support.display import Report
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.support.places import absolute, files_below, is_address, is_folder, matching, name_of
from ...core.support.regular_files import open_regular
from ...core.support.tensor_names import parse_tensor_name
from ...core.support.words import counted
from ...core.transforms.subgraphs import cut_name
from ..codecs.source import write_file
from ..loading import load
from ..state import State
from .prepared_sessions import Opener, local_session

if TYPE_CHECKING:
    from ...core.runtime.session.session import Session


_STEPS: Final = 3

Opened: TypeAlias = "Callable[[Graph], Session]"


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Verification(Report, main_table="comparisons"):
    """A comparison of the results of a graph and of its rewrite over several feeds, and over `steps` runs in a row on each."""

    comparisons: tuple[Comparison, ...]
    steps: int
    refusals: tuple[LoneRefusal, ...] = ()
    """Feeds that only one of the two refuses."""
    drawn: Drawn = dataclasses.field(default_factory=Drawn)
    """The feeds that were drawn."""

    @property
    def passed(self) -> bool:
        """True if all fetches agree, and both take the same feeds."""
        return not self.refusals and all(comparison.passed for comparison in self.comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def headline(self) -> str:
        differing = sum(not comparison.passed for comparison in self.comparisons)
        return f"{differing} of {len(self.comparisons)} values differ over {counted(self.steps, 'step')}"

    @classmethod
    def of(cls, verdicts: Sequence[Verdict], steps: int) -> Verification:
        """Return the verdicts of several runs as one."""
        rows: dict[str, Comparison] = {}
        for row in (row for verdict in verdicts for row in verdict.comparisons):
            rows[row.fetch] = worse(rows.get(row.fetch), row)
        refusals = tuple(refusal for verdict in verdicts for refusal in verdict.refusals)
        fields = [field.name for field in dataclasses.fields(Drawn)]
        drawn = (dict.fromkeys(word for verdict in verdicts for word in getattr(verdict.drawn, name)) for name in fields)
        return cls(tuple(rows.values()), steps, refusals, Drawn(*map(tuple, drawn)))

    @classmethod
    def joined(cls, parts: Sequence[Verification]) -> Verification:
        """Return the verifications of several files of a graph as one."""
        verdicts = [Verdict(part.comparisons, part.refusals, part.drawn) for part in parts]
        return cls.of(verdicts, max(part.steps for part in parts))


@checked
def verify(
    before: GraphLike,
    after: GraphLike,
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    tolerance: float | Accuracy = Accuracy.ROUNDING,
    steps: int | None = None,
    state: State | None = None,
    open_session: Opener | None = None,
) -> Verification:
    """Run a graph and its rewrite on the same feeds, and return how far their results differ.

    `after` is a rewritten graph, or the path of a written graph or SavedModel. A file is read from a copy in another folder,
    without access to the files of `before`; a SavedModel has nothing but its own variables, tables and assets.

    `fetches` are by default the outputs of each signature, or the outputs that stand out. Placeholders without a value in
    `feeds` get drawn values: sizes that differ from input to input (1, 2, 3 and 0), both truth values, and values on both
    sides of predicates. `tolerance` is relative to a tensor's largest magnitude, or an accuracy class, such as the `accuracy`
    of an OptimizeReport; the tolerance of a class grows with the roundings on the way to a result. `steps` runs follow each
    other, by default 3 if the graph has variables. The variables of both graphs begin with the initial values of
    `before`, or those of `state`, and are compared at the end. Fetched initializers also run without any state.
    `open_session` opens a session of `before`. NoFeedsError if `before` runs on no drawn feeds.
    """
    before = as_run(before, fetches)
    work = _Verifying(before, named(feeds), tolerance, steps, lambda graph: local_session(graph, open_session, state))
    if isinstance(after, Graph):
        return work.graph(as_run(after, fetches), names_of(fetches))
    with private_copy(after) as path:
        return work.file(path, names_of(fetches), keeps_state=bool(find_variables(before)))


def verify_file(
    before: Graph,
    path: str | os.PathLike[str],
    fetches: Sequence[str],
    feeds: Mapping[str, Any],
    open_session: Opened,
    *,
    tolerance: float | Accuracy,
    steps: int | None = None,
    keeps_state: bool = True,
    cuts: Sequence[str] = (),
    is_whole: bool = True,
) -> Verification:
    """Compare a graph with a graph or SavedModel that was written to `path`, as `verify` does.

    With `keeps_state` a graph's file gets the variables and tables of `before`, as a session would have them; a frozen graph
    has to do without. `cuts` are tensors of `before` that are placeholders in the file. With `is_whole` a SavedModel has to
    have all signatures of `before`.
    """
    work = _Verifying(before, feeds, tolerance, steps, open_session, cuts)
    with private_copy(path) as copied:
        return work.file(copied, tuple(fetches), keeps_state=keeps_state, is_whole=is_whole)


def verify_batch(
    before: Graph, after: Graph, fetches: Sequence[str], open_session: Opened
) -> tuple[Verification | None, tuple[str, ...]]:
    """Compare a graph with a copy that has another batch; also return what cannot be compared, in words.

    A graph that takes any batch is compared on the old batch. Another number of rows is fed to the old graph in batches of
    the old number, and the rows of results are compared that depend on no other row.
    """
    inputs = [node.name for node in before if node.is_placeholder and _rows(after[node.name]) != _rows(node)]
    old, new = (_rows(graph[inputs[0]]) if inputs else None for graph in (before, after))
    work = _Verifying(before, {}, Accuracy.ROUNDING, None, open_session)
    if new is None:
        return work.graph(after, fetches), ()
    # A graph whose batch was open says nothing of its rows, so they are drawn as the new graph declares them.
    rows, typical = ((new, new), after) if old is None else ((old, new), before)
    return work.by_row(after, fetches, [f"{name}:0" for name in inputs], rows, typical)


def _rows(node: Node) -> int | None:
    """Return the first size that a placeholder declares."""
    shape = node.declared_shape
    return shape[0] if shape.rank and isinstance(shape[0], int) else None


@dataclasses.dataclass(frozen=True, slots=True)
class _Pair:
    """Fetches of two graphs by the name of the result, and inputs of the second by tensors of the first."""

    mine: Mapping[str, str]
    theirs: Mapping[str, str]
    inputs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def same(cls, names: Sequence[str]) -> _Pair:
        """Return fetches of the same names in both graphs."""
        return cls({name: name for name in names}, {name: name for name in names})

    def only(self, labels: Sequence[str]) -> _Pair:
        """Return the fetches with the given labels."""
        mine, theirs = ({label: names[label] for label in labels} for names in (self.mine, self.theirs))
        return _Pair(mine, theirs, self.inputs)


class _Verifying:
    """A comparison of `before` with rewrites."""

    def __init__(
        self, before: Graph, feeds: Mapping[str, Any], tolerance: float | Accuracy, steps: int | None, open_session: Opened,
        cuts: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.before = before
        self.feeds = feeds
        # A second step shows what the first did to variables; a graph without variables does the same each time.
        self.steps = steps or (_STEPS if find_variables(before) else 1)
        self.opened = open_session
        self.cuts = {name: f"{cut_name(before.output(name))}:0" for name in cuts}
        self.grows = isinstance(tolerance, Accuracy)
        # An accuracy class stands for another tolerance for each dtype; a number holds for all dtypes.
        self.tolerance = (lambda dtype: tolerance_of(tolerance, dtype)) if isinstance(tolerance, Accuracy) else tolerance

    def graph(self, after: Graph, fetches: Sequence[str]) -> Verification:
        """Compare with a graph that runs on the state of `before`."""
        return self._compared(after, self._same_runs(fetches), self._on_state)

    def by_row(
        self, after: Graph, fetches: Sequence[str], inputs: Sequence[str], rows: tuple[int, int], typical: Graph
    ) -> tuple[Verification | None, tuple[str, ...]]:
        """Compare with a graph of another batch, row by row; `rows` are the two batches, and `typical` declares the first."""
        verdicts: list[Verdict] = []
        left_out: dict[str, str] = {}
        for run in self._same_runs(fetches):
            original = BatchRuns(self.before, run.mine, self.opened, inputs, rows[0])
            # Results that depend on other rows, such as a mean of the batch, differ with its size and are left out by name.
            unlike = original.unlike(Feeds(typical, {}, list(run.mine.values())).first())
            left_out |= unlike
            pair = run.only([label for label in run.mine if label not in unlike])
            if pair.mine:
                original = BatchRuns(self.before, pair.mine, self.opened, inputs, rows[0])
                rewrite = BatchRuns(after, pair.theirs, self._on_state, inputs, rows[1])
                drawn = Feeds(after, {}, list(pair.theirs.values()))
                verdicts.append(verify_runs(original, rewrite, drawn, self.tolerance, grows=self.grows))
        return Verification.of(verdicts, 1) if verdicts else None, tuple(f"{name} {why}" for name, why in left_out.items())

    def file(self, path: str, fetches: Sequence[str], *, keeps_state: bool, is_whole: bool = True) -> Verification:
        """Compare with the graph or SavedModel at a path."""
        after = load(path, untrusted=self.before.is_untrusted)
        written = after.meta.signatures if after.meta is not None and after.meta.folder is not None else {}
        if not any(signature.outputs for signature in written.values()):
            return self._compared(after, self._same_runs(fetches), self._with_state if keeps_state else self._frozen)
        runs = [self._pair(signature) for signature in written.values() if signature.outputs]
        # Only signatures that the file has are compared, so a dropped signature has to be reported here.
        signatures = self.before.meta.signatures.values() if self.before.meta is not None else ()
        before = {signature.name for signature in signatures if signature.outputs}
        lost = sorted(before - set(written)) if is_whole and not fetches else []
        result = self._compared(after, runs, self._alone)
        missing = tuple(LoneRefusal("", "rewrite", f"the written model has no signature '{name}'") for name in lost)
        return dataclasses.replace(result, refusals=(*missing, *result.refusals))

    def _same_runs(self, fetches: Sequence[str]) -> list[_Pair]:
        return [_Pair.same(run) for run in ([fetches] if fetches else default_runs(self.before))]

    def _pair(self, written: Signature) -> _Pair:
        """Return the fetches and inputs of a written signature and of the original's signature of this name, by word.

        A word that the original does not have stands for the tensor of the same name.
        """
        own = self.before.meta.signatures.get(written.name) if self.before.meta is not None else None
        fed, fetched = (own.fed, own.fetched) if own is not None else ({}, {})
        mine: dict[str, str] = {}
        theirs: dict[str, str] = {}
        for word, name in written.fetched.items():
            tensor = fetched.get(word, name)
            # Two outputs of a signature may be one tensor of the original and two of the written model.
            label = tensor if tensor not in mine else f"{written.name} {word}"
            mine[label], theirs[label] = tensor, name
        return _Pair(mine, theirs, {fed.get(word, name): name for word, name in written.fed.items()})

    def _compared(self, after: Graph, runs: Sequence[_Pair], opened: Opened) -> Verification:
        """Run initializers without a state, and the other fetches of each pair on the opened state.

        Initializers beside other fetches would undo the updates of a step. Fetches that race with each other run in turn,
        each from the same state.
        """
        verdicts = []
        for run in runs:
            initializers = self._initializers(run)
            others = run.only([label for label in run.mine if label not in initializers])
            verdicts += [self._verdict(after, turn, self.opened, opened, self.steps) for turn in self._turns(others)]
            turns = self._turns(run.only(initializers))
            verdicts += [self._verdict(after, turn, self._empty, self._empty, 1) for turn in turns]
        # A verification that looked at nothing must not pass.
        if not any(verdict.comparisons for verdict in verdicts):
            names = ", ".join(name for run in runs for name in run.mine.values())
            raise InvalidArgumentError(f"nothing to compare: {names} have no values and change no variables")
        return Verification.of(verdicts, self.steps)

    def _turns(self, run: _Pair) -> list[_Pair]:
        """Return the fetches in runs whose fetches do not race with each other; none without fetches."""
        fed = [parse_tensor_name(name) for name in (*self.feeds, *self.cuts)]
        outputs = [self.before.node(name).output(index) for name, index, _ in fed if name in self.before]
        return [run.only(labels) for labels in fetches_in_turn(self.before, run.mine, outputs)]

    def _verdict(self, after: Graph, run: _Pair, opened: Opened, opened_after: Opened, steps: int) -> Verdict:
        """Compare on feeds drawn for the original, or for a graph that has placeholders if the original has not."""
        # The file has placeholders in place of the cut tensors. Values are drawn for these, and fed to the original at the
        # cuts.
        if self.cuts:
            original = GraphRuns(self.before, run.mine, opened, steps, {name: tensor for tensor, name in self.cuts.items()})
            rewrite = GraphRuns(after, run.theirs, opened_after, steps)
            drawn = Feeds(after, self.feeds, list(run.theirs.values()))
        else:
            original = GraphRuns(self.before, run.mine, opened, steps)
            rewrite = GraphRuns(after, run.theirs, opened_after, steps, run.inputs)
            drawn = Feeds(self.before, self.feeds, list(run.mine.values()))
        return verify_runs(original, rewrite, drawn, self.tolerance, grows=self.grows)

    def _initializers(self, run: _Pair) -> list[str]:
        """Return the labels of fetched operations that run without any variable; none for a model that restores its own."""
        if self.before.meta is not None and self.before.meta.start_steps:
            return []
        # An initializer returns nothing: what it did shows in the variables.
        operations = [label for label, name in run.mine.items() if isinstance(self.before.fetch(name), Node)]
        return [label for label in operations if self._runs_from_nothing(run.mine[label])]

    def _runs_from_nothing(self, name: str) -> bool:
        if Feeds(self.before, self.feeds, [name]).drawn:
            return False
        try:
            session = self._empty(self.before)
            session.run(name, self.feeds)
        except TfgError:  # it reads a variable: it is no initializer
            return False
        # A check or a print also runs without variables, but leaves nothing behind.
        return bool(session.resources.items())

    @functools.cached_property
    def _settings(self) -> Session:
        """A session with the settings that the caller chose."""
        return self.opened(self.before)

    def _empty(self, graph: Graph) -> Session:
        """Return a session without state, which cannot read the files of `before`."""
        # A written model that still read the original's files would pass here, and fail on another machine.
        folders = self.before.meta.folders if self.before.meta is not None else ()
        return self._settings.reopened(graph, hidden=folders)

    def _on_state(self, graph: Graph) -> Session:
        """Return a session of a graph on the state of `before`."""
        return self.opened(self.before).on_graph(graph)

    def _alone(self, graph: Graph) -> Session:
        """Return a session of a SavedModel with what the model restores."""
        session = self._empty(graph)
        session.start()
        return session

    def _with_state(self, graph: Graph) -> Session:
        """Return a session with the variables and tables of `before`."""
        session = self._empty(graph)
        session.share(self.opened(self.before))
        return session

    def _frozen(self, graph: Graph) -> Session:
        """Return a session of a frozen graph: it fills its own tables, and only variables that it kept get their values."""
        session = self._empty(graph)
        session.start()
        runner = Runner(session)
        runner.fill()
        runner.begin_iterators()
        # The state of `before` may be large: it is read only if the frozen graph has variables left.
        kept = find_variables(graph).keys()
        values = {name: value for name, value in Runner(self._settings).state().items() if name in kept} if kept else {}
        if values:
            runner.restore(values)
        return session


# A written file is read in a private copy, as by somebody who has nothing else: files beside the original cannot mend it.


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Yield an empty folder that only this user can read; the folder is removed at the end."""
    # Windows cannot remove a file that is still mapped into memory; a file left behind must not make the verification fail.
    with tempfile.TemporaryDirectory(prefix="tfg-", ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def private_copy(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the path of a copy of a written file or SavedModel in a private folder, with the weights beside a model."""
    source = absolute(path)
    with private_folder() as folder, file_errors(path):
        copied = os.path.join(folder, name_of(source))
        if is_address(source):
            _download(source, copied)
        elif os.path.isdir(source):
            shutil.copytree(source, copied, symlinks=True)  # a link out of a model stays closed to the model's graph
        else:
            # Weights lie beside their model: those of ONNX in `.data` files, those of TensorFlow.js in shards.
            stem = source.removesuffix(".json")
            for file in (source, *glob.glob(f"{glob.escape(source)}*.data"), *glob.glob(f"{glob.escape(stem)}-shard*.bin")):
                shutil.copyfile(file, os.path.join(folder, os.path.basename(file)))
        yield copied


def _download(address: str, copied: str) -> None:
    """Copy the files of a SavedModel, or a file with the weights beside it."""
    folder = address.rstrip("/")
    if is_folder(folder):
        copies = {file: os.path.join(copied, *file[len(folder) + 1 :].split("/")) for file in files_below(folder)}
    else:
        stem = glob.escape(address)
        beside = (f"{stem}*.data", f"{stem.removesuffix('.json')}-shard*.bin")
        files = [address, *itertools.chain.from_iterable(map(matching, beside))]
        copies = {file: os.path.join(os.path.dirname(copied), name_of(file)) for file in files}
    for file, own in copies.items():
        os.makedirs(os.path.dirname(own), exist_ok=True)
        with open_regular(file) as read, open(own, "xb") as written:
            shutil.copyfileobj(read, written)


def publish(source: str, target: str) -> None:
    """Write the file or SavedModel `source` to `target`, the same bytes, whole or not at all; `-` is standard output."""
    if os.path.isdir(source):
        _publish_folder(source, target)
    elif target == "-":
        with open(source, "rb") as read:
            # In pieces, as a model may be larger than the memory.
            write_file(target, iter(lambda: read.read(1 << 20), b""))
    else:
        with open(source, "rb") as read, atomic_file(target) as written:
            shutil.copyfileobj(read, written)


def _publish_folder(source: str, target: str) -> None:
    # Contents reach the disk before the name, and the name before the return: a loss of power leaves a whole model or none.
    with atomic_folder(target) as staged:
        for folder, _, names in os.walk(source):
            own = os.path.normpath(os.path.join(staged, os.path.relpath(folder, source)))
            os.makedirs(own, exist_ok=True)
            for name in names:
                with open(os.path.join(folder, name), "rb") as read:
                    copy_new(read, os.path.join(own, name))
