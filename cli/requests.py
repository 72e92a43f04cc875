"""Requests: the options of a command are the fields of a class, and a field says all that holds for its option.

    @request
    class DiffOptions:
        '''Compare BEFORE with AFTER.'''

        before: str = argument()
        format_: Literal["table", "json"] = option(help="Output format.", default="table")
        hops: Natural = option(help="Largest distance of --around, in edges.", default=2)
        keep_going: bool = option(help="Continue after a failure.", needs="--each")
        reader: GraphReader = part(GraphReader)

    command = command_of(DiffOptions, "diff_job.run")

The docstring of the class is the help of the command. An option is called as its field is, unless `option` names it. The
annotation of a bool makes a flag, of a tuple a repeatable option, of a Literal a choice, of an int, a float, a Positive or
a Natural a number. The help shows a default.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar, dataclass_transform

import click

from ..core.support import dataclasses
from ..core.support.words import listed
from .helps import GroupedCommand

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Class = TypeVar("_Class")
Positive: TypeAlias = int
"""The annotation of an option for numbers from 1 on."""
Natural: TypeAlias = int
"""The annotation of an option for numbers from 0 on."""
_NUMBERS: Final[Mapping[str, Any]] = {
    "int": int, "float": float, "Positive": click.IntRange(1), "Natural": click.IntRange(0),
}  # fmt: skip
_WORD: Final = re.compile("'([^']*)'")
"""A choice in the text of a Literal."""


@dataclasses.dataclass(frozen=True, slots=True)
class OptionRule:
    """Options that need one of `others`, or that have no effect with `others`; an option is `--name` or `--name=value`."""

    options: tuple[str, ...]
    others: tuple[str, ...]
    are_needed: bool
    reason: str = ""

    def check(self, ctx: click.Context) -> None:
        """UsageError if the command line has an option that would do nothing."""
        for option in self.options:
            if _is_given(ctx, option):
                beside = [other for other in self.others if _is_given(ctx, other)]
                if self.are_needed and not beside:
                    raise click.UsageError(f"{option} needs {listed(self.others)}", ctx)
                if not self.are_needed and beside:
                    because = f": {self.reason}" if self.reason else ""
                    raise click.UsageError(f"{option} has no effect with {beside[0]}{because}", ctx)


def _is_given(ctx: click.Context, words: str) -> bool:
    """True if the command line has an option, and where `words` has a value, with that value; `*` stands for any text."""
    flag, equals, value = words.partition("=")
    # A rule may also name an argument, by its metavar: `OUT=*.onnx`.
    name = next(p.name for p in ctx.command.params if flag in (*p.opts, *p.secondary_opts, p.human_readable_name))
    source = ctx.get_parameter_source(name or "")
    is_so = not equals or fnmatch.fnmatchcase(str(ctx.params[name]).lower(), value)
    # A default, or a value from the environment, asks for nothing that another option could contradict.
    return source is click.core.ParameterSource.COMMANDLINE and is_so


def together(*decorators: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Apply decorators as if they stood in this order above the command."""
    return lambda command: functools.reduce(lambda decorated, decorate: decorate(decorated), reversed(decorators), command)


def needing(options: str, others: str) -> Callable[[_Command], _Command]:
    """Refuse options, separated by spaces, without at least one of the others."""
    return _ruled(OptionRule(tuple(options.split()), tuple(others.split()), True))


def excluding(options: str, others: str, reason: str = "") -> Callable[[_Command], _Command]:
    """Refuse options, separated by spaces, with any of the others."""
    return _ruled(OptionRule(tuple(options.split()), tuple(others.split()), False, reason))


def _ruled(rule: OptionRule) -> Callable[[_Command], _Command]:
    """Have a command checked against a rule; `rules` lists all that a command has."""

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def checked(*args: Any, **kwargs: Any) -> Any:
            rule.check(click.get_current_context())
            return command(*args, **kwargs)

        # For the tests that try each rule, and for the completeness of docs.
        checked.rules = (*getattr(command, "rules", ()), rule)  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


@dataclasses.dataclass(frozen=True, slots=True)
class _Declared:
    """A field of a request: its default, and the function from its name and annotation to what adds its options."""

    default: Any
    adds: Callable[[str, str], Callable[..., Any]]


def argument(metavar: str | None = None, *, required: bool = True, nargs: int = 1, type: Any = None) -> Any:
    """Declare an argument; with `nargs` -1, any number of arguments, as a tuple."""
    is_needed = required and nargs == 1
    default = dataclasses.MISSING if is_needed else None if nargs == 1 else ()
    return _Declared(
        default, lambda name, _: click.argument(name, metavar=metavar, required=is_needed, nargs=nargs, type=type)
    )


