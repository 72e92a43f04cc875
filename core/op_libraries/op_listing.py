"""Descriptions of ops: lists from the catalog and the index alone, details and counts from the registrations."""

from __future__ import annotations

import collections
import difflib
import functools
import inspect
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, overload

from ..graph.callers import all_nodes
from ..graph.foreign_ops import foreign, origin, supply_hint
from ..graph.graph import GraphLike, Node, as_graph
from ..inference import binding
from ..registry import kernel_types, op_facts, registry
from ..registry.catalog import CATALOG, ArgDef, AttrDef, OpDef, op_sentence
from ..registry.op_facts import FACTS, facts_of
from ..support import dataclasses
from ..support.arguments import checked, expect, regular_expression
from ..support.display import Report, Rows
from ..support.errors import NotFoundError, TfgError
from ..support.grouping import grouped
from ..support.hints import Blank, Hint, command
from ..types.dtypes import DType

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True, slots=True)
class OpSummary:
    """An op of a list; `family` is the family file of the op in tfg, or None."""

    name: str
    """The name of the op."""
    family: str | None
    """The file of `core/ops` with the op."""
    kernel: bool
    """True if tfg has a kernel."""
    inputs: tuple[str, ...]
    """The names of the arguments."""
    outputs: tuple[str, ...]
    """The names of the results."""
    flags: tuple[str, ...]
    """`stateful` and the like."""


@dataclasses.dataclass(frozen=True, slots=True)
class Location:
    """A Python function and the place of its source."""

    function: str
    """The name of the function."""
    file: str
    """The file with the function."""
    line: int | None
    """The line where the function begins."""
    doc: str
    """The first sentence of the docstring."""

    def __str__(self) -> str:
        return f"{self.function} ({self.file}{'' if self.line is None else f':{self.line}'})"


@dataclasses.dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel: dtypes (empty for all dtypes of TensorFlow), engine, and statefulness."""

    dtypes: dict[str, tuple[str, ...]]
    """The dtypes by attribute; empty for all that TensorFlow takes."""
    engine: str
    """The engine of the kernel."""
    stateful: bool
    """True if the kernel reads or writes state."""
    location: Location
    """The function."""


@dataclasses.dataclass(frozen=True, slots=True)
class ArgInfo:
    """An argument as the spec writes the type: `x: T`, `values: N * T`, `ref: Ref(T)`."""

    name: str
    """The name of the argument."""
    type: str
    """The type, which may name attributes."""


@dataclasses.dataclass(frozen=True, slots=True)
class AttrInfo:
    """An attribute, its default as text (None for a required or inferred attribute), and the allowed values."""

    name: str
    """The name of the attribute."""
    type: str
    """The type of the attribute."""
    default: str | None
    """The default as text; None for a required or inferred attribute."""
    minimum: int | None
    """The smallest number, or the shortest list."""
    allowed: tuple[str, ...]
    """The allowed values."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpDetail:
    """All facts about an op. `gradient` and `flops` are a Location, the words of a decision, or None: undecided."""

    name: str
    """The name of the op."""
    spec: str
    """The interface in a line."""
    declared_by: str
    """TensorFlow, or the op library."""
    inputs: tuple[ArgInfo, ...]
    """The arguments."""
    outputs: tuple[ArgInfo, ...]
    """The results."""
    attrs: tuple[AttrInfo, ...]
    """The attributes."""
    flags: tuple[str, ...]
    """`stateful` and the like."""
    family: str | None
    """The file of `core/ops` with the op."""
    kernels: tuple[KernelInfo, ...]
    """The kernels that tfg has."""
    tensorflow_dtypes: tuple[dict[str, tuple[str, ...]], ...]
    """The dtypes that TensorFlow's kernels take, by attribute."""
    shape: Location | None
    """The shape function."""
    gradient: Location | str | None
    """The gradient function, or why there is none."""
    flops: Location | str | None
    """The counting function, or why there is none."""
    xla: Location | None
    """The lowering to XLA, for engines, `tfg.to_jax` and StableHLO; an array program is the lowering to ONNX, too."""
    onnx: Location | None
    """The lowering to ONNX."""
    facts: dict[str, str]
    """Properties of the op, by name."""
    doc: str
    """The documentation of the op."""


