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
from ...graph.graph import Node
from ...graph.purity import has_state, places_handed_on
from ...registry.catalog import CATALOG
from ...registry.op_facts import has_fact
from ...registry.registry import WITHOUT_GRADIENT, kernel, zero_cost
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Readable
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


def datasets_of(handles: Sequence[Any], name: str = "") -> list[Dataset]:
    """Return the datasets in variants."""
    return list(map(dataset_of, handles))


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


def function_of(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> Call:
    """Return a function of the graph, called with an element's components and the captured values; variables are read at
    the call.
    """
    run, rest, dtypes_of_arguments = (
        ctx.function(function),
        list(captured),
        # At the first call: of the datasets that a graph makes, many are never run.
        functools.cache(lambda: _argument_types(ctx, function)),
    )
    reads = any(isinstance(value, Readable) for value in rest)

    def call(args: Sequence[Any]) -> list[Any]:
        now = [value.read() if isinstance(value, Readable) else value for value in rest] if reads else rest
        values = [*args, *now]
        for i, (value, dtype) in enumerate(zip(values, dtypes_of_arguments())):
            if not is_of(value, dtype):
                raise InvalidArgumentError(
                    f"Type mismatch: argument {i} of function '{function.name}' is {dtype}, not {value.dtype}"
                )
        return run(values)

    return call


def _argument_types(ctx: KernelContext, function: FuncRef) -> list[DType]:
    """Return the dtypes of a function's arguments."""
    body = ctx.session.functions.find(function)
    types = [arg.attrs["T"] for arg in body.args]
    return [body.signature.attr(function.attrs, t.name) if isinstance(t, Placeholder) else t for t in types]


def draws(ctx: KernelContext, function: FuncRef) -> bool:
    """Return True if a function or its callees draw random numbers from a node's stream."""
    graph = ctx.session.graph
    names = {function.name, *reached_functions(graph.functions, ctx.session.functions.find(function).body)}
    return any(has_fact(node.op, "random") for name in names for node in graph.functions[name].body)


def element_function(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> Callable[[Element], Element]:
    """Return a function of the graph that maps an element to an element."""
    if draws(ctx, function):
        # In a session apart, whose nodes have random streams of their own: two iterators must not draw from one.
        return PerPass(lambda: _of_elements(function_of(ctx.apart(), function, captured)))
    return _of_elements(_short_cut(ctx, function, captured))


def _of_elements(run: Call) -> Callable[[Element], Element]:
    return lambda element: tuple(run(element))


def _short_cut(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> Call:
    """Return a function of the graph; a function that only forwards arguments is replaced by a selection of arguments."""
    body, run, rest = ctx.session.functions.find(function), function_of(ctx, function, captured), list(captured)
    places = places_handed_on(body)
    # A captured variable must be read at each call, and only a call of the function reads it.
    if places is None or any(isinstance(value, Readable) for value in rest):
        return run

    def pick(args: Sequence[Any]) -> list[Any]:
        values = [*args, *rest]
        # A wrong number of values is an error of the function, which the call reports.
        return [values[place] for place in places] if len(values) == len(body.args) else run(args)

    return pick


def predicate(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> Callable[[Element], bool]:
    """Return a function of the graph that says yes or no of an element."""
    run = _short_cut(ctx, function, captured)

    def says(element: Element) -> bool:
        results = run(element)
        if len(results) != 1 or np.size(results[0]) != 1 or array_of(results[0]).dtype != np.bool_:
            raise InvalidArgumentError("Filter predicate `f` must return a scalar bool.")
        return bool(results[0])

    return says


def dataset_function(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> Callable[..., Dataset]:
    """Return a function of the graph that makes a dataset."""
    run = function_of(ctx, function, captured)

    def call(args: Sequence[Any]) -> Dataset:
        results = run(args)
        if len(results) != 1:
            raise InvalidArgumentError("Function must return a single scalar of dtype DT_VARIANT.")
        return dataset_of(results[0])

    return call


def number_function(ctx: KernelContext, function: FuncRef, captured: Sequence[Any], name: str) -> Callable[..., int]:
    """Return a function of the graph whose result is a number."""
    run = function_of(ctx, function, captured)

    def call(args: Sequence[Any]) -> int:
        results = run(args)
        if len(results) != 1 or np.ndim(results[0]) or array_of(results[0]).dtype != np.int64:
            raise InvalidArgumentError(f"`{name}` must return a scalar int64.")
        return int(results[0])

    return call


def is_stateful(ctx: KernelContext, function: FuncRef) -> bool:
    """Return True if a function or its callees have an effect or a state; assertions count as neither."""
    return has_state(ctx.session.graph, ctx.session.functions.find(function).name)


def runs_early(ctx: KernelContext, function: FuncRef, captured: Sequence[Any]) -> bool:
    """Return True if a function's results follow from its arguments alone, so that the time of the call cannot be seen."""
    name = ctx.session.functions.find(function).name
    has_own = has_state(ctx.session.graph, name, (*LOOKUPS, *_SOURCES))
    return not (has_own or draws(ctx, function) or any(map(_may_change, captured)))


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


def is_identity(ctx: KernelContext, function: FuncRef) -> bool:
    """Return True if a function returns its arguments in order and does nothing else."""
    body = ctx.session.functions.find(function)
    return places_handed_on(body) == list(range(len(body.args)))


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
    "Text": text_in, "Texts": texts_in, "list[Dataset]": datasets_of,
}  # fmt: skip
"""What an input of a kernel becomes, by the annotation of its parameter."""


def dataset_kernel(
    *ops: str, called: Mapping[str, str] = MappingProxyType({}), facts: Iterable[str] = ()
) -> Callable[[_Kernel], _Kernel]:
    """Register a kernel that makes a dataset, for the ops and their experimental twins, with all else there is to say.

    The annotations of the kernel's parameters convert and check its inputs: `Dataset`, `Number`, `Positive`, `Calls`, `Flag`,
    `Bytes`, `Text`, `Texts`. Errors name an input as the parameter, or as TensorFlow does where `called` has another name.
    `facts` are facts of the ops beside "input_pipeline".
    """
    names = with_twins(*ops)

    def register(make: _Kernel) -> _Kernel:
        conversions = _conversions(make, called)

        @functools.wraps(make)
        def run(ctx: KernelContext, *inputs: Any, **attrs: Any) -> Array:
            converted = [convert(value, name) for (convert, name), value in zip(conversions, inputs)]
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


def _conversions(make: Callable[..., Dataset], called: Mapping[str, str]) -> list[tuple[Callable[[Any, str], Any], str]]:
    """Return the conversion of each input of a kernel, and the input's name in errors."""
    parameters = make.__code__.co_varnames[1 : make.__code__.co_argcount]  # the first is the context
    return [(_CONVERSIONS.get(make.__annotations__[name], _as_it_is), called.get(name, name)) for name in parameters]


def _as_it_is(value: Any, name: str) -> Any:
    return value


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
