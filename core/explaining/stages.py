"""The construction stages of a finished graph, recovered from the roles of the nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..graph.callers import called_functions, functions_that_reach, named_functions
from ..graph.graph import GraphLike, Node, as_graph
from ..graph.traversal import descendants, groups, nodes_of_kind, reachable
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Rows
from ..support.gc_control import rare_collection
from .node_listing import ALL_NODES, NodeFilter, require_nodes
from .roles import Roles, exclusive

ORDER = (
    "input pipeline", "variables", "initial values", "model", "loss", "gradients", "slot variables", "updates", "initializers",
    "save/restore", "summaries",
)  # fmt: skip
# The op of `tf.nn.l2_loss`, by which the regularizers of TensorFlow 1 weigh a variable.
_PENALTIES = ("L2Loss",)


@dataclasses.dataclass(frozen=True, slots=True)
class StagedNode:
    """A node and the evidence for the node's stage."""

    name: str
    """The name of the node."""
    op: str
    """The op of the node."""
    evidence: str
    """Why the node belongs to the stage."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecoveredStage:
    """A stage of the construction with the nodes in the order of the graph."""

    name: str
    """The name of the stage."""
    evidence: str
    """Why the nodes belong together."""
    nodes: tuple[StagedNode, ...]
    """The nodes in the order of the graph."""


_EVIDENCE = {
    "input pipeline": "datasets, their iterators, and nodes that only feed them",
    "variables": "nodes that own or read the memory of a variable",
    "initial values": "nodes that feed only the initial assignments of variables",
    "model": "the forward computation",
    "loss": "nodes between the model and the loss",
    "gradients": "nodes in a 'gradients' scope, gradient ops, and nodes that only they need",
    "slot variables": "internal variables of optimizers, with their initial values",
    "updates": "nodes that write to variables in training, and nodes that only they need",
    "initializers": "assignments of initial values, and the operations that run them",
    "save/restore": "Save and Restore ops, and nodes that only serve them",
    "summaries": "summary ops, and nodes that only feed them",
}

_LOSS_NEEDS: Final = "model", "needed by the loss"
_FORWARD: Final = "model", "forward computation"


@rare_collection()
@checked
def recover_stages(graph: GraphLike, chosen: NodeFilter = ALL_NODES) -> Rows[RecoveredStage]:
    """Return the stages that the graph went through, each node in exactly a single stage; empty stages are left out.

    NotFoundError if no node of the graph passes the filter `chosen`.
    """
    graph = as_graph(graph)
    placed = stage_of_nodes(Roles(graph))
    by_stage: dict[str, list[StagedNode]] = {name: [] for name in ORDER}
    for node in chosen.apply(graph):
        stage, evidence = placed[node]
        by_stage[stage].append(StagedNode(node.name, node.op, evidence))
    stages = Rows(RecoveredStage(name, _EVIDENCE[name], tuple(nodes)) for name, nodes in by_stage.items() if nodes)
    require_nodes(stages, chosen)
    return stages


def stage_of_nodes(roles: Roles) -> dict[Node, tuple[str, str]]:
    """Return (stage, evidence) of every node."""
    return _Sorter(roles).sort()


class _Sorter:
    """A sorter that puts each node into the first stage that claims the node."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.placed: dict[Node, tuple[str, str]] = {}

    def sort(self) -> dict[Node, tuple[str, str]]:
        # The order decides, since the first claim stays. Ops with a single purpose come first, nodes whose stage follows from
        # others later; nodes without a claim are the forward computation.
        self._variables()
        self._save_restore()
        self._input_pipeline()
        self._summaries()
        self._updates()
        self._gradients()
        self._initial_values()
        self._loss()
        needed = self.roles.needed_by_loss
        for node in self.roles.graph:
            self.placed.setdefault(node, _LOSS_NEEDS if node in needed else _FORWARD)
        return self.placed

    def _put(self, stage: str, nodes: Iterable[Node], evidence: str) -> None:
        # One object for all of them, by which nodes that are alike are told from others.
        place = stage, evidence
        for node in nodes:
            self.placed.setdefault(node, place)

    def _is_free(self, node: Node) -> bool:
        return node not in self.placed

    def _with_fact(self, fact: str) -> list[Node]:
        return nodes_of_kind(self.roles.graph, lambda kind: has_fact(kind.op, fact))

    def _only_for(self, roots: Iterable[Node]) -> set[Node]:
        return exclusive(roots, self._is_free)

    def _groups(self, stage: str, evidence: str) -> None:
        """Add to a stage the NoOps that wait only for nodes of the stage."""
        free = filter(self._is_free, nodes_of_kind(self.roles.graph, lambda kind: kind.is_no_op))
        for node in groups(free, lambda control: self.placed.get(control, ("",))[0] == stage):
            self._put(stage, [node], evidence.format(count=len(node.control_inputs)))

    def _variables(self) -> None:
        for variable in self.roles.variables.values():
            slot = self.roles.slots.get(variable.node)
            phrase = f"of slot variable '{variable.name}'"
            if slot is not None:
                owner = f" for '{slot.variable.name}'" if slot.variable else ""
                role = f"'{slot.name}' of {slot.optimizer}" if slot.optimizer is not None else "moving average"
                self._put("slot variables", [variable.node], f"{role}{owner}: {slot.evidence}")
            else:
                self._put("variables", [variable.node], f"{variable.node.op} owns the memory")
            stage = "variables" if slot is None else "slot variables"
            # Only the reads in the variable's own scope: a read elsewhere belongs to the stage that needs the value.
            own = [read for read in variable.reads if read.name.startswith(variable.node.name + "/")]
            self._put(stage, own, f"reads '{variable.name}'")
            tests = [user for user in variable.node.uses if has_fact(user.op, "initialization_test")]
            self._put(stage, tests, f"tests whether '{variable.name}' is initialized")
            if variable.initializer is not None:
                what = f"assigns the initial value {phrase if slot else f'of {variable.name!r}'}"
                self._put("initializers" if slot is None else stage, [variable.initializer], what)
        self._put("initializers", self.roles.init_ops, "runs initializers")

    def _initial_values(self) -> None:
        for variable in self.roles.variables.values():
            if variable.initializer is not None:
                is_slot = variable.node in self.roles.slots
                stage = "slot variables" if is_slot else "initial values"
                self._put(stage, self._only_for([variable.initializer]), f"feeds only the initializer of '{variable.name}'")
        # What several initializers need; the evidence of the others names their only variable.
        assigns = list(self.roles.initializers)
        self._put("initial values", self._only_for(assigns), "feeds only initializers")

    def _save_restore(self) -> None:
        cores = dict.fromkeys(self._with_fact("checkpoint"))
        for node in cores:
            self._put("save/restore", [node], f"{node.op} reads or writes checkpoints")
        self._put("save/restore", self._saving_calls(), "calls a function that reads or writes checkpoints")
        self._put("save/restore", self.roles.restored, "assigns a value read by a Restore op")
        for node in nodes_of_kind(self.roles.graph, lambda kind: kind.is_identity) if cores else ():
            if self._is_free(node) and any(c in cores for c in node.control_inputs):
                self._put("save/restore", [node], "passes on the file name after the checkpoint is written")
        self._groups("save/restore", "waits for {count} nodes that save or restore")
        members = [node for node, (stage, _) in self.placed.items() if stage == "save/restore"]
        self._put("save/restore", self._only_for(members), "needed only to save or restore")

    def _saving_calls(self) -> list[Node]:
        """Return the calls of functions with Save or Restore ops, as TF2 adds to a SavedModel for the loader."""
        graph = self.roles.graph
        called = called_functions(graph, graph)
        saving = {name for name in called if any(has_fact(n.op, "checkpoint") for n in graph.functions[name].pattern.body)}
        # The call may be several functions away from the Save op.
        reaching = functions_that_reach(graph, saving)
        return [node for node in graph if not reaching.isdisjoint(named_functions(graph, node))] if reaching else []

    def _input_pipeline(self) -> None:
        cores = self._with_fact("input_pipeline")
        for node in cores:
            gives = "returns elements" if has_fact(node.op, "next_element") else "makes or follows a dataset"
            self._put("input pipeline", [node], f"{node.op} {gives}")
        self._put("input pipeline", self._only_for(cores), "feeds only the input pipeline")

    def _summaries(self) -> None:
        cores = self._with_fact("summary")
        self._put("summaries", cores, "a summary op")
        self._put("summaries", self._only_for(cores), "feeds only summaries")

    def _updates(self) -> None:
        for update in self.roles.updates.values():
            how = f" by {update.optimizer}" if update.optimizer else ""
            self._put("updates", [update.node], f"{update.node.op} writes to '{update.variable.name}'{how}")
        self._groups("updates", "waits for {count} updates")

    def _gradients(self) -> None:
        for node in self.roles.gradients:
            forward = self.roles.gradient_of(node)
            of = f"gradient of '{forward.name}'" if forward else "in the gradients' scope, or a gradient op"
            self._put("gradients", [node], of)
        # In an unrolled training the loss of a later step depends on gradients of earlier steps, and is no gradient itself.
        after = self.roles.after_gradients - self.roles.needed_by_loss
        self._put("gradients", filter(self._is_free, after), "computed from gradients")
        updates = [node for node, (stage, _) in self.placed.items() if stage == "updates"]
        for node in self._only_for([*updates, *self.roles.gradients]):
            if node in self.roles.after_gradients or any(user in self.roles.gradients for user in node.uses):
                self._put("gradients", [node], "works on gradients on their way to the updates")
            else:
                self._put("updates", [node], "feeds only updates")

    def _loss(self) -> None:
        """Claim the losses, and the nodes before a loss that come from labels and lead to no further variable."""
        losses = set(self.roles.losses)
        self._put("loss", losses, "gradients are computed of it")
        leading = self._leading_to_variables()
        behind = [node for node in self.roles.graph if node in self.roles.needed_by_loss and self._is_free(node)]
        labels = {node for node in behind if node.is_placeholder and node not in leading}
        self._put("loss", labels, "an input that only the loss needs: labels")
        penalties = {node for node in behind if node.op in _PENALTIES}
        self._put("loss", penalties, "a penalty on a variable")
        after = descendants(labels | penalties) & set(behind)
        self._put("loss", after - leading, "computed from labels or penalties, needed by the loss")
        members = {node for node, (stage, _) in self.placed.items() if stage == "loss"}
        scopes = {node.name for node in members}
        # TensorFlow's losses write their helper nodes below their own name, as in `mean_squared_error/num_present`.
        inside = [node for node in behind if node not in leading and node.name.rpartition("/")[0] in scopes]
        self._put("loss", inside, "in the name scope of a loss node")
        members |= set(inside)
        # The gradients of a loss read its constants, too.
        around = members | self.roles.gradients
        constants = [node for node in behind if not node.inputs and around.issuperset(node.uses)]
        self._put("loss", (n for n in constants if not members.isdisjoint(n.uses)), "a constant that only the loss needs")

    def _leading_to_variables(self) -> set[Node]:
        """Return forward nodes whose values meet a variable further on: all nodes before an op that also reads a variable."""
        # Left out are ops that only read or hand on a variable: what computes with it is an op behind them.
        meeting = [
            node
            for node in self.roles.needed_by_loss
            if node.op not in (*_PENALTIES, "Identity", "ReadVariableOp", "Enter")
            and any(self.roles.owner(value) is not None for value in node.inputs)
            and node not in self.roles.losses
        ]
        return reachable(meeting)
