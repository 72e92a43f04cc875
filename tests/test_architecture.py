"""The house rules: imports between rooms, packaged files, and sizes."""

from __future__ import annotations

import ast
import collections
import functools
import graphlib
import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

import tfg
from tests.sources import nodes_of, tree_of
from tfg.cli import main
from tfg.core.registry.catalog import CATALOG

ROOT = pathlib.Path(tfg.__file__).parent
PARTS = ("cli", "core", "formats")
SOURCES = [path for part in PARTS for path in sorted((ROOT / part).rglob("*.py")) if not path.name.endswith("_pb2.py")]
ONLY_IN = {"google": ("formats",), "rich": ("cli",), "click": ("cli",), "graphviz": ("cli", "formats")}
# What each part may import of the others.
ALLOWED = {
    "core": {"core"},
    "formats": {"core", "formats"},
    "cli": {"core", "formats", "cli"},
}
MAX_FUNCTION_LINES = 80
MAX_FILE_LINES = 1000
FLOORS = (
    "core core/ops core/runtime core/support formats/protos",
    "core/types",
    "core/numerics",
    "core/registry",
    "core/codecs core/graph core/random",
    "formats/codecs",
    "core/inference core/runtime/state",
    "core/building core/datasets core/op_libraries core/planning formats/checkpoint",
    "core/engines core/ops/shared",
    "core/engines/xla core/ops/io core/ops/linalg core/ops/random core/ops/text",
    "core/runtime/execute",
    "core/onnx core/ops/image",
    "core/runtime/session",
    "core/explaining core/gradients",
    "core/comparing",
    "core/drawing core/ops/control core/training core/transforms",
    "core/flops core/ops/array core/ops/math formats/page",
    "core/ops/nn core/ops/sparse core/ops/state core/passes/base formats",
    "core/ops/data core/ops/quantized core/passes/rules formats/cluster",
    "core/passes",
    "formats/api",
    "formats/batches",
    "cli",
    "cli/commands",
    "cli/jobs",
)
"""The rooms from bottom to top: a room may import the rooms of earlier lines."""
MAX_FILES_OF_A_ROOM = 30
MAX_PRIVATE_USES = 50
"""The largest number of uses of private names in tests."""
MAX_OP_NAMES = 618
"""The largest number of op names outside the families: patterns of rules, and questions of a single place."""


@functools.cache
def imports(path: pathlib.Path) -> list[tuple[str, ...]]:
    """Return the absolute names that a file imports, in parts; names of tfg lack the package's name."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    names: list[tuple[str, ...]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            names.append((*base, *(node.module or "").split(".")) if node.module else base)
    return names


FORKS = frozenset(("fork", "forkpty", "posix_spawn", "multiprocessing", "ProcessPoolExecutor", "SharedMemory"))
"""Names by which a module would fork the user's process, or share memory with a fork."""


