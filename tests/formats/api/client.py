"""A client of tfg that uses its functions and types; mypy --strict checks the file, and the test runs it."""

from __future__ import annotations

import tempfile

import numpy as np

import tfg


def build() -> tfg.Graph:
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None, 2], name="x")
    w = b.variable(np.ones((2, 1), np.float32), name="w")
    b.Sum(b.MatMul(x, w), [0, 1], name="y")
    b.global_variables_initializer()
    return b.graph


def describe(graph: tfg.Graph) -> list[str]:
    node: tfg.Node = graph["y"]
    output: tfg.Output = node.output()
    facts: tfg.GraphFacts = tfg.explain(graph)
    report: tfg.FlopsReport = tfg.count_flops(graph, ["y:0"])
    problems: tuple[tfg.Problem, ...] = tfg.check(graph)
    return [repr(graph), output.name, facts.headline(), report.headline(), *(problem.message for problem in problems)]


def run(graph: tfg.Graph) -> float:
    session = tfg.Session(graph)
    session.run("init")
    feeds = {"x:0": np.ones((3, 2), np.float32)}
    one = session.run("y:0", feeds)
    several = session.run(["y:0", "w:0"], feeds)
    named = session.run({"total": "y:0"}, feeds)
    return float(one.sum() + several[0].sum() + named["total"].sum())


def change(graph: tfg.Graph) -> list[tfg.Graph]:
    smaller, report = tfg.optimize(graph, "y:0", ["x:0"])
    print(report.headline(), report.to_records()[:1])
    frozen: tfg.Graph = tfg.freeze(graph, None, "y:0")
    part: tfg.Graph = tfg.extract(graph, ["y:0"])
    reduced: tfg.Graph = tfg.reduce(graph, lambda some: any(node.op == "MatMul" for node in some), "y:0")
    return [smaller, frozen, part, reduced]


def files(graph: tfg.Graph, folder: str) -> bool:
    tfg.save(graph, f"{folder}/g.pb")
    tfg.convert(graph, f"{folder}/g.pbtxt")
    tfg.write_checkpoint(f"{folder}/values.npz", {"w": np.zeros((2, 1), np.float32)})
    values: tfg.Checkpoint = tfg.read_checkpoint(f"{folder}/values.npz")
    difference: tfg.GraphDiff = tfg.diff(graph, tfg.load(f"{folder}/g.pb"))
    comparison: tfg.GraphComparison = tfg.compare(graph, graph, "y:0", state=values)
    return difference.is_empty and comparison.agrees


def show(graph: tfg.Graph) -> int:
    drawing: tfg.Drawing = tfg.draw(graph, "text")
    page: tfg.GraphPage = tfg.view(graph)
    return len(str(drawing)) + len(page.html)


def learn(graph: tfg.Graph) -> list[float]:
    training: tfg.TrainingReport = tfg.train(graph, "y:0", {"x:0": np.ones((3, 2), np.float32)}, steps=2, optimizer="sgd")
    return training.losses


def main() -> None:
    graph = build()
    print(describe(graph))
    assert run(graph) == 3 * 6
    assert len(change(graph)) == 4
    with tempfile.TemporaryDirectory() as folder:
        assert files(graph, folder)
    assert show(graph) > 0
    assert len(learn(graph)) == 2
    assert tfg.ops("MatMul")
    try:
        graph["Y"]
    except tfg.errors.TfgError as error:
        print(error.hint)


if __name__ == "__main__":
    main()
