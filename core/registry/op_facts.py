"""Facts of ops beyond their interfaces: FACTS by op.

Families state facts with `registry.facts`. The heads of the family files repeat the facts (`families`), so that a query
imports no family.
"""

from __future__ import annotations

from typing import Final

from .families import ops_of_fact

FACTS: Final = {
    "random": "draws random numbers: never merged, folded or cached",
    "lengthy": "may take as long as a number that it is given says, however little it makes: left to runs and to folding",
    "elementwise": "each output element depends only on the input elements at its place, after broadcasting",
    "idempotent": "f(f(x)) = f(x)",
    "involution": "f(f(x)) = x",
    "monotone": "non-decreasing elementwise function",
    "partial": "is NaN for some numbers",
    "reciprocal": "divides 1 by its input",
    "bounded_by_inputs": "its elements lie between the least and the greatest of its floating-point inputs' and 0",
    "sum_of_inputs": "adds its inputs up, element by element, after broadcasting",
    "unit_range": "gives numbers from -1 to 1",
    "not_negative": "gives no number less than 0",
    "forwarding": "passes its first input on unchanged",
    "same_shape_same_value": "gives its first input wherever its output has the shape of that",
    "nothing_without_axes": "gives its first input where its second, the axes, is empty",
    "zero_padding": "puts zeros around its first input, as many as its second, pairs for each dimension, says",
    "new_axis": "puts an axis of one place into its first input, where its second says",
    "without_axes": "leaves out axes of one place, those that its attribute `squeeze_dims` names",
    "space_to_batch": "puts positions of blocks, the second input, into the batch, zeros around the first as the third says",
    "batch_to_space": "brings positions of blocks, the second input, back from the batch, and cuts off what the third says",
    "passes_each_on": "each of its outputs is the input at its place, unchanged",
    "transparent": "its output is its input, and that is all: it takes no step of its own",
    "total": "no value of inputs whose shapes fit makes it fail",
    "settled_by_shapes": "its inputs' shapes, and what its outputs' shapes follow from, tell whether it fails",
    "view": "gives the same elements in another shape, or only looks at shapes: touches no element",
    "shape_arithmetic": "its kernel also works on object arrays that hold symbolic dimensions",
    "side_effect": "must run for what it does, not for what it returns",
    "input_pipeline": "makes datasets, asks of them, or begins and follows passes over them",
    "observes_pipeline": "looks at the transformations that a dataset is made of, or asks for its elements by their places",
    "next_element": "gives the next element of a pass over a dataset",
    "takes_all_elements": "goes through the elements of a dataset that it takes first, up to the last one",
    "image_contents": "takes a text that is an image file, such as a PNG file, as its first input",
    "sound_contents": "takes a text that is a WAV file as its first input",
    "example_contents": "takes texts that are Example messages as its first input",
    "number_text": "takes texts that are numbers as its first input",
    "reads_files": "opens files that its inputs name",
    "calls_python": "calls a Python function of the process that built the graph",
    "training": "writes a variable from a gradient",
    "backward": "computes the gradient of another op from the gradient of its result",
    "debug": "observes values and changes nothing",
    "snapshot": "looks at a variable once, and needs no lock: what another thread writes meanwhile comes before or after it",
    "unshared": "works on what one run made for itself: no other thread has it",
    "idle": "does nothing: it is there for others to wait for",
    "channels_last": "its kernel takes NHWC only",
    "blocks": "may have to wait for what another node of the same run supplies, as at an empty queue",
    "enter": "hands a value into a V1 loop",
    "exit": "hands a value out of a V1 loop",
    "next_iteration": "hands a value to the next iteration of a V1 loop",
    "switch": "hands a value to one of several branches; the others are dead",
    "merge": "hands on the input that is alive",
    "control_flow": "says which nodes run, or how often",
    "inexpensive": "TensorFlow declares its CPU kernel to take next to no time, and runs it in the thread that made it ready",
    "asynchronous": "TensorFlow's kernel calls back when it is done: what follows is handed to the thread pool",
    "variable": "owns the memory of a variable",
    "owns_state": "makes the state that its output refers to",
    "alias": "in TensorFlow its output is its first input: what is written to a variable later shows in it",
    "alias_view": "in TensorFlow its output is its first input's memory, seen in another shape or type",
    "initialized_reference": "passes a reference on, and wants the variable behind it to be initialized",
    "stack_push": "puts its second input onto the stack of its first, and gives it",
    "stack_pop": "gives what lies on top of a stack",
    "list_push": "makes a tensor list with its second input at the end of the first, a list",
    "list_pop": "makes a tensor list without the last element of its first input, a list, and gives that element second",
    "list_read": "gives elements of a tensor list as they are, and perhaps the list without them",
    "run_state": "makes what its handle leads to for one run: a stack, an array of tensors",
    "table": "makes a lookup table, or finds the one of its name",
    "assignment": "replaces a variable's value",
    "increment": "adds to a variable's value or takes away from it",
    "metadata": "tells of a tensor or variable only its shape, or whether it is there",
    "initialization_test": "tells whether a variable has a value",
    "fills_table": "puts what it is given into a table",
    "initializes_table": "gives a lookup table its first contents",
    "checkpoint": "writes or reads a checkpoint, or names its files",
    "restores": "reads tensors from a checkpoint",
    "summary": "makes a Summary message, or writes to an event file",
    "diagnostic": "tells of a fault, and changes nothing where there is none",
    "row_numbers": "takes numbers of rows as `indices` and `segment_ids`, of int32 or int64 as an attribute says",
    "addition": "x + y",
    "subtraction": "x - y",
    "division": "x / y without rounding",
    "less": "x < y or x <= y",
    "greater": "x > y or x >= y",
    "true_of_equals": "a comparison that is true of equal numbers",
    "batch_normalization": "normalizes by mean and variance of each channel, given or of the batch",
    "program": "holds compiled code that only an engine runs: a function of its inputs, though its op is declared stateful",
    "half_allow": "costs most of a network, and 16-bit floats serve it: sums of products, which kernels add in 32 bits",
    "half_infer": "16-bit floats serve it, but not where its numbers come from an op that is of `half_deny`",
    "half_deny": "takes 16-bit floats beyond their range or digits, and what reads its numbers too",
    "half_clear": "moves, picks or compares numbers: 16-bit floats serve it as they serve its neighbours",
    "rectifier": "bounds its input from below: TensorFlow's fused kernels apply it to what they computed",
}

STATED: Final[dict[str, set[str]]] = {name: set() for name in FACTS}
"""The ops that the families imported so far, and op libraries, state each fact of."""


class _Written(dict[str, frozenset[str]]):
    """The ops of each fact by the heads of the families, read when first asked for: `tfg dump` does not ask."""

    def __missing__(self, name: str) -> frozenset[str]:
        self[name] = ops = ops_of_fact().get(name, frozenset())
        return ops


_WRITTEN: Final = _Written()


def has_fact(op: str, name: str) -> bool:
    """Return True where a family or an op library stated the fact."""
    return op in _WRITTEN[name] or op in STATED[name]


def ops_with(name: str) -> tuple[str, ...]:
    """Return the ops of tfg's own families with this fact, in the order of their names."""
    return tuple(sorted(_WRITTEN[name]))


def facts_of(op: str) -> tuple[str, ...]:
    """Return the facts stated of an op, in the order of FACTS."""
    return tuple(name for name in FACTS if has_fact(op, name))
