"""Hints of errors, written with options of the command line, and spelled with parameters of functions for Python."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final

_CALLS: Final[Mapping[str, str]] = {
    "tfg explain GRAPH --missing": "tfg.missing_ops(graph)",
    "tfg dump GRAPH --format list": "tfg.list_nodes(graph)",
    "tfg dump GRAPH --name TEXT": "tfg.list_nodes(graph, name=TEXT)",
    "tfg checkpoint PREFIX --name TENSOR": "checkpoint.matching(TENSOR)",
    "tfg run --init": "tfg.initialize(session)",
    "tfg run --save-state PREFIX": "tfg.write_checkpoint(PREFIX, session.variables)",
    "tfg run GRAPH --feed x=@FILE.npy": "session.run(fetches, {'x:0': numpy.load(FILE)})",
    "tfg convert --freeze": "tfg.freeze(graph)",
    "tfg convert --inline-functions": "tfg.inline_functions(graph)",
    "tfg convert --from TENSOR --to TENSOR": "tfg.extract(graph, outputs, inputs)",
    "tfg convert GRAPH OUT --to OUTPUT": "tfg.extract(graph, OUTPUT)",
    "tfg optimize GRAPH -o OUT --passes repair": "tfg.optimize(graph, fetches, passes='repair')",
    "tfg optimize --list": "tfg.list_passes()",
    "tfg flops GRAPH --run-metadata FILE": "tfg.FlopsCounter(graph, run_metadata=FILE).timings()",
}
"""The calls in Python for command lines in hints."""
_PATTERNS: Final[Mapping[str, str]] = {
    r"tfg optimize GRAPH -o OUT --passes '([^`]*)'": r'tfg.optimize(graph, fetches, passes="\1")',
    r"tfg convert GRAPH OUT --batch '\?'": 'tfg.fill_placeholders(graph, batch="?")',
    r"tfg convert --from ([^\s`]+)": r"tfg.extract(graph, outputs, ['\1'])",
    r"`?--allow-files ([^\s`]+)`?, or in Python with `files=FileAccess\.only\(\.\.\.\)`":
        r"`files=tfg.FileAccess.only(readable=['\1'])`",
    r"`?--assign VARIABLE=VALUE`?": "`session.variables[VARIABLE] = VALUE`",
    r"`?--assign ([^\s`=]+)=VALUE`?": r"`session.variables['\1'] = VALUE`",
    r"--max-nodes, --scope, --around, a smaller --depth": "`max_nodes`, `nodes`, a smaller `depth`",
    r"tfg dump GRAPH --(op|name) ([^\s`]+)": r"tfg.list_nodes(graph, \1='\2')",
    r"repeat the option for each, such as --fetch .*": "give a list of names",
    r"^--from (\S+)": r"`inputs=['\1']`",
    r"--second-prefix part": "`second_prefix='part'`",
    r"--for-tensorflow (\S+)": r"`tfg.for_tensorflow(graph, '\1')`",
    r"^--drop-signature (\S+)": r"`dropped=['\1']`",
    r"`?--state (FILE|PREFIX)(?:\.npz)?`?": r"`tfg.restore(session, tfg.read_checkpoint(\1))`",
    r"`?--state ([^\s`,]+)`?": r"`tfg.restore(session, tfg.read_checkpoint('\1'))`",
    r"`?--op-library FILE`?": "`tfg.load_op_library(FILE)`",
    r"--(?:with )?output_format=": "output_format=",
}  # fmt: skip
"""Regular expressions, and the text in Python."""
_MAPPINGS: Final[Mapping[str, str]] = {
    "feed": "feeds={{{items}}}", "map-op": "tfg.map_ops(graph, {{{items}}})", "shape": "shapes={{{items}}}",
}  # fmt: skip
"""Options with NAME=VALUE, which become a mapping."""
PARAMETERS: Final[Mapping[str, str]] = {
    "fetch": "fetches", "feed": "feeds", "to": "outputs", "from": "inputs", "except": "keep_variables", "var": "variables",
    "op-library": "tfg.load_op_library", "map-op": "tfg.map_ops", "size": "sizes", "shape": "shapes", "on": "ClusterSession",
    "drop-signature": "dropped", "freeze": "tfg.freeze", "inline-functions": "tfg.inline_functions", "init": "tfg.initialize",
    "engine-report": "session.engine_report()", "mesh": "mesh", "cache-stats": "cache", "sweep": "sweep", "each": "inputs",
    "assign": "session.variables", "state": "state", "scope": "nodes", "around": "nodes", "map": "renamed",
}  # fmt: skip
"""The parameters of functions in Python, by option; a parameter of any other option has the same name."""
_ITEM: Final = r"(?:'[^']*'|[^\s`;,]+)"


class Hint(str):
    """A next step for a user in Python; `command` is the same step for a user of the command line."""

    command: str

    def __new__(cls, command: str) -> Hint:
        made = super().__new__(cls, in_python(command))
        made.command = command
        return made

    def __reduce__(self) -> tuple[type[Hint], tuple[str]]:
        return Hint, (self.command,)

    @classmethod
    def of(cls, text: str | None) -> Hint | None:
        """Return a text as a hint; None for none."""
        return text if text is None or isinstance(text, Hint) else cls(text)


def command_form(hint: str | None) -> str | None:
    """Return a hint as a user of the command line reads the hint; None for none."""
    return hint.command if isinstance(hint, Hint) else hint


def in_python(text: str) -> str:
    """Return a hint with calls and parameters in place of command lines and options."""
    if "--" not in text:
        return text
    for command, call in _CALLS.items():
        text = text.replace(command, call)
    for pattern, replacement in _compiled():
        text = pattern.sub(replacement, text)
    return text


@functools.cache
def _compiled() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    rules: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
        (re.compile(pattern), text) for pattern, text in _PATTERNS.items()
    ]
    for option, text in _MAPPINGS.items():
        value = r"[0-9?,]+" if option == "shape" else _ITEM
        pair = rf"--{option} (?:'[^'=]+=[^']*'|[^\s`;,'=]+={value})"
        rules.append((re.compile(rf"`?{pair}(?: {pair})*`?"), functools.partial(_mapping, option, text)))
    return [
        *rules,
        (re.compile(r"(?<![\w-])(`?)--([a-z][a-z-]*)(?:[ =]([A-Z_]+\b|'[^']*'|[a-z]+(?=$|[`,;])))?\1"), _parameter),
    ]


def _mapping(option: str, text: str, match: re.Match[str]) -> str:
    """Return the mapping of NAME=VALUE pairs of an option that stands several times."""
    pairs = (part.strip().strip("`").strip("'").partition("=") for part in match[0].split(f"--{option} ")[1:])
    items = ", ".join(f"'{name}': {_VALUES[option](value)}" for name, _, value in pairs)
    return f"`{text.format(items=items)}`"


def _example(value: str) -> str:
    """Return an example value of a feed in Python."""
    if made := re.fullmatch(r"(?:uniform|randint|ones)\(([\d,]+)\)", value):
        return f"numpy.ones([{made[1].replace(',', ', ')}])"
    if made := re.fullmatch(r"strings\(([\d,]+)\)", value):
        return f"numpy.full([{made[1].replace(',', ', ')}], 'a')"
    return {"true": "True", "randint(high=10)": "1"}.get(value, value)


_VALUES: Final[Mapping[str, Callable[[str], str]]] = {
    "feed": _example,
    "map-op": repr,
    "shape": lambda sizes: str([None if size == "?" else int(size) for size in sizes.split(",")]),
}
"""The text of a value in a mapping, by option."""


def _parameter(match: re.Match[str]) -> str:
    """Return the parameter of an option, with the value if the hint has a value."""
    name = PARAMETERS.get(match[2], match[2].replace("-", "_"))
    if match[3] is None:
        return f"`{name}`"
    return f"`{name}={repr(match[3]) if match[3].islower() else match[3]}`"
