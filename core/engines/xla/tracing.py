"""Tracing of a group's nodes into an array program of JAX's, by the lowering of each op.

Values that follow from constants and shapes alone are computed by tfg's own kernels meanwhile.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import chlo, stablehlo

from ...building.gradbuilder import parts_of
from ...graph.callers import function_references
from ...graph.graph import Function, Graph, Node, Output
from ...inference.binding import bind_attrs, group_inputs, input_bundles, require_op_def
from ...inference.node_calls import apply_kernel
from ...ops.shared.row_updates import grouped, scatter_nd, scattered
from ...ops.shared.shape_arguments import without_ellipsis
from ...planning.plan import Loop, Plan, Step
from ...planning.planner import compile_plan
from ...registry.op_facts import has_fact
from ...registry.registry import Composition, Lowering, lowering
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...support.user_signals import pass_on
from ...types.dtypes import DType, resource
from ...types.shapes import Shape, merge_shapes
from ...types.tensors import FuncRef
from ..plan_division import said
from ..protocol import ENDING, Cluster, Declined, UnsupportedNodes, inputs_of
from ..reasons import uncompiled
from ..step_bodies import (
    UNKNOWN,
    called_plan,
    changing,
    growing_steps,
    iterations,
    known_may_follow,
    known_results,
    only_decides,
    trip_bound,
)
from . import control_flow_programs, traced_values
from .control_flow_programs import Branches, TraceMemory, on_branch
from .list_programs import CompiledStack, CompiledTensorArray, StackedElements, Unread
from .op_gradients import detached, differentiated, ends_of_iterations, passed_on, with_factor
from .traced_values import TracedVariable, export, jax, jnp, require_widths, special

# Programs that JAX exported, as StableHLO with guarantees of compatibility, called within programs of this process.

_GPUS: Final = ("cuda", "rocm")
"""JAX's names of the platforms whose backend is called `gpu`."""


def call_module(module: bytes, version: int, platforms: Sequence[str], arguments: Sequence[Any], dtypes: Sequence[Any]) -> Any:
    """Return the results, of `dtypes`, of an exported program on `arguments`, whose shapes replace unknown shapes in the
    program.

    `version` is the version of the calling convention, `platforms` the platforms of the program. Raises
    InvalidArgumentError where the bytes are no program or a program of other parameters, and UnimplementedError for another
    platform.
    """
    names = [name.lower() for name in platforms]
    _require_platform(names)
    specs = [jax.ShapeDtypeStruct(value.shape, value.dtype) for value in arguments]
    # A program for several platforms takes the number of the platform first.
    index = [jax.ShapeDtypeStruct((), jnp.int32)] if len(names) > 1 else []
    code, shapes, is_polymorphic = _refined(module, [*index, *specs])
    if len(shapes) != len(dtypes):
        raise InvalidArgumentError(f"the program returns {len(shapes)} results, not {len(dtypes)}")

    def pattern(*values: Any) -> list[Any]:
        return [jnp.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes)]

    # JAX makes an `Exported` of a function alone. So a function of the same shapes is exported, and the code is replaced.
    program = dataclasses.replace(
        export.export(jax.jit(pattern, keep_unused=True), platforms=names)(*specs), mlir_module_serialized=code,
        calling_convention_version=version, module_kept_var_idx=tuple(range(len(specs))), uses_global_constants=is_polymorphic,
    )  # fmt: skip
    return tuple(program.call(*arguments))


def _require_platform(names: Sequence[str]) -> None:
    backend = jax.default_backend()
    if not {backend, *(_GPUS if backend == "gpu" else ())} & set(names):
        problem = f"its program is for {' and '.join(names)}, not for JAX's platform {backend}"
        raise UnimplementedError(problem + " (JAX_PLATFORMS=cpu chooses the CPU)" * ("cpu" in names))


def _refined(module: bytes, arguments: Sequence[Any]) -> tuple[bytes, list[tuple[int, ...]], bool]:
    """Return a program for arguments of these shapes, the shapes of the results, and whether the program left some shapes
    open.

    Assertions on shapes stay in the program, for JAX to check.
    """
    with ir.Context() as context, ir.Location.unknown(context):
        for dialect in (stablehlo, chlo):
            dialect.register_dialect(context)
        try:
            program = stablehlo.deserialize_portable_artifact(context, module)
            signature = _signature(program)
        except (ValueError, RuntimeError, KeyError, ir.MLIRError) as error:
            raise InvalidArgumentError(f"the module is not a program: {error}") from error
        types = [ir.RankedTensorType(kind) for kind in signature.inputs]
        fitting = len(types) == len(arguments) and all(map(_fits, types, arguments))
        if not fitting:
            shown = ", ".join(f"{value.dtype}{list(value.shape)}" for value in arguments)
            raise InvalidArgumentError(f"the program takes {', '.join(map(str, types))}, not {shown}")
        is_polymorphic = not all(ir.RankedTensorType(t).has_static_shape for t in (*signature.inputs, *signature.results))
        if is_polymorphic:
            refined_types = [ir.RankedTensorType.get(value.shape, kind.element_type) for value, kind in zip(arguments, types)]
            _refine(program, refined_types)
        shapes = [tuple(ir.RankedTensorType(kind).shape) for kind in _signature(program).results]
        if is_polymorphic:
            module = stablehlo.serialize_portable_artifact(program, stablehlo.get_current_version())
        return module, shapes, is_polymorphic


