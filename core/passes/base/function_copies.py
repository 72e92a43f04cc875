"""Copies of functions on their way to becoming functions of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...functions.callers import reached_functions
from ...functions.instantiation import instantiate
from ...graph.graph import Function, Graph, Node, Output
from ...graph.node_making import add_argument
from ...planning.reachability import needed_nodes
from ...registry.catalog import ArgDef, OpDef
from ...registry.op_facts import has_fact
from ...support.tensor_names import free_name
from ...types.dtypes import DType
from ...types.tensors import FuncRef
from .graph_pass import PassContext


def copy_blocker(ctx: PassContext, function: Function) -> str | None:
    """Return the reason why a changed copy cannot replace a function at a single caller, or None."""
    functions = ctx.graph.functions
    reached = reached_functions(ctx.graph.functions, function.body)
    if function.name in reached:
        return f"function '{function.name}' calls itself"
    bodies = [function.body, *(functions[name].body for name in reached)]
    if ctx.is_shared(function.name) and any(has_fact(n.op, "random") for body in bodies for n in body):
        return f"function '{function.name}' draws random numbers and is called from several places"
    return None


class Draft:
    """A copy of a function, to be changed and added to the library of `graph` under a new name."""

    def __init__(self, graph: Graph, reference: FuncRef) -> None:
        self._functions = graph.functions
        self._reference = reference
        origin = graph.functions[reference.name]
        made = instantiate(origin, {})
        self.body = made.body
        self.body.functions = graph.functions
        self.args, self.results, self.control_results = made.args, made.results, made.control_results
        self._inputs, self._outputs = list(origin.signature.inputs), list(origin.signature.outputs)
        self._flags = origin.signature.flags

    def add_variable(self, dtype: DType, name: str, is_result: bool) -> Output:
        """Add a last argument, and where `is_result` a last result that returns the argument."""
        name = self.body.unique_name(name)
        node = add_argument(self.body, name, dtype, len(self.args))
        self.args.append(node)
        self._inputs.append(ArgDef(name, dtype))
        if is_result:
            self.results.append(node.output())
            self._outputs.append(ArgDef(f"{name}_out", dtype))
        return node.output()

    def make_constant(self, index: int, constant: Node) -> None:
        """Replace an argument by a copy of a constant."""
        arg = self.args[index]
        attrs = {key: value for key, value in constant.attrs.items() if key != "_class"}
        made = self.body.add_node(self.body.unique_name(f"{arg.name}/constant"), constant.op, (), (), attrs, constant.device)
        self.replace(arg.output(), made.output())
        self.body.replace_control_uses(arg, made)

    def keep_args(self, indices: Sequence[int]) -> None:
        """Drop all other arguments; nothing uses them."""
        doomed = [arg for i, arg in enumerate(self.args) if i not in indices]
        self.body.remove_nodes(doomed)
        self.args, self._inputs = [self.args[i] for i in indices], [self._inputs[i] for i in indices]
        for i, arg in enumerate(self.args):
            arg.set_attr("index", i)

    def keep_results(self, indices: Sequence[int]) -> None:
        """Drop the other results."""
        self.results, self._outputs = [self.results[i] for i in indices], [self._outputs[i] for i in indices]

    def replace(self, old: Output, new: Output) -> None:
        """Replace `old` by `new` in all uses and results."""
        self.body.replace_all_uses(old, new)
        self.results = [new if value == old else value for value in self.results]

    def prune(self, ctx: PassContext) -> None:
        """Remove dead code: nodes that neither results nor effects need, except arguments."""
        acting = [node for node in self.body if ctx.acts(node)]
        needed = needed_nodes([*self.results, *self.control_results, *acting, *self.args])
        self.body.remove_nodes([node for node in self.body if node not in needed])

    def add(self) -> FuncRef:
        """Add the function to the library; return a reference with the origin's attributes."""
        base = re.sub(r"_specialized(_\d+)?$", "", self._reference.name) + "_specialized"
        name = free_name(base, self._functions)
        signature = OpDef(name, tuple(self._inputs), tuple(self._outputs), {}, self._flags)
        self._functions[name] = Function(signature, self.body, self.args, self.results, self.control_results)
        return FuncRef(name, self._reference.attrs)
