"""The functions behind `tfg checkpoint`: values of variables from files and to files."""

from __future__ import annotations

import collections
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from ...core.comparing.element_differences import compare
from ...core.numerics.tensor_statistics import TensorStatistics, tensor_statistics
from ...core.runtime.session.variable_values import variables_in_use
from ...core.support.arguments import regular_expression, takes
from ...core.support.display import Displayed, Report, Rows
from ...core.support.errors import InvalidArgumentError, MissingKeyError, NotFoundError
from ...core.support.file_formats import CSV, NPY, TENSORS, TSV, FileFormat, extension_of, format_of
from ...core.support.gc_control import rare_collection
from ...core.support.words import counted
from ...core.types.arrays import Array
from ...core.types.tensors import Tensor
from ..codecs.csv_table import table_bytes
from ..codecs.npy import npy_bytes
from ..codecs.source import write_file
from ..detect import MODEL_FILES
from ..loading import load
from ..state import State, as_tensors, read_variables, write_state
from ..stored_tensors import stored_tensors

_ENCODERS: Final[Mapping[FileFormat, Callable[[str, Array], bytes]]] = {
    NPY: npy_bytes, CSV: table_bytes, TSV: functools.partial(table_bytes, between="\t"),
}  # fmt: skip
"""The bytes of files that hold a single tensor."""


@dataclasses.dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor of a checkpoint; `statistics` of its elements where they were asked for."""

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
    """The largest absolute difference of two elements; None where the tensors cannot be subtracted."""
    detail: str
    """The place of the largest difference, or the reason why there is none."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class StateComparison(Report):
    """All tensors of two checkpoints; `equal` where every one is equal or close enough."""

    main_table: ClassVar[str] = "tensors"

    equal: bool
    """True where every tensor is equal or close."""
    tensors: tuple[ComparedTensor, ...]
    """The tensors of both checkpoints by name."""

    def headline(self) -> str:
        statuses = collections.Counter(tensor.status for tensor in self.tensors)
        counts = [f"{count:,} {status}" for status, count in statuses.items()]
        return ", ".join([counted(len(self.tensors), "tensor"), *counts])


