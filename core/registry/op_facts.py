"""Facts of ops beyond their interfaces: FACTS by op, and the families of ops: the module of each, and its ops.

Families state facts with `registry.facts`, and families.txt repeats the facts, so that a query imports no family.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Final

from .. import ops as ops_package

# The families of ops: the module of each family, and the ops with the facts that it registers.
# families.txt has a line for each family file of core/ops, and below it the ops by their facts:
#     math.special
#       BesselI0 Digamma
#       Acos Acosh Asin: elementwise
# scripts/regenerate.py derives the text from the registrations. So a caller that needs an op imports only the op's family,
# and a caller that needs facts imports no family.

PACKAGE: Final = ops_package.__name__
FOLDER: Final = os.path.dirname(ops_package.__file__)
LIST: Final = os.path.join(os.path.dirname(__file__), "families.txt")
INDENT: Final = "  "
"""The beginning of a line with ops."""


@functools.cache
def family_modules() -> dict[str, str]:
    """Map each family to its module within `ops`, as "linalg.matmul"."""
    return {module.rpartition(".")[2]: module for module, _, _ in _lines()}


def family_names() -> list[str]:
    """List the names of all families, in order."""
    return sorted(family_modules())


def load_family(name: str) -> None:
    """Import the module of a family."""
    importlib.import_module(f".{family_modules()[name]}", PACKAGE)


def family_path(name: str) -> str:
    """Return the path of a family's file."""
    return f"{FOLDER}/{family_modules()[name].replace('.', '/')}.py"


@functools.cache
def family_of_op() -> dict[str, str]:
    """Map each op to its family."""
    return {op: module.rpartition(".")[2] for module, ops, _ in _lines() for op in ops}


@functools.cache
def ops_of_fact() -> dict[str, frozenset[str]]:
    """Map each fact to the ops with the fact."""
    ops_by_fact: dict[str, list[str]] = {}
    for _, ops, facts in _lines():
        for fact in facts:
            ops_by_fact.setdefault(fact, []).extend(ops)
    return {fact: frozenset(ops) for fact, ops in ops_by_fact.items()}


@functools.cache
def _lines() -> tuple[tuple[str, list[str], list[str]], ...]:
    """Return (module, ops, facts of all these ops) for each line of ops."""
    lines, module = [], ""
    # This text of 40 kB is read in milliseconds; importing the families, which state the facts, takes a second.
    with open(LIST, encoding="ascii") as file:
        for line in file:
            if line.startswith(INDENT):
                # A line without a colon has ops without facts.
                ops, _, facts = line.partition(":")
                lines.append((module, ops.split(), facts.split()))
            else:
                module = line.strip()
    return tuple(lines)


# The facts.