def _signature(module: Any) -> Any:
    """Return the type of a program's main function."""
    main = ir.SymbolTable(module.operation)["main"]
    return ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)


def _fits(parameter: Any, value: Any) -> bool:
    """Return True if a value is of a parameter's rank and known dimensions."""
    dims = [None if parameter.is_dynamic_dim(i) else parameter.get_dim_size(i) for i in range(parameter.rank)]
    return len(dims) == len(value.shape) and all(a in (None, b) for a, b in zip(dims, value.shape))


def _refine(module: Any, types: Sequence[Any]) -> None:
    """Let shapes follow from the types of the arguments."""
    stablehlo.register_stablehlo_passes()
    texts = ",".join(map(str, types))
    passes = f"builtin.module(stablehlo-refine-arguments{{types={texts}}},stablehlo-refine-shapes)"
    passmanager.PassManager.parse(passes).run(module.operation)


# Places in tensors that a program computes, as far as a slice's size is the same for all of them: `x[i]`, `x[i : i + 3]`.
# A place is a traced integer; what it is made of is noted: a vector's elements, and the sum of another place and a constant.


class ComputedPlaces:
    """The places of a program by the arrays that hold them. The arrays are kept, so that identities stay theirs."""

    def __init__(self) -> None:
        self._vectors: dict[int, tuple[Any, Sequence[Any]]] = {}
        self._sums: dict[int, tuple[Any, Any, int]] = {}

    def note_vector(self, vector: Any, elements: Sequence[Any]) -> None:
        """Note the scalars that a vector is made of."""
        if isinstance(vector, jax.Array) and vector.ndim == 1 and _is_integer(vector):
            self._vectors[id(vector)] = vector, list(elements)

    def note_sum(self, node: Node, values: Sequence[Any], total: Any) -> None:
        """Note the result of a node if it is a place plus or minus a constant."""
        sign = 1 if has_fact(node.op, "addition") else -1 if has_fact(node.op, "subtraction") else 0
        if not sign or not isinstance(total, jax.Array) or total.size != 1 or not _is_integer(total):
            return
        (base, offset), (other, more) = map(self.parts, values)
        if base is None and sign == 1:
            base, other = other, base
        # A place less another place is a distance, and no place plus a constant.
        if base is not None and other is None:
            self._sums[id(total)] = total, base, offset + sign * more

    def parts(self, place: Any) -> tuple[Any, int]:
        """Return an integer as the sum of a traced integer, None for none, and a constant."""
        if not isinstance(place, jax.Array):
            return None, int(np.asarray(place).item())
        _, base, offset = self._sums.get(id(place), (place, place, 0))
        return base, offset

    def elements(self, vector: Any) -> list[Any]:
        """Return the elements of a vector: numbers where they are known."""
        if not isinstance(vector, jax.Array):
            return [int(element) for element in np.ravel(vector)]
        noted = self._vectors.get(id(vector))
        elements = [vector[i] for i in range(vector.shape[0])] if noted is None else noted[1]
        return [element if isinstance(element, jax.Array) else int(np.asarray(element).item()) for element in elements]

    def distance(self, start: Any, stop: Any) -> int | None:
        """Return the difference of two places, None where it may be another in another run."""
        (base, offset), (other, more) = self.parts(start), self.parts(stop)
        return more - offset if base is other else None


def _is_integer(array: Any) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.integer))


def _places(entry: Any) -> tuple[Any, ...]:
    """Return the bounds of a slice, or another entry of an index."""
    return (entry.start, entry.stop) if isinstance(entry, slice) else (entry,)


