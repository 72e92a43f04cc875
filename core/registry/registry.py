"""Implementations of ops: kernels, shape functions, gradients, FLOPs and facts.

A family file under `ops/` fills these tables with decorators. The first query for an op imports the op's family; `families`
knows the file. The tables of an op:

    @kernel("MatMul")
    def matmul(a, b, *, transpose_a, transpose_b): ...        # NumPy in, NumPy out
    @shape("MatMul")
    def matmul_shape(a, b, *, transpose_a, transpose_b): ...  # TensorSpecs in, Shape out; or a signature: kernel(shape=...)
    @gradient("MatMul")
    def matmul_gradient(g, node, grad): ...                   # builds nodes through g, a GradientBuilder
    @flops("MatMul")
    def matmul_flops(a, *, transpose_a, outputs): ...         # TensorSpecs in, Cost out

Shape and FLOPs functions may leave out the last inputs of an op, which they do not read.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from ..support import dataclasses
from ..support.errors import AlreadyExistsError, InvalidArgumentError, UnimplementedError
from ..types import dtypes
from ..types.dims import DimLike
from ..types.dtypes import DType
from . import op_facts
from .catalog import CATALOG
from .op_facts import STATED, family_of_op
from .shape_signatures import signature

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Value = TypeVar("_Value")


@functools.cache
def _first_parameter(function: Callable[..., Any]) -> str:
    # By the name of the class, since this module does without NumPy.
    is_ufunc = type(inspect.unwrap(function)).__name__ == "ufunc"  # ufuncs have no signature before NumPy 2.4
    return "" if is_ufunc else next(iter(inspect.signature(function).parameters), "")


@dataclasses.dataclass(frozen=True, slots=True)
class Kernel:
    """A NumPy function for an op: inputs positional (list arguments as lists), attributes keyword-only.

    A parameter annotated with a NamedTuple takes the inputs, or the attributes, named by its fields. `dtypes` restricts
    type attributes, as in {"T": (string,)}; a kernel whose first parameter is `ctx` has state. `is_own`: of a family of tfg.
    """

    op: str
    function: Callable[..., Any]
    dtypes: Mapping[str, tuple[DType, ...]]
    engine: str
    is_own: bool = False

    @property
    def is_stateful(self) -> bool:
        return _first_parameter(self.function) == "ctx"

    def accepts(self, attrs: Mapping[str, Any]) -> bool:
        """Return True if the kernel's dtypes include the node's type attributes."""
        return all(attrs.get(name) in allowed for name, allowed in self.dtypes.items())


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """Arithmetic of an execution. A multiply-add is 1 in `macs`, 2 in `flops`; transcendental functions are apart."""

    flops: DimLike = 0
    macs: DimLike = 0
    transcendentals: DimLike = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.macs + other.macs, self.transcendentals + other.transcendentals)

    def __mul__(self, times: DimLike) -> Cost:
        return Cost(self.flops * times, self.macs * times, self.transcendentals * times)


def multiply_adds(count: DimLike) -> Cost:
    """Return the cost of `count` multiply-adds."""
    return Cost(flops=2 * count, macs=count)


ZERO: Final = Cost()


class _NotDifferentiable:
    """Mark of ops through which no gradient flows, as TensorFlow states."""

    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE: Final = _NotDifferentiable()


class _BySweep:
    """The gradient needs more than the node: core/gradients takes whole loops, conditionals and calls back."""

    def __repr__(self) -> str:
        return "BY_SWEEP"


BY_SWEEP: Final = _BySweep()


class WithoutGradient:
    """Mark of ops without a known gradient, in TensorFlow too: an error if a gradient has to flow through the op."""

    def __repr__(self) -> str:
        return "WITHOUT_GRADIENT"


WITHOUT_GRADIENT: Final = WithoutGradient()
Gradient = Callable[..., Any] | _NotDifferentiable | _BySweep | WithoutGradient
"""The gradient function of an op, or the reason for having none."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProfilerFormula:
    """The count of tf.profiler for (node, specs of inputs, specs of outputs), and its difference from `flops`."""

    count: Callable[..., float]
    differs: str


