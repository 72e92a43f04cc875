"""The functions behind `tfg checkpoint`: values of variables from files and to files."""

from __future__ import annotations

import collections
import functools
import math
import numbers
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core.graph.graph import Graph, GraphLike, as_graph
from ...core.graph.model_objects import asset_variables
from ...core.graph.nearest_tensors import Kind, kind_of, kind_words, nearest_tensors
from ...core.graph.table_nodes import saved_tables
from ...core.graph.variable_nodes import find_variables
from ...core.numerics.tensor_statistics import TensorStatistics, tensor_statistics
from ...core.runtime.session.runner import partitions
from ...core.runtime.session.variable_values import variables_in_use
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect, regular_expression
from ...core.support.display import Displayed, Report, Rows
from ...core.support.errors import InvalidArgumentError, MissingKeyError, NotFoundError
from ...core.support.file_formats import CHECKPOINT, CSV, NPY, TENSORS, TSV, FileFormat, extension_of, format_of
from ...core.support.gc_control import rare_collection
from ...core.support.hints import Hint, option, step
from ...core.support.places import name_of
from ...core.support.words import counted
from ...core.types.arrays import Array
from ...core.types.shapes import UNKNOWN, fits
from ...core.types.tensors import Tensor
from ..checkpoint.object_graph import OBJECT_GRAPH, object_path
from ..checkpoint.renaming import read_names
from ..codecs.source import write_file
from ..detect import is_saved_model
from ..loading import load
from ..state import (
    State,
    as_tensors,
    by_variable,
    is_apart,
    names_in_graph,
    read_variables,
    renamed,
    stored_tensors,
    values_of,
    with_objects,
    write_state,
)

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import GraphDiff

METADATA: Final = "metadata.tsv"
"""The file with the labels of vectors, beside the vectors."""


@dataclasses.dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor of a checkpoint; `statistics` of its elements if they were asked for."""

    name: str
    """The name in the checkpoint."""
    dtype: str
    """The name of the dtype."""
    shape: tuple[int, ...]
    """The sizes of the dimensions."""
    bytes: int
    """The size of the elements; of strings, the size of their table."""
    statistics: TensorStatistics | None
    """With --stats: the statistics of the elements."""


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedTensor:
    """A tensor of two checkpoints: equal, close, different, or only in one of them."""

    name: str
    """The name in the checkpoints."""
    status: str
    """`equal`, `close`, `different` or `missing`."""
    largest_difference: float | None
    """The largest absolute difference of two elements; None if the tensors cannot be subtracted."""
    detail: str
    """The place of the largest difference, or the reason why there is none."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class StateComparison(Report, main_table="tensors"):
    """All tensors of two checkpoints; `equal` if every one is equal or close enough."""

    equal: bool
    """True if every tensor is equal or close."""
    tensors: tuple[ComparedTensor, ...]
    """The tensors of both checkpoints by name."""

    def headline(self) -> str:
        statuses = collections.Counter(tensor.status for tensor in self.tensors)
        counts = [f"{count:,} {status}" for status, count in statuses.items()]
        return ", ".join([counted(len(self.tensors), "tensor"), *counts])


