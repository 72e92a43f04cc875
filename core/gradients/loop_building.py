"""Adding variables to V1 loops: Enter -> Merge -> Switch -> ... -> NextIteration -> Merge, and Exit."""

from __future__ import annotations

from ..building.builder import GraphBuilder
from ..graph.graph import Node, Output


def enter_and_merge(g: GraphBuilder, value: Output, frame_name: str, parallel_iterations: int) -> Output:
    """Add Enter and Merge of a new variable. The second input of the Merge is set by `close_variable`."""
    entered = g.Enter(value, frame_name=frame_name, is_constant=False, parallel_iterations=parallel_iterations)
    result = g.Merge([entered, entered])[0]
    return result


def close_variable(g: GraphBuilder, switch: Node, value: Output) -> Output:
    """Make `value` the variable's next iteration and return the Exit; `switch` is the Switch of the variable's Merge."""
    back = g.NextIteration(value)
    g.graph.set_input(switch.inputs[0].node, 1, back)
    return g.Exit(switch.output(0))