class Checkpoint(Mapping[str, Array], Displayed):
    """The tensors of a checkpoint or an archive by name; a value is read from the file when it is asked for."""

    def __init__(self, path: str, tensors: Mapping[str, Tensor], tags: Sequence[str] | None = None) -> None:
        self.path = path
        self.tensors = tensors
        self.tags = tags

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
        return f"<Checkpoint {os.path.basename(self.path)}: {counted(len(self), 'tensor')}>"

    @rare_collection()
    def describe(self, *, statistics: bool = False) -> Rows[TensorRow]:
        """Return a row for each tensor; the values are read only for `statistics`."""
        return Rows([_row(name, tensor, statistics) for name, tensor in self.tensors.items()])

    def matching(self, pattern: str) -> Checkpoint:
        """Return the tensors whose names the regular expression matches a part of, sorted by name.

        NotFoundError where there are none.
        """
        tensors = _select(self.tensors, pattern)
        if not tensors and pattern:
            raise NotFoundError(
                f"no tensor name of '{self.path}' matches '{pattern}'", hint="leave out --name to list all tensors"
            )
        return Checkpoint(self.path, tensors, self.tags)

    @functools.cached_property
    def copies(self) -> Mapping[str, str]:
        """The tensors that the signatures of a SavedModel do not read, each with the variable that they read in its place."""
        is_model = any(os.path.isfile(os.path.join(self.path, name)) for name in MODEL_FILES)
        instead = variables_in_use(load(self.path, tags=self.tags)) if is_model else {}
        return {name: instead[name] for name in self.tensors if name in instead}

    def to_records(self) -> list[dict[str, Any]]:
        """Return name, dtype, shape and number of elements of each tensor, without a look at the values."""
        return [
            {"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape), "elements": tensor.size}
            for name, tensor in self.tensors.items()
        ]


def _row(name: str, tensor: Tensor, with_statistics: bool) -> TensorRow:
    statistics = tensor_statistics(tensor.read()) if with_statistics and tensor.lack is None else None
    return TensorRow(name, str(tensor.dtype), tensor.shape, tensor.size * tensor.dtype.size, statistics)


def _select(tensors: Mapping[str, Tensor], pattern: str) -> dict[str, Tensor]:
    expression = regular_expression(pattern)
    return {name: tensors[name] for name in sorted(tensors) if expression.search(name)}


@takes(path=str | os.PathLike, names=str, tags=list | tuple | None)
def read_checkpoint(path: str | os.PathLike[str], *, names: str = "keys", tags: Sequence[str] | None = None) -> Checkpoint:
    """Return the tensors of a checkpoint (its prefix, or a folder with one), an .npz archive or a safetensors file.

    A SavedModel's folder gives its variables, by their names in the graph, and a graph's file its constants.

    `tags` choose the graph of a SavedModel.
    `names="variables"` names the tensors of TF2's checkpoints as the graph names its variables, not by object paths.
    NotFoundError where there is neither, DataLossError where the file is damaged.
    """
    return Checkpoint(os.fspath(path), read_variables(path) if names == "variables" else stored_tensors(path, tags), tags)


@takes(path=str | os.PathLike, values=Mapping)
def write_checkpoint(path: str | os.PathLike[str], values: State) -> int:
    """Write arrays or Tensors by name, and return their number: an archive for `.npz`, a `.safetensors` file, else a V2
    checkpoint with this prefix. The file appears whole or not at all. `.npy`, `.csv` and `.tsv` hold a single tensor; `.tsv`
    has a row of numbers for each vector, without a header, as projectors of embeddings read it.

    InvalidArgumentError, before anything is written, for other extensions than those and `.ckpt`.
    """
    encode = _ENCODERS.get(format_of(path, TENSORS))
    tensors = as_tensors(values)
    if encode is None:
        return write_state(path, tensors)
    if len(tensors) != 1:
        problem = f"a {extension_of(path)} file holds a single tensor, but {len(tensors)} are chosen"
        raise InvalidArgumentError(problem, hint="choose one: `tfg checkpoint PREFIX --name TENSOR`; or write .npz")
    ((name, tensor),) = tensors.items()
    write_file(os.fspath(path), [encode(name, tensor.numpy())])
    return 1


@takes(first=Checkpoint, second=Checkpoint, pattern=str, tolerance=float | int)
def compare_checkpoints(
    first: Checkpoint, second: Checkpoint, *, pattern: str = "", tolerance: float = 1e-5
) -> StateComparison:
    """Compare the tensors of two checkpoints by name, those whose names the regular expression matches a part of.

    Tensors are close where the elements differ by at most `tolerance`, relative to the largest magnitude of the first. Two
    NaN are equal. InvalidArgumentError for a bad expression.
    """
    mine, theirs = _select(first.tensors, pattern), _select(second.tensors, pattern)
    rows = []
    for name in sorted({*mine, *theirs}):
        if name not in mine or name not in theirs:
            rows.append(ComparedTensor(name, "missing", None, f"only in {first.path if name in mine else second.path}"))
        else:
            rows.append(_compare(name, mine[name], theirs[name], tolerance))
    return StateComparison(all(row.status in ("equal", "close") for row in rows), tuple(rows))


def _compare(name: str, a: Tensor, b: Tensor, tolerance: float) -> ComparedTensor:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return ComparedTensor(name, "different", None, f"{a.dtype} {a.shape} and {b.dtype} {b.shape}")
    if (lack := a.lack or b.lack) is not None:
        return ComparedTensor(name, "different", None, lack.message)
    a, b = Tensor.from_numpy(a.read(), a.dtype), Tensor.from_numpy(b.read(), b.dtype)  # read once here, and kept no longer
    if a == b:
        return ComparedTensor(name, "equal", 0.0, "")
    if a.dtype.is_object:
        return ComparedTensor(name, "different", None, "strings differ")
    comparison = compare(name, 1, a.numpy(), b.numpy(), tolerance)
    x, y = (np.asarray(t.numpy(), np.complex128 if t.dtype.is_complex else np.float64) for t in (a, b))
    difference = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    detail = f"at [{','.join(map(str, where))}]: {x[where]:.9g} and {y[where]:.9g}"
    return ComparedTensor(name, "close" if comparison.passed else "different", comparison.largest_difference, detail)