class Namespace:
    """The namespace for lowerings: the functions of jax.numpy, jax.nn, jax.lax and jax.scipy.special by name, and helpers."""

    lax = jax.lax
    is_eager = False
    has_views = True

    def __init__(self, is_cpu: bool, graph: Graph, fed: Collection[Output] | None = None) -> None:
        """Prepare a trace of which JAX may ask gradients where `fed` are given, the tensors that the caller feeds.

        A loop of bounded iterations then is a scan, which JAX differentiates in reverse, and StopGradient stops gradients.
        """
        self.is_cpu = is_cpu
        self.fed = fed
        self.is_checked = fed is None
        """Whether NumPy repeats a run in which a requirement fails."""
        self.has_64_bits = bool(jax.config.jax_enable_x64)
        self.functions: Mapping[str, Function] = graph.functions
        self.plans: dict[str, tuple[Function, Plan]] = {}
        self.conditions: list[Any] = []
        self.memory = TraceMemory()
        self.places = ComputedPlaces()
        self.gradient_ends: dict[bool, dict[Output, Node | None]] = {}
        """The nodes where gradients end before a tensor, with the fed tensors and without."""
        self.calls = 0
        """The number of calls of shared programs, with those inside."""
        self.barriers: list[Any] = []
        """New values of variables, as returned by `stored`."""
        self.cells: list[CompiledStack | CompiledTensorArray] = []
        self.times: int | None = 1
        """The largest number of times that the traced code runs, from the surrounding loops; None if unknown."""
        self.alive: Any = True
        """Whether the run would reach the traced code, by the surrounding branches."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function, looked for in jax.numpy, jax.nn, jax.lax, jax.scipy.special and jax.lax.linalg, in this order."""
        for module in (jnp, jax.nn, jax.lax, special, jax.lax.linalg):
            if hasattr(module, name):
                function: Callable[..., Any] = getattr(module, name)
                setattr(self, name, function)
                return function
        raise AttributeError(name)

    def require(self, condition: Any, message: str = "") -> None:
        """Leave a run in which `condition`, a truth value, fails to NumPy, for the error message."""
        # On a branch that is not taken a value may be anything.
        if self.alive is not True:
            condition = condition | ~self.alive
        if isinstance(condition, jax.core.Tracer):
            self.conditions.append(condition)
        elif not np.all(condition):
            raise Declined("an input does not fit its op")

    def holds(self) -> Any:
        """Return whether all requirements hold so far, None where there are none."""
        return jnp.all(jnp.stack(self.conditions)) if self.conditions else None

    def stored(self, old: Any, new: Any) -> Any:
        """Return the new value of a variable as stored, the old value where requirements fail.

        Later computations read the stored value. XLA would rather recompute the value from a copy of the old value.
        """
        holds = self.holds()
        new = jnp.asarray(new).astype(old.dtype)
        self.barriers.append(jax.lax.optimization_barrier(new if holds is None else jnp.where(holds, new, old)))
        return self.barriers[-1]

    added, subtracted, multiplied = map(staticmethod, (operator.add, operator.sub, operator.mul))
    call_module = staticmethod(call_module)
    with_factor = staticmethod(with_factor)
    extents = staticmethod(traced_values.extents)

    @staticmethod
    def cast(x: Any, dtype: np.dtype[Any]) -> Any:
        """Return an array in another dtype; of floats out of range, and NaN, the least integer is made, as on a CPU."""
        if jnp.iscomplexobj(x) and dtype.kind != "c":
            x = jnp.real(x)
        if dtype.kind not in "iu" or not jnp.issubdtype(x.dtype, jnp.floating):
            return x.astype(dtype)
        # TensorFlow converts to int32 and then cuts the bits, as the processor does; XLA would take the nearest integer in
        # range.
        limits = np.iinfo(np.int32 if dtype.itemsize < 4 else dtype)
        x = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        is_inside = (x >= limits.min) & (x < -float(limits.min))
        return jnp.where(is_inside, x, float(limits.min)).astype(limits.dtype).astype(dtype)

    @staticmethod
    def with_derivatives(result: Any, path: Callable[[], Any]) -> Any:
        """Return the result of a function that has the derivatives of another, of finite values."""
        # The difference is 0, and has the derivative of `way`.
        way, stop = path(), jax.lax.stop_gradient
        return stop(result) + (way - stop(way))

    @staticmethod
    def scanned(step: Callable[[Any, Any], Any], start: float, x: Any, axis: int, reverse: bool) -> Any:
        """Return the running results of step(total, row) along an axis, after `start`."""

        def advance(total: Any, row: Any) -> tuple[Any, Any]:
            total = step(total, row)
            return total, total

        rows = jnp.moveaxis(x, axis, 0)
        _, results = jax.lax.scan(advance, jnp.full(rows.shape[1:], start, x.dtype), rows, reverse=reverse)
        return jnp.moveaxis(results, 0, axis)

    pinv = staticmethod(jnp.linalg.pinv)

    @staticmethod
    def diagonal(x: Any) -> Any:
        """Return the diagonals of matrices."""
        return jnp.diagonal(x, 0, -2, -1)

    def solved(self, matrix: Any, rhs: Any, message: str = "") -> Any:
        """Return X with A X = rhs, by LU factors; a singular A is an error."""
        if not rhs.size:
            return jnp.zeros(rhs.shape, rhs.dtype)
        factors, _, order = jax.lax.linalg.lu(matrix)
        self.require((self.diagonal(factors) != 0).all())
        permuted = jnp.take_along_axis(rhs, order[..., None], -2)
        # The factors share one matrix: L's diagonal of ones is not stored.
        middle = self.substituted(factors, permuted, is_lower=True, has_ones=True)
        return self.substituted(factors, middle, is_lower=False)

    def inverted(self, matrix: Any, message: str = "") -> Any:
        """Return the inverses; a singular matrix is an error."""
        identity = jnp.eye(matrix.shape[-1], dtype=matrix.dtype)
        return self.solved(matrix, jnp.broadcast_to(identity, matrix.shape), message)

    @staticmethod
    def substituted(matrix: Any, rhs: Any, *, is_lower: bool, adjoint: bool = False, has_ones: bool = False) -> Any:
        """Return X with A X = rhs, or A^H X = rhs, for triangles A; the batch dimensions broadcast."""
        batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
        # XLA's solver wants equal batches, with elements, and TensorFlow broadcasts them.
        matrix, rhs = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (matrix, rhs))
        if not rhs.size:
            return rhs
        attrs = {"lower": is_lower, "transpose_a": adjoint, "conjugate_a": adjoint, "unit_diagonal": has_ones}
        return jax.lax.linalg.triangular_solve(matrix, rhs, left_side=True, **attrs)

    grouped = grouped
    scattered = scattered
    scatter_nd = scatter_nd
    elements_at = staticmethod(lambda x, vectors: x[tuple(vectors[..., axis] for axis in range(vectors.shape[-1]))])
    dims_of = staticmethod(lambda sizes: np.array(sizes, np.int64))

    @staticmethod
    def same_shape(x: Any, y: Any) -> bool:
        """Return False for arrays of different shapes."""
        return bool(x.shape == y.shape)

    @staticmethod
    def truncated_quotient(x: Any, y: Any) -> Any:
        """Return the quotients of integers, rounded towards 0."""
        return jax.lax.div(*jnp.broadcast_arrays(x, y))

    @staticmethod
    def is_true(value: Any) -> Any:
        """Return the truth of a value in conditionals and loops: a number other than 0, a tensor with elements."""
        if np.ndim(value):
            return np.bool_(value.size > 0)
        return value if value.dtype == bool else value != 0

    @staticmethod
    def unread(dtype: Any) -> Unread:
        """Return a stand-in for a value that nobody reads."""
        return Unread(np.dtype(np.float32 if dtype == np.dtype(object) else dtype))

    def elements(self, dtype: Any, count: int, shape: Shape, limit: int = -1) -> StackedElements:
        """Return a list of `count` zeros."""
        if np.dtype(dtype) == object:
            raise UnimplementedError("a list holds values that are not numbers")
        rows = jnp.zeros((count, *shape.known()), dtype) if shape.is_known and count else None
        return StackedElements(np.dtype(dtype), rows, np.int32(count), limit=limit, declared=shape)

    def listed(self, rows: Any, shape: Shape) -> StackedElements:
        """Return a list of the rows of a tensor, of a required shape."""
        if not rows.shape:
            raise UnimplementedError("a scalar has no rows")
        merge_shapes(shape, Shape(rows.shape[1:]))
        return StackedElements(np.dtype(rows.dtype), jnp.asarray(rows), np.int32(rows.shape[0]), declared=shape)

    def stacked(self, values: Sequence[Any], axis: int) -> Any:
        """Return arrays stacked on a new axis."""
        result = jnp.stack(values, axis)
        self.places.note_vector(result, values)
        return result

    def bounds(self, *vectors: Any) -> list[list[Any]]:
        """Return the elements of vectors: numbers where they are known."""
        return [self.places.elements(vector) for vector in vectors]

    def part(self, x: Any, index: tuple[Any, ...]) -> Any:
        """Return x[index], where places, and rows from a place to place + n, may be computed in the run."""
        if not any(isinstance(each, jax.Array) for entry in index for each in _places(entry)):
            return x[index]
        axis, left = 0, list(without_ellipsis(index, x.ndim))
        for i, entry in enumerate(left):
            if isinstance(entry, jax.Array):
                x, left[i] = self.computed_row(x, axis, entry), 0
            elif any(isinstance(each, jax.Array) for each in _places(entry)):
                count = None if None in _places(entry) or entry.step != 1 else self.places.distance(entry.start, entry.stop)
                if count is None or count <= 0:
                    raise UnimplementedError("its size depends on a place that is computed in the run")
                x, left[i] = self.computed_rows(x, axis, entry.start, count), slice(None)
            axis += entry is not None
        return x[tuple(left)]

    def computed_rows(self, x: Any, axis: int, start: Any, size: int) -> Any:
        """Return `size` rows of an axis from a computed place on; a run with rows that do not exist is left to NumPy."""
        # `dynamic_slice` clamps a place out of range where TensorFlow raises an error.
        self.require((start >= 0) & (start <= x.shape[axis] - size))
        return jax.lax.dynamic_slice_in_dim(jnp.asarray(x), start, size, axis)

    def computed_row(self, x: Any, axis: int, place: Any) -> Any:
        """Return the row of an axis at a computed place, which may count from the end, as an axis of size 1."""
        size = x.shape[axis]
        # A place out of range is an error, as in TensorFlow's strided slices; `dynamic_slice` would clamp it.
        self.require((place >= -size) & (place < size))
        return jax.lax.dynamic_slice_in_dim(jnp.asarray(x), jnp.where(place < 0, place + size, place), 1, axis)

    def new_stack(self, dtype: Any, limit: int) -> CompiledStack:
        """Return an empty stack for at most `limit` elements."""
        self.cells.append(CompiledStack(np.dtype(dtype), limit))
        return self.cells[-1]  # type: ignore[return-value]

    def new_array(self, dtype: Any, *form: Any) -> CompiledTensorArray:
        """Return an array of tensors without a written element."""
        self.cells.append(CompiledTensorArray(np.dtype(dtype), *form))
        return self.cells[-1]  # type: ignore[return-value]

    def gradient_array(self, array: CompiledTensorArray, source: str) -> CompiledTensorArray:
        """Return the array for the gradients of another."""
        made, is_new = array.gradient(source)
        if is_new:
            self.cells.append(made)
        return made

    def plan(self, function: FuncRef) -> tuple[Function, Plan]:
        """Return a function of the library and the function's plan."""
        if function.name not in self.plans:
            self.plans[function.name] = called_plan(self.functions, function)
        return self.plans[function.name]

    def call(self, function: FuncRef, values: Sequence[Any]) -> list[Any]:
        """Return the results of a function of the library; functions that call others are shared by their callers."""
        inlined = functools.partial(self._inlined, function)
        # Only functions that call others multiply the traces, see `shared`.
        if any(isinstance(step, Loop) or next(function_references(step.node), None) for step in self.plan(function)[1].steps):
            return control_flow_programs.shared(self, function, values, inlined)
        return inlined(values)

    def _inlined(self, function: FuncRef, values: Sequence[Any]) -> list[Any]:
        definition, plan = self.plan(function)
        slots = _started(plan, values)
        branches = run_steps(self, plan.steps, slots)
        fetches = [i for i in plan.fetches[: len(definition.results)] if i is not None]
        # A function that returns a dead value is an error of TensorFlow's, which NumPy reports.
        self.require(branches.all_alive(fetches))
        values = [slots[i] for i in fetches]
        return values if self.fed is None else [passed_on(self, (), *pair) for pair in zip(definition.results, values)]

    def fetched(self, plan: Plan, values: Sequence[Any]) -> list[Any]:
        """Return the results of a plan without functions, for values of the feeds; JAX may ask for gradients again."""
        return _fetched(Namespace(self.is_cpu, Graph(), plan.fed), plan, values)

    def choose(self, index: Any, functions: Sequence[FuncRef], values: Sequence[Any]) -> Any:
        """Return the results of the function numbered by the index."""
        site = tuple(functions)
        branches = [functools.partial(self.call, function) for function in functions]
        index = index.astype(np.int32) if isinstance(index, jax.Array) else np.int32(index)

        # The index comes with the values, so that the sharing of traces knows it as one of them.
        def chosen(given: Sequence[Any]) -> list[Any]:
            return control_flow_programs.choose(self, site, given[0], branches, given[1:])

        return tuple(control_flow_programs.shared(self, site, [index, *values], chosen))

    def repeat(self, condition: FuncRef, body: FuncRef, values: Sequence[Any]) -> Any:
        """Return `values` after `body` has run for as long as `condition` is true of them."""

        def known(find: Callable[..., Any], function: FuncRef, arguments: Sequence[Any]) -> Any:
            definition, plan = self.plan(function)
            slots = [i for i in plan.fetches[: len(definition.results)] if i is not None]
            return find(plan.steps, _started(plan, arguments), slots)

        def goes_on_known(arguments: Sequence[Any]) -> Any:
            return known(known_results, condition, arguments)[0]

        site, starts = (condition, body), _known(values)
        may_follow = functools.partial(known, known_may_follow, condition)
        advance_known = functools.partial(known, known_results, body)
        times, varying = self.memory.once(
            site,
            starts,
            lambda: (trip_bound(goes_on_known, may_follow, advance_known, starts), changing(advance_known, starts)),
        )
        goes_on, advance = (
            lambda arguments: self.is_true(self.call(condition, arguments)[0]),
            functools.partial(self.call, body),
        )

        def looped(given: Sequence[Any]) -> list[Any]:
            return control_flow_programs.loop(self, site, goes_on, advance, given, times, varying)

        return tuple(control_flow_programs.shared(self, site, values, looped))

    @staticmethod
    def transposed(forward: Callable[[Any], Any], shape: tuple[int, ...], value: Any) -> Any:
        """Return the transpose of a linear function of arrays of `shape`, at `value`."""
        return jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, value.dtype))(value)[0]

    @staticmethod
    def pulled_back(forward: Callable[[Any], Any], x: Any, value: Any) -> Any:
        """Return the vector-Jacobian product of a function at x with `value`."""
        return jax.vjp(forward, x)[1](value)[0]


