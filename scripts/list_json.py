"""docs/json.md: the keys of all JSON documents, from the types that describe them; a part of regenerate.py."""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import functools
import importlib
import inspect
import pathlib
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfg.cli.documents import SCHEMAS
from tfg.core.types.dtypes import DType
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "json.md"
HEAD = """# JSON and CSV

Read this page to parse the output of tfg in a program. With `--format json` a command prints one object. The first key,
`schema`, names the schema: `tfg check` prints `tfg.check/1`. The version number increases when a key is removed or changes
meaning. New keys may appear at any time: ignore unknown keys.

- A number that may hold symbols has two keys. `flops` is a number, or null if a symbol remains. `flops_formula` is text,
  such as `48*N`.
- NaN and infinities are the strings `nan`, `inf` and `-inf`. A complex number is an object with `real` and `imag`.
- A dtype is a name. A shape is a list of sizes, with null for an unknown size. null stands for a shape of unknown rank.
- Bytes that are not UTF-8 are written with escapes, `\\xff`.
- An *optional* key is present only with the option named in the description.

```python
import json
import subprocess

command = ["tfg", "check", "sample_graphs/xor.pbtxt", "--format", "json"]
report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
assert report["schema"] == "tfg.check/1"
print(report["errors"], "errors")
```

With `--format csv` a command prints one table. If a command has several tables, as `tfg explain` has, `--table NAME`
chooses a table: `tfg explain GRAPH --format csv --table inputs`. Without `--table` the command is refused, and the error
names the tables.
"""


class Key(typing.NamedTuple):
    """A key of an object: type, meaning, and whether every object has the key."""

    name: str
    type: Any
    meaning: str
    is_required: bool


def is_object(kind: Any) -> bool:
    """Return True for classes whose fields are keys."""
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or hasattr(kind, "_fields") or typing.is_typeddict(kind)
    ) and not issubclass(kind, (DType, Shape, Tensor))  # fmt: skip


@functools.cache
def keys(kind: type) -> tuple[Key, ...]:
    """Return the keys of a class, keys of base classes first."""
    return tuple(key for name, field in declared(kind).items() for key in _keys(name, field))


class Field(typing.NamedTuple):
    """A field of a class: type, docstring, and whether the field is a number with symbols."""

    type: Any
    meaning: str
    is_formula: bool


def _keys(name: str, field: Field) -> Iterator[Key]:
    hint, meaning = field.type, field.meaning
    is_required = typing.get_origin(hint) is not typing.NotRequired
    if not is_required:
        (hint,) = typing.get_args(hint)
    if not field.is_formula:
        yield Key(name, hint, meaning, is_required)
        return
    yield Key(name, int | None, meaning, is_required)
    text = str | None if type(None) in parts(hint) else str
    yield Key(f"{name}_formula", text, f"`{name}` as text, with symbols where there are any.", is_required)


