"""Reasons why NumPy runs nodes that an engine might run, each with the next step for the user."""

from __future__ import annotations

from typing import Final

from ..graph.callers import function_references
from ..graph.graph import Node
from ..graph.purity import CONTROL_FLOW
from ..registry.op_facts import has_fact
from ..support.hints import Blank, Hint, command, option, step
from ..types import dtypes
from ..types.dtypes import DType


class Reason(str):
    """A reason as a text, with the user's next `step`."""

    step: str

    def __new__(cls, why: str, step: str) -> Reason:
        made = super().__new__(cls, why)
        made.step = step
        return made

    # A str pickles as its text alone and would lose the step on the way to another process.
    def __reduce__(self) -> tuple[type[Reason], tuple[str, str]]:
        return Reason, (str(self), self.step)

    def of(self, *parts: object) -> Reason:
        """Return the reason with `parts` in its gaps, as of `str.format`."""
        return Reason(self.format(*parts), self.step)

    def within(self, place: str) -> Reason:
        """Return the same reason for a larger step that holds the node at `place`."""
        return Reason(f"{place}: {self}", self.step)


_FUNCTIONAL: Final = "export the model with functional control flow: use tf.function or tf.compat.v1.enable_control_flow_v2()"
_NO_STEP: Final = "no step is needed"
_FREEZE: Final = Hint("freeze the variables: ", step("freeze"))
_TRY_XLA: Final = Hint("try ", option("engine", "xla"), ", or leave the node to NumPy")
_LEAVE: Final = "leave the node to NumPy, which computes the right result"
_FEED: Final = "feed the output of the node, or leave the node to NumPy"
_PAD: Final = "keep shapes the same in all runs, e.g. by padding, or leave the node to NumPy"
_WRITE: Final = "leave the node to NumPy, or write a lowering for the op (CONTRIBUTING.md, An engine)"
_UNCOMPILED: Final = "it does not compile: "
_MESSAGE: Final = "try another engine or version of the engine, or leave the node to NumPy"
_INLINE: Final = Hint("inline the functions: ", command("optimize"), " or ", step("inline_functions"))

LOOPS_BY_NODE: Final = Reason("it is in a graph whose loops run node by node", _FUNCTIONAL)
V1_LOOP: Final = Reason("it is a V1 loop", Hint("use ", option("engine", "xla"), ", which supports V1 loops"))
ON_BRANCH: Final = Reason(
    "it lies on a branch of a V1 conditional",
    Hint(_FUNCTIONAL, "; or make the predicate a constant and run ", command("optimize"), ", which keeps one branch"),
)
BY_REFERENCE: Final = Reason("it touches a variable by reference", _FREEZE)
WRITES_IN_LOOP: Final = Reason("it writes to a variable", "move the assignment out of the loop, or leave the loop to NumPy")
UPDATED: Final = Reason("it writes to a variable", "pass `updates=True`, so that the function also returns the new values")
KEPT: Final = Reason(
    "its value is kept between runs", Hint("run without ", option("cache-stats"), ", or without Session(cache=)")
)
TORN: Final = Reason(
    "other groups share a list, stack or array of tensors with it",
    "fetch and feed tensors instead of the list, and see the reasons of other nodes that use the list",
)
COMPUTES_NOTHING: Final = Reason("it computes nothing", f"{_NO_STEP}: the node costs next to nothing")
UNREAD: Final = Reason("no branch needs it", f"{_NO_STEP}: no node reads the value")
STRINGS: Final = Reason("it takes strings", "feed the numbers parsed from the strings, or leave the node to NumPy")
OWN_CALLS: Final = Reason("tfg divides the called functions separately", f"for larger groups, {_INLINE}")
NO_LOWERING: Final = Reason("it has no lowering", _WRITE)
UNTRANSLATED: Final = Reason("OpenVINO does not translate it", _TRY_XLA)
FAILS_TO_TRANSLATE: Final = Reason("OpenVINO fails to translate it", _TRY_XLA)
UNTRANSLATED_SHAPES: Final = Reason("OpenVINO does not translate it for these shapes", _TRY_XLA)
EMPTY: Final = Reason("OpenVINO crashes on tensors without elements", _TRY_XLA)
NO_ELEMENTS: Final = Reason("an input or output has no elements", _TRY_XLA)
SHAPE_OF_VALUES: Final = Reason("its output shape depends on values", _PAD)
SHAPE_OF_VARIABLE: Final = Reason("a shape depends on the value of a variable", _FREEZE)
NO_VARIABLE: Final = Reason(
    "a reference does not lead to a variable", "feed a value for the variable, or leave the group to NumPy"
)
NOT_ONE_NODE: Final = Reason("one of its nodes does not compile", "see the nodes left to NumPy")

