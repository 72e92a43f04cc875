"""A client of tfg that uses all public names; mypy --strict and pyright check the file, and the test runs it."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

import tfg

Floats = npt.NDArray[np.float32]
ROWS: Floats = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
FEEDS: dict[str, Floats] = {"x:0": ROWS}


def build() -> tfg.Graph:
    """Return the sum of squares of a matrix product, with a variable and its initializer."""
    b = tfg.GraphBuilder()
    x: tfg.Output = b.Placeholder(dtype="float", shape=[None, 2], name="x")
    w: tfg.BuiltVariable = b.variable(np.ones((2, 1), np.float32), name="w")
    with b.name_scope("layer"), b.device("/device:CPU:0"):
        product = b.MatMul(x, w, transpose_b=False, name="product")
    columns, indices = b.Unique(b.constant([1, 1, 2]))
    b.group([columns, indices.node], "all")
    halves: tuple[tfg.Output, ...] = b.Split(0, b.constant([1.0, 2.0]), num_split=2)
    b.AddN(halves, name="sum")
    b.Sum(b.Square(product, name="residuals"), [0, 1], name="y")
    init: tfg.Node = b.global_variables_initializer()
    return b.graph if init.name == "init" else tfg.Graph()


def look(graph: tfg.Graph) -> Iterator[str]:
    """Yield what a graph, its nodes and their facts say in short."""
    node: tfg.Node = graph["y"]
    output: tfg.Output = node.output()
    constant: npt.NDArray[np.generic] = graph.constants["Const"]
    dtype: tfg.DType = output.base_dtype
    value: tfg.Tensor | None = graph["Const"].attr_of(tfg.Tensor, "value")
    declared: tfg.Shape | None = graph["x"].attr_of(tfg.Shape, "shape")
    called: dict[str, tfg.Function] = dict(graph.functions)
    signature: tfg.Signature | None = graph.meta.usual_signature if graph.meta is not None else None
    yield f"{graph!r} {output.name} {dtype} {[source.node.op for source in node.inputs]} {constant.shape} {declared}"
    yield f"{value is None} {len(called)} {signature}"
    facts: tfg.GraphFacts = tfg.explain(graph)
    yield f"{facts.headline()} {[variable.purpose for variable in facts.variables]} {facts.to_records('inputs')}"
    about: tuple[tfg.NodeFacts, ...] = tfg.explain(graph, "y", fetch="y:0")
    yield f"{about[0].headline()} {about[0].role}"
    partition: tfg.PartitionFacts = tfg.explain_partition(graph, ["y:0"])
    races: tuple[tfg.RunRaces, ...] = tfg.explain_races(graph, ["y:0"])
    yield f"{partition.bytes} {[run.fetches for run in races]}"
    missing: tuple[tfg.MissingOp, ...] = tfg.missing_ops(graph)
    stages: tuple[tfg.RecoveredStage, ...] = tfg.recover_stages(graph, tfg.NodeFilter(op="MatMul"))
    yield f"{[op.op for op in missing]} {[stage.name for stage in stages]}"
    fates: tuple[tfg.NodeFate, ...] = tfg.node_fates(graph, ["y"], ["y:0"])
    problems: tuple[tfg.Problem, ...] = tfg.check(graph)
    meanings: list[str] = [tfg.ProblemCode.named(problem.code).meaning for problem in problems]
    yield f"{[fate.fate for fate in fates]} {[problem.message for problem in problems]} {meanings}"
    listing: tfg.NodeListing = tfg.list_nodes(graph, op="MatMul", to="y:0", shapes=True)
    yield f"{listing.headline()} {[row['name'] for row in listing.to_records()]}"


def library(graph: tfg.Graph) -> Iterator[str]:
    """Yield what tfg knows about ops, and the wrappers of an op."""
    details: tuple[tfg.OpDetail, ...] | tuple[tfg.OpSummary, ...] = tfg.ops("MatMul")
    summaries: tuple[tfg.OpSummary, ...] = tfg.ops(family="matmul")
    yield f"{[op.name for op in details]} {[op.family for op in summaries]}"
    coverage: tfg.OpCoverage = tfg.op_coverage()
    parts: tuple[tfg.MissingFor, ...] = tfg.missing_parts(graph)
    formulas: tuple[tfg.Formula, ...] = tfg.flops_formulas(["MatMul"])
    yield f"{coverage.headline()} {parts} {[formula.ops for formula in formulas]}"
    yield tfg.write_wrappers(["MatMul"])


def pipeline() -> list[int]:
    """Return the first elements of a dataset."""
    b = tfg.GraphBuilder()
    b.RangeDataset(0, 8, 2, output_types=["int64"], output_shapes=[[]], name="even")
    elements: tuple[tfg.StepResult, ...] = tfg.first_elements(b.graph, "even")
    return [int(element.values[0].value) for element in elements]


def sweep(graph: tfg.Graph) -> int:
    """Return the number of results of a run for each scale."""
    results: list[tfg.InputResult] = list(tfg.run_each(graph, fetches="y:0", sweep={"x:0": [ROWS, 2 * ROWS]}))
    with tempfile.TemporaryDirectory() as folder:
        session = tfg.SessionSetup(optimize="fuse")
        batch: tfg.BatchReport = tfg.run_batch(
            graph, fetches="y:0", sweep={"x:0": [ROWS, 2 * ROWS]}, out_dir=folder, session=session, progress=print_progress
        )
    failed: tuple[tfg.FailedInput, ...] = batch.failed
    return len(results) + len(failed)


def print_progress(progress: tfg.BatchProgress) -> None:
    """Take the progress of a batch."""
    assert progress.computed <= progress.total and progress.rate >= 0


def cluster(address: str, session: tfg.ClusterSession) -> float:
    """Return the devices of a cluster, and a value that the cluster computes; no server runs here."""
    survey: tfg.Survey = tfg.describe_cluster(address)
    return len(survey.devices) + float(session.run("y:0", FEEDS).sum())


def cached() -> tuple[str, ...]:
    """Return the ways that were chosen for earlier runs."""
    report: tfg.CacheReport = tfg.describe_cache(clear=False)
    choices: tuple[tfg.CachedChoice, ...] = report.choices
    return tuple(choice.kept for choice in choices)


def run(graph: tfg.Graph) -> float:
    """Run the graph with each form of fetches; the sum of all that comes."""
    session = tfg.Session(graph, files=tfg.FileAccess.only(readable=[tempfile.gettempdir()]))
    ran: tuple[str, ...] = tfg.initialize(session)
    restored: tfg.Restored = tfg.restore(session, {"w": np.ones((2, 1), np.float32)})
    assert ran == ("init",) and restored.restored == ("w",) and tfg.engine_runtime("numpy") is None
    one = session.run("y:0", FEEDS)
    several = session.run(["y:0", "w:0"], FEEDS)
    pair = session.run((graph.output("y:0"), "w:0"), FEEDS)
    named = session.run({"total": "y:0"}, FEEDS)
    call = session.make_callable("y:0", ["x:0"])
    tier: tfg.Tier = session.tier("y:0", ["x:0"])
    variables: tfg.VariableValues = session.variables
    w = variables["w"]
    assert tier in tuple(tfg.Tier)
    session.variables["w"] = w * 2
    session.variables.set("w", session.variables.get("w", w) / 2)
    values = [one, several[0], several[1], pair[0], named["total"], call(ROWS)]
    values += [held for _, held in session.variables.items()]
    recorder: tfg.KernelRecorder = tfg.KernelRecorder(with_shapes=True)
    assert session.run("y:0", FEEDS, hook=recorder) == session.run("y:0", FEEDS, hook=tfg.check_numerics)
    measured: tfg.Measurement = recorder.measurement()
    assert measured.flops > 0
    return sum(float(value.sum()) for value in values)


def call(graph: tfg.Graph, path: pathlib.Path) -> float:
    """Call a graph and its file as models."""
    tfg.save(graph, path)
    model: tfg.Model = tfg.Model(path, outputs="y", engine="numpy")
    inputs: dict[str, tfg.SignatureTensor] = dict(model.inputs)
    assert [str(tensor.shape) for tensor in inputs.values()] == [str(one.shape) for one in graph.inputs.values()]
    model.variables["w"] = np.ones((2, 1), np.float32)
    model.summary()
    report: tfg.LayersReport = model.layers
    optimized: tfg.Optimized = tfg.optimize(path)
    problems: tfg.Rows[tfg.Problem] = tfg.check(path)
    outputs: dict[str, npt.NDArray[np.generic]] = tfg.Model(graph)(x=ROWS)
    assert list(graph.variables) == ["w"] and problems.to_records() == [] and len(graph.nodes) == len(graph)
    print(optimized.report.headline(), report.headline(), tfg.explain(str(path)).headline())
    return float((model(ROWS)["y"] + outputs["y"]).sum())


def differentiate(graph: tfg.Graph) -> list[npt.NDArray[np.generic]]:
    """Return derivatives of `y` by `x` as nodes, as a matrix and as products."""
    session = tfg.Session(graph)
    session.run("init")
    extended, names = tfg.gradients(graph, "y:0", "x:0")
    name: str | None = names[0]
    check: tfg.GradientCheck = tfg.check_gradient(graph, "y:0", "x:0", FEEDS, session=session)
    assert check.passed and name is not None and name.partition(":")[0] in extended
    vector = np.ones_like(ROWS)
    return [
        tfg.jacobian(graph, "y:0", "x:0", FEEDS, session=session),
        tfg.vjp(graph, "y:0", "x:0", 1.0, FEEDS, session=session),
        tfg.jvp(graph, "y:0", "x:0", vector, FEEDS, session=session),
        tfg.hessian_vector(graph, "y:0", "x:0", vector, FEEDS, session=session),
    ]


def count(graph: tfg.Graph) -> dict[str, float]:
    """Return numbers of FLOPs by the ways to count."""
    report: tfg.FlopsReport = tfg.count_flops(graph, ["y:0"])
    sized: tfg.FlopsReport = tfg.flops(graph, "y:0", sizes={"N": 3}, backward=True)
    counter: tfg.FlopsCounter = tfg.FlopsCounter(graph, "y:0", backward=True)
    rows: list[tfg.FlopsRow] = tfg.flops_rows(sized, "op")
    model: tfg.LayersReport = tfg.layers(graph, "y:0")
    layers: tuple[tfg.Layer, ...] = model.layers
    tree: tfg.LayerTree = model.tree()
    blocks: tuple[tfg.LayerBlock, ...] = tree.blocks
    view: tfg.ModelView = tfg.model_view(graph)
    origin: tfg.SourceNode = view.origin("y")
    costs: tuple[tfg.NodeCost, ...] = report.nodes
    timings: list[tfg.Timing] = counter.timings()
    section: tfg.Section = sized.total()
    print(len(blocks), origin.path)
    print(len(costs), timings, section.flops, [layer.name for layer in layers])
    totals = {row.name: float(row.share) for row in rows}
    totals |= {name: alone.intensity for name, (alone, _) in counter.by_variable().items()}
    measured: tfg.Measurement = tfg.profile(graph, "y:0", FEEDS)
    return totals | {report.headline(): 0.0, "measured": float(measured.flops)}


def change(graph: tfg.Graph) -> list[tfg.Graph]:
    """Return rewrites of a graph, each checked against the graph."""
    smaller, report = tfg.optimize(graph, "y:0", ["x:0"])
    summary: tfg.OptimizeReport = report
    clusters: tuple[tfg.ClusterFacts, ...] = summary.clusters
    passes: tuple[tfg.PassFacts, ...] = tfg.list_passes()
    assert not clusters and "cluster" in [one.name for one in passes]
    accuracy: tfg.Accuracy = summary.accuracy
    verification: tfg.Verification = tfg.verify(graph, smaller, "y:0", FEEDS, tolerance=accuracy)
    comparisons: tuple[tfg.Comparison, ...] = verification.comparisons
    assert verification.passed and len(comparisons) > 0 and summary.to_records() is not None
    stages: list[tuple[str, tfg.Graph]] = tfg.optimization_stages(graph, ["y:0"])
    snapshots: tuple[tfg.Snapshot, ...] = tfg.diff_snapshots(stages)
    assert [snapshot.stage for snapshot in snapshots] == [name for name, _ in stages]
    inlined, calls = tfg.inline_functions(graph)
    assert calls == 0
    without: tfg.Graph = graph.copy()
    print(tfg.clear_devices(without), tfg.strip_default_attrs(without))

    def fails(part: tfg.Graph) -> bool:
        return any(node.op == "MatMul" for node in part)

    reduced: tfg.Graph = tfg.reduce(graph, fails, "y:0")
    filled: tfg.Graph = tfg.fill_placeholders(graph, {"x:0": ROWS})
    exposed: tfg.Exposed = tfg.expose(graph, ["y:0"])
    assert exposed.names == {"y:0": "y:0"}
    parts = [tfg.freeze(graph, None, "y:0"), tfg.extract(graph, ["y:0"])]
    return [smaller, inlined, without, reduced, filled, exposed.graph, *parts]


def compare(graph: tfg.Graph) -> bool:
    """Compare a graph with its copy, by nodes and by values."""
    difference: tfg.GraphDiff = tfg.diff(graph, graph.copy())
    comparison: tfg.GraphComparison = tfg.compare(graph, graph, "y:0", FEEDS)
    states: tfg.GraphComparison = tfg.compare_states({"w": ROWS}, {"w": ROWS})
    return difference.is_empty and comparison.agrees and states.agrees


def files(graph: tfg.Graph, folder: pathlib.Path) -> tfg.StateComparison:
    """Write the graph and values in several formats, and read them."""
    tfg.save(graph, folder / "graph.pb")
    tfg.save_model(graph, folder / "saved_model", signatures={"serve": ({"x": "x:0"}, {"y": "y:0"})})
    recording: tfg.Recording | None = tfg.describe_recording(folder / "graph.pb")
    loaded: tfg.Graph = tfg.load(folder / "graph.pb")
    (folder / "build.py").write_text("def build(g): g.NoOp(name='nothing')")
    stages: list[tuple[str, tfg.Graph]] = tfg.run_script(str(folder / "build.py"))
    tfg.load_op_library("json")
    inlined, _ = tfg.optimize(loaded, "y:0", passes="cluster")
    tfg.call_function(inlined, "cluster_0")
    assert len(stages) == 1 and tfg.map_ops(loaded, {"NoSuchOp": "Neg"}) == 0
    sound: list[tfg.Graph] = [tfg.load_part(folder / "graph.pb"), tfg.load_for_passes(folder / "graph.pb", "repair")]
    stream: tfg.RecordStream = tfg.stream_nodes(folder / "graph.pb", tfg.NodeFilter(op="MatMul"))
    assert [record.name for record in stream] == ["layer/product"] and len(sound) == 2
    number: int = tfg.write_checkpoint(folder / "values.npz", {"w": np.zeros((2, 1), np.float32)})
    values: tfg.Checkpoint = tfg.read_checkpoint(folder / "values.npz")
    rows: tuple[tfg.TensorRow, ...] = values.describe(statistics=True)
    assert recording is None and len(loaded) == len(graph) and number == len(rows) == len(list(values.items()))
    return tfg.compare_checkpoints(values, values)


def surgery(graph: tfg.Graph, folder: pathlib.Path) -> list[int]:
    """Return the sizes of graphs that are joined, cut, trained again and put behind pictures, and of what files hold."""
    way: tfg.NodePath = tfg.path(graph, "x", "y")
    steps: tuple[tfg.PathStep, ...] = way.steps
    squares: tfg.Graph = tfg.freeze(graph, {"w": np.ones((2, 1), np.float32)}, outputs="y:0")
    model: tfg.Unfrozen = tfg.unfreeze(squares, outputs="y:0")
    ready: tfg.ForInference = tfg.to_inference(graph, "y:0")
    old: tfg.ForTensorflow = tfg.for_tensorflow(squares, "1.13")
    b = tfg.GraphBuilder()
    b.Identity(b.Placeholder(dtype="float", shape=[None, 4, 4, 3], name="image"), name="scores")
    both: tfg.Joined = tfg.join(squares, squares, second_prefix="again")
    fed: tfg.Graph = tfg.prepend(b.graph, "image", mean=127.5, scale=1 / 127.5)
    told: tfg.Graph = tfg.append(b.graph, 2, labels=["red", "green", "blue"], output="scores")
    other: tfg.Graph = tfg.override_gradients(graph, {"Square": "straight_through"})
    first: tfg.Checkpoint = tfg.read_checkpoint(folder / "values.npz")
    fit: tfg.CheckpointMatch = tfg.match_checkpoint(tfg.average_checkpoints([first, first]), graph)
    events: tfg.EventLog = tfg.read_events(pathlib.Path(tfg.__file__).with_name("sample_graphs") / "recordings")
    predict = tfg.map_batches(squares, "y:0")
    web = tfg.convert(squares, folder / "web" / "model.json", "y:0")
    assert old.release == "1.13" and isinstance(web, tfg.TfjsExport) and fit.fits and callable(predict) and way.reaches
    return [len(each) for each in (steps, model.graph, ready.graph, both.graph, fed, told, other, events.scalars)]


def engines(graph: tfg.Graph, folder: pathlib.Path) -> None:
    """Use JAX and ONNX: only where their packages are installed."""
    if importlib.util.find_spec("onnxruntime") is not None:
        exported = tfg.convert(graph, folder / "model.onnx", "y:0")
        assert isinstance(exported, tfg.OnnxExport) and all(output.passed for output in exported.verify())
    if importlib.util.find_spec("jax") is not None:
        program = tfg.convert(graph, folder / "model.stablehlo", "y:0")
        assert isinstance(program, tfg.StableHloExport) and all(output.passed for output in program.verify())
        report: tfg.EngineReport = tfg.explain_engine(graph, "xla", "y:0")
        function, parameters = tfg.to_jax(graph, "y:0", "x:0")
        print(report.engine, float(function(parameters, ROWS)), sorted(parameters))


def show(graph: tfg.Graph) -> list[str]:
    """Return the graph as text and as a page."""
    drawing: tfg.Drawing = tfg.draw(graph, "text", max_nodes=20, color_by="stage")
    stages: tuple[tfg.Drawing, ...] = tfg.draw_each(graph, "stages", "text")
    page: tfg.GraphPage = tfg.view(graph, "y:0", diff=graph)
    return [str(drawing), *map(str, stages), page.html]


def learn(graph: tfg.Graph) -> tuple[list[float], Mapping[str, npt.NDArray[np.generic]]]:
    """Train the variable, and fit it by least squares."""
    clipping = tfg.Clipping("norm", 1.0)

    def begin(trainer: tfg.Trainer) -> int:
        return 0

    def progress(step: tfg.Progress | tfg.Iteration) -> None:
        print(step)

    def start(problem: tfg.LeastSquares) -> None:
        print(type(problem).__name__)

    def opened(of: tfg.Graph) -> tfg.SessionLike:
        session = tfg.Session(of)
        session.run("init")
        return session

    labelled: tfg.NamedLoss | str = tfg.NamedLoss.parse("y:0") or "y:0"
    method: tfg.Optimizer = tfg.find_optimizer("Momentum")
    print(method.hyperparameters, tfg.optimizer_name("gradient_descent"))
    training: tfg.TrainingReport = tfg.train(
        graph, labelled, FEEDS, steps=2, optimizer="sgd", clipping=clipping, on_start=begin, on_step=progress
    )
    fitted: tfg.FitReport = tfg.fit(
        graph, "residuals:0", FEEDS, iterations=1, open_session=opened, on_start=start, on_step=progress
    )
    return training.losses, fitted.state


def classes(scores: Sequence[float], path: pathlib.Path) -> list[bytes]:
    """Return the labels of the two best classes."""
    path.write_text("cat\ndog\nowl\n", encoding="utf-8")
    best: tfg.TopClasses = tfg.top_classes(scores, 2, tfg.read_labels(path))
    return [] if best.labels is None else list(best.labels)


def hint(action: Callable[[], object]) -> str:
    """Return the next step that an error proposes."""
    try:
        action()
    except tfg.errors.TfgError as error:
        return error.hint or ""
    return ""


def main() -> None:
    graph = build()
    print("\n".join([*look(graph), *library(graph)]))
    assert pipeline() == [0, 2, 4] and sweep(graph) == 2
    assert run(graph) == 5 * (3**2 + 7**2 + 11**2) + 2 * 2
    assert [len(array.shape) for array in differentiate(graph)] == [2, 2, 0, 2]
    print(count(graph))
    assert len(change(graph)) == 8 and compare(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        assert files(graph, path).equal
        assert all(surgery(graph, path))
        engines(graph, path)
        assert call(graph, path / "called.pb") == 2 * (3**2 + 7**2 + 11**2)
        assert classes([0.25, 0.125, 0.5], path / "labels.txt") == [b"owl", b"cat"]
    assert all(show(graph))
    losses, state = learn(graph)
    assert len(losses) == 2 and list(state) == ["w"]
    print(hint(lambda: graph["Y"]), tfg.__version__, file=sys.stdout)


if __name__ == "__main__":
    main()