@dataclasses.dataclass(frozen=True, slots=True)
class FamilyCoverage:
    """The numbers of ops of a family with a kernel, a shape function and so on.

    Declared ops include TensorFlow's internal ops (`_Name`).
    """

    family: str
    """The file of `core/ops`."""
    ops: int
    """How many ops are declared."""
    kernels: int
    """How many have a kernel."""
    shapes: int
    """How many have a shape function."""
    gradients: int
    """How many have a gradient function."""
    not_differentiable: int
    """How many are declared to have no gradient."""
    flops: int
    """How many have a counting function."""


@dataclasses.dataclass(frozen=True, slots=True)
class MissingFor:
    """The parts that tfg lacks for an op type of a graph: kernel, shape, gradient or FLOPs; `nodes` are the first users."""

    op: str
    """The op."""
    count: int
    """How many nodes have the op."""
    missing: tuple[str, ...]
    """The missing parts: kernel, shape, gradient, flops."""
    reason: str
    """Why tfg lacks them."""
    nodes: tuple[str, ...]
    """The first nodes."""


@overload
def ops(*, family: str | None = None, missing_kernel: bool = False, custom: bool = False) -> Rows[OpSummary]: ...
@overload
def ops(*names: str, family: str, missing_kernel: bool = False, custom: bool = False) -> Rows[OpSummary]: ...
@overload
def ops(
    *names: str, family: str | None = None, missing_kernel: bool = False, custom: bool = False
) -> Rows[OpDetail] | Rows[OpSummary]: ...
@checked
def ops(
    *names: str, family: str | None = None, missing_kernel: bool = False, custom: bool = False
) -> Rows[OpDetail] | Rows[OpSummary]:
    """Return what tfg has for ops.

    Names of ops give an OpDetail each. Other names are regular expressions, and give an OpSummary of each op that matches;
    no names give all ops. `family` keeps the ops of a file of `core/ops`, `missing_kernel` those without a kernel,
    `custom` those that op libraries declared.
    NotFoundError if nothing matches.
    """
    expect(str, *names)
    # Names alone ask for details; with a filter, the question is which of them pass.
    if names and family is None and not (missing_kernel or custom) and all(map(is_declared, names)):
        return Rows(describe_op(name) for name in names)
    return Rows(select_ops(names, family, missing_kernel, custom))


def select_ops(
    patterns: Sequence[str] = (), family: str | None = None, missing_kernel: bool = False, custom: bool = False
) -> tuple[OpSummary, ...]:
    """Return the ops that any pattern selects, by name; imports no kernel.

    A pattern is an op's name, or a regular expression searched in the name. Raises InvalidArgumentError for a bad
    expression, and NotFoundError for a pattern that selects nothing and for an unknown family.
    """
    # Else a misspelled family would be an empty list.
    if family is not None and family not in op_facts.family_names():
        raise NotFoundError(f"unknown family '{family}'", hint=f"the families are {', '.join(op_facts.family_names())}")
    names = CATALOG.custom() if custom else tuple(CATALOG)
    chosen = {name for pattern in patterns for name in _matching(pattern, names)} if patterns else set(names)
    return tuple(
        _summary(name)
        for name in sorted(chosen)
        if (family is None or registry.family(name) == family) and not (missing_kernel and registry.has_kernel(name))
    )


def is_declared(op: str) -> bool:
    """True for the exact name of an op that TensorFlow or a library declares."""
    return op in CATALOG


def _matching(pattern: str, names: Iterable[str]) -> list[str]:
    if pattern in CATALOG:
        return [pattern]
    return list(filter(regular_expression(pattern, re.IGNORECASE).search, names)) or _raise_unknown(pattern)


def _raise_unknown(name: str) -> NoReturn:
    if origin(name) is not None:
        raise NotFoundError(f"TensorFlow has no op '{name}'", hint=supply_hint(name))
    # An op of another runtime is told by its origin; of any other word, the nearest ops help more.
    close = difflib.get_close_matches(name, list(CATALOG), 3, 0.6)
    hint = f"did you mean {' or '.join(close)}?" if close else Hint(command("ops", Blank("PATTERN")), " searches")
    raise NotFoundError(f"unknown op '{name}'", hint=hint)


def _summary(name: str) -> OpSummary:
    definition = CATALOG[name]
    return OpSummary(
        name,
        registry.family(name),
        registry.has_kernel(name),
        tuple(f"{arg.name}: {arg_type(arg)}" for arg in definition.inputs),
        tuple(f"{arg.name}: {arg_type(arg)}" for arg in definition.outputs),
        tuple(sorted(definition.flags)),
    )


