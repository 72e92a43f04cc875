"""Print the tests that run a file, as commands: the tests that use the file, or else the tests of the files that use it.

usage: tests_of.py [--all] FILE ...        --all prints every test that leads to the file, the nearest first

The answer follows from the sources: imports, public names `tfg.NAME`, names of commands in calls, the ops of a family, and
the name tests/ROOM/test_FILE.py.
"""

from __future__ import annotations

import argparse
import ast
import collections
import functools
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import tfg
from tests.sources import nodes_of
from tfg.core.registry import op_facts

ROOT = pathlib.Path(tfg.__file__).parent
PARTS = ("cli", "core", "formats", "tests")


@functools.cache
def modules() -> dict[str, pathlib.Path]:
    """Map the names of modules, and the public names as `tfg.NAME`, to their files."""
    paths = [path for part in PARTS for path in (ROOT / part).rglob("*.py")]
    own = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    return (
        own
        | {f"tfg.{module}": path for module, path in own.items()}
        | {f"tfg.{n}": own[m] for n, m in tfg._modules_of_names().items()}
    )


def users() -> Mapping[pathlib.Path, set[pathlib.Path]]:
    """Map each file to the files that use it."""
    users_by_file: dict[pathlib.Path, set[pathlib.Path]] = collections.defaultdict(set)
    for path in modules().values():
        for name in used_names(path):
            if name in modules():
                users_by_file[modules()[name]].add(path)
    return users_by_file


def used_names(path: pathlib.Path) -> Iterator[str]:
    """Yield the names that a file imports, reads from `tfg`, or calls as commands."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            word = str(node.args[0].value)
            yield from (word.lstrip("."), f"cli.commands.{word}")


def tests_by_distance(file: pathlib.Path, by_file: Mapping[pathlib.Path, set[pathlib.Path]]) -> Iterator[list[str]]:
    """Yield the tests that use a file or have its name, then the tests that use a user of the file, and so on."""
    seen = {file}
    edge = {*by_file.get(file, ()), *(ROOT / "tests" / file.relative_to(ROOT)).parent.glob(f"test_{file.stem}.py")}
    while edge:
        if tests := sorted(str(path.relative_to(ROOT)) for path in edge if path.name.startswith("test_")):
            yield tests
        seen |= edge
        edge = {user for path in edge for user in by_file.get(path, ())} - seen


def commands(file: pathlib.Path, levels: Iterable[list[str]]) -> Iterator[str]:
    """Yield the commands that run the tests of each level, after the command for the cases of a family's ops."""
    if {file.parent, file.parent.parent} & {ROOT / "core" / "ops", ROOT / "tests" / "cases"}:
        ops = sorted(op for op, family in op_facts.family_of_op().items() if family == file.stem)
        if ops:
            yield " ".join(("python -m pytest -q", *(f"--op {op}" for op in ops)))
    for tests in levels:
        yield " ".join(("python -m pytest -q", *tests))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="print every test that leads to the file")
    options = parser.parse_args()
    by_file = users()
    for file in (path.resolve() for path in options.files):
        levels = list(tests_by_distance(file, by_file))
        lines = list(commands(file, levels if options.all else levels[:1]))
        print("\n".join(lines) if lines else f"no test uses {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