def test_nothing_forks():
    for path in SOURCES:
        imported = {part for name in imports(path) for part in name}
        used = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
        used |= {alias.name for node in nodes_of(path) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert not FORKS & (imported | used), path


def test_imports_go_one_way():
    for path in SOURCES:
        part = path.relative_to(ROOT).parts[0]
        for name in filter(None, imports(path)):
            assert name[0] not in PARTS or name[0] in ALLOWED[part], f"{path} imports {'.'.join(name)}"
            assert name[0] not in ONLY_IN or part in ONLY_IN[name[0]], f"{path} imports {name[0]}"


ENGINES = {
    "openvino": {"core/engines/openvino.py"},
    "jax": {
        f"core/engines/xla/{name}.py"
        for name in (
            "engine",
            "control_flow_programs",
            "jax_functions",
            "traced_values",
            "list_programs",
            "op_gradients",
            "tracing",
        )
    },
}
"""The files that import the libraries of an engine."""
OF_FILES = {"onnx": {"formats/onnx_model.py"}, "onnxruntime": {"formats/onnx_model.py"}}
"""The files that import the libraries of a format."""


def test_libraries_of_engines_are_named_by_their_engines_alone():
    texts = {path: path.read_text() for path in SOURCES}
    for name, files in {**ENGINES, **OF_FILES}.items():
        users = {path for path in SOURCES for result in imports(path) if result[:1] == (name,)}
        users |= {path for path, text in texts.items() if f'import_module("{name}' in text}
        assert {str(path.relative_to(ROOT)) for path in users} <= files


@pytest.mark.slow
def test_engines_are_imported_by_name_only():
    """Only `engine_registry` knows the places of engines, so that an engine is loaded on demand."""
    modules = {path.removesuffix(".py") for paths in ENGINES.values() for path in paths}
    others = [path for path in SOURCES if str(path.relative_to(ROOT).with_suffix("")) not in modules]
    assert not [path for path in others if modules & modules_imported(path)]


@functools.cache
def modules_imported(path: pathlib.Path) -> set[str]:
    """The modules of tfg that a file imports, whether at once, when a function is called or for type checkers only."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    texts = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                parts = (*base, alias.name) if (ROOT.joinpath(*base, alias.name).with_suffix(".py")).exists() else base
                texts.add("/".join(parts))
    return texts


@pytest.mark.slow
def test_estimates_are_for_counts_alone():
    """What a graph is rewritten, differentiated, compiled or planned by are facts, which hold in every run."""
    users = {path: modules_imported(path) for path in SOURCES}
    rooms = {room_of(str(path.relative_to(ROOT))) for path, used in users.items() if "core/inference/estimates" in used}
    assert rooms == {"core/flops"}
    asking = [path for path in SOURCES if re.search(r"\blikely=True|with_broadcasts", path.read_text())]
    assert {path.name for path in asking} == {"dims.py", "estimates.py"}


def test_costs_are_for_reports_alone():
    """A cost rests on estimates, so no pass asks for one: only the record of a pass has it."""
    askers = {str(path.relative_to(ROOT)) for path in SOURCES if "core/passes/base/costs" in modules_imported(path)}
    assert askers == {"core/passes/pipeline.py", "cli/jobs/optimize_job.py"}
    counting = [path for path in SOURCES if "core/passes/" in str(path) and "core/flops/count" in modules_imported(path)]
    assert not counting


@pytest.mark.parametrize("part", PARTS)
def test_no_modules_import_each_other(part):
    files = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == part and path.name != "__init__.py"]
    names = {path: str(path.relative_to(ROOT).with_suffix("")) for path in files}
    graph = {names[path]: modules_imported(path) - {names[path]} for path in files}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def room_of(module: str) -> str:
    """Return the folder of a module; for a package, the folder of the package."""
    return module if (ROOT / module).is_dir() else module.rpartition("/")[0]


FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}


def test_every_room_has_a_floor():
    rooms = {room_of(str(path.relative_to(ROOT))) for path in SOURCES}
    assert rooms == set(FLOOR_OF)


def test_rooms_import_only_rooms_below():
    pairs = {(room_of(str(path.relative_to(ROOT))), room_of(m)) for path in SOURCES for m in modules_imported(path)}
    assert not {(room, other) for room, other in pairs if other not in (room, "") and FLOOR_OF[other] >= FLOOR_OF[room]}


def test_no_room_is_crowded():
    sizes = collections.Counter(str(path.parent.relative_to(ROOT)) for path in SOURCES if path.name != "__init__.py")
    assert not {room: size for room, size in sizes.items() if size > MAX_FILES_OF_A_ROOM}
    assert not sizes["core"]


def test_every_room_says_what_it_is_for():
    """A docstring of at most ten lines."""
    rooms = [path for path in SOURCES if path.name == "__init__.py"]
    docstrings = {str(path.relative_to(ROOT)): ast.get_docstring(tree_of(path)) for path in rooms}
    del docstrings["formats/protos/__init__.py"]  # generated
    assert not [name for name, text in docstrings.items() if not text or len(text.splitlines()) > 10]


def test_the_page_has_every_room_once():
    """A heading of ARCHITECTURE names rooms, and an item that begins with a bold name a room within."""
    heading, named = "", []
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
            named += [room for room in heading.split(", ") if "/" in room]
        elif item := re.match(r"- \*\*(\w+)\*\*:", line):
            assert f"{heading}/{item[1]}" in FLOOR_OF, line
    assert sorted(named) == sorted(room for room in FLOOR_OF if room.startswith("core/") and room.count("/") == 1)


def test_tests_lie_in_the_rooms_of_the_code():
    rooms = {path.parent.relative_to(ROOT) for path in SOURCES}
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    others = {"", "docs", "fuzz", "live", "security"}
    assert {str(folder) for folder in folders - rooms if folder.parts} <= others


def test_files_are_short():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > MAX_FILE_LINES} == {}


PUBLIC_UNDERSCORES = frozenset(("_asdict", "_exit", "_fields", "_make", "_replace"))
"""Public names of Python's library that begin with an underscore."""


def called_name(call: ast.Call) -> str:
    """Return the last name of a called function."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def private_uses(path: pathlib.Path) -> Iterator[str]:
    """The uses of names that are private to another module or class: attributes, imports, and names in strings for setattr."""
    for node in nodes_of(path):
        names: list[str] = []
        if isinstance(node, ast.Attribute):
            names = [node.attr] if node.attr.startswith("_") and ast.unparse(node.value) not in ("self", "cls") else []
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and called_name(node).endswith(("setattr", "delattr", "getattr", "hasattr")):
            texts = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
            names = [text.rpartition(".")[-1] for text in texts if isinstance(text, str)]
        for name in names:
            is_protocol = name.startswith("__") or name.endswith("_")  # `__len__`, `_repr_html_` of notebooks
            if name.startswith("_") and not is_protocol and name not in PUBLIC_UNDERSCORES and name not in CATALOG:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {name}"


@pytest.mark.slow
def test_tests_use_public_names():
    uses = [use for path in sorted((ROOT / "tests").rglob("*.py")) for use in private_uses(path)]
    assert len(uses) <= MAX_PRIVATE_USES, "\n".join(uses)


def test_uses_of_private_names_are_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "source.py"
    path.write_text(
        "from a import _b, c\na._d\nself._e\na.setattr(b, '_f', 1)\na.setattr('b._g', 1)\ngetattr(a, '_h')\n"
        "point._replace(x=1)\nos._exit(0)\ng._FusedConv2D(x)\na.__doc__\na._repr_html_()\n"
    )
    assert [use.rpartition(" ")[-1] for use in private_uses(path)] == ["_b", "_d", "_f", "_g", "_h"]


def test_rich_is_imported_by_one_file():
    users = {path.name for path in SOURCES if any(name and name[0] == "rich" for name in imports(path))}
    assert users == {"render.py"}


def test_options_are_named_by_the_command_line_alone():
    """Texts of other rooms have steps in the place of options (`core/support/hints`)."""
    below = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "cli"]
    files = [path for path in below if _OPTION.search(path.read_text(encoding="utf-8"))]
    assert not [str(path.relative_to(ROOT)) for path in files if any(map(_OPTION.search, texts_of(path)))]


_OPTION = re.compile(r"(?<![\w-])--[a-z]")


def texts_of(path: pathlib.Path) -> Iterator[str]:
    """Yield the texts of a file that are no docstrings."""
    notes = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    constants = (node for node in nodes_of(path) if isinstance(node, ast.Constant) and id(node) not in notes)
    yield from (node.value for node in constants if isinstance(node.value, str))


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="this is no checkout of git")
def test_nothing_that_a_run_wrote_is_kept_in_the_root():
    command = ["git", "-c", "safe.directory=*", "ls-files"]
    kept = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    suffixes = {pathlib.Path(name).suffix for name in kept if "/" not in name}
    assert suffixes == {"", ".in", ".md", ".py", ".toml", ".typed", ".yaml"}


def test_list_of_packages_is_complete():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {path.parent.relative_to(ROOT).parts for path in SOURCES}
    inside = [path for data in ("sample_graphs", "formats/page/vendor") for path in [ROOT / data, *(ROOT / data).rglob("*/")]]
    data = {path.relative_to(ROOT).parts for path in inside if path.is_dir() and path.name != "__pycache__"}
    expected = {"tfg", *(".".join(("tfg", *parts)) for parts in folders | data)}
    assert set(project["tool"]["setuptools"]["packages"]) == expected


def test_every_package_has_an_init():
    assert all((path.parent / "__init__.py").exists() for path in SOURCES)


def test_functions_are_short():
    functions = ((path, node) for path in SOURCES for node in nodes_of(path))
    lengths = {
        f"{path}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path, node in functions
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert not {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES}


def test_every_module_says_what_it_is():
    silent = [path for path in SOURCES if path.stat().st_size and not ast.get_docstring(tree_of(path))]
    assert silent == []


@pytest.mark.slow
def test_one_module_of_the_command_line_opens_sessions():
    """Limits, files and state are set in a single place, so no command can forget them."""
    opening = {"Session", "Runner", "limit_memory", "TimeLimit", "FileAccess"}
    results = set()
    for path in (ROOT / "cli").rglob("*.py"):
        calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
        used = {part.id for call in calls for part in ast.walk(call) if isinstance(part, ast.Name)}
        results |= {path.name for name in used & opening}
    assert results == {"sessions.py"}


def test_files_of_the_command_line_are_called_by_one_grammar():
    """`NAME.py` is the command NAME, `NAME_job.py` the work and the output; all other files are shared."""
    parts = ("commands", "jobs")
    folders = {part: {path.stem for path in (ROOT / "cli" / part).glob("[a-z]*.py")} for part in parts}
    commands = set(main.commands())
    assert commands == folders["commands"]
    assert folders["jobs"] <= {f"{name}_job" for name in commands}


FUNCTIONS = {
    "check": "check",
    "checkpoint": "average_checkpoints compare_checkpoints match_checkpoint read_checkpoint write_checkpoint",
    "compare": "compare compare_states",
    "convert": "clear_devices convert extract fill_placeholders for_tensorflow freeze inline_functions strip_default_attrs"
    " to_inference",
    "diff": "diff",
    "draw": "draw draw_each",
    "cache": "describe_cache",
    "cluster": "describe_cluster",
    "dump": "diff_snapshots first_elements list_nodes optimization_stages recover_stages stream_nodes",
    "explain": "explain explain_engine explain_partition explain_races missing_ops node_fates",
    "flops": "FlopsCounter flops_rows profile",
    "join": "join",
    "layers": "layers",
    "grad": "check_gradient gradients hessian_vector jacobian jvp override_gradients vjp",
    "ops": "flops_formulas missing_parts op_coverage ops write_wrappers",
    "optimize": "list_passes optimize verify",
    "path": "path",
    "reduce": "reduce",
    "scalars": "read_events",
    "run": "KernelRecorder",
    "train": "fit optimizer_name train",
    "unfreeze": "save_model unfreeze verify",
}
"""The functions of the library that a command calls. `view` calls the maker of the page of `tfg.view`."""


def runtime_imports(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yield the module of tfg and the name of each import of a file, without imports for annotations."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    guarded = {
        id(node)
        for test in nodes_of(path)
        if isinstance(test, ast.If) and ast.unparse(test.test) == "TYPE_CHECKING"
        for node in ast.walk(test)
    }
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in guarded:
            base = package[: len(package) - node.level + 1]
            yield from ((".".join((*base, node.module or "")).rstrip("."), alias.name) for alias in node.names)


def files_of_command(command: str) -> list[pathlib.Path]:
    paths = (ROOT / "cli" / "commands" / f"{command}.py", ROOT / "cli" / "jobs" / f"{command}_job.py")
    return [path for path in paths if path.exists()]


def is_exported(module: str, name: str) -> bool:
    """Return True for a name that the package exports from the module, or from a module that re-exports the name."""
    try:
        return name in tfg.__all__ and getattr(tfg, name) is getattr(importlib.import_module(f"tfg.{module}"), name)
    except AttributeError:
        return False


@pytest.mark.parametrize("command", FUNCTIONS)
def test_commands_call_the_functions_of_the_library(command):
    files = files_of_command(command)
    imported = {name for path in files for module, name in runtime_imports(path) if is_exported(module, name)}
    used = {node.id for path in files for node in nodes_of(path) if isinstance(node, ast.Name)}
    assert set(FUNCTIONS[command].split()) <= imported & used


def test_the_guide_names_a_function_for_every_command():
    text = (ROOT / "docs" / "python.md").read_text()
    assert not [command for command in main.commands() if f"`tfg {command}" not in text]
    functions = {name for names in FUNCTIONS.values() for name in names.split()}
    assert not [name for name in functions if not re.search(rf"`(tfg\.)?(\w+\(tfg\.)?{name}\b|tfg\.{name}\b", text)]


TERMINAL_ONLY = frozenset(("completion", "samples"))
"""Commands without a function: they copy files and write the shell's completion."""


def test_every_command_calls_a_function_of_the_library():
    assert set(main.commands()) == {*FUNCTIONS, *TERMINAL_ONLY, "view"}


def test_the_guide_and_the_reference_name_all_functions():
    """The guide names no function that the package lacks, and the reference has each public name."""
    guide = (ROOT / "docs" / "python.md").read_text()
    assert set(re.findall(r"\btfg\.(\w+)\(", guide)) <= set(tfg.__all__)
    reference = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    assert not [name for name in tfg.__all__ if not re.search(rf"\b{name}\b", reference)]


COMPUTING = (
    "comparing", "drawing", "engines", "explaining", "flops", "gradients", "inference", "onnx", "passes", "planning",
    "training", "transforms",
)  # fmt: skip
"""The rooms with functions that do the work of a command."""
WORDING = frozenset(
    ("attribute_text", "callables", "facts_without_detail", "layer_table", "layer_totals", "magnitude", "ordered",
     "output_candidates", "own_attributes", "readable", "shortened", "typical", "what_is_short")
)  # fmt: skip
"""Functions that order and word a result for a table or an error: Python has the result itself."""
CHOOSING = frozenset(("as_served", "counted_fetches", "default_fetches", "outputs_of"))
"""Functions that choose the tensors where the user names none, as the functions of the package do."""


def computing_functions() -> Iterator[str]:
    """Yield `COMMAND FUNCTION` for each function of the computing rooms that a command calls and the package lacks."""
    for command in main.commands():
        for path in files_of_command(command):
            for module, name in runtime_imports(path):
                computes = module.startswith("core.") and module.split(".")[1] in COMPUTING
                if computes and name.islower() and name not in WORDING | CHOOSING and not is_exported(module, name):
                    yield f"{command} {name}"


def test_commands_compute_nothing_that_python_has_not():
    assert not set(computing_functions())


def test_help_needs_no_numpy():
    """A command imports the computing modules when the command runs."""
    modules = [f"tfg.cli.commands.{name}" for name in main.commands()]
    script = f"import importlib, sys; list(map(importlib.import_module, {modules})); print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [("dump",), ("convert", "g.pb", "--quiet"), ("convert", "g.pbtxt", "--quiet")])
def test_what_reads_and_writes_nodes_alone_needs_no_numpy(words, tmp_path):
    command = [words[0], str(ROOT / "sample_graphs" / "xor.pbtxt"), *words[1:]]
    script = f"import sys; from tfg.cli.main import run; assert run({command}) == 0; assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["explain", "flops", "optimize"])
def test_analyses_of_products_and_sums_need_neither_scipy_nor_sessions(command):
    words = [command, str(ROOT / "sample_graphs" / "xor.pbtxt")]
    needless = {"scipy", "tfg.core.runtime.session.session"}
    script = f"import sys; from tfg.cli.main import run; assert run({words}) == 0; assert not {needless} & {{*sys.modules}}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_commands_take_typed_options():
    """The parameters of a command have names and types: a command takes no mapping of arbitrary options."""
    for path in (ROOT / "cli").rglob("*.py"):
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                assert node.args.kwarg is None, path.name


OPENING_FILES = [p for p in SOURCES if p.is_relative_to(ROOT / "core" / "ops") or p.parent == ROOT / "formats" / "checkpoint"]


def test_what_a_graph_names_is_opened_through_the_gate():
    """Kernels and checkpoints open and list files by the methods of FileGate, which has the session's permissions."""
    for path in OPENING_FILES:
        assert not {name[0] for name in imports(path) if name} & {"glob", "pathlib", "shutil", "tempfile", "mmap"}, path
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "open", f"{path}, line {node.lineno} opens a file by itself"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in ("open", "scandir", "walk", "readlink"), f"{path}, line {node.lineno}: os.{node.attr}"


FAMILY_FILES = sorted((ROOT / "core" / "ops").rglob("[a-z]*.py"))


def test_shape_functions_say_what_they_return():
    for path in FAMILY_FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and any("shape(" in ast.unparse(one) for one in node.decorator_list):
                assert node.returns is not None and ast.unparse(node.returns) != "Any", f"{path}: {node.name}"


# How many lines may lie between the parts of one op: its kernel, shape, gradient, FLOPs and the decisions about it.
MAX_LINES_BETWEEN_PARTS = 150
REGISTERING = {
    "kernel", "shape", "gradient", "flops", "facts", "layout", "profiled",
    "not_arithmetic", "not_differentiable", "zero_flops",
}  # fmt: skip
SAYING_FIRST = {"layout", "profiled"}
"""The registrations whose first argument is the statement about the following ops."""


def registrations(path: pathlib.Path) -> Iterator[tuple[str, int, int]]:
    """Yield (op, first line, last line) of each statement of a file that registers entries for explicitly named ops.

    Lists made of other lists are left out: their place depends on the other lists.
    """
    for node in tree_of(path).body:
        result = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
        for call in result:
            while isinstance(call, ast.Call) and isinstance(call.func, ast.Call):
                call = call.func
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REGISTERING:
                facts_of = [k.value for k in call.keywords if k.arg == "of"]
                named = facts_of[0].elts if facts_of and isinstance(facts_of[0], ast.Tuple) else [] if facts_of else call.args
                named = named[1:] if call.func.id in SAYING_FIRST else named
                if all(isinstance(name, ast.Constant) for name in named):
                    yield from ((str(name.value), call.lineno, node.end_lineno or call.lineno) for name in named)


def test_parts_of_one_op_stand_together():
    for path in FAMILY_FILES:
        places: dict[str, list[tuple[int, int]]] = {}
        for op, first, last in registrations(path):
            places.setdefault(op, []).append((first, last))
        between = {op: max(first for first, _ in parts) - min(last for _, last in parts) for op, parts in places.items()}
        assert not {op: lines for op, lines in between.items() if lines > MAX_LINES_BETWEEN_PARTS}, path


def op_names(path: pathlib.Path) -> list[str]:
    """The strings in a file that are names of ops, without docstrings, and the places that look into the name of an op."""
    nodes = nodes_of(path)
    loose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [f"{node.lineno}: {node.value}" for node in strings if id(node) not in loose and node.value in CATALOG]
    return names + [f"{node.lineno}: {ast.unparse(node)}" for node in nodes if looks_into_op_name(node)]


PARTS_OF_NAMES = frozenset(("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "replace"))
PATTERNS = frozenset(("compile", "match", "fullmatch", "search", "sub", "subn"))


def looks_into_op_name(node: ast.AST) -> bool:
    """Return True for code that compares or matches a part of an op's name, and for a pattern that matches op names."""
    if isinstance(node, ast.Compare):
        return isinstance(node.ops[0], ast.In | ast.NotIn) and is_text(node.left) and is_op_name(node.comparators[0])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in PATTERNS:
        return any(map(is_op_name, node.args)) or any(map(is_pattern_of_ops, node.args))
    return node.func.attr in PARTS_OF_NAMES and is_op_name(node.func.value)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_op_name(node: ast.expr) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "op"


def is_pattern_of_ops(node: ast.expr) -> bool:
    """True for a text that, as a regular expression, matches some ops and not most of them."""
    try:
        pattern = re.compile(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    except re.error:
        return False
    matching = [pattern is not None and pattern.fullmatch(op) is not None for op in CATALOG]
    return 0 < sum(matching) < len(matching) / 2


@pytest.mark.parametrize(
    "source, count",
    [
        ("node.op.startswith('Apply')", 1),
        ("'Dataset' in user.op", 1),
        (r"P = re.compile(r'(?:Resource)?Apply\w+')", 1),
        ("P.fullmatch(node.op)", 1),
        ("op.removeprefix('Ref')", 1),
        ("node.op == 'Identity'", 1),
        ("node.name.startswith('Apply')", 0),
        (r"P = re.compile(r'\w+')", 0),
        ("node.op in APPLY", 0),
    ],
)
def test_prefixes_and_patterns_count_as_names_of_ops(tmp_path, source, count):
    path = tmp_path / "source.py"
    path.write_text(source)
    assert len(op_names(path)) == count


def test_what_holds_for_ops_is_said_in_their_families():
    """A list of names that stands for a property is a fact, see core/registry/op_facts.py; core/onnx names operators."""
    paths = {str(path.relative_to(ROOT)): path for path in SOURCES}
    named = {name: op_names(path) for name, path in paths.items() if not name.startswith(("core/ops/", "core/onnx/"))}
    counts = collections.Counter({path: len(result) for path, result in named.items()})
    offenders = "\n".join(f"{path}: {count}: {', '.join(named[path])}" for path, count in counts.most_common(20))
    assert counts.total() <= MAX_OP_NAMES, f"{counts.total()} names of ops, most of them in\n{offenders}"
