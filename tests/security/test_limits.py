"""Graphs made to take all the time or the memory there is: every one ends with one `error:` line, in time."""

from __future__ import annotations

import importlib
import resource
import signal
import subprocess
import sys
import time
import tracemalloc
import zlib

import numpy as np
import pytest

import tfg
from tests.cli.running import ROOT
from tests.cli.running import tfg as tfg_in_process
from tfg.core.runtime.execute.process_limits import TimeLimit
from tfg.core.support.errors import DeadlineExceededError, ResourceExhaustedError
from tfg.core.types.tensors import FuncRef, Tensor

SLACK = 100
"""Seconds for a loaded machine to start Python and its libraries, beside the limit."""
HARD_CAP = 8 << 30


def _limited():
    resource.setrlimit(resource.RLIMIT_AS, (HARD_CAP, HARD_CAP))


def command(*arguments):
    """(exit code, standard error, seconds) of a command, which is killed where it does not end by itself."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tfg", *map(str, arguments)],
        cwd=ROOT.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, preexec_fn=_limited,
    )  # fmt: skip
    return done.returncode, done.stderr, time.monotonic() - start


def errors(text):
    return [line for line in text.splitlines() if not line.startswith("hint: ")]


def endless(g):
    """A loop whose body does nothing, and whose condition holds."""
    for name, op in (("condition", "Const"), ("body", "Identity")):
        inner = tfg.GraphBuilder()
        argument = inner.Placeholder(dtype="float32", name="a")
        result = inner.constant(True) if op == "Const" else inner.Identity(argument)
        g.graph.functions[name] = tfg_function(name, inner, argument, result)
    return g.While([g.constant(1.0)], cond=FuncRef("condition"), body=FuncRef("body"))[0]


def tfg_function(name, builder, argument, result):
    from tfg.core.graph.graph import Function
    from tfg.core.registry.catalog import ArgDef, OpDef

    argument.node.change_op("_Arg")
    argument.node.attrs = {"T": argument.node.attrs["dtype"], "index": 0}
    argument.node.forget_dtypes()
    outputs = (ArgDef("r", dtype=result.dtype),)
    signature = OpDef(name, (ArgDef("a", dtype=argument.dtype),), outputs, {}, frozenset())
    return Function(signature, builder.graph, [argument.node], [result])


def text(g, value):
    return g.constant(Tensor.from_numpy(np.array([value], object)))


def sum_of_a_view(g):
    return g.Sum(g.BroadcastTo(g.constant(1.0), g.constant(np.array([1 << 36]))), g.constant([0]))


BOMBS = {
    "while": endless,
    "sum": sum_of_a_view,
    "regular expression": lambda g: g.StaticRegexFullMatch(text(g, b"a" * 5000 + b"!"), pattern="(a|a)*(a|a)*(b+)+$"),
    "fill": lambda g: g.Fill(g.constant(np.array([1 << 36])), g.constant(1.0)),
    "fill beyond addresses": lambda g: g.Fill(g.constant(np.array([1 << 62, 4])), g.constant(1.0)),
    "range": lambda g: g.Range(g.constant(0.0), g.constant(1e30), g.constant(1e-30)),
    "tile": lambda g: g.Tile(g.constant(np.ones(4, np.float32)), g.constant(np.array([1 << 36]))),
    "zlib": lambda g: g.DecodeCompressed(text(g, zlib.compress(bytes(1 << 28), 1)), compression_type="ZLIB"),
}


@pytest.fixture
def bomb(tmp_path):
    def write(name):
        g = tfg.GraphBuilder()
        value = BOMBS[name](g)
        path = tmp_path / "bomb.pb"
        tfg.save(g.graph, path)
        return path, str(value)

    return write


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.slow
def test_bomb_ends_in_time_with_one_line(bomb, name):
    path, fetch = bomb(name)
    code, stderr, seconds = command("run", path, "--fetch", fetch, "--timeout", 1, "--max-memory", "200M", "-q")
    assert (code, len(errors(stderr))) in ((0, 0), (1, 1)), stderr
    assert not stderr or stderr.startswith("error: ")
    assert seconds < 1 + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("size", ["0", "1", "64K", "1M"])
def test_less_memory_than_tfg_needs_is_wrong_usage(bomb, size):
    path, fetch = bomb("fill")
    code, stderr, _ = command("run", path, "--fetch", fetch, "--max-memory", size)
    assert (code, len(errors(stderr))) == (2, 1)
    assert "MiB" in stderr


@pytest.mark.slow
@pytest.mark.parametrize("size", ["24M", "50M", "100M"])
def test_memory_counts_from_where_tfg_stands(tmp_path, size):
    """Linear algebra, special functions and bfloat16 of small tensors work under any limit that is taken."""
    g = tfg.GraphBuilder()
    matrix = g.constant(np.eye(3, dtype=np.float32) * 2)
    value = g.Cast(g.Cast(g.Lgamma(g.MatrixInverse(g.MatMul(matrix, matrix))), DstT="bfloat16"), DstT="float32")
    path = tmp_path / "small.pb"
    tfg.save(g.graph, path)
    code, stderr, _ = command("run", path, "--fetch", str(value), "--max-memory", size, "-q")
    assert (code, stderr) == (0, "")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("op", "attrs", "inputs"),
    [
        ("Split", {"num_split": 2**31 - 1}, "ci"),
        ("Unpack", {"num": 1 << 40, "axis": 0}, "v"),
        ("AddN", {"N": 1 << 40}, "v"),
        ("ConcatV2", {"N": 1 << 40}, "vi"),
        ("IdentityN", {}, "v"),
    ],
)
@pytest.mark.parametrize("look", [["dump"], ["dump", "--shapes"], ["explain"], ["flops", "--fetch", "n"]])
def test_numbers_of_inputs_and_outputs_cost_nothing_to_claim(tmp_path, monkeypatch, op, attrs, inputs, look):
    """A list as long as an attribute says would take gigabytes."""
    lines = [f'attr {{ key: "{key}" value {{ i: {value} }} }}' for key, value in attrs.items()]
    given = " ".join(f'input: "{name}"' for name in inputs)
    constants = """
      node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
        dtype: DT_FLOAT tensor_shape { dim { size: 1 } } float_val: 1 } } } }
      node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
        dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
      node { name: "i" op: "Identity" input: "c" attr { key: "T" value { type: DT_INT32 } } }"""
    node = f"""node {{ name: "n" op: "{op}" {given} attr {{ key: "T" value {{ type: DT_FLOAT }} }} {" ".join(lines)} }}"""
    path = tmp_path / "g.pbtxt"
    path.write_text(constants + node)
    tracemalloc.start()
    outcome = tfg_in_process(look[0], str(path), *look[1:])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.code in (0, 1), outcome.err
    assert "Traceback" not in outcome.err
    assert most < 100 << 20


def strings(g):
    """3 GB, as 3,000 times the same string."""
    return g.Fill(g.constant([3000]), text_scalar(g, bytes(1 << 20)))


API_BOMBS = {
    "while": (endless, DeadlineExceededError),
    "sum": (sum_of_a_view, (DeadlineExceededError, ResourceExhaustedError)),
    "zlib": (BOMBS["zlib"], ResourceExhaustedError),
    "join": (lambda g: g.ReduceJoin(strings(g), g.constant([0])), ResourceExhaustedError),
    "base64": (lambda g: g.EncodeBase64(strings(g)), ResourceExhaustedError),
    "list": (
        lambda g: g.TensorListReserve(g.constant([1]), g.constant(2**31 - 1), element_dtype="float32"),
        ResourceExhaustedError,
    ),
}


def text_scalar(g, value):
    array = np.empty((), object)
    array[()] = value
    return g.constant(Tensor.from_numpy(array))


@pytest.mark.slow
@pytest.mark.parametrize("name", API_BOMBS)
def test_session_keeps_its_limits(name):
    make, expected = API_BOMBS[name]
    g = tfg.GraphBuilder()
    value = make(g)
    session = tfg.Session(g.graph, timeout=3, max_memory=30 << 20)
    start = time.monotonic()
    with pytest.raises(expected) as caught:
        session.run(str(value))
    assert caught.value.node
    assert time.monotonic() - start < 3 + SLACK


def test_views_and_strings_count(monkeypatch):
    """What lies behind a view counts as long as the view lives, and so do the bytes of strings."""
    g = tfg.GraphBuilder()
    large = g.Reshape(g.Fill(g.constant([1 << 22]), g.constant(1.0)), g.constant([2, 1 << 21]))
    strings = g.StringJoin([text_scalar(g, bytes(1 << 24)), text_scalar(g, b"x")])
    assert tfg.Session(g.graph, max_memory=40 << 20).run(str(large)).shape == (2, 1 << 21)
    with pytest.raises(ResourceExhaustedError):
        tfg.Session(g.graph, max_memory=40 << 20).run([str(large), str(strings), str(g.AddV2(large, g.constant(1.0)))])


@pytest.mark.parametrize("name", ["while", "convolution", "sum"])
def test_optimization_folds_nothing_that_takes_long(name):
    g = tfg.GraphBuilder()
    if name == "convolution":
        image, kernel = (g.constant(np.broadcast_to(np.float32(1), shape)) for shape in ((1, 512, 512, 16), (5, 5, 16, 64)))
        value = g.Sum(g.Conv2D(image, kernel, strides=[1, 1, 1, 1], padding="SAME"), g.constant([0, 1, 2, 3]))
    else:
        value = {"while": endless, "sum": sum_of_a_view}[name](g)
    start = time.monotonic()
    result, _ = tfg.optimize(g.graph, str(value))
    assert value.node.name in result
    assert time.monotonic() - start < SLACK


def test_strings_count_as_often_as_they_are_written():
    """A folded array of strings is written out: 16,384 times one string of a megabyte would be 16 GB."""
    g = tfg.GraphBuilder()
    strings = g.Fill(g.constant([1 << 14]), text_scalar(g, bytes(1 << 20)))
    result, _ = tfg.optimize(g.graph, str(g.StringLength(strings)))
    constants = [node.attrs["value"] for node in result if node.is_constant]
    assert all(tensor.size < 1 << 14 or tensor.dtype.name != "string" for tensor in constants)


def test_no_library_is_left_half_imported(tmp_path, monkeypatch):
    """NumPy and those built on it print a traceback of what interrupts them."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_library.py").write_text("import time\ntime.sleep(0.05)\ntime.sleep(0.1)\nis_whole = True\n")
    with pytest.raises(DeadlineExceededError), TimeLimit(0.02):
        importlib.import_module("slow_library")
        time.sleep(5)
    assert sys.modules.pop("slow_library").is_whole


