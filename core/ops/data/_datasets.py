"""Helpers of the families of dataset ops: variants that hold datasets, arguments of rank 0, functions of the graph, seeds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from ...datasets.dataset import Dataset, Element, Origin, PerPass, Spec, array_of
from ...datasets.seeds import SeedGenerator, Seeds, seeds_of
from ...graph.callers import reached_functions
from ...graph.graph import Function, Node
from ...graph.purity import has_state, places_handed_on
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...registry.registry import WITHOUT_GRADIENT, kernel, zero_cost
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Readable
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.tensors import FuncRef, Placeholder
from ..shared.resource_access import resource
from ..state.tables import StaticTable

_Kernel = TypeVar("_Kernel", bound=Callable[..., Dataset])
Call = Callable[[Sequence[Any]], list[Any]]


def dataset_of(handle: Any, name: str = "") -> Dataset:
    """Return the dataset in a variant of rank 0; InvalidArgumentError if the variant holds another object."""
    if np.ndim(handle):
        raise InvalidArgumentError("Dataset tensor must be a scalar")
    dataset = handle.item() if isinstance(handle, np.ndarray) else handle
    if not isinstance(dataset, Dataset):
        raise InvalidArgumentError(f"Tensor must be a Dataset object, not a {type(dataset).__name__}")
    return dataset


def spec_of_node(node: Node) -> Spec:
    """Return the dtypes and shapes that a node declares for its elements."""
    attrs = node.op_def.attrs if node.op_def is not None else {}
    # PaddedBatch and the sets of records call the attribute Toutput_types.
    types = next((node.attr(name) for name in ("output_types", "Toutput_types") if name in attrs), ())
    return Spec(tuple(types), tuple(node.attr("output_shapes") if "output_shapes" in attrs else ()))


def number_in(value: Any, name: str) -> int:
    """Return an integer argument of rank 0."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{name} must be a scalar")
    return int(value)


def flag_in(value: Any, name: str) -> bool:
    """Return a boolean argument of rank 0."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{name} must be a scalar")
    return bool(value)


def positive_in(value: Any, name: str) -> int:
    """Return an integer argument above 0."""
    number = number_in(value, name)
    if number <= 0:
        raise InvalidArgumentError(f"{name} must be greater than zero.")
    return number


def calls_in(value: Any, name: str) -> int:
    """Return a number of parallel calls: above 0, or -1 for a free choice."""
    return -1 if number_in(value, name) == -1 else positive_in(value, name)


def bytes_in(value: Any, name: str) -> bytes:
    """Return a string argument of rank 0."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{name} must be a scalar")
    text: bytes = value.item() if isinstance(value, np.ndarray) else value
    return text


def text_in(value: Any, name: str) -> str:
    """Return a string argument of rank 0, decoded."""
    return bytes_in(value, name).decode("utf-8", "surrogateescape")


def texts_in(value: Any, name: str) -> list[bytes]:
    """Return a string argument of rank 0 or 1 as a list."""
    if np.ndim(value) > 1:
        raise InvalidArgumentError(f"`{name}` must be a scalar or a vector.")
    return list(np.ravel(value).tolist())


