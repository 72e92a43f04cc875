"""The house rules: which part may import which, what is packaged, how large things may get."""

from __future__ import annotations

import ast
import collections
import graphlib
import pathlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

import tfg
from tfg.cli import main
from tfg.core.registry.catalog import CATALOG

ROOT = pathlib.Path(tfg.__file__).parent
PARTS = ("cli", "core", "formats")
SOURCES = [path for part in PARTS for path in sorted((ROOT / part).rglob("*.py")) if not path.name.endswith("_pb2.py")]
ONLY_IN = {"google": ("formats",), "rich": ("cli",), "click": ("cli",), "graphviz": ("cli", "formats")}
# What each part may import of the others.
ALLOWED = {"core": {"core"}, "formats": {"core", "formats"}, "cli": {"core", "formats", "cli"}}
MAX_FUNCTION_LINES = 80
MAX_FILE_LINES = 500
# The rooms of core, and which others the modules of each may import; "core" and "core/passes" are the modules outside rooms.
ROOMS = {
    "core": "control_flow functions",
    "core/control_flow": "",
    "core/functions": "",
    "core/numerics": "",
    "core/building": "",
    "core/op_libraries": "functions",
    "core/ordering": "control_flow functions",
    "core/planning": "control_flow functions ordering",
    "core/engines": "control_flow functions ordering planning",
    "core/onnx": "control_flow functions ordering planning runtime",
    "core/runtime": "building control_flow engines functions numerics ordering planning",
    "core/datasets": "numerics runtime",
    "core/explaining": "building control_flow functions ordering planning",
    "core/drawing": "explaining functions",
    "core/transforms": "building control_flow explaining functions",
    "core/gradients": "building control_flow functions runtime",
    "core/ops": "building datasets functions gradients numerics runtime",
    "core/flops": "building control_flow functions gradients numerics ops planning runtime",
    "core/training": "building gradients runtime",
    "core/comparing": "control_flow functions numerics planning runtime",
    "core/passes": "control_flow explaining flops functions planning runtime transforms passes/functions passes/rules",
    "core/passes/rules": "building datasets functions passes",
    "core/passes/fusing": "passes passes/rules",
    "core/passes/loops": "control_flow functions passes",
    "core/passes/functions": "control_flow functions planning transforms passes passes/loops passes/rules",
    "core/passes/layout": "building passes passes/rules",
}
MAX_OP_NAMES = 570
"""How many names of ops the code outside of their families may hold: patterns of rules, and what only one place asks."""


def imports(path: pathlib.Path) -> Iterator[tuple[str, ...]]:
    """The absolute names that a file imports; those of tfg without the package's own name, in parts."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            yield (*base, *(node.module or "").split(".")) if node.module else base


FORKS = frozenset(("fork", "forkpty", "posix_spawn", "multiprocessing", "ProcessPoolExecutor", "SharedMemory"))
"""Names by which a module would copy the process of its user, or share memory with such a copy."""


def test_nothing_in_core_forks():
    for path in SOURCES:
        if path.is_relative_to(ROOT / "core"):
            imported = {part for name in imports(path) for part in name}
            tree = ast.parse(path.read_text())
            used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            used |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
            assert not FORKS & (imported | used), path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    part = path.relative_to(ROOT).parts[0]
    for name in imports(path):
        if name and name[0] in PARTS:
            assert name[0] in ALLOWED[part], f"{part} imports {'.'.join(name)}"
        if name and name[0] in ONLY_IN:
            assert part in ONLY_IN[name[0]], f"{part} imports {name[0]}"


ENGINES = {
    "openvino": {"core/engines/openvino/engine.py", "core/engines/openvino/library.py", "core/engines/openvino/reading.py"},
    "jax": {
        f"core/engines/xla/engine{name}.py"
        for name in ("", "_control_flow", "_library", "_lists", "_mesh", "_modules", "_tracing")
    },
}
"""The files that work with what an engine needs."""
OF_FILES = {"onnx": {"formats/onnx_model.py"}, "onnxruntime": {"formats/onnx_model.py"}}
"""Those that work with the libraries of a format."""


def test_libraries_of_engines_are_named_by_their_engines_alone():
    for name, files in {**ENGINES, **OF_FILES}.items():
        users = {path for path in SOURCES for found in imports(path) if found[:1] == (name,)}
        users |= {path for path in SOURCES if f'import_module("{name}' in path.read_text()}
        assert {str(path.relative_to(ROOT)) for path in users} <= files


def test_engines_are_imported_by_name_only():
    """Only `finding` knows where engines are, so that nothing of one is loaded before it is asked for."""
    modules = {path.removesuffix(".py") for paths in ENGINES.values() for path in paths}
    others = [path for path in SOURCES if str(path.relative_to(ROOT).with_suffix("")) not in modules]
    assert not [path for path in others if modules & modules_imported(path)]


def modules_imported(path: pathlib.Path) -> set[str]:
    """The modules of tfg that a file imports, whether at once, when a function is called or for type checkers only."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                parts = (*base, alias.name) if (ROOT.joinpath(*base, alias.name).with_suffix(".py")).exists() else base
                found.add("/".join(parts))
    return found


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
    """The folder of a module; a package is named by its own."""
    return module if (ROOT / module).is_dir() else module.rpartition("/")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_those_below(room):
    """A room may import what its line lists and the modules directly in core; all that it lists is imported."""
    files = [path for path in SOURCES if room_of(str(path.relative_to(ROOT))) == room]
    found = {room_of(module) for path in files for module in modules_imported(path) if module.startswith("core/")}
    assert found - {room, "core"} == {f"core/{name}" for name in ROOMS[room].split()}