@dataclasses.dataclass(frozen=True, slots=True)
class MatchedVariable:
    """A variable of a graph and the tensor of a checkpoint with its name, or a tensor that the graph has no variable for."""

    name: str
    """The name of the variable; of the tensor if the graph has none."""
    status: str
    """`fits`, `missing`, `shape differs`, `dtype differs` or `extra`."""
    graph: str | None
    """The dtype and the shape of the variable."""
    checkpoint: str | None
    """The dtype and the shape of the tensor."""
    nearest: str | None = None
    """Of a missing variable: the name of the extra tensor that is most like it."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class CheckpointMatch(Report, main_table="variables"):
    """The variables of a graph beside the tensors of a checkpoint; `fits` if each variable has its value."""

    fits: bool
    """True if no variable is missing, and no shape or dtype differs."""
    variables: tuple[MatchedVariable, ...]
    """The variables in the order of the graph, then the extra tensors."""

    def headline(self) -> str:
        statuses = collections.Counter(variable.status for variable in self.variables)
        words = {"fits": "fitting"}
        return ", ".join(f"{count:,} {words.get(status, status)}" for status, count in statuses.items()) or "no variables"

    def pairs(self) -> dict[str, str]:
        """Return the likely new names of tensors, as `Checkpoint.renamed` takes them: a proposal to read first."""
        return {row.nearest: row.name for row in self.variables if row.nearest is not None}


class Checkpoint(Mapping[str, Array], Displayed):
    """The tensors of a checkpoint or an archive by name; a value is read from the file when it is asked for.

    `objects` is the object graph of a TF2 checkpoint, which a checkpoint that is written of a part of the tensors has, too.
    `are_constants` is True for the constants of a graph, of which only some were variables.
    """

    def __init__(
        self,
        path: str,
        tensors: Mapping[str, Tensor],
        objects: Tensor | None = None,
        are_constants: bool = False,
        tags: Sequence[str] | None = None,
        graph: Graph | None = None,
    ) -> None:
        self.path = path
        self.tensors = tensors
        # `matching` and `without` may drop the object graph from the tensors. A checkpoint that is written of the part still
        # needs it.
        self.objects = tensors.get(OBJECT_GRAPH, objects)
        self.are_constants = are_constants
        self.tags = tags
        self._graph = graph

    def _with(self, tensors: Mapping[str, Tensor], objects: Tensor | None = None) -> Checkpoint:
        return Checkpoint(self.path, tensors, objects or self.objects, self.are_constants, self.tags, self._graph)

    def __getitem__(self, name: str) -> Array:
        """Return a value as a NumPy array; NotFoundError, also a KeyError to `in` and `get`, names the nearest names."""
        if name not in self.tensors:
            raise MissingKeyError.of("tensor", name, self.tensors, f"'{self.path}'")
        return self.tensors[name].numpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"<Checkpoint {name_of(self.path)}: {counted(len(self), 'tensor')}>"

    @rare_collection()
    def describe(self, *, statistics: bool = False) -> Rows[TensorRow]:
        """Return a row for each tensor; the values are read only for `statistics`."""
        return Rows([_row(name, tensor, statistics) for name, tensor in self.tensors.items()])

    def matching(self, pattern: str) -> Checkpoint:
        """Return the tensors whose names the regular expression matches a part of, sorted by name.

        NotFoundError if there are none.
        """
        tensors = _select(self.tensors, pattern)
        if not tensors and pattern:
            hint = Hint("leave out ", option("name"), " to list all tensors")
            raise NotFoundError(f"no tensor name of '{self.path}' matches '{pattern}'", hint=hint)
        return self._with(tensors)

    def without(self, pattern: str) -> Checkpoint:
        """Return the tensors whose names the regular expression does not match a part of."""
        expression = regular_expression(pattern)
        return self._with({name: tensor for name, tensor in self.tensors.items() if not expression.search(name)})

    def renamed(self, names: Mapping[str, str] | str | os.PathLike[str]) -> Checkpoint:
        """Return the tensors under new names: `names` has new names by old names, or is a file with a line OLD=NEW for each.

        An old name that is a tensor or a scope of tensors stands for itself and what is below, any other is a regular
        expression, of which each match is replaced. The object graph of a TF2 checkpoint follows. MissingKeyError for an
        old name without a tensor, InvalidArgumentError for two tensors that get one name.
        """
        pairs = names if isinstance(names, Mapping) else read_names(names)
        expect(str, *pairs, *pairs.values())
        tensors = dict(self.tensors) if self.objects is None else {**self.tensors, OBJECT_GRAPH: self.objects}
        changed = renamed(tensors, pairs, f"'{self.path}'")
        objects = changed.get(OBJECT_GRAPH)
        # The object graph went along for the change of names alone: a part without it stays without it.
        if OBJECT_GRAPH not in self.tensors:
            changed.pop(OBJECT_GRAPH, None)
        return self._with(changed, objects)

    def largest_first(self) -> Checkpoint:
        """Return the tensors in the order of their bytes, the largest first."""
        order = sorted(self.tensors, key=lambda name: -self.tensors[name].size * self.tensors[name].dtype.size)
        return self._with({name: self.tensors[name] for name in order})

    def stored(self, file_format: FileFormat | None) -> dict[str, Tensor]:
        """Return the tensors as a file holds them: other files than checkpoints have a part of a TF2 checkpoint by names."""
        if self.objects is None:
            return dict(self.tensors)
        # Other files have no object graph, so their values are called as a graph calls its variables.
        if file_format is CHECKPOINT or OBJECT_GRAPH in self.tensors:
            return with_objects(self.tensors, self.objects)
        return self.by_variable()

    def by_variable(self) -> dict[str, Tensor]:
        """Return the tensors by the names of variables, which a TF2 checkpoint has beside its keys."""
        tensors = {name: tensor for name, tensor in self.tensors.items() if name != OBJECT_GRAPH}
        return tensors if self.objects is None else by_variable({**tensors, OBJECT_GRAPH: self.objects}, tensors)

    @functools.cached_property
    def copies(self) -> Mapping[str, str]:
        """The tensors that the signatures of a SavedModel do not read, each with the variable that they read in its place."""
        graph = self._graph
        if graph is None:  # the file was read as a state
            if not is_saved_model(self.path):
                return {}
            graph = load(self.path, tags=self.tags)
        instead = variables_in_use(graph)
        return {name: instead[name] for name in self.tensors if name in instead}

    def to_records(self) -> list[dict[str, Any]]:
        """Return name, dtype, shape and number of elements of each tensor, without a look at the values."""
        return [
            {"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape), "elements": tensor.size}
            for name, tensor in self.tensors.items()
        ]


def _row(name: str, tensor: Tensor, with_statistics: bool) -> TensorRow:
    # A tensor that nobody can read is listed like the others, without figures.
    statistics = tensor_statistics(tensor.read()) if with_statistics and tensor.lack is None else None
    return TensorRow(name, str(tensor.dtype), tensor.shape, tensor.size * tensor.dtype.size, statistics)


def _select(tensors: Mapping[str, Tensor], pattern: str) -> dict[str, Tensor]:
    expression = regular_expression(pattern)
    return {name: tensors[name] for name in sorted(tensors) if expression.search(name)}


@checked(tags=list | tuple | None)
def read_checkpoint(path: str | os.PathLike[str], *, names: str = "keys", tags: Sequence[str] | None = None) -> Checkpoint:
    """Return the tensors of a checkpoint (its prefix, or a folder with one), an .npz archive or a safetensors file.

    A SavedModel's folder gives its variables, by their names in the graph, and a graph's file its constants.

    `tags` choose the graph of a SavedModel.
    `names="variables"` names the tensors of TF2's checkpoints as the graph names its variables, not by object paths.
    NotFoundError if there is neither, DataLossError if the file is damaged.
    """
    if names == "variables":
        return Checkpoint(os.fspath(path), read_variables(path), tags=tags)
    # The graph is kept for `copies`: reading a SavedModel takes longer than its index.
    tensors, are_constants, graph = stored_tensors(path, tags)
    return Checkpoint(os.fspath(path), tensors, are_constants=are_constants, tags=tags, graph=graph)


@checked
def write_checkpoint(path: str | os.PathLike[str], values: State, *, labels: Sequence[str] | None = None) -> int:
    """Write arrays or Tensors by name, and return their number: an archive for `.npz`, a `.safetensors` file, else a V2
    checkpoint with this prefix. The file appears whole or not at all. `.npy`, `.csv` and `.tsv` hold a single tensor; `.tsv`
    has a row of numbers for each vector, without a header, as projectors of embeddings read it.

    A tensor of a `Checkpoint` is read when it is written, one at a time. `labels`, one for each vector of a `.tsv` file, are
    written to `metadata.tsv` beside the file, which a projector reads, too.

    InvalidArgumentError, before anything is written, for other extensions than those and `.ckpt`.
    """
    file_format = format_of(path, TENSORS)
    if labels is not None and file_format is not TSV:
        raise InvalidArgumentError("only a .tsv file has labels beside it", hint="write .tsv")
    tensors = values.stored(file_format) if isinstance(values, Checkpoint) else as_tensors(values)
    if file_format not in (NPY, CSV, TSV):
        return write_state(path, tensors)
    if len(tensors) != 1:
        problem = f"a {extension_of(path)} file holds a single tensor, but {len(tensors)} are chosen"
        raise InvalidArgumentError(problem, hint=Hint("choose one: ", step("name_tensor"), "; or write .npz"))
    ((name, tensor),) = tensors.items()
    if labels is not None:
        # The labels are written first: if they do not fit the vectors, no file is written.
        _write_labels(os.path.join(os.path.dirname(path), METADATA), labels, name, tensor)
    write_file(os.fspath(path), [_encoded(file_format, name, tensor.numpy())])
    return 1


def _write_labels(path: str, labels: Sequence[str], name: str, tensor: Tensor) -> None:
    """Write a line for each vector of a tensor, as projectors read a single column: without a header and without quotes."""
    rows = tensor.shape[0] if tensor.shape else 1
    if len(labels) != rows:
        raise InvalidArgumentError(f"{counted(len(labels), 'label')} for the {counted(rows, 'row')} of '{name}'")
    write_file(path, ["".join(f"{' '.join(label.split())}\n" for label in labels).encode("utf-8", "surrogateescape")])


@checked
def compare_checkpoints(
    first: Checkpoint, second: Checkpoint, *, pattern: str = "", tolerance: float = 1e-5
) -> StateComparison:
    """Compare the tensors of two checkpoints by name, those whose names the regular expression matches a part of.

    Tensors are close if the elements differ by at most `tolerance`, relative to the largest magnitude of the first. Two
    NaN are equal. Beside the constants of a graph, the names are those of variables, and constants that the other checkpoint
    lacks do not count. InvalidArgumentError for a bad expression.
    """
    mine, theirs = (_select(tensors, pattern) for tensors in comparable(first, second))
    rows = []
    for name in sorted({*mine, *theirs}):
        if name not in mine or name not in theirs:
            rows.append(ComparedTensor(name, "missing", None, f"only in {first.path if name in mine else second.path}"))
        else:
            rows.append(_compare(name, mine[name], theirs[name], tolerance))
    return StateComparison(all(row.status in ("equal", "close") for row in rows), tuple(rows))


def comparable(first: Checkpoint, second: Checkpoint) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Return the tensors of two checkpoints to compare: of a graph's constants, those of the other's variables."""
    if first.are_constants == second.are_constants:
        return first.tensors, second.tensors
    if first.are_constants:
        theirs, mine = comparable(second, first)
        return mine, theirs
    # A constant of a frozen graph has the name of its variable, which an object-based checkpoint stores beside its key.
    variables = first.by_variable()
    return variables, {name: tensor for name, tensor in second.tensors.items() if name in variables}


