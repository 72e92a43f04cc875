"""Count the iterations of a loop by a formula: the distance from the counter to the limit, by the step.

The count is exact, and may contain symbolic dimensions. `engines/step_bodies` bounds loops of any form whose values are
numbers instead: the condition is run until false for sure. No formula follows from a run, and a loop without a counter has
no formula, so there are two modules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from ..graph.frames import ENTER, MERGE, NEXT_ITERATION, Frame, hands_in
from ..graph.graph import Function, Node, Output
from ..graph.traversal import trail_end
from ..inference.estimates import Estimate
from ..registry.op_facts import has_fact
from ..types.dims import Dim, DimLike, ceil_div, dim_min
from ..types.shapes import TensorSpec


def frame_trips(frame: Frame, inference: Estimate) -> DimLike | None:
    """Return the iterations of a V1 loop whose condition compares a counter with a limit; None for other loops.

    A backward loop counts down from the number of iterations of the forward loop, whose value inference has.
    """
    condition = frame.loop_condition
    if condition is None:
        return None

    def constant(value: Output) -> DimLike | None:
        return _number(inference, _before_loop(value))

    return _trips(condition.inputs[0], _counter_of, constant)


def _before_loop(value: Output) -> Output:
    """Follow a value back through invariant loop variables, as a lowered While has for captured values."""
    value, seen = _strip(value), set[Output]()  # a broken graph may lead round in a circle
    while value not in seen and (counter := _counter_of(value)) is not None and _strip(counter[1]) is value:
        seen.add(value)
        value = _strip(counter[0])
    return value


def _counter_of(value: Output) -> tuple[Output, Output] | None:
    """Return the initial value of a loop variable and the value after an iteration; None for other values."""
    if value.node.op not in MERGE:
        return None
    sources = [source.node for source in value.node.inputs]
    starts = [node.inputs[0] for node in sources if node.op in ENTER]
    results = [node.inputs[0] for node in sources if node.op in NEXT_ITERATION]
    return (starts[0], results[0]) if starts and results else None


def while_trips(functions: Mapping[str, Function], node: Node, specs: Sequence[TensorSpec]) -> DimLike | None:
    """Return the iterations of a While whose condition compares a loop variable with a limit; None for other loops."""
    condition, body = (functions.get(node.attr(name).name) for name in ("cond", "body"))
    if condition is None or body is None:
        return None
    # By node and not by name: the function around the loop may have arguments of the same names.
    positions = {arg: i for function in (condition, body) for i, arg in enumerate(function.args)}

    def counter_of(value: Output) -> tuple[Output, Output] | None:
        index = positions.get(value.node)
        return None if index is None else (node.inputs[index], body.results[index])

    def constant(value: Output) -> DimLike | None:
        value = _strip(value)
        index = positions.get(value.node)
        # A variable that the body changes has its value at entry in the first iteration alone.
        if index is not None and _strip(body.results[index]).node is not body.args[index]:
            return None
        if index is not None:
            return _scalar(specs[index].value)
        by_input = dict(zip(node.inputs, specs))
        if value in by_input:
            return _scalar(by_input[value].value)
        return _scalar(value.node.constant_value()) if value.node.is_constant else None

    return _trips(condition.results[0], counter_of, constant)


def for_trips(specs: Sequence[TensorSpec]) -> DimLike | None:
    """Return the iterations of a For from start, limit and delta, None where any of the three is unknown."""
    start, limit, delta = (_scalar(spec.value) for spec in specs[:3])
    if start is None or limit is None or not isinstance(delta, int) or delta == 0:
        return None
    distance = ceil_div(limit - start, delta) if delta > 0 else ceil_div(start - limit, -delta)
    return max(distance, 0) if isinstance(distance, int) else distance


def _trips(
    predicate: Output,
    counter_of: Callable[[Output], tuple[Output, Output] | None],
    constant: Callable[[Output], DimLike | None],
) -> DimLike | None:
    """Return ceil((limit - start) / step) for `counter < limit`; of several conditions joined by And the smallest."""
    # tf.while_loop joins `maximum_iterations` and the condition by a LogicalAnd: the first to be false ends the loop.
    counts = [trips for node in _conditions(predicate) if (trips := _until(node, counter_of, constant)) is not None]
    return functools.reduce(dim_min, counts) if counts else None


def _conditions(predicate: Output) -> list[Node]:
    """Return the operands of a tree of LogicalAnd, each once."""
    operands = [_strip(predicate).node]
    for node in operands:
        if node.op == "LogicalAnd":
            operands += [inner for value in node.inputs if (inner := _strip(value).node) not in operands]
    return operands


def _until(
    node: Node,
    counter_of: Callable[[Output], tuple[Output, Output] | None],
    constant: Callable[[Output], DimLike | None],
) -> DimLike | None:
    """Return the iterations before a comparison is false for the first time."""
    is_less = has_fact(node.op, "less")
    if not is_less and not has_fact(node.op, "greater"):
        return None
    low, high = node.inputs if is_less else reversed(node.inputs)
    up, down = counter_of(_strip(low)), counter_of(_strip(high))
    if up is not None:
        start, limit, step = constant(up[0]), constant(high), _step(up[1], constant, fact="addition")
        distance = None if start is None or limit is None else limit - start
    elif down is not None:
        start, limit, step = constant(down[0]), constant(low), _step(down[1], constant, fact="subtraction")
        distance = None if start is None or limit is None else start - limit
    else:
        return None
    if distance is None or step is None or step < 1:
        return None
    # x <= limit holds once more, at the limit: for integers it is x < limit + 1.
    return ceil_div(distance + has_fact(node.op, "true_of_equals"), step)


def _step(value: Output, constant: Callable[[Output], DimLike | None], fact: str) -> int | None:
    """Return the constant that an iteration adds to the counter, or subtracts."""
    node = _strip(value).node
    if not has_fact(node.op, fact):
        return None
    steps = [number for operand in node.inputs if isinstance(number := constant(operand), int)]
    # With two constants the result is a constant, and nothing counts.
    return steps[0] if len(steps) == 1 else None


def _strip(value: Output) -> Output:
    return trail_end(value, lambda v: v.node.inputs[0] if v.node.op == "Cast" or hands_in(v.node) else None)


def _number(inference: Estimate, value: Output) -> DimLike | None:
    spec = inference.specs.get(value)
    return None if spec is None else _scalar(spec.value)


def _scalar(array: object) -> DimLike | None:
    if array is None or getattr(array, "size", 0) != 1:
        return None
    item = array.item()  # type: ignore[attr-defined]
    if isinstance(item, float):
        return int(item) if item.is_integer() else None
    return item if isinstance(item, (int, Dim)) else None