def test_every_room_of_core_is_listed():
    assert {room_of(str(path.relative_to(ROOT))) for path in SOURCES if path.is_relative_to(ROOT / "core")} == set(ROOMS)


def room_or_module(module: str) -> str:
    """The room of a module; the modules directly in core and in core/passes are in none, and each counts by itself."""
    room = room_of(module.removesuffix("/__init__"))
    return module.removesuffix("/__init__") if room in ("core", "core/passes") else room


def test_no_rooms_import_each_other():
    """Not even through others, or through a module that is in no room."""
    below: dict[str, set[str]] = {}
    for path in (path for path in SOURCES if path.is_relative_to(ROOT / "core")):
        importer = room_or_module(str(path.relative_to(ROOT).with_suffix("")))
        found = {room_or_module(module) for module in modules_imported(path) if module.startswith("core/")}
        below.setdefault(importer, set()).update(found - {importer})
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_files_are_short():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > MAX_FILE_LINES} == {}


def test_rich_is_imported_by_one_file():
    users = {path.name for path in SOURCES if any(name and name[0] == "rich" for name in imports(path))}
    assert users == {"render.py"}


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="this is no checkout of git")
def test_nothing_that_a_run_wrote_is_kept_in_the_root():
    command = ["git", "-c", "safe.directory=*", "ls-files"]
    kept = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    suffixes = {pathlib.Path(name).suffix for name in kept if "/" not in name}
    assert suffixes == {"", ".in", ".md", ".py", ".toml", ".typed", ".yaml"}


def test_list_of_packages_is_complete():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {path.parent.relative_to(ROOT).parts for path in SOURCES}
    expected = {"tfg", *(".".join(("tfg", *parts)) for parts in folders)}
    assert set(project["tool"]["setuptools"]["packages"]) == expected