class Tracing:
    """A cluster as a function of arrays; `lifted` are constants that come as arguments, by their slots."""

    def __init__(self, cluster: Cluster, lifted: Sequence[int], is_cpu: bool) -> None:
        self.cluster = cluster
        self.body = cluster.body
        self.lifted = lifted
        self.is_cpu = is_cpu

    def __call__(self, arrays: Sequence[Any], constants: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """Return the resulting tensors, the new values of variables, and whether all requirements of lowerings hold, or
        None.

        Where requirements fail, variables have their old values.
        """
        xla = Namespace(self.is_cpu, self.cluster.graph)
        slots = self.initial(arrays, constants)
        for step in self.body.steps:
            with _naming(step):
                run_steps(xla, [step], slots)
        tensors = [slots[slot] for slot in self.cluster.tensors]
        written = [slots[slot].final(xla) for slot in self.body.written]
        return tensors, written, xla.holds()

    def initial(self, arrays: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
        """Return the slots with the inputs filled."""
        slots: list[Any] = [None] * self.body.slots
        fixed = self.cluster.fixed
        for places, values in ((self.cluster.inputs, arrays), (self.lifted, constants), (fixed, fixed.values())):
            for slot, value in zip(places, values):
                slots[slot] = value
        for slot in self.body.variables:
            slots[slot] = TracedVariable(slots[slot])
        return slots


@contextlib.contextmanager
def _naming(step: Step) -> Iterator[None]:
    """Return a context in which errors name the node of a step; errors about values pass, as NumPy reports them."""
    try:
        yield
    except (*ENDING, Declined, InvalidArgumentError):
        raise
    except Exception as error:
        pass_on(error)
        raise UnsupportedNodes({step.node.name: uncompiled(said(error))}) from error


def run_steps(xla: Namespace, steps: Sequence[Step], slots: list[Any]) -> Branches:
    """Fill the slots that steps write to, but slots already filled; return their deadness in V1 conditionals."""
    branches = Branches(xla)
    for step in steps:
        run_step(xla, branches, step, slots)
    return branches


def run_step(xla: Namespace, branches: Branches, step: Step, slots: list[Any]) -> None:
    """Fill the slots that a step writes to, unless they are filled."""
    # A fed output has its slot filled from the start.
    if step.outputs and slots[step.outputs[0]] is not None:
        return
    values = [slots[i] for i in step.inputs]
    # JAX may differentiate: the nodes that only pass a value on, and have no steps, may end its gradients.
    if xla.fed is not None:
        values = [passed_on(xla, xla.fed, source, value) for source, value in zip(inputs_of(step), values)]
    for slot, value in zip(step.outputs, _outputs(xla, branches, step, values)):
        slots[slot] = value


def _outputs(xla: Namespace, branches: Branches, step: Step, values: Sequence[Any]) -> Sequence[Any]:
    """Return the outputs of a step, also of a step on a branch."""
    if only_decides(step):
        return branches.decided(step, values)
    made = _left if isinstance(step, Loop) else _results
    alive = branches.of(step) if step.is_guarded else True
    if alive is True:
        return made(xla, step, values)  # type: ignore[arg-type]
    branches.note(step, alive)
    # While tracing the step is already known to be dead, so it is left out, even if it is a whole loop.
    if not isinstance(alive, jax.Array) and not alive:
        return [Unread(np.dtype(np.float32))] * len(step.outputs)
    with on_branch(xla, alive):
        return [*made(xla, step, values), alive]  # type: ignore[arg-type]


def _started(plan: Plan, values: Sequence[Any]) -> list[Any]:
    """Return the slots of a plan that is given `values`."""
    slots: list[Any] = [None] * plan.slots
    for slot, value in zip(plan.feeds, values):
        slots[slot] = value
    return slots


def _fetched(xla: Namespace, plan: Plan, values: Sequence[Any]) -> list[Any]:
    """Return the results of a plan for values of the feeds."""
    slots = _started(plan, values)
    run_steps(xla, plan.steps, slots)
    return [slots[i] for i in plan.fetches if i is not None]


def _known(values: Sequence[Any]) -> list[Any]:
    is_known = (isinstance(value, (np.ndarray, np.generic)) and not traced_values.is_symbolic(value) for value in values)
    return [value if known else UNKNOWN for value, known in zip(values, is_known)]


def _left(xla: Namespace, loop: Loop, values: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a V1 loop."""
    entering = [value.value if i in loop.dereferenced else value for i, value in enumerate(values)]
    return control_flow_programs.shared(xla, loop.node, entering, functools.partial(_looped, xla, loop))


def _looped(xla: Namespace, loop: Loop, entering: Sequence[Any]) -> list[Any]:
    initial: list[Any] = [None] * loop.slots
    for slot, value in zip(loop.entries, entering):
        initial[slot] = value
    ends = {} if xla.fed is None else dict(ends_of_iterations(xla.fed, loop))
    carried = (*loop.carried, *((slot, slot) for slot in ends if slot not in dict(loop.carried).values()))
    sources, targets = ([pair[i] for pair in carried] for i in (0, 1))

    def filled(arguments: Sequence[Any]) -> list[Any]:
        slots = initial.copy()
        for slot, value in zip(targets, arguments):
            slots[slot] = value
        return slots

    def traced(steps: Sequence[Step], results: Sequence[int], arguments: Sequence[Any]) -> list[Any]:
        slots = filled(arguments)
        run_steps(xla, steps, slots)
        return [slots[i] for i in results]

    def advanced(arguments: Sequence[Any]) -> list[Any]:
        new = zip(targets, traced(steps, sources, arguments))
        return [passed_on(xla, xla.fed or (), ends[slot], value) if slot in ends else value for slot, value in new]

    def known(steps: Sequence[Step], results: Sequence[int], arguments: Sequence[Any]) -> list[Any]:
        return known_results(steps, _known(filled(arguments)), results)

    def may_follow(arguments: Sequence[Any]) -> bool:
        return known_may_follow(loop.head, _known(filled(arguments)), condition)

    steps = (*loop.head, *loop.body)
    condition = [loop.condition]
    first = [initial[slot] for slot in targets]
    goes_on, advance = lambda arguments: known(loop.head, condition, arguments)[0], functools.partial(known, steps, sources)
    # Values that the loop reads and does not change: they tell one trace of the loop from another.
    around = [value for slot, value in enumerate(initial) if slot not in targets]
    starts, others = _known(first), _known(around)

    def indices(place: int) -> list[Any]:
        return [known(steps, [place], arguments)[0] for arguments in iterations(goes_on, advance, starts) or ()]

    times, varying = xla.memory.once(
        loop.node, [*starts, *others], lambda: (trip_bound(goes_on, may_follow, advance, starts), changing(advance, starts))
    )
    for step in growing_steps(loop):
        place, source = step.inputs[1], step.inputs[0]
        numbers = []
        if _is_grown_alone(loop, step):
            find = functools.partial(indices, place)
            numbers = xla.memory.once((loop.node, step.node), [*starts, *others], find)
        if numbers and UNKNOWN not in numbers:
            first[targets.index(source)] = first[targets.index(source)].grown(int(max(numbers)) + 1)
    final = control_flow_programs.loop(
        xla, loop.node, lambda arguments: traced(loop.head, condition, arguments)[0], advanced, first, times, varying, around
    )
    left = zip(loop.leaves, traced((*loop.head, *loop.tail), loop.exits, final))
    return [value if xla.fed is None else passed_on(xla, xla.fed, leave.inputs[0], value) for leave, value in left]


def _is_grown_alone(loop: Loop, step: Step) -> bool:
    """Return True if only this step sees a list carried through the iterations, so that the length shows nowhere else."""
    steps = (*loop.head, *loop.body, *loop.tail)
    readers = [other for other in steps if step.inputs[0] in (*other.inputs, *other.controls)]
    return readers == [step] and (step.outputs[0], step.inputs[0]) in loop.carried


def _results(xla: Namespace, step: Step, values: Sequence[Any]) -> Sequence[Any]:
    """Return the outputs of a step, of the dtypes that the node declares; references are the variables themselves."""
    node = step.node
    if node.is_constant:
        return [node.constant_value()]
    rule = lowering(node.op)
    if rule is not None and rule.updates:
        return _updated(xla, node, rule, values)
    values = [value.value if isinstance(value, TracedVariable) else value for value in values]
    is_traced = (rule is not None and rule.always) or has_fact(node.op, "program")
    # Arithmetic of sizes stays outside of the program as long as it can: a size that became an array is no shape any more.
    if any(map(traced_values.is_symbolic, values)):
        static = [] if rule is None else [place % len(values) for place in rule.static]
        results = traced_values.computed(node, values, static)
        if results is not None:
            return results
        if rule is None:
            traced_values.require_numbers(node, values)
        values = [v if i in static else traced_values.traced(v, node.inputs[i].dtype) for i, v in enumerate(values)]
        is_traced = True
    # All inputs are known while tracing, so that the node's own kernel computes the result, which may be a shape.
    if not (is_traced or any(isinstance(value, (jax.Array, StackedElements)) for value in values)):
        return apply_kernel(node, values)
    if rule is None:
        raise UnimplementedError("it has no lowering", node=node.name, op=node.op)
    require_widths(node, values)
    flat = _lowered(xla, node, rule, values) if xla.fed is None else _differentiable(xla, node, rule, values)
    results = [_of_dtype(value, dtype) for value, dtype in zip(flat, node.output_dtypes, strict=True)]
    xla.places.note_sum(node, values, results[0] if results else None)
    return results


def _differentiable(xla: Namespace, node: Node, rule: Lowering, values: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a node's lowering, as a flat tuple, with derivatives that are TensorFlow's gradients."""
    return differentiated(node, values, _lowered(xla, node, rule, detached(node, values)), xla.fetched)


def _of_dtype(value: Any, dtype: DType) -> Any:
    """Return a result in the dtype that the node declares; lists and values behind handles are returned unchanged."""
    if dtype is resource or not isinstance(value, (jax.Array, np.ndarray, np.generic)) or traced_values.is_symbolic(value):
        return value
    return value.astype(dtype.numpy)


def _updated(xla: Namespace, node: Node, rule: Lowering, values: Sequence[Any]) -> Sequence[TracedVariable]:
    """Write to the variables that come first; a reference op gives the first on."""
    variables, rest = values[: rule.updates], values[rule.updates :]
    new = _lowered(xla, node, rule, [*(variable.value for variable in variables), *rest])
    for variable, value in zip(variables, new, strict=True):
        variable.assign(xla, value)
    return variables[: len(node.output_dtypes)]


def _input_name(node: Node, place: int) -> str:
    """Return an input's name in words, by the op's definition."""
    definition = require_op_def(node)
    names = [arg.name for arg in definition.inputs for _ in range(definition.length(arg, node.attrs))]
    return f"its input '{names[place]}', on which a shape may depend,"


def _composed(xla: Namespace, node: Node, composition: Composition, values: Sequence[Any]) -> Sequence[Any]:
    """Return the results of the parts of a node."""
    sizes = [[dim if isinstance(dim, int) else None for dim in np.shape(value)] for value in values]
    graph, inputs, outputs = parts_of(node, composition, [Shape(dims) for dims in sizes])
    # In the program's own namespace, unlike `Namespace.fetched`: what the parts require is required of the program.
    return tuple(_fetched(xla, compile_plan(graph, outputs, inputs), values))


def _lowered(xla: Namespace, node: Node, rule: Lowering, values: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a node's lowering, as a flat tuple."""
    arguments = list(values)
    for place in rule.static:
        if isinstance(arguments[place], jax.Array):
            if place in rule.computed:
                continue
            raise UnimplementedError(f"{_input_name(node, place)} is computed in the run", node=node.name, op=node.op)
        arguments[place] = np.asarray(arguments[place])
    if isinstance(rule.function, Composition):
        return _composed(xla, node, rule.function, arguments)
    keywords = bind_attrs(node, rule.function) | ({"site": node.name} if rule.sites else {})
    call = functools.partial(rule.function, xla, **keywords)
    try:
        results = group_inputs(require_op_def(node), node, call, input_bundles(rule.function, True))(*arguments)
    except UnimplementedError as error:
        if error.node is None:
            error.node, error.op = node.name, node.op
        raise
    return results if isinstance(results, tuple) else (results,)