def checkpoint_of(graph: Graph) -> Checkpoint:
    """Return the values that a graph has: of a SavedModel's variables, or its constants."""
    tensors, are_constants = values_of(graph, graph.file)
    return Checkpoint(graph.file, tensors, are_constants=are_constants, graph=graph)


def _encoded(file_format: FileFormat, name: str, array: Array) -> bytes:
    """Return the bytes of a file that holds a single tensor."""
    if file_format is NPY:
        from ..codecs.numpy_files import npy_bytes  # lazy: most readers of checkpoints write nothing

        return npy_bytes(name, array)
    from ..codecs.csv_table import table_bytes

    return table_bytes(name, array, "\t" if file_format is TSV else ",")


def diff_checkpoints(before: Checkpoint, after: Checkpoint) -> GraphDiff:
    """Return the differences of the values that `comparable` chooses."""
    from ...core.comparing.element_differences import diff_variables  # lazy: most readers of checkpoints compare nothing
    from ...core.comparing.graph_diff import GraphDiff
    from ...core.comparing.node_changes import STRICT

    mine, theirs = (
        {name: value for name, value in tensors.items() if not is_apart(name)} for tensors in comparable(before, after)
    )
    return GraphDiff(0, 0, variables=diff_variables(mine, theirs, STRICT), variables_compared=len({*mine, *theirs}))