# Reasons with gaps, for `Reason.of`.

ANALYSIS_FAILED: Final = Reason("the engine fails to analyze the graph: {}", _MESSAGE)
DTYPE_OF_OPENVINO: Final = Reason(
    "OpenVINO does not compute in {}",
    Hint("try ", option("engine", "xla"), ", or cast to float32 or int32 where numbers fit"),
)
DTYPE_OF_XLA: Final = Reason("XLA does not support {}", _FEED)
REFUSED_BY_TENSORFLOW: Final = Reason(
    "{}", "cast the inputs to a dtype that TensorFlow supports; TensorFlow rejects the node, too"
)
RECURSIVE: Final = Reason("function '{}' calls itself", "write the recursion as a loop, or leave the call to NumPy")
FUNCTION_BY_NODE: Final = Reason("function '{}' has V1 control flow, which runs node by node", _FUNCTIONAL)
NOT_CALLED: Final = Reason("{}", _INLINE)
FAILING: Final = Reason("it fails: {}", _MESSAGE)
DIFFERENT: Final = Reason("it differs from NumPy at {}: {}", _LEAVE)
SLOWER: Final = Reason("NumPy takes less time: {:.6f} s against {:.6f} s", _NO_STEP)
OVER_BUDGET: Final = Reason("compiling exceeded its limit of {:g} s", _PAD)
UNLIKE: Final = Reason("the engine returns another {}", _MESSAGE)
DECLINED: Final = Reason(
    "{}", Hint("run without ", option("engine"), ": if a value is wrong, NumPy's error names the node and the value")
)
UNINITIALIZED: Final = Reason(
    "variable '{}' is not initialized",
    Hint("run the initializer first: ", option("init"), ", or ", option("state", Blank("FILE"))),
)
TOO_MANY_SHAPES: Final = Reason(
    "its inputs had more than {} shapes", "pad inputs to a few shapes, or leave the group to NumPy"
)


def of_engine(reason: str) -> Reason:
    """Return the reason that an engine gives, with a step where the engine names none."""
    return reason if isinstance(reason, Reason) else Reason(reason, _LEAVE)


def dtype_not_taken(dtype: DType | None) -> Reason:
    """Return the reason for a tensor that no engine takes."""
    if dtype is dtypes.string:
        return Reason("it has string inputs or outputs", STRINGS.step)
    return Reason(f"it has inputs or outputs of {dtype or 'unknown dtype'}", _FEED)


def of_impurity(node: Node, why: str) -> Reason:
    """Return the reason for a node with side effects, or without computation."""
    if has_fact(node.op, "random"):
        return Reason(why, f"{_NO_STEP}: NumPy draws random numbers, so that every engine gets the same numbers")
    if node.op in CONTROL_FLOW:
        return Reason(why, ON_BRANCH.step)
    if node.is_placeholder:
        return Reason(why, f"feed a value for '{node.name}'")
    if next(function_references(node), None) is not None:
        return Reason(why, _INLINE)
    if has_fact(node.op, "reads_files"):
        return Reason(why, "feed the contents of the file, or leave the node to NumPy")
    touches = any(value.dtype is dtypes.resource or value.is_reference for value in node.inputs)
    return Reason(why, _FREEZE if touches else _LEAVE)


def engine_error(why: str, engine: str) -> Reason:
    """Return the reason for a node that an engine gets wrong."""
    return Reason(why, _LEAVE if engine == "xla" else _TRY_XLA)


def uncompiled(message: str) -> Reason:
    """Return the reason for nodes that do not compile; a message may quote the reason of a node."""
    return Reason(_UNCOMPILED + message.replace(_UNCOMPILED, ""), _MESSAGE)


def recalled(why: str, step: str) -> Reason:
    """Return a reason that was written down with a choice of an earlier process."""
    return Reason(why, step)
