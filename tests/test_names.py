"""All names of the project in docs, docstrings and comments exist: files, folders, modules and members."""

from __future__ import annotations

import ast
import collections
import functools
import pathlib
import re
from collections.abc import Iterator

import pytest

import tfg
from tests.sources import nodes_of

pytestmark = pytest.mark.slow  # it parses all files
ROOT = pathlib.Path(tfg.__file__).parent
FOLDERS = ("benchmarks", "cli", "core", "docs", "formats", "sample_graphs", "scripts", "tests")
PRODUCT = ("cli", "core", "formats")
SOURCES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py")) if not path.name.endswith("_pb2.py")]
GUIDES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
PAGES = [*GUIDES, ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
PATH = re.compile(rf"(?<![\w/.-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\w")
DOTTED = re.compile(r"(?<![\w/.])(?:tfg\.)?((?:core|formats|cli)(?:\.\w+)+)")
MEMBER = re.compile(r"`(\w+)\.(\w+)(?=[`(])")
COMMENT = re.compile(r"(?:^|\s)(#.*)")
NAMING = {
    ast.FunctionDef: ("name",),
    ast.ClassDef: ("name",),
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.keyword: ("arg",),
    ast.alias: ("name", "asname"),
}
"""Where nodes of the syntax tree hold names."""
WORD = re.compile(r"(?<!\w)[a-z]+(?:_[a-z]+)+(?!\w)")


@functools.cache
def read(path: pathlib.Path) -> tuple[str, frozenset[str], list[str]]:
    """Return the docstrings and comments of a source file, all names in the code, and the classes."""
    text = path.read_text()
    prose, names, classes = COMMENT.findall(text), set(), []
    for node in nodes_of(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose.append(node.value.value)
        if isinstance(node, ast.ClassDef):
            classes.append(node.name)
        for field in NAMING.get(type(node), ()):
            names.add(getattr(node, field))
    return "\n".join(prose), frozenset(names), classes


def names_in(path: pathlib.Path) -> frozenset[str]:
    return read(path)[1]


@functools.cache
def written() -> dict[pathlib.Path, str]:
    """Return the pages, and the docstrings and comments of each source file."""
    return {path: path.read_text() for path in PAGES} | {path: read(path)[0] for path in SOURCES}


def lost(result: Iterator[tuple[pathlib.Path, str]]) -> list[str]:
    return sorted({f"{path.relative_to(ROOT)}: {name}" for path, name in result})


@functools.cache
def exists(name: str) -> bool:
    """Return whether a file or folder has the name, which may hold `*`, with or without a suffix."""
    return any(ROOT.glob(name)) or any(ROOT.glob(f"{name}.*"))


def test_files_and_folders_are_there():
    def missing() -> Iterator[tuple[pathlib.Path, str]]:
        for page, text in written().items():
            for name in PATH.findall(text):
                stands_for_any = any(part.isupper() for part in re.split(r"[/._]", name))
                of_tensorflow = name.endswith((".cc", ".h"))
                if not (stands_for_any or of_tensorflow or exists(name)):
                    yield page, name

    assert lost(missing()) == []


def test_modules_and_what_is_in_them_are_there():
    def is_there(name: str) -> bool:
        place = ROOT
        for part in name.split("."):
            if place.is_file():
                return part in names_in(place)
            place = place / part if (place / part).is_dir() else place / f"{part}.py"
        return place.exists()

    assert lost((page, name) for page, text in written().items() for name in DOTTED.findall(text) if not is_there(name)) == []


def test_members_of_modules_are_there():
    modules: dict[str, list[pathlib.Path]] = collections.defaultdict(list)
    for path in SOURCES:
        modules[path.stem].append(path)

    def missing() -> Iterator[tuple[pathlib.Path, str]]:
        for page, text in written().items():
            for module, member in MEMBER.findall(text):
                is_file = member in ("csv", "js", "json", "pb", "py", "tsv", "txt")
                if not is_file and module in modules and not any(member in names_in(path) for path in modules[module]):
                    yield page, f"{module}.{member}"

    assert lost(missing()) == []


def test_guides_name_what_the_code_names():
    known = {part for path in SOURCES for part in (path.stem, path.parent.name)}.union(*map(names_in, SOURCES))
    quoted = ((page, code) for page in GUIDES for code in re.findall(r"`([^`\n]+)`", page.read_text()))
    assert lost((page, word) for page, code in quoted for word in WORD.findall(code) if word not in known) == []


def test_each_class_has_a_name_of_its_own():
    places: dict[str, list[str]] = collections.defaultdict(list)
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] in PRODUCT:
            for name in read(path)[2]:
                places[name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


SAME_THINGS = {
    "__init__": "the docstring of a package",
    **dict.fromkeys(
        ("convolution", "depthwise", "einsum", "linalg", "pooling", "sdca"),
        "an algorithm in core/numerics, and the family of ops that it computes in core/ops",
    ),
}
"""Names of files in several packages, and the common content of the files."""


def test_each_file_has_a_name_of_its_own():
    counts = collections.Counter(path.stem for path in SOURCES if path.relative_to(ROOT).parts[0] in PRODUCT)
    assert {name for name, count in counts.items() if count > 1} == set(SAME_THINGS)


def test_names_tell_the_content():
    """A name such as `users` or `cost` states the content of a value, `found` only that the code looked for the value."""
    assert [str(path.relative_to(ROOT)) for path in SOURCES if "found" in names_in(path)] == []