@checked
def average_checkpoints(checkpoints: Sequence[Checkpoint], weights: Sequence[float] | None = None) -> Checkpoint:
    """Return the averages of the tensors of checkpoints with equal names, dtypes and shapes, in the dtypes of the tensors.

    `weights` are positive, one for each checkpoint. Integers, strings and the object graph are those of the last
    checkpoint. An average is computed, in double precision, when it is read: one tensor of each checkpoint at a time.
    NotFoundError for a tensor that a checkpoint lacks, InvalidArgumentError for tensors and weights that do not fit.
    """
    expect(Checkpoint, *checkpoints)
    shares = _shares(len(checkpoints), weights)
    for other in checkpoints[:-1]:
        _check_same(checkpoints[-1], other)
    last = checkpoints[-1]
    tensors = {name: _average([checkpoint.tensors[name] for checkpoint in checkpoints], shares) for name in last.tensors}
    return Checkpoint(last.path, tensors, last.objects, last.are_constants)


def _shares(count: int, weights: Sequence[float] | None) -> list[float]:
    """Return the share of each checkpoint in the average."""
    expect(numbers.Real, *(weights or ()))
    shares = [1.0] * count if weights is None else list(map(float, weights))
    if not count or len(shares) != count:
        raise InvalidArgumentError(f"{counted(len(shares), 'weight')} for {counted(count, 'checkpoint')}")
    # NaN is refused by the same test, as every comparison with NaN is false.
    if not all(0 < share < math.inf for share in shares):
        raise InvalidArgumentError("a weight is not a positive number", hint="leave a checkpoint without weight out")
    return [share / math.fsum(shares) for share in shares]


