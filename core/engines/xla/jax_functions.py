"""Graphs as pure functions of JAX: of parameters, which are the values of variables, and of inputs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify

from ...graph.graph import Graph, Node, Output
from ...graph.variable_nodes import VARIABLES
from ...planning.plan import Plan, Step
from ...planning.planner import compile_plan
from ...registry.op_facts import has_fact
from ...registry.registry import lowering
from ...support import hints
from ...support.errors import InvalidArgumentError, NotFoundError, TfgError, UnimplementedError
from ...support.user_signals import pass_on
from ...support.words import counted
from ...types.dtypes import DType, resource, string
from ...types.shapes import UNKNOWN, Shape, as_shape, merge_shapes
from ..lowerable import is_default, whole_refusals
from ..plan_division import said
from ..protocol import Declined
from ..reasons import UPDATED, Reason
from . import traced_values
from .control_flow_programs import Branches
from .list_programs import StackedElements
from .op_gradients import passed_on
from .traced_values import TracedVariable, require_width
from .tracing import Namespace, run_step

_SHOWN: Final = 3
_PLATFORMS: Final = ("cpu", "cuda", "rocm", "tpu")
"""The platforms that an exported program runs on."""
_PRECISION: Final = "jax_default_matmul_precision"
_OF_NO_NUMBERS: Final = (string, resource)


class JaxFunction:
    """A pure function (parameters, *inputs) -> outputs, or -> (outputs, new parameters) with `updates`.

    `inputs` maps the names of the inputs, in order, to the tensors of the graph, and `parameters` the names of the
    parameters to the nodes. `outputs` are the tensors and operations that the function computes.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Output],
        outputs: Sequence[Output | Node],
        arrange: Callable[[Iterator[Any]], Any],
        lifted: Sequence[Node] = (),
        updates: bool = False,
    ) -> None:
        """Plan the outputs; `arrange` makes the result of the values of the outputs, `lifted` are constants to be parameters.

        UnimplementedError names the nodes that JAX cannot run.
        """
        self.graph = graph
        self.inputs = dict(inputs)
        self.outputs = tuple(outputs)
        self.arrange = arrange
        self.updates = updates
        self.plan = compile_plan(graph, outputs, list(inputs.values()))
        _require_lowerings(self.plan, graph, lifted, updates)
        self.parameters = _parameters(self.plan, frozenset(lifted))
        self.__name__ = "graph"
        # The function is compiled here although the user may do it, because a call without `jax.jit` would run op by op.
        self.compiled = jax.jit(self.traced)

    def __repr__(self) -> str:
        """Return the names of the inputs and outputs, and the number of parameters."""
        outputs = ", ".join(output.name for output in self.outputs)
        return f"<JaxFunction of {counted(len(self.parameters), 'parameter')}: {', '.join(self.inputs)} -> {outputs}>"

    def __call__(self, parameters: Mapping[str, Any], /, *inputs: Any, **named: Any) -> Any:
        """Return the outputs for inputs in order, or by name."""
        unknown = [name for name in named if name not in self.inputs]
        if unknown or len(inputs) + len(named) != len(self.inputs):
            problem = f"the function takes {', '.join(self.inputs) or 'no inputs'}, not {counted(len(inputs), 'input')}"
            raise InvalidArgumentError(problem + "".join(f", {name}" for name in named))
        values = dict(zip(self.inputs, inputs)) | named
        fed = [_taken(name, values[name], output) for name, output in self.inputs.items()]
        return self.compiled(self.held(parameters), fed)

    def held(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters in the dtypes of their nodes; InvalidArgumentError for a missing parameter."""
        missing = [name for name in self.parameters if name not in parameters]
        if missing:
            raise InvalidArgumentError(f"parameter '{missing[0]}' has no value")
        return {name: _taken(name, parameters[name], node.output()) for name, node in self.parameters.items()}

    def traced(self, parameters: Mapping[str, Any], inputs: Sequence[Any], is_portable: bool = False) -> Any:
        """Return the outputs for values of the graph's dtypes; a portable program is for all platforms, without checks."""
        with _single_precision():
            return self._traced(parameters, inputs, is_portable)

    def _traced(self, parameters: Mapping[str, Any], inputs: Sequence[Any], is_portable: bool) -> Any:
        is_cpu = jax.default_backend() == "cpu" and not is_portable
        xla = Namespace(is_cpu, self.graph, frozenset(self.plan.fed))
        variables = {name: TracedVariable(value) for name, value in parameters.items()}
        slots: list[Any] = [None] * self.plan.slots
        for slot, value in zip(self.plan.feeds, inputs):
            slots[slot] = value
        names = {node: name for name, node in self.parameters.items()}
        branches = Branches(xla)
        for step in self.plan.steps:
            if step.node.op in VARIABLES:
                slots[step.outputs[0]] = variables[_variable_name(step.node)]
            elif step.node in names:
                slots[step.outputs[0]] = parameters[names[step.node]]
            elif is_default(step):
                slots[step.outputs[0]] = slots[step.inputs[0]]
            else:
                _run(xla, branches, step, slots, checks=not is_portable)
        results = self.arrange(self.results(branches, slots))
        if not self.updates:
            return results
        return results, {name: value.final(xla) if value.is_written else value.value for name, value in variables.items()}

    def results(self, branches: Branches, slots: Sequence[Any]) -> Iterator[Any]:
        """Yield the value of each output, None for an operation."""
        for output, slot in zip(self.outputs, self.plan.fetches):
            value = None if slot is None else slots[slot]
            value = passed_on(branches.xla, self.plan.fed, output, value) if isinstance(output, Output) else value
            value = value.value if isinstance(value, TracedVariable) else value
            value = traced_values.traced(value, output.dtype) if isinstance(output, Output) else value
            if isinstance(value, StackedElements) or (isinstance(output, Output) and output.dtype in _OF_NO_NUMBERS):
                raise UnimplementedError(f"output '{output.name}' is not a numeric tensor", hint="choose another tensor")
            yield None if value is None else _as_array(value)

    def exported(self, parameters: Mapping[str, Any], shapes: Mapping[str, Shape]) -> bytes:
        """Return the function of the inputs as a serialized program of StableHLO, with the parameters as constants.

        `shapes` are the shapes of inputs by name, where they say more than the graph. Every unknown dimension is a symbol of
        its own. Where the program needs equal batches, as for a sum of two inputs, all unknown first dimensions are `batch`.
        UnimplementedError names an input of unknown rank.
        """
        declared = {name: _input_shape(name, output, shapes.get(name, UNKNOWN)) for name, output in self.inputs.items()}
        batches = [name for name, shape in declared.items() if shape.dims and not isinstance(shape.dims[0], int)]
        with jax.enable_x64(True):
            held = self.held(parameters)
            # Separate symbols first: inputs with batches of their own may then differ. Only a program that joins them needs
            # one symbol.
            if len(batches) > 1:
                with contextlib.suppress(UnimplementedError):
                    return self._exported(held, declared, {name: f"batch_{_symbol(name)}" for name in batches})
            return self._exported(held, declared, dict.fromkeys(batches, "batch"))

    def _exported(self, held: Mapping[str, Any], declared: Mapping[str, Shape], batches: Mapping[str, str]) -> bytes:
        """Return the program for inputs of the given shapes and symbols of the first dimensions."""
        scope = jax.export.SymbolicScope()
        specs = [_spec(name, output, declared[name], batches.get(name, ""), scope) for name, output in self.inputs.items()]
        program = jax.jit(lambda *inputs: self.traced(held, inputs, is_portable=True))
        hint = hints.Hint("if a shape is unknown, set it, e.g. with ", hints.step("shape", name="x", sizes=[None, 28, 28]))
        try:
            return bytes(jax.export.export(program, platforms=_PLATFORMS)(*specs).serialize())
        except TfgError as error:
            raise UnimplementedError(error.message, node=error.node, op=error.op, hint=error.hint or hint) from error
        except ImportError as error:
            raise NotFoundError("a program of StableHLO needs package flatbuffers", hint=hints.extra_hint("xla")) from error
        except Exception as error:  # after the trace, where no node is known
            pass_on(error)
            raise UnimplementedError(f"JAX cannot write the program: {said(error)}", hint=hint) from error


def _single_precision() -> contextlib.AbstractContextManager[Any]:
    """Return a context in which products keep float32, as on a CPU, unless the program chose a precision for JAX.

    GPUs and TPUs would round the factors to fewer bits.
    """
    chosen: Any = getattr(jax.config, _PRECISION)
    return jax.default_matmul_precision("float32") if chosen is None else contextlib.nullcontext()


def run_exported(program: bytes, inputs: Sequence[Any]) -> dict[str, Any]:
    """Return the outputs of an exported program by name, as NumPy arrays."""
    with jax.enable_x64(True):
        results = jax.export.deserialize(bytearray(program)).call(*inputs)
    return {name: np.asarray(value) for name, value in results.items()}


def exported_dims(program: bytes) -> list[list[int | str | None]]:
    """Return the dimensions of an exported program's inputs: sizes, and symbols by name."""
    inputs = jax.export.deserialize(bytearray(program)).in_avals
    return [[dim if isinstance(dim, int) else str(dim) for dim in value.shape] for value in inputs]


def _input_shape(name: str, output: Output, static_shape: Shape) -> Shape:
    """Return the shape of an input, of a known rank."""
    shape = merge_shapes(_declared_shape(output), static_shape)
    if shape.dims is None:
        raise UnimplementedError(
            f"the shape of input '{name}' is unknown",
            hint=hints.Hint("set the shape, e.g. with ", hints.step("shape", name=name, sizes=[2, 3])),
        )
    return shape


def _spec(name: str, output: Output, shape: Shape, batch: str, scope: Any) -> Any:
    """Return the shape of an input with symbols, and the dtype."""
    symbols = [batch, *(f"d{place}_{_symbol(name)}" for place in range(1, len(shape)))]
    dims = ", ".join(str(dim) if isinstance(dim, int) else symbol for dim, symbol in zip(shape, symbols))
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(f"({dims},)" if dims else "()", scope=scope), _dtype(output))