def test_every_package_has_an_init():
    assert all((path.parent / "__init__.py").exists() for path in SOURCES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"{node.name} has {length} lines"


def test_every_module_says_what_it_is():
    silent = [path for path in SOURCES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_one_module_of_the_command_line_opens_sessions():
    """Limits, files and state are given in one place, so no command can forget them."""
    opening = {"Session", "Runner", "limit_memory", "TimeLimit", "FileAccess"}
    found = set()
    for path in (ROOT / "cli").glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        used = {part.id for call in calls for part in ast.walk(call) if isinstance(part, ast.Name)}
        found |= {path.name for name in used & opening}
    assert found == {"sessions.py"}


def test_files_of_the_command_line_are_called_by_one_grammar():
    """`NAME.py` is the command NAME, `NAME_job.py` what it does, `NAME_sections.py` how it shows that; the rest is shared."""
    shared = {"__init__", "completion", "engines", "logs", "main", "mesh", "models", "names", "options", "render", "sessions"}
    shared |= {"each_dask", "each_job", "each_pool", "each_stamp", "each_worker"}
    names = {path.stem for path in (ROOT / "cli").glob("*.py")} - shared
    commands = set(main.commands())
    assert commands <= names
    assert names - commands <= {f"{name}_{half}" for name in commands for half in ("job", "sections")}


def test_help_needs_no_numpy():
    """What a command computes with is imported when it runs."""
    modules = [f"tfg.cli.{name}" for name in main.commands()]
    script = f"import importlib, sys; list(map(importlib.import_module, {modules})); print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


def test_commands_take_typed_options():
    """What a command is told has a name and a type: no mapping of whatever there is."""
    for path in (ROOT / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                assert node.args.kwarg is None, path.name


OPENING_FILES = [p for p in SOURCES if p.parent in (ROOT / "core" / "ops", ROOT / "formats" / "checkpoint")]


@pytest.mark.parametrize("path", OPENING_FILES, ids=lambda path: path.name)
def test_what_a_graph_names_is_opened_through_the_gate(path):
    """Kernels and checkpoints open and list files by the methods of FileGate, which knows what the session allows."""
    assert not {name[0] for name in imports(path) if name} & {"glob", "pathlib", "shutil", "tempfile", "mmap"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "open", f"line {node.lineno} opens a file by itself"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            assert node.attr not in ("open", "scandir", "walk", "readlink"), f"line {node.lineno}: os.{node.attr}"


@pytest.mark.parametrize("path", sorted((ROOT / "core" / "ops").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_shape_functions_say_what_they_return(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and any("shape(" in ast.unparse(one) for one in node.decorator_list):
            assert node.returns is not None and ast.unparse(node.returns) != "Any", node.name


# How many lines may lie between the parts of one op: its kernel, shape, gradient, FLOPs and the decisions about it.
MAX_LINES_BETWEEN_PARTS = 100
REGISTERING = {"kernel", "shape", "gradient", "flops", "facts", "layout", "profiled", "not_differentiable", "zero_flops"}
SAYING_FIRST = {"layout", "profiled"}
"""Those whose first argument is what they say of the ops that follow."""


def registrations(path: pathlib.Path) -> Iterator[tuple[str, int, int]]:
    """(op, first line, last line) of each statement of a file that registers something for ops it names itself.

    Lists that are made of other lists are left out: they stand where those are at hand.
    """
    for node in ast.parse(path.read_text()).body:
        found = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
        for call in found:
            while isinstance(call, ast.Call) and isinstance(call.func, ast.Call):
                call = call.func
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REGISTERING:
                facts_of = [k.value for k in call.keywords if k.arg == "of"]
                named = facts_of[0].elts if facts_of and isinstance(facts_of[0], ast.Tuple) else [] if facts_of else call.args
                named = named[1:] if call.func.id in SAYING_FIRST else named
                if all(isinstance(name, ast.Constant) for name in named):
                    yield from ((str(name.value), call.lineno, node.end_lineno or call.lineno) for name in named)


@pytest.mark.parametrize("path", sorted((ROOT / "core" / "ops").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_parts_of_one_op_stand_together(path):
    places: dict[str, list[tuple[int, int]]] = {}
    for op, first, last in registrations(path):
        places.setdefault(op, []).append((first, last))
    between = {op: max(first for first, _ in parts) - min(last for _, last in parts) for op, parts in places.items()}
    assert not {op: lines for op, lines in between.items() if lines > MAX_LINES_BETWEEN_PARTS}


def op_names(path: pathlib.Path) -> list[str]:
    """The strings in a file that are names of ops, without docstrings."""
    tree = ast.parse(path.read_text())
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [f"{node.lineno}: {node.value}" for node in strings if id(node) not in loose and node.value in CATALOG]


def test_what_holds_for_ops_is_said_in_their_families():
    """A list of names that stands for a property is a fact, see core/registry/op_facts.py. core/onnx names ONNX's operators."""
    paths = {str(path.relative_to(ROOT)): path for path in SOURCES}
    named = {name: op_names(path) for name, path in paths.items() if room_of(name) not in ("core/ops", "core/onnx")}
    counts = collections.Counter({path: len(found) for path, found in named.items()})
    offenders = "\n".join(f"{path}: {count}: {', '.join(named[path])}" for path, count in counts.most_common(20))
    assert counts.total() <= MAX_OP_NAMES, f"{counts.total()} names of ops, most of them in\n{offenders}"