def test_an_interruption_that_something_wraps_is_still_one():
    """Python makes a RuntimeError of what is raised while a class is made, as in an import."""

    class Slow:
        def __set_name__(self, owner, name):
            while True:
                pass

    with pytest.raises(DeadlineExceededError), TimeLimit(0.2):
        type("Made", (), {"slow": Slow()})


def test_who_had_the_timers_signal_before_has_it_again():
    def own(*_):
        raise AssertionError("not its time")

    before = signal.signal(signal.SIGALRM, own)
    try:
        with TimeLimit(30):
            assert signal.getsignal(signal.SIGALRM) is not own
        assert signal.getsignal(signal.SIGALRM) is own
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
def test_what_swallows_interruptions_ends_with_the_process():
    """Python itself ends it: from outside its frames cannot be read while they come and go."""
    lines = (
        "from tfg.core.runtime.execute.process_limits import TimeLimit",
        "def deep(n): return deep(n - 1) if n else None",
        "class Swallowing:",
        "    def __exit__(self, *raised): return True",
        "    def __enter__(self): pass",
        "with TimeLimit(0.1):",
        *("    " * (i + 1) + "while True:\n" + "    " * (i + 2) + "with Swallowing():" for i in range(0, 8, 2)),
        "    " * 9 + "while True: deep(50)",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (1, "error: the run exceeded its time limit of 0.1 seconds\n")


@pytest.mark.parametrize("pattern", ["a.*b|a", "(a?){200}a{200}b|"])
def test_a_text_is_matched_in_pieces(pattern):
    """Each match looks at the whole rest of the text."""
    g = tfg.GraphBuilder()
    g.RegexReplace(g.constant("a" * 200_000 + "!"), g.constant(pattern), g.constant("b"), name="y")
    start = time.process_time()
    with pytest.raises(DeadlineExceededError, match="node 'y'"):
        tfg.Session(g.graph, timeout=0.2).run("y")
    assert time.process_time() - start < 5
