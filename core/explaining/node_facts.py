"""Facts about a node, in plain words: role, control inputs, placement, consumers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..building.placement import Colocation, Placement
from ..graph.callers import callers, function_references
from ..graph.foreign_ops import foreign, original_function
from ..graph.graph import Graph, Node
from ..graph.instantiation import implementation
from ..graph.traversal import shortest_path
from ..graph.variable_nodes import VariableNodes
from ..inference.binding import named_inputs
from ..inference.inference import Inference
from ..registry.op_facts import ABSENT, has_fact
from ..support import dataclasses
from ..support.display import Report
from ..support.errors import NotFoundError
from ..support.grouping import grouped
from ..support.hints import Hint, HintStep, step
from ..support.tensor_names import output_number, parse_tensor_name
from ..support.words import counted
from ..types.tensors import FuncRef, Tensor
from .footprint import inferred
from .model_view import ModelView, is_inside, model_view
from .node_listing import NodeRecord, node_record, value_text
from .roles import OptimizerSlot, Roles
from .stages import stage_of_nodes

_SLOT_MEANINGS = {
    # By what follows `Apply` in the name of the update op, and the op's name for the slot.
    ("Momentum", "accum"): "the velocity, a decaying sum of the gradients so far",
    ("KerasMomentum", "accum"): "the velocity, a decaying sum of the steps so far",
    ("Adam", "m"): "the running mean of the gradients",
    ("Adam", "v"): "the running mean of the squared gradients",
    ("AdaMax", "m"): "the running mean of the gradients",
    ("AdaMax", "v"): "the decaying maximum of the gradients' sizes",
    ("RMSProp", "ms"): "the running mean of the squared gradients",
    ("RMSProp", "mom"): "the velocity",
    ("CenteredRMSProp", "mg"): "the running mean of the gradients",
    ("Adagrad", "accum"): "the sum of the squared gradients so far",
    ("Adadelta", "accum"): "the running mean of the squared gradients",
    ("Adadelta", "accum_update"): "the running mean of the squared updates",
    ("Ftrl", "accum"): "the sum of the squared gradients so far",
    ("Ftrl", "linear"): "the linear term",
}
_FIRST_VALUE: Final = (
    " It has no value until '{}' runs. A fetch does not run the initializer, as no edge leads from the initializer to "
    "the variable: run the initializer first ("
)
_LONG_LIVED: Final = " Like any variable, it keeps its value from step to step, and from run to run if the state is saved."
_TUPLE = re.compile(r"/tuple/(group_deps|control_dependency(?:_(\d+))?)$")


@dataclasses.dataclass(frozen=True, slots=True)
class ControlFacts:
    """A control input: the node runs only after `name` has run; `meaning` says why the order matters."""

    name: str
    """The node that runs before."""
    op: str
    """The op of this node."""
    meaning: str
    """Why the order matters."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConsumerFacts:
    """A node that reads a value (`tensor`) of the explained node, or waits for the node alone (None)."""

    name: str
    """The node that reads or waits."""
    op: str
    """The op of this node."""
    tensor: str | None
    """The tensor that the node reads; None if the node only waits."""