@dataclasses.dataclass(frozen=True, slots=True)
class GraphFunction:
    """A function of the graph that an op calls: the attribute that names it, and the captured values, its last arguments."""

    ctx: KernelContext
    attribute: str
    reference: FuncRef
    captured: Sequence[Any]

    @property
    def function(self) -> Function:
        """The function as it is called."""
        return self.ctx.session.functions.find(self.reference)

    def of_values(self) -> Call:
        """Return the function as called with an element's components; variables are read at the call."""
        run, rest = self.ctx.function(self.reference), list(self.captured)
        # At the first call: of the datasets that a graph makes, many are never run.
        dtypes_of_arguments = functools.cache(self._argument_types)
        reads = any(isinstance(value, Readable) for value in rest)

        def call(args: Sequence[Any]) -> list[Any]:
            now = [value.read() if isinstance(value, Readable) else value for value in rest] if reads else rest
            values = [*args, *now]
            for i, (value, dtype) in enumerate(zip(values, dtypes_of_arguments())):
                if not is_of(value, dtype):
                    raise InvalidArgumentError(
                        f"Type mismatch: argument {i} of function '{self.reference.name}' is {dtype}, not {value.dtype}"
                    )
            return run(values)

        return call

    def _argument_types(self) -> list[DType]:
        signature, types = self.function.signature, [arg.attrs["T"] for arg in self.function.args]
        return [signature.attr(self.reference.attrs, t.name) if isinstance(t, Placeholder) else t for t in types]

    def _draws(self) -> bool:
        """Return True if the function or its callees draw random numbers from a node's stream."""
        graph = self.ctx.session.graph
        names = {self.reference.name, *reached_functions(graph.functions, self.function.body)}
        return any(has_fact(node.op, "random") for name in names for node in graph.functions[name].body)

    def of_elements(self) -> Callable[[Element], Element]:
        """Return the function as one that maps an element to an element."""
        if self._draws():
            # In a session apart, whose nodes have random streams of their own: two iterators must not draw from one.
            return PerPass(lambda: _of_elements(dataclasses.replace(self, ctx=self.ctx.apart()).of_values()))
        return _of_elements(self._short_cut())

    def _short_cut(self) -> Call:
        """Return the function; one that only forwards arguments is replaced by a selection of arguments."""
        function, run, rest = self.function, self.of_values(), list(self.captured)
        places = places_handed_on(function)
        # A captured variable must be read at each call, and only a call of the function reads it.
        if places is None or any(isinstance(value, Readable) for value in rest):
            return run

        def pick(args: Sequence[Any]) -> list[Any]:
            values = [*args, *rest]
            # A wrong number of values is an error of the function, which the call reports.
            return [values[place] for place in places] if len(values) == len(function.args) else run(args)

        return pick

    def predicate(self) -> Callable[[Element], bool]:
        """Return the function as one that says yes or no of an element."""
        run = self._short_cut()

        def says(element: Element) -> bool:
            results = run(element)
            if len(results) != 1 or np.size(results[0]) != 1 or array_of(results[0]).dtype != np.bool_:
                raise InvalidArgumentError("Filter predicate `f` must return a scalar bool.")
            return bool(results[0])

        return says

    def datasets(self) -> Callable[..., Dataset]:
        """Return the function as one that makes a dataset."""
        run = self.of_values()

        def call(args: Sequence[Any]) -> Dataset:
            results = run(args)
            if len(results) != 1:
                raise InvalidArgumentError("Function must return a single scalar of dtype DT_VARIANT.")
            return dataset_of(results[0])

        return call

    def numbers(self) -> Callable[..., int]:
        """Return the function as one whose result is a number."""
        run = self.of_values()

        def call(args: Sequence[Any]) -> int:
            results = run(args)
            if len(results) != 1 or np.ndim(results[0]) or array_of(results[0]).dtype != np.int64:
                raise InvalidArgumentError(f"`{self.attribute}` must return a scalar int64.")
            return int(results[0])

        return call

    @property
    def is_stateful(self) -> bool:
        """True if the function or its callees have an effect or a state; assertions count as neither."""
        return has_state(self.ctx.session.graph, self.function.name)

    @property
    def runs_early(self) -> bool:
        """True if the results follow from the arguments alone, so that the time of the call cannot be seen."""
        has_own = has_state(self.ctx.session.graph, self.function.name, (*LOOKUPS, *_SOURCES))
        return not (has_own or self._draws() or any(map(_may_change, self.captured)))

    @property
    def is_identity(self) -> bool:
        """True if the function returns its arguments in order and does nothing else."""
        function = self.function
        return not self.captured and places_handed_on(function) == list(range(len(function.args)))


def _of_elements(run: Call) -> Callable[[Element], Element]:
    return lambda element: tuple(run(element))


LOOKUPS = ("LookupTableFindV2", "LookupTableSizeV2")
"""Ops that read a table, perhaps a table initialized once."""
_SOURCES = (
    "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "MatchingFilesDataset", "RangeDataset", "TFRecordDataset",
    "TFRecordDatasetV2", "TensorDataset", "TensorSliceDataset", "TextLineDataset",
)  # fmt: skip
"""Stateful ops that make datasets and that may run early, as each pass reads its source anew."""


def _may_change(value: Any) -> bool:
    """Return True for a handle of an object that runs may change."""
    content = value.item(0) if isinstance(value, np.ndarray) and value.dtype.hasobject and value.size else value
    # A static table keeps what it was filled with, so a look-up ahead of time finds the same.
    return not isinstance(content, np.generic | np.ndarray | bytes | StaticTable)