FACTS: Final = {
    "random": "draws random numbers: never merged, folded or cached",
    "own_stream": "draws from a separate stream, node by node: a draw that nothing reads has no effect",
    "lengthy": "its time grows with a value of its inputs, even for a small result: inference does not evaluate it",
    "elementwise": "each output element depends only on the input elements at its place, after broadcasting",
    "row_wise": "row i of its outputs, on the first axis, depends only on row i of its first input; rows share other inputs",
    "last_axis": "works along the last axis of its first input, separately at each place of the other axes",
    "idempotent": "f(f(x)) = f(x)",
    "involution": "f(f(x)) = x",
    "monotone": "non-decreasing elementwise function",
    "partial": "is NaN for some numbers",
    "reciprocal": "divides 1 by its input",
    "bounded_by_inputs": "its elements lie in the range of its floating-point inputs, extended to 0",
    "sum_of_inputs": "adds its inputs up, element by element, after broadcasting",
    "unit_range": "its elements lie between -1 and 1",
    "unit_normal": "draws from the normal distribution of mean 0 and standard deviation 1",
    "unit_uniform": "draws from [0, 1), multiples of the distance from 1 to the next greater number, in the shape `shape`",
    "not_negative": "its elements are not less than 0",
    "forwarding": "passes its first input on unchanged",
    "same_shape_same_value": "returns its first input unchanged if the output has the same shape",
    "nothing_without_axes": "returns its first input unchanged if its second input, the axes, is empty",
    "passes_each_on": "each output is the input of the same index, unchanged",
    "transparent": "returns its input unchanged, without a step in the plan",
    "total": "never fails if the shapes of its inputs fit",
    "settled_by_shapes": "the shapes of its inputs, and the values behind the shapes of its outputs, decide whether it fails",
    "view": "changes or reads only shapes, and touches no element",
    "finds_size": "a -1 among the sizes of its result stands for the size that is left",
    "shape_arithmetic": "its kernel also works on object arrays that hold symbolic dimensions",
    "side_effect": "runs for its effect, not for its result",
    "input_pipeline": "creates or inspects datasets, or iterates over them",
    "observes_pipeline": "inspects the transformations of a dataset, or reads elements by index",
    "restores_position": "continues an iterator, its first input, from a position that a checkpoint holds",
    "next_element": "returns the next element of an iterator",
    "takes_all_elements": "reads all elements of its dataset, its first input",
    "image_contents": "its first input is the contents of an image file, such as a PNG file",
    "sound_contents": "its first input is the contents of a WAV file",
    "example_contents": "its first input holds serialized Example messages",
    "number_text": "its first input holds numbers as text",
    "reads_files": "opens the files named by its inputs",
    "calls_python": "calls a Python function of the process that built the graph",
    "training": "writes a variable from a gradient",
    "backward": "computes the gradient of another op from the gradient of its result",
    "debug": "observes values and changes nothing",
    "snapshot": "reads a variable once without a lock: a concurrent write comes before or after the read",
    "unshared": "works on state of a single run, without other threads",
    "idle": "does nothing: other nodes wait for it",
    "channels_last": "its kernel supports only NHWC",
    "blocks": "may wait for another node of the same run, as at an empty queue",
    "enter": "passes a value into a V1 loop",
    "exit": "passes a value out of a V1 loop",
    "next_iteration": "passes a value to the next iteration of a V1 loop",
    "switch": "passes a value to one of several branches; the other branches are dead",
    "merge": "passes on its live input",
    "control_flow": "controls the execution of other nodes, or the number of executions",
    "inexpensive": "TensorFlow declares its CPU kernel inexpensive, and runs it in the thread that made the node ready",
    "asynchronous": "its kernel in TensorFlow is asynchronous: a callback schedules later nodes in the thread pool",
    "variable": "owns the memory of a variable",
    "owns_state": "creates the state that its output refers to",
    "alias": "in TensorFlow its output is its first input: later writes to the variable change the output",
    "alias_view": "in TensorFlow its output shares the memory of its first input, in another shape or type",
    "initialized_reference": "passes a reference on, and requires an initialized variable",
    "stack_push": "pushes its second input onto the stack of its first input, and returns the second input",
    "stack_pop": "pops the top of a stack",
    "list_push": "appends its second input to a tensor list, its first input",
    "list_set": "replaces an element of a tensor list, its first input, by its third input",
    "list_pop": "returns a tensor list without the last element, then the last element",
    "list_read": "returns elements of a tensor list unchanged, and perhaps the list without them",
    "container": "creates a stack or an array of tensors that inference follows",
    "container_read": "takes a stack or an array of tensors, its first input, and writes no element",
    "array_write": "writes its third input as an element of an array of tensors, its first input",
    "array_scatter": "writes the rows of its third input as elements of an array of tensors, its first input",
    "run_state": "creates a stack or an array of tensors for a single run, and returns the handle",
    "on_run_state": "changes or reads a stack or an array of tensors of a single run",
    "table": "creates a lookup table, or finds the table by its name",
    "saved_table": "creates a lookup table whose contents a checkpoint holds, as runs can change them",
    "assignment": "replaces a variable's value",
    "increment": "adds to the value of a variable, or subtracts from the value",
    "metadata": "reads only the shape or the existence of a tensor or variable",
    "fills_likewise": "fills the shape of its input with a constant, and reads no element",
    "finds_true": "returns the places of the true elements of its input, as many as there are",
    "finds_distinct": "returns the distinct elements of its first input, as many as there are",
    "selects_input": "returns the input whose number is its first input",
    "initialization_test": "tests whether a variable has a value",
    "fills_table": "inserts its inputs into a table",
    "initializes_table": "sets the initial contents of a lookup table",
    "checkpoint": "writes or reads a checkpoint, or names its files",
    "restores": "reads tensors from a checkpoint",
    "restores_resource": "sets a resource that is neither a variable nor a table to the contents of a checkpoint",
    "summary": "creates a Summary message, or writes to an event file",
    "diagnostic": "reports a fault, and changes nothing otherwise",
    "row_numbers": "takes row numbers as `indices` and `segment_ids`, of int32 or int64 by an attribute",
    "addition": "x + y",
    "subtraction": "x - y",
    "division": "x / y without rounding",
    "less": "x < y or x <= y",
    "greater": "x > y or x >= y",
    "true_of_equals": "a comparison that is true for equal numbers",
    "batch_normalization": "normalizes by the mean and variance of each channel, from its inputs or from the batch",
    "program": "holds compiled code that only an engine runs: a pure function, despite a stateful op",
    "own_gradient": "in functions of JAX its derivative is its gradient, not the derivative of its lowering",
    "finished_product": "a product and the ops that its attribute `fused_ops` names, as TensorFlow's optimizer makes of them",
    "half_allow": "a major cost of networks, safe in 16-bit floats: sums of products, accumulated in 32 bits",
    "half_infer": "safe in 16-bit floats, unless an input comes from an op with the fact `half_deny`",
    "half_deny": "exceeds the range or precision of 16-bit floats, as do the consumers of its result",
    "half_clear": "moves, selects or compares numbers: as safe in 16-bit floats as its neighbours",
    "of_lists": "its lowering to ONNX takes tensor lists as well as tensors",
    "stated_pair": "TensorFlow's shape function states the shape (2) for its handle, which is a scalar",
    "stated_reserves": "TensorFlow's shape function states the shape (0) for its last two outputs, which are scalars",
    "stated_sequences": "TensorFlow's shape function states a length of its last two outputs that is one too small",
    "fused_kernel": "stands for several ops, in a kernel that only TensorFlow on CPUs has: other readers do not know it",
    "rectifier": "bounds its input from below; TensorFlow's fused kernels apply it as an epilogue",
}