def option(
    *words: str, help: str, default: Any = None, needs: str = "", excludes: str | Mapping[str, str] = "", **settings: Any
) -> Any:
    """Declare an option with settings of click. `words` are its names, if they are not the name of the field.

    Code that makes a request without the option needs `default` here, even None: type checkers look for it. The option is
    refused without one of the options `needs`, separated by spaces, and beside each of the options `excludes`,
    or beside those that it maps to the reason.
    """
    excluded = {excludes: ""} if isinstance(excludes, str) else excludes

    def adds(name: str, annotation: str) -> Callable[[_Command], _Command]:
        names = words or (f"--{name.rstrip('_').replace('_', '-')}",)
        flag = max(names, key=len).partition("/")[0]
        rules = [excluding(flag, others, reason) for others, reason in excluded.items() if others]
        rules += [needing(flag, needs)] if needs else []
        # "" and - stand for no choice of names, and for standard output: the helps say so.
        is_shown = default not in (None, "", "-") and annotation != "bool"
        said = {} if default is None else {"default": default, "show_default": is_shown}
        return together(click.option(*names, name, help=help, **_usual(annotation) | said | settings), *rules)

    return _Declared(default, adds)


def beside(field: Any, *decorators: Callable[[_Command], _Command]) -> Any:
    """Return an option that comes with what the decorators add."""
    return dataclasses.replace(field, adds=lambda *said: together(field.adds(*said), *decorators))


def decorator_of(field: Any, name: str, annotation: str) -> Callable[[_Command], _Command]:
    """Return the decorator of click that adds a declared option under a name."""
    decorator: Callable[[_Command], _Command] = field.adds(name, annotation)
    return decorator


def part(options: type | Callable[[_Command], _Command], *rules: Callable[[_Command], _Command], without: str = "") -> Any:
    """Declare several options, passed in one value called as the field is: of another request, or what a decorator adds.

    The option of the field `without` of the other request is left out.
    """

    def adds(name: str, _: str) -> Callable[[_Command], _Command]:
        return together(*rules, options_of(options, name, without) if isinstance(options, type) else options)

    return _Declared(dataclasses.MISSING, adds)


def _usual(annotation: str) -> dict[str, Any]:
    """Return the settings of click for an option with this annotation."""
    # click would make False of a pair of flags of which neither is given.
    if annotation == "bool | None":
        return {"default": None}
    if annotation == "bool":
        return {"is_flag": True}
    kind = annotation.removesuffix(" | None")
    if kind.startswith("Literal["):
        return {"type": click.Choice(_WORD.findall(kind))}
    return {"multiple": True} if _is_repeatable(annotation) else {"type": _NUMBERS[kind]} if kind in _NUMBERS else {}


def _is_repeatable(annotation: str) -> bool:
    return annotation.startswith("tuple[") and annotation.endswith(", ...]")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(argument, option, part))
def request(kind: type[_Class]) -> type[_Class]:
    """Make a class of fields a frozen dataclass, each field with the default of its option."""
    for name, annotation in kind.__annotations__.items():
        said: _Declared = getattr(kind, name)
        empty = False if annotation == "bool" else () if _is_repeatable(annotation) else None
        default = empty if said.default is None else said.default
        # The decorator of click is kept with the field, so that `options_of` finds it without a second table.
        setattr(kind, name, dataclasses.field(default=default, metadata={_Declared: decorator_of(said, name, annotation)}))
    # By keyword only: fields with and without a default follow each other in the order of the help.
    return dataclasses.dataclass(frozen=True, kw_only=True, slots=True)(kind)


def changed_fields(made: Any) -> set[str]:
    """Return the names of the options of a request that have another value than their default."""
    fields = (field for field in dataclasses.fields(made) if field.default is not dataclasses.MISSING)
    return {field.name for field in fields if getattr(made, field.name) != field.default}


def options_of(kind: type, argument: str, without: str = "") -> Callable[[_Command], _Command]:
    """Add the options of a request, and pass them to the command as one value, under the name `argument`."""

    def decorate(command: _Command) -> _Command:
        fields = [field for field in dataclasses.fields(kind) if field.name != without]

        @together(*(field.metadata[_Declared] for field in fields))
        @functools.wraps(command)
        def gathered(*args: Any, **kwargs: Any) -> Any:
            made = kind(**{field.name: kwargs.pop(field.name) for field in fields})
            return command(*args, **{argument: made}, **kwargs)

        return gathered  # type: ignore[no-any-return]

    return decorate


def command_of(
    kind: type, function: str | Callable[[Any], Any], cls: type[click.Command] = GroupedCommand
) -> click.Command:  # fmt: skip
    """Return the command that calls a function of a request; "FILE.NAME" is one of a file of `jobs`, imported when called."""

    def call(options: Any) -> Any:
        if callable(function):
            return function(options)
        file, _, name = function.partition(".")
        # Imported when the command runs: --help and the Tab key need the options alone.
        return getattr(import_module(f".jobs.{file}", __package__), name)(options)

    return click.command(cls=cls, help=kind.__doc__)(options_of(kind, "options")(call))