def with_twins(*ops: str) -> list[str]:
    """Return the ops and their forerunners of the same interface, called `Experimental...`."""
    return [name for op in ops for name in (op, f"Experimental{op}") if name in CATALOG]


Number: TypeAlias = int
Positive: TypeAlias = int
Calls: TypeAlias = int
Flag: TypeAlias = bool
Bytes: TypeAlias = bytes
Text: TypeAlias = str
Texts: TypeAlias = list[bytes]
_CONVERSIONS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "Dataset": dataset_of, "Number": number_in, "Positive": positive_in, "Calls": calls_in, "Flag": flag_in, "Bytes": bytes_in,
    "Text": text_in, "Texts": texts_in, "list[Dataset]": lambda handles, name: list(map(dataset_of, handles)),
}  # fmt: skip
"""What an input of a kernel becomes, by the annotation of its parameter."""


def dataset_kernel(
    *ops: str, called: Mapping[str, str] = MappingProxyType({}), facts: Iterable[str] = ()
) -> Callable[[_Kernel], _Kernel]:
    """Register a kernel that makes a dataset, for the ops and their experimental twins, with all else there is to say.

    The annotations of the kernel's parameters convert and check its inputs: `Dataset`, `Number`, `Positive`, `Calls`, `Flag`,
    `Bytes`, `Text`, `Texts`. Errors name an input as the parameter, or as TensorFlow does where `called` has another name. A
    `GraphFunction` is the function in the attribute of the parameter's name, and the input has the captured values. `facts`
    are facts of the ops beside "input_pipeline".
    """
    names = with_twins(*ops)

    def register(make: _Kernel) -> _Kernel:
        conversions = _conversions(make, called)

        @functools.wraps(make)
        def run(ctx: KernelContext, *inputs: Any, **attrs: Any) -> Array:
            converted = [
                convert(value, name) if convert is not None else GraphFunction(ctx, name, ctx.node.attr(name), value)
                for (convert, name), value in zip(conversions, inputs)
            ]
            dataset = make(ctx, *converted, *inputs[len(conversions) :], **attrs)
            parts = (value if isinstance(value, list | tuple) else (value,) for value in inputs)
            # Kept for a dataset that is turned into a graph again, and for messages that name the node.
            flat = tuple([_held(value) for values in parts for value in values])
            declared = spec_of_node(ctx.node)
            # Not all ops declare their elements; the kernel knows those of the others.
            dataset.spec = declared if declared.dtypes else dataset.spec
            dataset.origin = Origin(ctx.node, flat, ctx.session.graph)
            return scalar_object(dataset)

        # All that dataset ops have in common stands here: a scalar handle, no gradient, no FLOPs.
        kernel(*names, shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("input_pipeline", *facts))(run)
        return make

    return register


def _conversions(
    make: Callable[..., Dataset], called: Mapping[str, str]
) -> list[tuple[Callable[[Any, str], Any] | None, str]]:
    """Return the conversion of each input of a kernel, None for a function's, and the input's name in errors."""
    parameters = make.__code__.co_varnames[1 : make.__code__.co_argcount]  # the first is the context
    kinds = {name: make.__annotations__[name] for name in parameters}
    return [
        (None if kind == "GraphFunction" else _CONVERSIONS.get(kind, lambda value, name: value), called.get(name, name))
        for name, kind in kinds.items()
    ]


def _held(value: Any) -> Any:
    """Return the dataset in a handle; return other values as they are.

    Python's garbage collector does not look into arrays: a session referred to from a dataset in an array would never be
    freed.
    """
    is_handle = isinstance(value, np.ndarray) and value.dtype.hasobject and not value.ndim
    return value.item() if is_handle and isinstance(value.item(), Dataset) else value


DUMMY: Final = Seeds(0, 0, False)
"""The placeholder for a seed generator where a dataset makes its own."""


def chosen_seeds(ctx: KernelContext, seed: int, seed2: int, generator: Any, renewed: bool) -> Seeds:
    """Return the seeds of a generator's handle, or the op's own: without a handle, or in a generator for a dummy handle."""
    if generator is None:
        return seeds_of(ctx, seed, seed2, renewed)
    seeds = resource(generator, Seeds)
    return seeds_of(ctx, seed, seed2, renewed, SeedGenerator) if seeds is DUMMY else seeds