@dataclasses.dataclass(frozen=True, slots=True)
class FetchFacts:
    """Whether fetching a tensor runs the node, and a shortest path from the tensor to the node."""

    fetch: str
    """The tensor that is fetched."""
    runs: bool
    """True if the fetch runs the node."""
    path: tuple[str, ...]
    """A shortest path from the fetch to the node."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class NodeFacts(Report, main_table="consumers"):
    """All that `tfg explain GRAPH NODE` says."""

    node: NodeRecord
    """The node as in `tfg dump`."""
    role: str
    """The purpose of the node in a sentence."""
    stage: str
    """The stage of construction."""
    evidence: str
    """Why the node belongs to the stage."""
    control_inputs: tuple[ControlFacts, ...]
    """The nodes that run before, and why."""
    consumers: tuple[ConsumerFacts, ...]
    """The nodes that read a value or wait."""
    loc_chain: tuple[str, ...]
    """The chain of colocations, from node to node."""
    colocation: Colocation | None
    """The group of nodes that share a device."""
    function: str | None
    """The function in whose body the node is; None for the graph itself."""
    callers: tuple[str, ...]
    """The nodes that call this function."""
    fetch: FetchFacts | None
    """With --fetch: whether the fetch runs the node."""
    source: str | None = None
    """The node of the file, NODE or FUNCTION/NODE, if the author of the model gave it another name; otherwise None."""
    layer: str | None = None
    """The layer that was asked about, and whose output the node is; otherwise None."""

    def headline(self) -> str:
        return f"{self.node.name} ({self.node.op}), {self.role}"


class Explainer:
    """An explainer of the nodes of a graph."""

    def __init__(self, graph: Graph, inference: Inference | None = None, signature: str | None = None) -> None:
        """Prepare the facts of the whole graph; with an `inference`, outputs have the inferred shapes. The author's names are
        those of the view of `signature`.
        """
        self.graph, self.inference, self.signature = graph, inference, signature
        self.roles = Roles(graph)
        self.placement = Placement(graph)
        self.placed = stage_of_nodes(self.roles)
        variables = self.roles.variables.values()
        self._reads = {(node, variable.node) for variable in variables for node in variable.reads}
        # Made once: pages ask for the role of each node, and a search through all variables each time would be quadratic.
        self._starts = grouped((v.initial_value.node, v.name) for v in variables if v.initial_value is not None)
        updates = self.roles.updates.values()
        self._plain_texts: dict[tuple[str, tuple[str, str]], str] = {}
        """The roles that follow from op and stage, by both."""
        self._trained = grouped((u.gradient.node, u.variable.name) for u in updates if u.gradient is not None)

    def explain(self, name: str, fetch: str | None = None, *, raw: bool = False) -> NodeFacts:
        """Return the facts of a node of the graph, of a function's body (as `name` or `function/name`), or unless `raw` of the
        view of the model: of a node or of the output of a layer, as the author called it.
        """
        stem = parse_tensor_name(name)[0]
        # The file's own names come first: the author's name of one node may be the file's name of another.
        if stem in self.graph or (raw and self._in_function(stem) is None):
            return self._facts(self.graph.node(stem), fetch)
        member = self._in_function(stem)
        if member is None:
            return self._in_view(name, fetch)
        function, node = member
        # Without an inference: shapes in a body depend on the call.
        facts = Explainer(self.graph.functions[function].body)._facts(node, None)
        return dataclasses.replace(facts, function=function, callers=callers(self.graph, function))

    def _in_function(self, name: str) -> tuple[str, Node] | None:
        for function_name, function in self.graph.functions.items():
            member = function.body.get(name.removeprefix(f"{function_name}/"))
            if member is not None:
                return function_name, member
        return None

    def _in_view(self, word: str, fetch: str | None) -> NodeFacts:
        view = self.view
        try:
            value = view.value(word)
        except NotFoundError:
            # For the error of `node`, which names the nearest nodes.
            self.graph.node(parse_tensor_name(word)[0])
            raise
        node, function = value.node, view.function_of(value.node)
        if function is None:
            facts = self._of_view._facts(node, None if fetch is None else view.value(fetch).name)
        else:
            facts = Explainer(view.graph.functions[function].body)._facts(node, None)
            facts = dataclasses.replace(facts, function=function, callers=callers(view.graph, function))
        source, layer = view.origin(node).path, word if is_inside(value, word) else None
        return dataclasses.replace(facts, source=source if source != node.name else None, layer=layer)

    @functools.cached_property
    def view(self) -> ModelView:
        """The view of the model, by whose names its author knows nodes."""
        return model_view(self.graph, self.signature)

    @functools.cached_property
    def _of_view(self) -> Explainer:
        graph = self.view.graph
        return self if graph is self.graph else Explainer(graph, None if self.inference is None else inferred(graph))

    def _facts(self, node: Node, fetch: str | None) -> NodeFacts:
        stage, evidence = self.placed[node]
        return NodeFacts(
            node_record(node, self.inference),
            self.role(node),
            stage,
            evidence,
            tuple(ControlFacts(c.name, c.op, self._order(node, c)) for c in node.control_inputs),
            tuple(self._consumers(node)),
            self.placement.chain(node),
            self.placement.group(node),
            None,
            (),
            None if fetch is None else self._fetch(node, fetch),
        )

    def _consumers(self, node: Node) -> list[ConsumerFacts]:
        consumers = []
        for user in node.uses:
            # Each tensor once: a node may read the same tensor several times.
            taken = dict.fromkeys(value.name for value in user.inputs if value.node is node)
            consumers += [ConsumerFacts(user.name, user.op, tensor) for tensor in taken]
            if node in user.control_inputs:
                consumers.append(ConsumerFacts(user.name, user.op, None))
        return consumers

    def _order(self, node: Node, control: Node) -> str:
        """Return the order that a control edge sets, in words."""
        return f"'{node.name}' runs only after '{control.name}', which {self.effect(control)}"

    def effect(self, node: Node) -> str:
        """Return the effect of a node that has run, as the end of a sentence."""
        if node in self.roles.initializers:
            return f"has written its initial value to variable '{self.roles.initializers[node].name}'"
        if node in self.roles.updates:
            return f"has updated variable '{self.roles.updates[node].variable.name}'"
        if node in self.roles.restored:
            return f"has restored a variable from the values of '{self.roles.restored[node].name}'"
        if node.is_no_op:
            return f"has waited for {counted(len(node.control_inputs), 'other node')}"
        if node.op == "Assert":
            return "has checked its condition"
        return f"has run ({node.op})"

    def _fetch(self, node: Node, fetch: str) -> FetchFacts:
        # One path tells why the node runs; all of them may be exponentially many.
        path = shortest_path(node, {self.graph.node_of(fetch)}, lambda one: one.uses)
        return FetchFacts(fetch, bool(path), tuple(step.name for step in path))

    def role(self, node: Node) -> str:
        """Return the node's role in a sentence or two."""
        if node.op == ABSENT:
            return "Does not exist, but is an input of other nodes."
        # Most nodes of a large graph: their role follows from the op and the stage alone.
        place = self.placed[node]
        if node.op in self._plain_ops and node not in self._particular and place[0] != "gradients":
            if (text := self._plain_texts.get((node.op, place))) is None:
                text = self._plain_texts[node.op, place] = self._plain_role(node)
            return text
        # From the most particular role to the least; if none fits, the op alone tells the role.
        for describe in (self._variable_role, self._write_role, self._gradient_role, self._other_role):
            text = describe(node)
            if text is not None:
                flow = flow_role(node)
                return text if flow is None else Hint(text, " ", flow)
        return flow_role(node) or self._plain_role(node)

    @functools.cached_property
    def _plain_ops(self) -> set[str]:
        """The ops whose nodes have no role but that of their stage, unless they are among `_particular`."""
        ops = {node.op: node for node in self.graph}
        return {op for op, node in ops.items() if self._is_plain(node)}

    def _is_plain(self, node: Node) -> bool:
        # Nodes of an op that takes functions differ in what they call.
        declared = node.op_def is not None and not node.op_def.takes_functions
        has_role = node.is_placeholder or node.is_argument or has_fact(node.op, "initialization_test")
        has_role = has_role or node.is_no_op or node.is_constant
        return declared and not has_role and flow_role(node) is None and node.op not in self.graph.functions

    @functools.cached_property
    def _particular(self) -> set[Node]:
        """The nodes around variables, and the losses."""
        roles = self.roles
        readers = {node for node, _ in self._reads}
        around = {*roles.by_node, *readers, *roles.initializers, *roles.updates, *roles.restored, *roles.init_ops}
        return {*around, *self._starts, *roles.losses}

    def _variable_role(self, node: Node) -> str | None:
        variable = self.roles.by_node.get(node)
        if variable is not None:
            return _owner_text(variable, self.roles.slots.get(node))
        for value in node.inputs:
            # Updates and initializers take the variable, too: only nodes that read its value are told of here.
            owner = self.roles.by_node.get(value.node)
            if owner is not None and (node, owner.node) in self._reads:
                return _read_text(node, owner)
            if owner is not None and has_fact(node.op, "initialization_test"):
                return f"Tests whether variable '{owner.name}' has a value."
        return None

    def _write_role(self, node: Node) -> str | None:
        if node in self.roles.initializers:
            variable = self.roles.initializers[node]
            value = shown_input(node, 1)
            return f"Initializer: writes the initial value '{value}' into variable '{variable.name}' when it runs."
        if node in self.roles.updates:
            return self._update_text(node)
        if node in self.roles.restored:
            source = self.roles.restored[node].name
            return (
                f"Restore: writes the value that '{source}' reads from a checkpoint into variable "
                f"'{node.inputs[0].node.name}'."
            )
        if node in self.roles.init_ops:
            count = counted(len(node.control_inputs), "initializer")
            return f"The initialization operation: only waits for {count}."
        starts = self._starts.get(node)
        if starts:
            constant = node.attr_of(Tensor, "value")
            shown = f" ({value_text(constant)})" if constant is not None else ""
            names = ", ".join(f"'{name}'" for name in starts[:3])
            return f"The initial value{shown} of variable {names}; only the initializer reads it."
        return None

    def _update_text(self, node: Node) -> str:
        update = self.roles.updates[node]
        text = f"Update: writes to variable '{update.variable.name}'"
        if update.optimizer is None:
            return f"{text} ({node.op})."
        text += f" by one step of {update.optimizer}"
        if update.gradient is not None:
            text += f", with the gradient '{update.gradient}'"
        slots = [f"{name} '{value.node.name}'" for name, value in named_inputs(node) if value.node in self.roles.slots]
        return text + (f"; it also reads or writes its slots {', '.join(slots)}." if slots else ".")

    def _gradient_role(self, node: Node) -> str | None:
        if self.placed[node][0] != "gradients":
            return None
        of = f" of '{self.roles.losses[0].name}'" if self.roles.losses else ""
        trained = self._trained.get(node)
        if trained:
            return f"The gradient{of} with respect to variable '{trained[0]}', in the form that the update takes."
        if "/grad_ys_" in node.name:
            return f"The start of the gradients{of}: the derivative of the loss with respect to itself, which is 1."
        forward = self.roles.gradient_of(node)
        if forward is None:
            return f"Part of the gradients{of}: {self.placed[node][1]}."
        # tf.tuple, by which tf.gradients lets the gradients of a node's inputs appear together.
        match = _TUPLE.search(node.name)
        if match is None:
            return f"Part of the gradient of '{forward.name}' ({forward.op}), on the way from the loss to its inputs."
        if match[1] == "group_deps":
            return f"Waits until all gradients of '{forward.name}' are computed, so that they become available together."
        index = output_number(match[2] or "0")
        fed = f" '{forward.inputs[index]}'" if index < len(forward.inputs) else ""
        return f"The gradient{of} with respect to input {index}{fed} of '{forward.name}' ({forward.op})."

    def _other_role(self, node: Node) -> str | None:
        if node.is_placeholder and node.inputs:
            return f"An optional input, with the default '{node.inputs[0]}'."
        if node.is_placeholder or node.is_argument:
            return "An input, which must be fed."
        if node in self.roles.losses:
            return "The loss, of which gradients are computed."
        # A call by name has the function as its op, and is told below in other words.
        functions = [reference.name for reference in function_references(node)] if node.op_def is not None else []
        if functions and flow_role(node) is None:
            return f"Calls {', '.join(functions)} ({node.op}).{self._implementations_text(functions)}"
        if node.op in self.graph.functions:
            return f"Calls function '{node.op}'.{self._implementations_text([node.op])}"
        return None

    def _implementations_text(self, functions: Sequence[str]) -> str:
        """Return a sentence about functions that run on a CPU in the place of functions called by name."""
        # TensorFlow's functions name the interface that they implement, and the device that they are for.
        chosen = {name: implementation(self.graph.functions, name) for name in functions}
        return "".join(
            f" On a CPU, {other} replaces {name}: both implement the same interface."
            for name, other in chosen.items()
            if other != name
        )

    def _plain_role(self, node: Node) -> str:
        stage, evidence = self.placed[node]
        if node.op_def is None:
            reason, map_to = foreign(node.op)
            offer = (" ", step("map_ops", ops={node.op: map_to}), f" reads it as {map_to}.") if map_to else ()
            original = original_function(node, self.graph.functions)
            holds = f" Function '{original}' holds its original nodes." if original is not None else ""
            return Hint(f"TensorFlow has no op '{node.op}': {reason}.{holds}", *offer)
        if node.is_no_op:
            return f"Only waits for {counted(len(node.control_inputs), 'node')} ({stage})."
        if node.is_constant:
            return f"A constant, {value_text(node.attrs.get('value'))} ({stage}: {evidence})."
        return f"{node.op}, in the stage '{stage}': {evidence}."