@functools.cache
def declared(kind: type) -> dict[str, Field]:
    """Return the fields of a class and the base classes."""
    if kind.__module__ == __name__:  # of `document_type`, without a source
        hints = typing.get_type_hints(kind, include_extras=True)
        return {name: Field(hint.__origin__, *hint.__metadata__, False) for name, hint in hints.items()}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    names = namespace(kind)
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    hidden = {field.name for field in fields if not field.metadata.get("json", True)}
    by_name: dict[str, Field] = {}
    for base in (eval(ast.unparse(base), names) for base in tree.bases):
        if is_object(base):
            by_name |= declared(base)
    for field, below in zip(tree.body, [*tree.body[1:], ast.Pass()]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            annotation = ast.unparse(field.annotation)
            hint = eval(annotation, names)
            if typing.get_origin(hint) is not typing.ClassVar and field.target.id not in hidden:
                by_name[field.target.id] = Field(hint, _text(below), "DimLike" in annotation)
    return by_name


def namespace(kind: type) -> dict[str, Any]:
    """Return the names in the module of a class, including names that only type checkers import."""
    module = importlib.import_module(kind.__module__)
    by_name = dict(vars(module))
    tree = ast.parse(inspect.getsource(module))
    guarded = [node.body for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for statement in (statement for body in guarded for statement in body):
        if isinstance(statement, ast.ImportFrom):
            source = importlib.import_module("." * statement.level + (statement.module or ""), module.__package__)
            by_name |= {alias.asname or alias.name: getattr(source, alias.name) for alias in statement.names}
    return by_name


def _text(statement: ast.stmt) -> str:
    """Return the docstring of a field: the string below the field."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return " ".join(str(statement.value.value).split()) if is_text else ""  # type: ignore[attr-defined]


def parts(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a union, or the type alone."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def element(hint: Any) -> tuple[str, Any]:
    """("array", type of elements), ("object", type of values) or ("", None)."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is None or not isinstance(origin, type) or origin is np.ndarray:
        return "", None
    if issubclass(origin, collections.abc.Mapping):
        return "object", arguments[1]
    if issubclass(origin, collections.abc.Collection):
        several = [argument for argument in arguments if argument is not Ellipsis]
        return "array", several[0] if len(set(several)) == 1 else typing.Union[tuple(several)]  # noqa: UP007
    return "", None


def type_text(hint: Any) -> str:
    """A type in words of JSON, objects as links to their keys."""
    return " or ".join(dict.fromkeys(map(_part_text, parts(hint))))


_NAMES: Mapping[Any, str] = {
    str: "string", bytes: "string", bool: "true or false", int: "integer", float: "number", type(None): "null",
    DType: "string (dtype)", Shape: "array of integers or null (shape), or null", Any: "any", object: "any",
    np.ndarray: "nested arrays",
}  # fmt: skip


def _part_text(hint: Any) -> str:
    kind, inner = element(hint)
    if kind == "array":
        return f"array of {type_text(inner)}"
    if kind == "object":
        return f"object with values: {type_text(inner)}"
    if hint in _NAMES:
        return _NAMES[hint]
    if is_object(hint):
        return f"[{heading(hint)}](#{anchor(heading(hint))})"
    if typing.get_origin(hint) is np.ndarray:
        return "nested arrays"
    return "string"


@functools.cache
def document_type(schema: str) -> type:
    """The class that describes the documents of a schema, made here for a list under a key."""
    of_schema = SCHEMAS[schema]
    module, _, name = of_schema.type.rpartition(".")
    kind: type = getattr(importlib.import_module(f"tfg.{module}"), name)
    if not of_schema.key:
        return kind
    listed: Any = typing.Annotated[collections.abc.Sequence[kind], of_schema.meaning]  # type: ignore[valid-type]
    return typing.TypedDict(schema, {of_schema.key: listed})  # type: ignore[operator,no-any-return]


def objects(kind: Any, seen: dict[type, None]) -> dict[type, None]:
    """Return the classes of all objects inside a type, in the order of first use."""
    for part in parts(kind):
        inner = element(part)[1]
        if inner is not None:
            objects(inner, seen)
        elif is_object(part) and part not in seen:
            seen[part] = None
            for key in keys(part):
                objects(key.type, seen)
    return seen


def derived() -> dict[pathlib.Path, str]:
    """Return the up-to-date page."""
    return {PAGE: "\n".join(lines())}


def lines() -> Iterator[str]:
    yield HEAD
    yield "## Documents\n"
    yield "| schema | printed by |\n| --- | --- |"
    yield from (f"| [{name}](#{anchor(name)}) | `{schema.command} --format json` |" for name, schema in SCHEMAS.items())
    for schema in SCHEMAS:
        kind = document_type(schema)
        yield f"\n### {schema}\n"
        yield from [f"{said(kind)}\n"] * bool(said(kind))
        yield from table(kind)
    yield "\n## Objects\n\nThe objects inside documents."
    for kind in sorted(inner_objects(), key=heading):
        yield f"\n### {heading(kind)}\n"
        yield f"{said(kind)}\n"
        yield from table(kind)
    yield ""


@functools.cache
def inner_objects() -> tuple[type, ...]:
    """The classes of all objects that other objects hold."""
    by_name: dict[type, None] = {}
    for schema in SCHEMAS:
        for key in keys(document_type(schema)):
            objects(key.type, by_name)
    return tuple(by_name)


def heading(kind: type) -> str:
    """Return the name of a class, with the module if several classes have the name."""
    alike = [other for other in inner_objects() if other.__name__ == kind.__name__]
    return kind.__name__ if len(alike) < 2 else f"{kind.__name__} of {kind.__module__.rpartition('.')[2]}"


def table(kind: type) -> Iterator[str]:
    yield "| key | type | meaning |\n| --- | --- | --- |"
    for key in keys(kind):
        optional = "" if key.is_required else " *(optional)*"
        yield f"| `{key.name}`{optional} | {type_text(key.type)} | {key.meaning} |"


def said(kind: type) -> str:
    """The first paragraph of a class's docstring."""
    return " ".join(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())


def anchor(heading: str) -> str:
    return "".join(letter for letter in heading.lower() if letter.isalnum() or letter in "-_ ").replace(" ", "-")
