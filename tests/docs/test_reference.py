"""The API reference has an entry for each public name, and no other entry than those of op libraries and engines."""

from __future__ import annotations

import ast
import importlib
import inspect
import pathlib
import re
import sys

import pytest

import tfg

PAGES = pathlib.Path(tfg.__file__).parent / "docs" / "api"
ENTRY = re.compile(r"^\.\. auto(?:class|function):: (tfg\.\S+)$", re.MULTILINE)
EXTENSION_POINTS = "extending.md"
"""The page of what op libraries and engines import from modules of tfg."""
UNLISTED = {
    "Pass": "an extension point", "CountCache": "a cache that passes share",
    "EngineRuntime": "the engine for Session(engine=)", "AutoRuntime": "the engine for Session(engine=)",
    "Mesh": "the devices for engine_runtime(mesh=)", "NodeStream": "the base class of RecordStream",
    "TrainingFile": "the state of train(resume=)", "TableFunction": "what map_batches makes",
}  # fmt: skip
"""Types of arguments of public functions that are no public names, with the reason."""


def entries(*pages):
    return [entry for page in pages for entry in ENTRY.findall(page.read_text(encoding="utf-8"))]


def test_every_public_name_has_one_entry_under_its_public_name():
    listed = entries(*(page for page in PAGES.glob("*.md") if page.name != EXTENSION_POINTS))
    assert sorted(listed) == sorted(f"tfg.{name}" for name in tfg.__all__ if name != "errors")
    assert ".. automodule:: tfg.core.support.errors" in (PAGES / "errors.md").read_text(encoding="utf-8")


def test_extension_points_are_no_public_names():
    for entry in entries(PAGES / EXTENSION_POINTS):
        module, _, name = entry.rpartition(".")
        assert hasattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name)
        assert getattr(tfg, name, None) is not getattr(sys.modules[module], name)


def named_in(function, word):
    """Return what a word means in a function's annotations, also where the module imports it for type checkers alone."""
    module = sys.modules[function.__module__]
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and any(alias.name == word for alias in node.names):
            source = "." * node.level + (node.module or "")
            return getattr(importlib.import_module(source, module.__package__), word, None)
    return getattr(module, word, None)


@pytest.mark.slow
def test_types_of_public_functions_are_public():
    """The classes in the signatures of functions."""
    hidden = set()
    for name in tfg.__all__:
        function = getattr(tfg, name)
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            annotations = [parameter.annotation for parameter in signature.parameters.values()]
            for word in {*re.findall(r"[A-Z]\w+", " ".join(map(str, [*annotations, signature.return_annotation])))}:
                named = named_in(function, word)
                if inspect.isclass(named) and named.__module__.startswith("tfg.") and word not in dir(tfg.errors):
                    hidden |= {word} - set(tfg.__all__)
    assert hidden == set(UNLISTED)