def _owner_text(variable: VariableNodes, slot: OptimizerSlot | None) -> str:
    kind = (
        "a handle to the variable"
        if variable.is_resource
        else "a reference to the variable: the edge carries the memory itself, not a value"
    )
    text = f"Owns the memory of variable '{variable.name}' ({variable.dtype} {variable.shape}); its output is {kind}."
    first: tuple[str | HintStep, ...] = ()
    if variable.initializer is not None:
        first = _FIRST_VALUE.format(variable.initializer.name), step("initialize"), "), or restore a state."
    return Hint(text, *first, "" if slot is None else _slot_text(slot) + _LONG_LIVED)


def _slot_text(slot: OptimizerSlot) -> str:
    if slot.optimizer is None:
        return f" It is a moving average of variable '{slot.variable.name}'." if slot.variable else " It is a moving average."
    meaning = _SLOT_MEANINGS.get((slot.optimizer, slot.name))
    owner = f" for variable '{slot.variable.name}'" if slot.variable else ", shared by all variables it trains"
    return f" It is slot '{slot.name}' of {slot.optimizer}{owner}" + (f": {meaning}." if meaning else ".")


def _read_text(node: Node, owner: VariableNodes) -> str:
    if owner.is_resource:
        return f"Reads variable '{owner.name}' through its handle, at the time when this node runs."
    return (
        f"Dereferences the ref edge of variable '{owner.name}': turns the reference into a value. Many nodes share "
        f"this read, and later writes to the variable do not change the value read. The node is placed with the "
        f"variable, so that only the value travels to other devices, never the reference."
    )


