"""Hints of errors: texts with steps, which Python and the command line each put into their own words.

`Hint("name an output with ", option("fetch"))` reads "name an output with `fetches`" in Python, and "name an output with
--fetch" on the command line. This module has the words for Python, and `cli/next_steps` those for the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

Words: TypeAlias = str | Callable[..., str]
"""The words of a step: a format of the step's values, or a function that gets the values by name."""


class Blank(str):
    """A word that the user replaces, such as FILE; any other text is the value of a step as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class GraphFile(NamedTuple):
    """The file of a graph, which a command line names; in Python it is `graph`."""

    path: str
    is_untrusted: bool


class HintStep(NamedTuple):
    """A step that a user can take: its kind, a key of `IN_PYTHON`, and the values that its words show."""

    kind: str
    values: Mapping[str, Any]

    def words(self, table: Mapping[str, Words], spell: Callable[[Any], str]) -> str:
        """Return the words of a table for the step; `spell` writes a value."""
        words = table[self.kind]
        if callable(words):
            return words(**self.values)
        return words.format(**{name: spell(value) for name, value in self.values.items()})


def step(kind: str, **values: Any) -> HintStep:
    """Return a step of a kind."""
    return HintStep(kind, values)


def option(name: str, value: str | None = None) -> HintStep:
    """Return an option of a command or a parameter of a function, which mostly have the same name."""
    return step("option", name=name, value=value)


def command(name: str, argument: str | None = None) -> HintStep:
    """Return a command or the function that does the same, which mostly have the same name."""
    return step("command", name=name, argument=argument)


def feed(feeds: Mapping[str, str]) -> HintStep:
    """Return the feeds of values, in the grammar of the command line, to tensors by name."""
    return step("feed", feeds=feeds)


def value_place(option: str, name: str) -> HintStep:
    """Return the place of a value: an option, and the name that gets the value."""
    return step("value_place", option=option, name=name)


def extra_hint(extra: str) -> str:
    """Return the command that installs an extra's packages, with the extra's name."""
    import shlex  # lazy: most runs lack no package

    return f"`pip install {shlex.join(_packages(extra))}` (the extra tfg[{extra}])"


def _packages(extra: str) -> list[str]:
    """Return an extra's requirements (`pillow>=10`), or the checkout's extra if no distribution is installed."""
    from importlib import metadata

    try:
        # The installed package knows its extras; a list here would be a second one.
        requirements = metadata.requires("tfg") or []
    except metadata.PackageNotFoundError:
        return [f".[{extra}]"]
    parted = (line.partition(";") for line in requirements)
    return [package.strip() for package, _, marker in parted if marker.replace("'", '"').strip() == f'extra == "{extra}"']


class Hint(str):
    """A text of `parts`, which are texts and steps; as a string, the steps stand in words for Python.

    A hint may be any text with steps: the next step after an error, a remark, a reason, a message that names an option.
    """

    parts: tuple[str | HintStep, ...]

    def __new__(cls, *parts: str | HintStep) -> Hint:
        # Hints inside hints are taken apart, so that their steps are spelled too.
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, Hint) else (part,))]
        # A string, so that code that knows nothing of hints prints Python's words.
        hint = super().__new__(cls, _spelled(flat, IN_PYTHON, repr))
        hint.parts = tuple(flat)
        return hint

    def __reduce__(self) -> tuple[type[Hint], tuple[str | HintStep, ...]]:
        # pickle would rebuild the hint from its text alone, and errors of worker processes would lose their steps.
        return Hint, self.parts

    @classmethod
    def of(cls, text: str | None) -> Hint | None:
        """Return a text as a hint; None for none."""
        return text if text is None or isinstance(text, Hint) else cls(text)

    def mapped(self, change: Callable[[str], str]) -> Hint:
        """Return the hint with each text, and each text among the values of steps, changed by a function."""

        def changed(part: str | HintStep) -> str | HintStep:
            if isinstance(part, str):
                return change(part)
            values = {name: change(value) if isinstance(value, str) else value for name, value in part.values.items()}
            return HintStep(part.kind, values)

        return Hint(*map(changed, self.parts))

    def spelled(self, table: Mapping[str, Words], spell: Callable[[Any], str]) -> str:
        """Return the text with the words of a table for each step."""
        return _spelled(self.parts, table, spell)


def _spelled(parts: Iterable[str | HintStep], table: Mapping[str, Words], spell: Callable[[Any], str]) -> str:
    return "".join(part if isinstance(part, str) else part.words(table, spell) for part in parts)


def _parameter(name: str, value: str | None) -> str:
    if value is not None and name in _CALLS:
        return f"`{_CALLS[name].format(repr(value))}`"
    parameter = _PARAMETERS.get(name, name.replace("-", "_"))
    return f"`{parameter}`" if value is None else f"`{parameter}={value!r}`"


def _value_place(option: str, name: str) -> str:
    return f"`{_PARAMETERS.get(option, option.replace('-', '_'))}[{name!r}]`"


def _function(name: str, argument: str | None) -> str:
    function = {"checkpoint": "read_checkpoint", "cluster": "describe_cluster"}.get(name, name)
    return f"`tfg.{function}`" if argument is None else f"`tfg.{function}({argument!r})`"


def _feeds(feeds: Mapping[str, str]) -> str:
    return f"`feeds={_mapping(feeds)}`"


def _call(file: GraphFile, name: str, is_function: bool, feeds: Mapping[str, str]) -> str:
    return f"tfg.Model(graph, {name!r})({_mapping(feeds)})"


def _run(
    file: GraphFile, begins: bool, assigned: Mapping[str, str], target: str | None, fetches: Sequence[str],
    steps: int | str | None, feeds: Mapping[str, str],
) -> str:  # fmt: skip
    """Return the calls that open a session, give the variables values, and run the graph; an epoch begins with one step."""
    first = ["session = tfg.Session(graph)", *(["tfg.initialize(session)"] if begins else [])]
    first += [f"session.variables[{name!r}] = {_example(text)}" for name, text in assigned.items()]
    names = [*([] if target is None else [target]), *fetches]
    run = f"session.run({names}{f', {_mapping(feeds)}' if feeds else ''})"
    return "; ".join([*first, f"[{run} for _ in range({steps})]" if isinstance(steps, int) else run])


def _mapping(feeds: Mapping[str, str]) -> str:
    return repr({name: Blank(_example(text)) for name, text in feeds.items()})


def _example(text: str) -> str:
    """Return the expression in Python for a value in the grammar of the command line."""
    kind, _, arguments = text.removesuffix(")").partition("(")
    if kind not in _GENERATED:
        return {"true": "True"}.get(text, text)
    sizes = [int(argument) for argument in arguments.split(",") if argument.isdecimal()]
    return _GENERATED[kind].format(sizes) if sizes else "1"


_GENERATED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ones", "randint", "uniform"), "numpy.ones({})"),
    "strings": "numpy.full({}, 'a')",
    "zeros": "numpy.zeros({})",
}
"""The arrays in Python for the arrays that the command line generates; zeros are for indices into a single row."""
_PARAMETERS: Final[Mapping[str, str]] = {
    "assign": "session.variables", "cache-stats": "cache", "drop-signature": "dropped", "each": "inputs",
    "engine-report": "session.engine_report()", "except": "keep_variables", "feed": "feeds", "fetch": "fetches",
    "freeze": "tfg.freeze", "from": "inputs", "init": "tfg.initialize", "inline-functions": "tfg.inline_functions",
    "map": "renamed", "map-op": "tfg.map_ops", "on": "ClusterSession", "op-library": "tfg.load_op_library", "shape": "shapes",
    "size": "sizes", "to": "outputs", "var": "variables",
}  # fmt: skip
"""The parameters and functions of Python, by option; a parameter of any other option has the same name."""
_CALLS: Final[Mapping[str, str]] = {
    "op-library": "tfg.load_op_library({})",
    "state": "tfg.restore(session, tfg.read_checkpoint({}))",
}
"""The calls in Python for options with values that are no parameters."""
_LOOKS: Final[Mapping[str, str]] = {
    "check": "tfg.check(graph)",
    "draw": "tfg.draw(graph)",
    "layers": "tfg.layers(graph)",
    "missing": "tfg.missing_ops(graph)",
    "nodes": "tfg.list_nodes(graph)",
    "stages": "tfg.recover_stages(graph)",
}
"""The calls in Python that look at a graph."""
IN_PYTHON: Final[Mapping[str, Words]] = {
    "option": _parameter,
    "command": _function,
    "feed": _feeds,
    "allow_files": "`files=tfg.FileAccess.only(readable=[{folder}])`",
    "any_batch": "`tfg.fill_placeholders(graph, batch='?')`",
    "assign": "`session.variables[{variable}] = VALUE`",
    "call": _call,
    "draw_less": "`max_nodes`, `nodes`, a smaller `depth`",
    "drop_signature": "`dropped=[{name}]`",
    "each": "`inputs={files}, parts={{{tensor}: ''}}`",
    "each_columns": "`parts={{TENSOR: 'COLUMN,COLUMN'}}`, or all with `'*'`",
    "each_tensor": "`parts={{TENSOR: ''}}`",
    "explain_node": lambda file, node: f"tfg.explain(graph, {node!r})",
    "extract": "`tfg.extract(graph, outputs, inputs)`",
    "extract_output": "`tfg.extract(graph, OUTPUT)`",
    "extract_from": "`tfg.extract(graph, OUTPUT, [{tensor}])`",
    "fetch": "`tfg run`",
    "feed_file": "`session.run(fetches, {{'x:0': numpy.load(FILE)}})`",
    "find_name": "`tfg.list_nodes(graph, name={name})`",
    "find_op": "`tfg.list_nodes(graph, op={op})`",
    "for_tensorflow": "`tfg.for_tensorflow(graph, {release})`",
    "freeze": "`tfg.freeze(graph)`",
    "here": "leave out `on`",
    "initialize": "`tfg.initialize(session)`",
    "inline_functions": "`tfg.inline_functions(graph)`",
    "input": "`inputs=[{name}]`",
    "list_nodes": "`tfg.list_nodes(graph)`",
    "list_passes": "`tfg.list_passes()`",
    "load_op_library": "`tfg.load_op_library(FILE)`",
    "look": lambda file, what: _LOOKS[what],
    "make_placeholder": "`tfg.extract(graph, outputs, [{tensor}])`",
    "map_ops": "`tfg.map_ops(graph, {ops})`",
    "missing_ops": "`tfg.missing_ops(graph)`",
    "name_tensor": "`checkpoint.matching(TENSOR)`",
    "optimize": "`tfg.optimize(graph, fetches, passes={passes})`",
    "run": _run,
    "save_state": "`tfg.write_checkpoint(PREFIX, session.variables)`",
    "set": "`tfg.fill_placeholders(graph, {{{name}: VALUE}})`",
    "several": lambda names: "give a list of names",
    "shape": "`shapes={{{name}: {sizes}}}`",
    "size": "`sizes={{{size}: NUMBER}}`",
    "state": "`tfg.restore(session, tfg.read_checkpoint({path}))`",
    "timings": "`tfg.FlopsCounter(graph, run_metadata=FILE).timings()`",
    "traced_input": "name {name} in `feeds`",
    "trips": "`trips={{{loop}: NUMBER}}`",
    "value_place": _value_place,
    "verify_apart": "the command `tfg convert`",
    "write": lambda formats: " or ".join(dict.fromkeys(f"`{one.call}`" for one in formats if one.call)) or "the command line",
}
"""The words of each kind of step."""