def _check_same(first: Checkpoint, second: Checkpoint) -> None:
    # Either of the two may lack a tensor, and the error names the one that lacks it.
    for one, other in ((first, second), (second, first)):
        for name in one.tensors:
            if name not in other.tensors:
                hint = Hint("leave out what only one has with ", option("exclude"))
                raise NotFoundError(f"'{other.path}' has no tensor '{name}', which '{one.path}' has", hint=hint)
    for name, tensor in first.tensors.items():
        other_kind = kind_of(second.tensors[name])
        if kind_of(tensor) != other_kind:
            kinds = f"{kind_words(kind_of(tensor))} in '{first.path}' and {kind_words(other_kind)} in '{second.path}'"
            raise InvalidArgumentError(f"tensor '{name}' is {kinds}")


def _average(tensors: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    last = tensors[-1]
    # Integers such as a step counter have no average. The last checkpoint is the one to continue from, so its values are
    # taken.
    if not (last.dtype.is_floating or last.dtype.is_complex):
        return last

    def average() -> Array:
        # Sums of float16 or bfloat16 in their own dtype would lose most of the small differences between checkpoints.
        total: Array = np.zeros(last.shape, np.complex128 if last.dtype.is_complex else np.float64)
        for tensor, share in zip(tensors, shares):
            total += share * tensor.read().astype(total.dtype)
        return total.astype(last.dtype.numpy)

    return Tensor(last.dtype, last.shape, average)


@checked
def match_checkpoint(checkpoint: Checkpoint, graph: GraphLike) -> CheckpointMatch:
    """Return which variables of a graph a checkpoint has values for, and which extra tensors may be the values of others.

    A missing variable is beside the extra tensor of its shape with the name that is most alike, if there is one.
    """
    graph = as_graph(graph)
    wanted = _wanted(graph)
    names = names_in_graph(checkpoint.tensors, graph)
    kinds = {names.get(key, key): kind_of(tensor) for key, tensor in checkpoint.tensors.items() if not is_apart(key)}
    # A state with a whole tensor fits a graph with its slices: a restore cuts it.
    parts = {part.variable: part.whole for part in partitions(graph) if part.whole in kinds and part.variable not in kinds}
    kinds |= {name: wanted[name] for name in parts if name in wanted}
    keys = {name: object_path(key) for key, name in names.items()}
    others = {name: kind for name, kind in kinds.items() if name not in wanted and name not in parts.values()}
    # People know the tensors of a TF2 checkpoint by their object paths, not by their keys.
    extra = {keys.get(name, name): kind for name, kind in others.items()}
    nearest = nearest_tensors({name: kind for name, kind in wanted.items() if name not in kinds}, extra)
    rows = [_matched(name, kind, kinds.get(name), nearest.get(name)) for name, kind in wanted.items()]
    rows += [MatchedVariable(name, "extra", None, kind_words(kind)) for name, kind in extra.items()]
    return CheckpointMatch(all(row.status in ("fits", "extra") for row in rows), tuple(rows))


def _wanted(graph: Graph) -> dict[str, Kind]:
    """Return the kinds of the variables whose values a state holds, and of the keys and values of tables."""
    # No state holds the paths of asset files, which depend on the folder of the model.
    paths = asset_variables(graph)
    wanted = {name: (nodes.dtype, nodes.shape) for name, nodes in find_variables(graph).items() if name not in paths}
    for table in saved_tables(graph).values():
        wanted |= {entry: (dtype, UNKNOWN) for entry, dtype in zip(table.entries, (table.key_dtype, table.value_dtype))}
    return wanted


def _matched(name: str, kind: Kind, stored: Kind | None, nearest: str | None) -> MatchedVariable:
    if stored is None:
        return MatchedVariable(name, "missing", kind_words(kind), None, nearest)
    is_same = stored[0] is kind[0].base
    fitting = fits(stored[1].known(), kind[1])
    status = "fits" if is_same and fitting else "shape differs" if not fitting else "dtype differs"
    return MatchedVariable(name, status, kind_words(kind), kind_words(stored))


def _compare(name: str, a: Tensor, b: Tensor, tolerance: float) -> ComparedTensor:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return ComparedTensor(name, "different", None, f"{a.dtype} {a.shape} and {b.dtype} {b.shape}")
    # Two tensors that cannot be read are not known to be equal.
    if (lack := a.lack or b.lack) is not None:
        return ComparedTensor(name, "different", None, lack.message)
    a, b = Tensor.from_numpy(a.read(), a.dtype), Tensor.from_numpy(b.read(), b.dtype)  # read once here, and kept no longer
    if a == b:
        return ComparedTensor(name, "equal", 0.0, "")
    if a.dtype.is_object:
        return ComparedTensor(name, "different", None, "strings differ")
    from ...core.comparing.element_differences import compare

    comparison = compare(name, 1, a.numpy(), b.numpy(), tolerance)
    # Unsigned numbers and numbers of few bits would wrap around in a difference of their own dtype.
    x, y = (np.asarray(t.numpy(), np.complex128 if t.dtype.is_complex else np.float64) for t in (a, b))
    # inf - inf is NaN, so equal infinities would differ. Two NaN count as equal.
    difference = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    detail = f"at [{','.join(map(str, where))}]: {x[where]:.9g} and {y[where]:.9g}"
    return ComparedTensor(name, "close" if comparison.passed else "different", comparison.largest_difference, detail)