def arg_type(arg: ArgDef) -> str:
    """Return the type of an argument in the notation of specs: `T`, `N * T`, `Ref(float)`, `Tin`."""
    element = arg.type_list_attr or arg.type_attr or str(arg.dtype)
    repeated = element if arg.number_attr is None else f"{arg.number_attr} * {element}"
    return f"Ref({repeated})" if arg.is_ref else repeated


def describe_op(name: str) -> OpDetail:
    """Return all facts about an op; NotFoundError with the nearest names for an undeclared op."""
    if name not in CATALOG:
        _raise_unknown(name)
    definition = CATALOG[name]
    kernels = tuple(map(_kernel_info, registry.kernels(name)))
    # The docstring of the kernel says what TensorFlow's sentence leaves out; ops of libraries have nothing else.
    own_doc = next((info.location.doc for info in kernels if info.location.doc), "")
    return OpDetail(
        name=name,
        spec=CATALOG.spec(name),
        declared_by="TensorFlow" if CATALOG.is_builtin(name) else "an op library",
        inputs=tuple(ArgInfo(arg.name, arg_type(arg)) for arg in definition.inputs),
        outputs=tuple(ArgInfo(arg.name, arg_type(arg)) for arg in definition.outputs),
        attrs=tuple(map(_attr_info, definition.attrs.values())),
        flags=tuple(sorted(definition.flags)),
        family=registry.family(name),
        kernels=kernels,
        tensorflow_dtypes=tuple(map(_dtype_names, kernel_types.alternatives(name))),
        shape=_location(registry.shape_function(name), name),
        gradient=_gradient(name),
        flops=_flops(name),
        xla=None if (lowering := registry.lowering(name)) is None else _location(lowering.function, name),
        onnx=_location(registry.onnx_lowering(name), name),
        facts={fact: FACTS[fact] for fact in facts_of(name)},
        doc="\n".join(filter(None, (op_sentence(name), own_doc))),
    )


def _dtype_names(row: Mapping[str, Iterable[DType]]) -> dict[str, tuple[str, ...]]:
    return {attr: tuple(sorted(map(str, allowed))) for attr, allowed in row.items()}


def _attr_info(attr: AttrDef) -> AttrInfo:
    allowed = tuple(map(_text, attr.allowed or ()))
    return AttrInfo(attr.name, attr.type, _text(attr.default) if attr.has_default else None, attr.minimum, allowed)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "backslashreplace")}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)


def _kernel_info(kernel: registry.Kernel) -> KernelInfo:
    allowed = {name: tuple(map(str, types)) for name, types in kernel.dtypes.items()}
    location = _location(kernel.function, kernel.op)
    assert location is not None
    return KernelInfo(allowed, kernel.engine, kernel.is_stateful, location)


def _location(function: Any, op: str) -> Location | None:
    """Return the place of a function's source; a function of NumPy, or made by a family, is at the family's file."""
    if function is None:
        return None
    # A lowering may be a composition of ops, a partial, or a wrapped function: the place is that of the innermost.
    inner: Any = inspect.unwrap(function.build if isinstance(function, registry.Composition) else function)
    if (name := registry.name_in_namespace(inner)) is not None:
        return Location(name, _relative(_family_file(op)), None, "")
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    code = getattr(inner, "__code__", None)
    name = str(getattr(inner, "__qualname__", None) or getattr(inner, "__name__", type(inner).__name__))
    doc = inspect.getdoc(inner) if code is not None else None
    file = _family_file(op) if code is None else code.co_filename
    name = f"numpy.{name}" if code is None and "." not in name else name.replace(".<locals>", "")
    return Location(name, _relative(file), None if code is None else code.co_firstlineno, doc or "")


def _family_file(op: str) -> str:
    family = registry.family(op)
    return "" if family is None else op_facts.family_path(family)


def _relative(file: str) -> str:
    path = pathlib.Path(file).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else file


def _gradient(op: str) -> Location | str | None:
    function = registry.gradient_function(op)
    if function is registry.NOT_DIFFERENTIABLE:
        return "not differentiable"
    if function is registry.WITHOUT_GRADIENT:
        return "none, as in TensorFlow: an error if a gradient must flow"
    return (
        "part of a loop, conditional or call that is differentiated as a whole"
        if function is registry.BY_SWEEP
        else _location(function, op)
    )