# Roles of control flow nodes, in words.


def flow_role(node: Node) -> str | None:
    """Return the role of a node of a loop or conditional, of V1's or V2's form; None for all others."""
    if node.is_loop_condition:
        return f"The condition of its loop: the loop continues while '{shown_input(node)}' is true."
    # By fact, so that the ops on references, RefSwitch and the like, are told of, too.
    for fact, describe in _V1.items():
        if has_fact(node.op, fact):
            return describe(node)
    return _functional_role(node)


def shown_input(node: Node, index: int = 0) -> str:
    """Return the name of an input, or "nothing": nodes of broken graphs may lack inputs."""
    return str(node.inputs[index]) if index < len(node.inputs) else "nothing"


def _enter(node: Node) -> str:
    hands_in = f"Passes '{shown_input(node)}' into loop '{node.text_attr('frame_name')}'"
    if node.attr("is_constant", False):
        return f"{hands_in}; every iteration sees the same value."
    return f"{hands_in}, as the initial value of a loop variable."


def _exit(node: Node) -> str:
    return f"Passes the last value of the loop variable '{shown_input(node)}' out of the loop when the loop ends."


def _next_iteration(node: Node) -> str:
    return f"Passes '{shown_input(node)}' to the next iteration, to the Merge at the head of the loop."