@dataclasses.dataclass(frozen=True, slots=True)
class Composition:
    """The other ops that a node is composed of: `build` is (g, node, inputs) -> outputs, where `g` is a GradientBuilder."""

    build: Callable[..., Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Lowering:
    """An op's expression for a compiler of array programs, and the places of the inputs whose values must be known.

    The first `updates` inputs are variables: the function takes their values and returns the new values. `always`: the
    function is called even where all inputs are known. `sites`: the function takes the node's name as `site`. The inputs at
    the places `computed`, though static, may be values of the program where nobody knows them before.
    """

    function: Callable[..., Any] | Composition
    static: tuple[int, ...]
    updates: int = 0
    always: bool = False
    sites: bool = False
    computed: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Blockwise:
    """Epilogue fusion of a kernel: the result is finished block by block.

    The kernel takes `epilogue` (see numerics.convolution) and, if `takes_bias`, a vector that is added to the channels.
    `scaled` is (w, factor): the second input with each channel of the result multiplied by its factor.
    """

    scaled: Callable[..., Any]
    takes_bias: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Affine:
    """The vector that an op adds to the channels of its first input, and the vector of factors before."""

    function: Callable[..., Any]
    has_factor: bool


class _LoadedRegistrations:
    """Registrations of the op library that is being loaded, and their undo functions."""

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.undo: list[Callable[[], object]] = []


_library: _LoadedRegistrations | None = None
_loading = threading.RLock()
"""Lock of the thread that imports a family or an op library, since `_library` names the owner of the registered kernels."""


class _Registrations(dict[str, _Value]):
    """The registrations of a kind, by op: those of the families imported so far, and of op libraries."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def of(self, op: str) -> _Value | None:
        """Return the registration of an op, whose family is imported first; None without a registration."""
        _load_family(op)
        return self.get(op)

    def add(self, ops: Iterable[str], value: _Value) -> _Value:
        """Register a value for ops; AlreadyExistsError if one of them has another value."""
        for op in ops:
            # A library may have gradients that nodes name, of no op.
            if _library is None or self is not _GRADIENTS:
                _require_declared(op)
            if _library is not None:
                _load_family(op)  # first, as what the family has already is an error of the library, not of the family
            # Marks such as NOT_DIFFERENTIABLE, and functions of several ops, may be stated twice.
            if op in self and self[op] is not value:
                raise AlreadyExistsError(f"op '{op}' already has a {self._kind}", op=op)
            self[op] = value
            if _library is not None:
                _library.undo.append(functools.partial(self.pop, op))
        return value

    def decorator(self, ops: Iterable[str]) -> Callable[[_Function], _Function]:
        """Return the decorator that registers a function for ops."""
        return functools.partial(self.add, ops)  # type: ignore[return-value]


_KERNELS: dict[str, list[Kernel]] = {}
_SHAPES: Final = _Registrations[Callable[..., Any]]("shape function")
_ESTIMATES: Final = _Registrations[Callable[..., Any]]("estimate")
_GRADIENTS: Final = _Registrations[Gradient]("gradient")
_FLOPS: Final = _Registrations[Callable[..., Cost]]("FLOPs function")
_LAYOUTS: Final = _Registrations[str]("layout")
_PROFILER: Final = _Registrations[ProfilerFormula]("formula of tf.profiler")
_LOWERINGS: Final = _Registrations[Lowering]("lowering")
_ONNX: Final = _Registrations[Callable[..., Any] | Composition]("lowering to ONNX")
_AFFINE: Final = _Registrations[Affine]("factor and bias")
_BLOCKWISE: Final = _Registrations[Blockwise]("way to finish it")


def kernel(
    *ops: str,
    shape: str | Callable[..., Any] = "",
    gradient: Gradient | None = None,
    flops: Callable[..., Cost] | None = None,
    facts: Iterable[str] = (),
    arithmetic: bool = True,
    engine: str = "numpy",
    **dtype_names: Iterable[str],
) -> Callable[[_Function], _Function]:
    """Register a kernel for `ops`; `T=("string",)` restricts dtypes of attributes. The first accepting kernel wins.

    `shape` is the ops' shape function, or the signature of their shapes (see shape_signatures). `gradient` and `flops` state
    a gradient or a count that needs no function of its own: a mark such as WITHOUT_GRADIENT, `by_ops`, `counted`. `facts` are
    facts of these ops. `arithmetic=False` says `not_arithmetic` of them.
    """
    _state(ops, shape, gradient, flops, facts)
    if not arithmetic:
        not_arithmetic(*ops)
    allowed = {name: tuple(map(dtypes.from_name, names)) for name, names in dtype_names.items()}
    # The module of the caller, not of the function: a library may register a function of tfg, and limits trust tfg's kernels.
    is_own = sys._getframe(1).f_globals["__name__"].startswith(f"{op_facts.PACKAGE}.")

    def register(function: _Function) -> _Function:
        for op in ops:
            _require_declared(op)
            _add_kernel(Kernel(op, function, allowed, engine, is_own))
        return function

    return register


def _state(
    ops: Iterable[str],
    shape: str | Callable[..., Any],
    gradient: Gradient | None,
    flops: Callable[..., Cost] | None,
    facts: Iterable[str],
) -> None:
    """Register what is said of ops beside their kernel."""
    for name in facts:
        STATED[name].update(ops)
    if shape:
        _SHAPES.add(ops, signature(shape) if isinstance(shape, str) else shape)
    if gradient is not None:
        _GRADIENTS.add(ops, gradient)
    if flops is not None:
        _FLOPS.add(ops, flops)


def shape(*ops: str) -> Callable[[_Function], _Function]:
    """Register a shape function: TensorSpecs and attributes to a Shape or TensorSpec, or a sequence for all outputs."""
    return _SHAPES.decorator(ops)


def shaped(text: str, *ops: str) -> None:
    """Register the shape function that a signature describes."""
    _SHAPES.add(ops, signature(text))


def estimate(*ops: str) -> Callable[[_Function], _Function]:
    """Register a shape function that assumes something likely, for counts: `core/inference/estimates.py` alone calls it."""
    return _ESTIMATES.decorator(ops)


def gradient(*ops: str) -> Callable[[_Function], _Function]:
    """Register a gradient function (g, node, *grads) -> an Output, IndexedSlices or None for each input.

    In an op library the name may also be that of a gradient that nodes name in `_gradient_op_type`.
    """
    return _GRADIENTS.decorator(ops)


def flops(*ops: str) -> Callable[[_Function], _Function]:
    """Register a FLOPs function: TensorSpecs and attributes (`outputs` gives the output specs) to a Cost."""
    return _FLOPS.decorator(ops)


def not_differentiable(*ops: str) -> None:
    """Declare ops without gradient: TensorFlow states that none flows through, or no input and output is a float."""
    _GRADIENTS.add(ops, NOT_DIFFERENTIABLE)


def without_gradient(*ops: str) -> None:
    """Declare ops without a known gradient: where a gradient has to flow through a node, an error names the node."""
    _GRADIENTS.add(ops, WITHOUT_GRADIENT)


def handled_by_sweep(*ops: str, calls: bool = False) -> None:
    """Declare control-flow ops that the gradient sweep handles itself; `calls`: FLOPs are the FLOPs of the bodies."""
    _GRADIENTS.add(ops, BY_SWEEP)
    if calls:
        _FLOPS.add(ops, uncounted_call)


def zero_flops(*ops: str) -> None:
    """Declare ops that do no arithmetic."""
    _FLOPS.add(ops, zero_cost)


def not_arithmetic(*ops: str) -> None:
    """Declare ops that do no arithmetic and let no gradient through: they read, write, decode, or keep state."""
    not_differentiable(*ops)
    zero_flops(*ops)


def layout(line: str, *ops: str) -> None:
    """Declare the inputs and outputs of `ops` in the order of dimensions, NCHW or NHWC; not needed for elementwise ops.

    A line (`TA -> R`, for instance) has a letter for each input and output:

        T   a tensor whose dimensions are in the layout
        V   a vector or matrix with a row for each dimension: sizes, paddings
        A   numbers of dimensions
        B   as T, or a tensor that broadcasts to the layout
        R   as T where `keep_dims` is set; otherwise the dimensions that remain without the dimensions in A
        .   independent of the layout

    and `*` after the letter of a list; from a list to a list, each element goes by itself.
    """
    _LAYOUTS.add(ops, line)


def profiled(count: Callable[..., float], *ops: str, differs: str = "") -> None:
    """Declare the formula of `profiler_formulas` for these ops, and the reason for its difference from `flops`."""
    _PROFILER.add(ops, ProfilerFormula(count, differs))


def lower(
    *ops: str,
    static: tuple[int, ...] = (),
    updates: int = 0,
    always: bool = False,
    sites: bool = False,
    computed: tuple[int, ...] = (),
) -> Callable[[_Function], _Function]:
    """Register a lowering (xla, *inputs, **attributes) -> a value, or a tuple of several.

    `xla` has the functions of jax.numpy and jax.nn, jax.lax as `lax`, and the additions of engines.xla. The inputs at the
    places `static`, -1 being the last, are NumPy arrays, as shapes are. The first `updates` inputs are the values of
    variables, and the results are their new values; an op that reads a variable gets the value as any other input. `always`
    is for ops that are more than their kernels (lists, calls of functions); `sites` for ops that need their node's name.
    Static inputs that are also `computed` come as arrays of the program where they are not known before.
    """

    def register(function: _Function) -> _Function:
        _LOWERINGS.add(ops, Lowering(function, static, updates, always, sites, computed))
        return function

    return register


def lower_as(**names: str) -> None:
    """Register lowerings of ops that equal a function of the namespace, by its name."""
    for op, name in names.items():
        lower(op)(functools.partial(_named_function, name))


def _named_function(name: str, namespace: Any, *values: Any) -> Any:
    return getattr(namespace, name)(*values)


def arrays(
    *ops: str,
    static: tuple[int, ...] = (),
    sizes: tuple[int, ...] = (),
    computed: tuple[int, ...] = (),
    axes: tuple[tuple[int, int], ...] = (),
    xla_static: tuple[int, ...] = (),
) -> Callable[[_Function], _Function]:
    """Register an array program as the lowering to XLA (see `lower`) and to ONNX.

    ONNX's namespace is onnx.array_programs: sizes may be known in the run only, as static inputs at the places `sizes` may
    be too, and nothing checks requirements there. Each of `axes`, the place of a static axis and that of the input it belongs
    to, becomes a choice in ONNX where the run computes the axis. Inputs at the places `xla_static` are static in XLA alone.
    """

    def register(function: _Function) -> _Function:
        lower(*ops, static=static + xla_static, computed=computed)(function)
        return onnx_arrays(*ops, static=static, sizes=sizes, axes=axes)(function)

    return register


def everywhere(
    *ops: str,
    shape: str | Callable[..., Any] = "",
    gradient: Gradient | None = None,
    flops: Callable[..., Cost] | None = None,
    facts: Iterable[str] = (),
    static: tuple[int, ...] = (),
    sizes: tuple[int, ...] = (),
) -> Callable[[_Function], _Function]:
    """Register an array program as the kernel in NumPy, too: one expression then computes the op in all engines.

    `shape`, `gradient`, `flops` and `facts` are as for `kernel`.
    """
    _state(ops, shape, gradient, flops, facts)
    from ..numerics.array_namespace import NUMPY  # commands that run no kernel do without

    def register(function: _Function) -> _Function:
        for op in ops:
            _add_kernel(Kernel(op, functools.partial(function, NUMPY), {}, "numpy", True))
        return arrays(*ops, static=static, sizes=sizes)(function)

    return register


def onnx_arrays(
    *ops: str, static: tuple[int, ...] = (), sizes: tuple[int, ...] = (), axes: tuple[tuple[int, int], ...] = ()
) -> Callable[[_Function], _Function]:
    """Register an array program as the lowering to ONNX of ops that XLA has functions for."""

    def register(function: _Function) -> _Function:
        onnx(*ops)(functools.update_wrapper(functools.partial(_on_onnx_arrays, function, static, sizes, axes), function))
        return function

    return register


def arrays_as(**names: str) -> None:
    """Register array programs of ops that equal a function of the namespace, by its name."""
    for op, name in names.items():
        arrays(op)(functools.partial(_named_function, name))


def composed(*ops: str, static: tuple[int, ...] = ()) -> Callable[[_Function], _Function]:
    """Register (g, node, inputs) -> outputs, which adds the ops that a node is composed of, as the lowering to XLA and ONNX.

    An engine then runs the parts. The inputs at the places `static` have to be known, as in `lower`.
    """

    def register(build: _Function) -> _Function:
        _LOWERINGS.add(ops, Lowering(Composition(build), static))
        _ONNX.add(ops, Composition(build))
        return build

    return register


def name_in_namespace(function: Any) -> str | None:
    """Return the name of the function that a lowering by `arrays_as` or `lower_as` calls; None for another."""
    # Such a partial has no source of its own: lists of ops name the function of the namespace.
    return function.args[0] if isinstance(function, functools.partial) and function.func is _named_function else None


def _on_onnx_arrays(
    program: Callable[..., Any],
    static: tuple[int, ...],
    sizes: tuple[int, ...],
    axes: tuple[tuple[int, int], ...],
    g: Any,
    /,  # an attribute may have the name of a parameter, as `axes` of quantized ops has
    *inputs: Any,
    **attrs: Any,
) -> Any:
    return g.evaluate(program, static, sizes, inputs, attrs, axes)


def onnx(*ops: str) -> Callable[[_Function], _Function]:
    """Register a lowering to ONNX (g, *inputs, **attributes) -> a value, or a sequence with a value for each output.

    `g` has ONNX's operators as methods and the additions of onnx.emitter; inputs are Values. A keyword parameter `outputs`
    gets the specs of the node's outputs. A lowering refuses unsupported attributes by `g.refuse(reason)`. An op whose array
    program becomes as few operators, for as many shapes and dtypes, has `arrays` instead.
    """
    return _ONNX.decorator(ops)


def blockwise(op: str, way: Blockwise) -> None:
    """Declare that the kernels of an op hand on their results block by block."""
    _BLOCKWISE.add((op,), way)


def affine(*ops: str, has_factor: bool = True) -> Callable[[_Function], _Function]:
    """Register (x, *parameters, **attributes) -> (factor, bias), vectors that make the first output of x, channels last.

    Without a factor the function returns the bias alone. Refusals are the kernel's; only the shape and dtype of x are read.
    """

    def register(function: _Function) -> _Function:
        _AFFINE.add(ops, Affine(function, has_factor))
        return function

    return register


def facts(*names_and_ops: str, of: Iterable[str]) -> None:
    """State facts (see op_facts.FACTS) of the ops `of`."""
    for name in names_and_ops:
        STATED[name].update(of)


def kernels(op: str) -> list[Kernel]:
    """Return all kernels of an op, in the order of registration."""
    _load_family(op)
    return _KERNELS.get(op, [])


_NO_SHAPES: Final = signature("->")


def shape_function(op: str, *, likely: bool = False) -> Callable[..., Any] | None:
    """Return the shape function, which gives facts, or the op's `estimate`; None if there is none."""
    function = (_ESTIMATES if likely else _SHAPES).of(op)
    # An op without outputs needs no function to say that it has no shapes.
    return _NO_SHAPES if function is None and not likely and op in _KERNELS and not CATALOG[op].outputs else function


gradient_function: Final = _GRADIENTS.of
"""Return the gradient function, NOT_DIFFERENTIABLE, BY_SWEEP, WITHOUT_GRADIENT, or None for an undeclared gradient."""
flops_function: Final = _FLOPS.of
"""Return the FLOPs function (zero_cost for free ops), or None for undeclared FLOPs."""
layout_of: Final = _LAYOUTS.of
"""Return the line of `layout`, None for an undeclared layout."""
profiler_formula: Final = _PROFILER.of
"""Return tf.profiler's formula of an op; None without a formula."""
lowering: Final = _LOWERINGS.of
"""Return the lowering of an op for compilers; None without a lowering."""
onnx_lowering: Final = _ONNX.of
"""Return the lowering of an op to ONNX; None without a lowering."""
blockwise_way: Final = _BLOCKWISE.of
"""Return the epilogue fusion of an op; None if unsupported."""
affine_function: Final = _AFFINE.of
"""Return the registered factor and bias of an op; None without a registration."""


def has_kernel(op: str) -> bool:
    """Return True if tfg can run the op; imports no family."""
    return op in _KERNELS or op in family_of_op()


def family(op: str) -> str | None:
    """Return the name of the file under `ops/` that holds the op."""
    return family_of_op().get(op)


def load_all_families() -> None:
    """Import every family file."""
    for name in op_facts.family_names():
        op_facts.load_family(name)


def registered_ops() -> set[str]:
    """Return ops with anything registered so far; call load_all_families first for all."""
    return {*_KERNELS, *_SHAPES, *_GRADIENTS, *_FLOPS}


@contextlib.contextmanager
def op_library() -> Iterator[list[Kernel]]:
    """Collect the registrations of an op library, and undo all of them after an error. Yields the library's kernels.

    A library's kernels precede tfg's kernels of other engines or dtypes.
    """
    global _library
    with _loading:
        if _library is not None:
            # A library may load another: what both registered is undone together.
            yield _library.kernels
            return
        _library = _LoadedRegistrations()
        try:
            yield _library.kernels
        except BaseException:
            # In reverse, so that each undo finds the tables as its registration left them.
            for take_back in reversed(_library.undo):
                take_back()
            raise
        finally:
            _library = None


@functools.cache
def _load_family(op: str) -> None:
    global _library
    # The file of families says which module registers the op, so that only that one is imported.
    name = family_of_op().get(op)
    if name is not None:
        with _loading:
            # A library's registration may import the family: the family's own are no part of the library, and stay after
            # an error.
            outer, _library = _library, None
            try:
                op_facts.load_family(name)
            finally:
                _library = outer


def uncounted_call(*inputs: Any) -> Cost:
    """Refuse to count the FLOPs of an op whose function is unknown; the counter looks into the known bodies."""
    raise UnimplementedError("the FLOPs of its function cannot be derived from shapes")


def zero_cost(*inputs: Any) -> Cost:
    """Return no FLOPs, for ops that do no arithmetic."""
    return ZERO


def uncounted_program(*inputs: Any) -> Cost:
    """Raise UnimplementedError, for ops that hold compiled code."""
    raise UnimplementedError("it holds a compiled program with unknown operations")


def _add_kernel(added: Kernel) -> None:
    if _library is not None:
        _load_family(added.op)
    registered = _KERNELS.setdefault(added.op, [])
    # Kernels of other dtypes or engines may stand side by side.
    same = (k for k in registered if k.engine == added.engine and k.dtypes == added.dtypes)
    if any(k.function is not added.function for k in same):
        message = f"op '{added.op}' already has a kernel for these dtypes and engine '{added.engine}'"
        raise AlreadyExistsError(message, op=added.op)
    if _library is None:
        registered.append(added)
    else:  # behind the library's kernels and before tfg's, as the first that accepts a node runs
        registered.insert(sum(k in _library.kernels for k in registered), added)
        _library.kernels.append(added)
        _library.undo.append(lambda: registered.remove(added))


def _require_declared(op: str) -> None:
    if op not in CATALOG:
        raise InvalidArgumentError(f"op '{op}' is not declared", op=op, hint="declare its interface first")