# Every fact has a set, so that a misspelled name is an error and not a new fact.
STATED: Final[dict[str, set[str]]] = {name: set() for name in FACTS}
"""The ops that the families imported so far, and op libraries, state each fact of."""


# A dict that fills itself, as each question about a fact is asked a million times for a large graph.
class _Written(dict[str, frozenset[str]]):
    """The ops of each fact by the heads of the families, read when first asked for: `tfg dump` does not ask."""

    def __missing__(self, name: str) -> frozenset[str]:
        self[name] = ops = ops_of_fact().get(name, frozenset())
        return ops


_WRITTEN: Final = _Written()


def has_fact(op: str, name: str) -> bool:
    """Return True if a family or an op library stated the fact."""
    # STATED has what op libraries add, and families whose list is not regenerated yet.
    return op in _WRITTEN[name] or op in STATED[name]


def ops_with(name: str) -> tuple[str, ...]:
    """Return the ops of tfg's own families with this fact, in the order of their names."""
    return tuple(sorted(_WRITTEN[name]))


def facts_of(op: str) -> tuple[str, ...]:
    """Return the facts stated of an op, in the order of FACTS."""
    return tuple(name for name in FACTS if has_fact(op, name))


# Kinds of nodes that are a single op with a role in every graph.

ABSENT: Final = "Absent"
"""The op type of the nodes that replace missing inputs, where a broken graph is loaded for inspection."""


class NodeKinds:
    """Kinds by the node's op; a property of several ops is one of FACTS."""

    __slots__ = ()

    op: str

    @property
    def is_constant(self) -> bool:
        """True for a Const, a value in an attribute."""
        return self.op == "Const"

    @property
    def is_identity(self) -> bool:
        """True for an Identity, the copy of a value."""
        return self.op == "Identity"

    @property
    def is_no_op(self) -> bool:
        """True for a NoOp, a node with control edges only."""
        return self.op == "NoOp"

    @property
    def is_argument(self) -> bool:
        """True for an _Arg, an argument of a function's body."""
        return self.op == "_Arg"

    @property
    def is_result(self) -> bool:
        """True for a _Retval, a result of a function's body."""
        return self.op == "_Retval"

    @property
    def is_loop_condition(self) -> bool:
        """True for a LoopCond, the condition of a V1 loop."""
        return self.op == "LoopCond"

    @property
    def is_control_trigger(self) -> bool:
        """True for a ControlTrigger, a NoOp that runs even if all control inputs are dead."""
        return self.op == "ControlTrigger"

    @property
    def is_variable_read(self) -> bool:
        """True for a ReadVariableOp, the value of a variable behind a handle."""
        return self.op == "ReadVariableOp"

    @property
    def is_placeholder(self) -> bool:
        """True for a Placeholder of any kind, with or without a default."""
        return self.must_be_fed or self.op == "PlaceholderWithDefault"

    @property
    def must_be_fed(self) -> bool:
        """True for a Placeholder without a default: a run must feed a value."""
        return self.op in ("Placeholder", "PlaceholderV2")