def _switch(node: Node) -> str:
    # Both a loop and a conditional have Switches: only in a loop the predicate is the loop's condition.
    value, predicate = shown_input(node), shown_input(node, 1)
    if len(node.inputs) > 1 and node.inputs[1].node.is_loop_condition:
        return f"Keeps '{value}' in the loop (output 1) while '{predicate}' is true, then passes it out (output 0)."
    outputs = (
        "output 1 if the predicate is true, otherwise output 0"
        if len(node.output_dtypes) == 2
        else "the output with that index"
    )
    return f"Sends '{value}' to one of several branches, by '{predicate}': {outputs}. The other branches do not run."


def _merge(node: Node) -> str:
    # A Merge joins branches, or begins the iterations of a loop, where one of its inputs comes from the iteration before.
    back = [value for value in node.inputs if has_fact(value.node.op, "next_iteration")]
    if back:
        first = next((str(value) for value in node.inputs if value not in back), "nothing")
        return f"A loop variable: '{first}' in the first iteration, '{back[0]}' in later iterations."
    names = ", ".join(f"'{value}'" for value in node.inputs)
    return f"Joins branches: passes on the live input among {names}; output 1 is the index of that input."


_V1: Final[Mapping[str, Callable[[Node], str]]] = {
    "enter": _enter,
    "exit": _exit,
    "next_iteration": _next_iteration,
    "switch": _switch,
    "merge": _merge,
}
"""By fact."""


def _functional_role(node: Node) -> str | None:
    """Describe a node whose attributes name the functions of a loop or of branches; None for other nodes."""
    # By attributes, which the stateful and the stateless op of a pair have in common.
    functions = {name: value.name for name, value in node.attrs.items() if isinstance(value, FuncRef)}
    if {"cond", "body"} <= functions.keys():
        return (
            f"A loop ({node.op}): runs function {functions['body']} on its {counted(len(node.inputs), 'value')} as long as "
            f"{functions['cond']} returns true; its outputs are the last values."
        )
    if {"then_branch", "else_branch"} <= functions.keys():
        return (
            f"A conditional ({node.op}): calls {functions['then_branch']} if '{shown_input(node)}' is true, otherwise "
            f"{functions['else_branch']}, with the other inputs."
        )
    branches = node.attr("branches", None)
    if isinstance(branches, (list, tuple)) and branches and all(isinstance(branch, FuncRef) for branch in branches):
        names = ", ".join(branch.name for branch in branches)
        number = shown_input(node)
        return (
            f"A choice ({node.op}): calls the function with index '{number}' among {names}, or the last function if "
            f"the index is out of range."
        )
    return None