def _symbol(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _as_array(value: Any) -> Any:
    require_width(value.dtype)
    return jnp.asarray(value)


def _run(xla: Namespace, branches: Branches, step: Step, slots: list[Any], checks: bool) -> None:
    """Trace a step, and its `checks` of values for `checkify`; an error names the node."""
    before = len(xla.conditions)
    with _naming(step.node):
        run_step(xla, branches, step, slots)
    for condition in xla.conditions[before:] if checks else ():
        # Without `checkify` this does nothing: under `jax.jit` alone a function cannot raise.
        checkify.debug_check(jnp.all(condition), f"node '{step.node.name}' ({step.node.op}): an input does not fit the op")


@contextlib.contextmanager
def _naming(node: Node) -> Iterator[None]:
    """Return a context in which every error is a TfgError with the node."""
    try:
        yield
    except Declined as error:
        raise InvalidArgumentError(str(error), node=node.name, op=node.op) from error
    except TfgError as error:
        if error.node is None:
            error.node, error.op = node.name, node.op
        raise
    except RecursionError:
        raise  # how deep functions are nested is no fault of the node at which the stack ended
    except Exception as error:
        pass_on(error)
        raise UnimplementedError(f"JAX cannot trace it: {said(error)}", node=node.name, op=node.op) from error


def _taken(name: str, value: Any, output: Output) -> Any:
    """Return a value as an array of a tensor's dtype; InvalidArgumentError for an array of another kind or shape."""
    dtype = _dtype(output)
    try:
        require_width(dtype)
        array = jnp.asarray(value)
    except UnimplementedError as error:
        raise UnimplementedError(f"'{name}': {error.message}", hint=error.hint) from None
    if array.dtype != dtype:
        # A float for an integer tensor is a mistake more often than a wish.
        if not jnp.can_cast(array.dtype, dtype, "same_kind"):
            raise InvalidArgumentError(f"'{name}' is {dtype}, not {array.dtype}")
        array = array.astype(dtype)
    _require_shape(name, array.shape, _declared_shape(output))
    return array


def _dtype(output: Output) -> np.dtype[Any]:
    """Return the dtype of a tensor, or of the values of a variable."""
    declared = output.node.attr_of(DType, "dtype") if output.node.op in VARIABLES else output.dtype
    assert declared is not None
    return declared.base.numpy


def _declared_shape(output: Output) -> Shape:
    """Return the shape that a node declares for its output."""
    return as_shape(output.node.attr("shape")) if output.index == 0 and "shape" in output.node.attrs else UNKNOWN


def _require_shape(name: str, dims: Sequence[Any], shape: Shape) -> None:
    """Raise InvalidArgumentError for dimensions that a declared shape rules out."""
    if shape.dims is None:
        return
    fits = len(dims) == len(shape.dims) and all(
        not isinstance(known, int) or known == dim for known, dim in zip(shape.dims, dims)
    )
    if not fits:
        raise InvalidArgumentError(f"'{name}' has shape {shape}, not ({', '.join(map(str, dims))})")


def _parameters(plan: Plan, lifted: frozenset[Node]) -> dict[str, Node]:
    """Return the variables that a plan reads or writes and the lifted constants that it reads, by name."""
    variables: dict[str, Node] = {}
    for step in plan.steps:
        if step.node.op in VARIABLES:
            variables.setdefault(_variable_name(step.node), step.node)
    constants = {step.node.name: step.node for step in plan.steps if step.node in lifted}
    both = next((name for name in constants if name in variables), None)
    if both is not None:
        raise InvalidArgumentError(f"a variable and a constant share the name '{both}'")
    return variables | constants


def _variable_name(node: Node) -> str:
    return node.text_attr("shared_name") or node.name


def _require_lowerings(plan: Plan, graph: Graph, lifted: Sequence[Node], updates: bool) -> None:
    """Raise UnimplementedError with all nodes that JAX cannot run."""
    refused = whole_refusals(plan, graph, frozenset(lifted))
    if not updates:
        written = [step.node for step in plan.steps if (rule := lowering(step.node.op)) is not None and rule.updates]
        refused |= dict.fromkeys(written, UPDATED)
    if not refused:
        return
    groups: dict[tuple[str, Reason], list[str]] = {}
    for node, reason in refused.items():
        groups.setdefault((node.op, reason), []).append(node.name)
    lines = [f"{op} ({_some(names)}): {reason}" for (op, reason), names in groups.items()]
    raise UnimplementedError(f"JAX does not support {counted(len(refused), 'node')}:", hint=_hint(refused), details=lines)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _hint(refused: Mapping[Node, Reason]) -> str:
    """Return the next step for the first of the nodes that the user can feed, or the step of the first reason."""
    node, reason = next(iter(refused.items()))
    if reason is UPDATED:
        return UPDATED.step
    drawing = next((node for node in refused if has_fact(node.op, "random")), node)
    return hints.Hint(hints.step("traced_input", name=drawing.name), ", to make its value an input of the function")
