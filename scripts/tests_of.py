"""Print the tests that run a file, as commands: the tests that use the file, or else the tests of the files that use it.

usage: tests_of.py [--all] FILE ...        --all prints every test that leads to the file, the nearest first

The answer follows from the sources: imports, public names `tfg.NAME`, names of commands in calls, the ops of a family, and
the name tests/ROOM/test_FILE.py.
"""

from __future__ import annotations

import argparse
import collections
import functools
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import tfg
from tfg.core.registry import op_facts

ROOT = pathlib.Path(tfg.__file__).resolve().parent
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


IMPORT = re.compile(r"^[ \t]*(?:from[ ]+(\.*)([\w.]*)[ ]+import[ ]+(\([^)]*\)|.+)|import[ ]+(.+))$", re.MULTILINE)
"""An import of names, which may stand in brackets on several lines, or of modules."""
USE = re.compile(r"(?<![`.\w])(tfg\.\w+)|\w\(\s*[\"']\.*(\w[\w.]*)[\"']")
"""A public name, or a call's first argument that is a word."""


def used_names(path: pathlib.Path) -> Iterator[str]:
    """Yield the names that a file imports, reads from `tfg`, or gives to a call, which may be commands.

    From the text: to parse all files takes ten times as long.
    """
    text = path.read_text(encoding="utf-8")
    package = path.relative_to(ROOT).parts[:-1]
    for dots, module, names, modules_alone in IMPORT.findall(text):
        if modules_alone:
            yield from (name.split()[0] for name in modules_alone.split(","))
            continue
        base = package[: len(package) - len(dots) + 1] if dots else ()
        origin = ".".join((*base, *filter(None, [module])))
        imported = re.sub(r"#.*", "", names).strip("() \n").split(",")
        yield from (origin, *(f"{origin}.{name.split()[0]}" for name in imported if name.strip()))
    for public, word in USE.findall(IMPORT.sub("", text)):
        yield from (public,) if public else (word, f"cli.commands.{word}")


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
