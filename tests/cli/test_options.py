"""Every option has an effect: an option that needs another option is refused with the reason if the other is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click
import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.cli.main import commands, root
from tfg.cli.options import FileName
from tfg.cli.requests import OptionRule

GRAPH = SAMPLES / "xor.pbtxt"
_VALUES = {
    "integer range": "7", "integer": "7", "float": "0.5", "float range": "0.5", "BYTES": "100M", "TENSOR=SIZES": "x=4,2",
    "REGEX": "a", "N|epoch": "7", "N|?": "7", "FIRST,SECOND": "a,b",
    "batch=N": "batch=2", "HOST:PORT": "localhost:4000", "NUMBERS": "1",
}  # fmt: skip


def command(name: str) -> click.Command:
    result = root.get_command(click.Context(root), name)
    assert result is not None
    return result


def rules(name: str) -> tuple[OptionRule, ...]:
    return getattr(command(name).callback, "rules", ())


def parameter(name: str, flag: str) -> click.Parameter:
    return next(param for param in command(name).params if flag in (*param.opts, param.human_readable_name))


def words(name: str, option: str) -> list[str]:
    """Return the words for an option: `--name`, with a value if needed; none for an argument, which is present already."""
    flag, equals, value = option.partition("=")
    result = parameter(name, flag)
    if isinstance(result, click.Argument):
        return []
    if equals:
        return [flag, value]
    if isinstance(result, click.Option) and result.is_flag:
        return [flag]
    if isinstance(result.type, click.Choice):
        return [flag, str(result.type.choices[-1])]
    return [flag, _VALUES.get(result.type.name, "a=1" if "=" in result.type.name else "some")]


def least(name: str, without: str, beside: Sequence[str]) -> list[str]:
    """Return the required arguments and options of a command; `beside` may set an argument, as OUT=*.onnx."""
    needed = [param for param in command(name).params if param.required and without not in param.opts]
    texts = dict(other.replace("*", "out").split("=") for other in beside if "=" in other)
    arguments = [param for param in command(name).params if isinstance(param, click.Argument) and not _is_optional(param)]
    given = [texts.get(param.human_readable_name, str(GRAPH)) for param in arguments]
    for param in needed:
        given += words(name, param.opts[-1]) if isinstance(param, click.Option) else []
    return given


def _is_optional(param: click.Argument) -> bool:
    return param.nargs == 1 and not param.required


def cases() -> Iterator[tuple[str, OptionRule, str]]:
    for name in commands():
        yield from ((name, rule, option) for rule in rules(name) for option in rule.options)


def files() -> Iterator[tuple[str, str]]:
    for name in commands():
        yield from ((name, param.opts[-1]) for param in command(name).params if isinstance(param.type, FileName))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "option"), list(files()))
def test_a_file_has_a_name(name, option):
    given = least(name, "", [f"{parameter(name, option).human_readable_name}="])
    done = run(name, *given, *(["--", ""] if not option.startswith("-") else [option, ""]))
    assert done.code == 2 and "the name of a file must not be empty" in done.err


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "rule", "option"), list(cases()))
def test_an_option_that_would_do_nothing_is_refused_with_the_reason(name, rule, option):
    beside = [] if rule.are_needed else [rule.others[0]]
    given = [word for flag in (option, *beside) for word in words(name, flag)]
    done = run(name, *least(name, option, beside), *given)
    assert done.code == 2, done
    reason = f"{option} needs {rule.others[0]}" if rule.are_needed else f"{option} has no effect with"
    assert reason in done.err or "has no effect with" in done.err


@pytest.mark.parametrize("name", commands())
def test_what_help_says_an_option_is_for_is_held(name):
    """Helps such as `For --measured: ...` and `What --verify lets pass` promise that the option alone is refused."""
    needed = {option for rule in rules(name) if rule.are_needed for option in rule.options}
    for param in command(name).params:
        is_for = re.match(r"(With|For|What|How far|How|Where) --\w+", getattr(param, "help", "") or "")
        assert is_for is None or needed & set(param.opts), param.opts
