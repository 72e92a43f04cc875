"""Where the FLOPs of a count are put: at nodes of the graph, and in bodies of functions at theirs."""

from tests.cli.running import SAMPLES
from tfg.core.flops import count_flops
from tfg.core.flops.by_node import flops_by_node, flops_shares
from tfg.core.flops.flops_report import FlopsReport, NodeCost
from tfg.core.registry.registry import Cost
from tfg.formats import load

CALLS = load(b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 5 } } } } }
node { name: "a/call" op: "twice" input: "x" }
node { name: "b" op: "twice" input: "a/call" }
node { name: "end" op: "Neg" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
library { function {
  signature { name: "twice" input_arg { name: "v" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
  node_def { name: "in/add" op: "AddV2" input: "v" input: "v" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "r" value: "in/add:z:0" } } }
""")


def test_calls_have_what_they_run_and_bodies_the_sum_of_calls():
    costs = flops_by_node(CALLS, count_flops(CALLS, ["end"]))
    body = CALLS.functions["twice"].body
    # Five additions a call, five negations.
    assert {name: costs[CALLS[name]] for name in ("a/call", "b", "end")} == {"a/call": 5, "b": 5, "end": 5}
    assert costs[body["in/add"]] == 10
    shares = flops_shares(CALLS, costs)
    assert shares[CALLS["b"]] == 1 / 3 and shares[body["in/add"]] == 2 / 3


def test_nothing_is_lost():
    for sample in ("xor.pbtxt", "collatz.pbtxt", "scaler_saved_model"):
        graph = load(SAMPLES / sample)
        names = [node.name for node in graph if not node.uses and not node.is_no_op and node.op != "Const"]
        report = count_flops(graph, names)
        costs = flops_by_node(graph, report)
        assert sum(costs.get(node, 0) for node in graph) == report.total().flops


def test_paths_that_begin_with_a_function():
    cost = NodeCost("twice/in/add", "AddV2", "forward", Cost(7), 0, 0, 1)
    report = FlopsReport((), (cost,), {}, ())
    assert flops_by_node(CALLS, report) == {CALLS.functions["twice"].body["in/add"]: 7}
    assert flops_by_node(CALLS, FlopsReport((), (NodeCost("nowhere/x", "Neg", "forward", Cost(7), 0, 0, 1),), {}, ())) == {}