def _flops(op: str) -> Location | str | None:
    function = registry.flops_function(op)
    if function is registry.zero_cost:
        return "none: no arithmetic"
    return "the FLOPs of the called functions" if function is registry.uncounted_call else _location(function, op)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class OpCoverage(Report, main_table="families"):
    """The numbers of ops with a kernel, a shape function and so on, by family."""

    families: tuple[FamilyCoverage, ...]
    """The families by name."""
    total: FamilyCoverage
    """The sums of all families."""

    def headline(self) -> str:
        return f"{self.total.kernels:,} of {self.total.ops:,} ops have kernels"


NO_FAMILY = "(interface only)"


def op_coverage() -> OpCoverage:
    """Return the numbers of ops with a kernel, a shape function, a gradient and FLOPs, by family and in all.

    Families with declarations only count, too. Every family is imported.
    """
    registry.load_all_families()
    # Over the catalog and not the registrations, which lack the ops without any.
    named = ((registry.family(op) or (NO_FAMILY if CATALOG.is_builtin(op) else "(op libraries)"), op) for op in CATALOG)
    families = grouped(named)
    # Names in parentheses are no families, and come last.
    rows = tuple(_coverage(family, families[family]) for family in sorted(families, key=lambda f: (f[0] == "(", f)))
    return OpCoverage(rows, _total(rows))


def _coverage(family: str, ops: Sequence[str]) -> FamilyCoverage:
    gradients = [registry.gradient_function(op) for op in ops]
    # A mark is a decision that there is no gradient, and counts apart.
    none = sum(function in (registry.NOT_DIFFERENTIABLE, registry.WITHOUT_GRADIENT) for function in gradients)
    return FamilyCoverage(
        family,
        ops=len(ops),
        kernels=sum(bool(registry.kernels(op)) for op in ops),
        shapes=sum(registry.shape_function(op) is not None for op in ops),
        gradients=sum(function is not None for function in gradients) - none,
        not_differentiable=none,
        flops=sum(registry.flops_function(op) is not None for op in ops),
    )


def _total(rows: Iterable[FamilyCoverage]) -> FamilyCoverage:
    """Return the sum of all rows."""
    counts = collections.Counter[str]()
    for row in rows:
        counts.update({f.name: getattr(row, f.name) for f in dataclasses.fields(row) if f.name != "family"})
    return FamilyCoverage("total", **counts)


@checked
def missing_parts(graph: GraphLike) -> Rows[MissingFor]:
    """Return the parts that tfg lacks for the ops of a graph and its functions, for the dtypes of their nodes."""
    graph = as_graph(graph)
    # Calls by name are of the graph's own functions, and no ops.
    users = grouped((node.op, node) for node in all_nodes(graph) if node.op not in graph.functions)
    rows = (_missing(op, nodes) for op, nodes in users.items())
    return Rows(row for row in rows if row is not None)


def _missing(op: str, nodes: Sequence[Node]) -> MissingFor | None:
    # A few, since an op of a large model has thousands of nodes.
    names = tuple(node.name for node in nodes[:5])
    definition = CATALOG.get(op)
    if definition is None:
        return MissingFor(op, len(nodes), ("interface",), foreign(op)[0], names)
    # The kernel is asked of the nodes instead: an op may have one for some dtypes only.
    lacks = [name for name, table in _TABLES.items() if table(op) is None]
    reason = _kernel_refusal(definition, nodes)
    if reason is None and not lacks:
        return None
    return MissingFor(op, len(nodes), (*(["kernel"] if reason else []), *lacks), reason or "undecided", names)


_TABLES: dict[str, Callable[[str], Any]] = {
    "shape": registry.shape_function, "gradient": registry.gradient_function, "flops": registry.flops_function,
}  # fmt: skip


def _kernel_refusal(definition: OpDef, nodes: Iterable[Node]) -> str | None:
    """Return the reason why the first node cannot run; bodies of polymorphic functions are left out."""
    types = [attr.name for attr in definition.attrs.values() if attr.type == "type"]
    for node in nodes:
        # A node of a polymorphic function gets its dtypes from a call.
        if all(isinstance(node.attr(name), DType) for name in types if name in node.attrs):
            try:
                binding.select_kernel(node)
            except TfgError as error:
                return error.message
    return None
