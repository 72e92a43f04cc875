"""Options have the same spelling and the same meaning in all commands, by their helps."""

from __future__ import annotations

import re

import click
import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.cli.helps import GROUP_OF, GROUPS
from tfg.cli.main import commands, root
from tfg.cli.options import OutputFile

GRAPH = SAMPLES / "square.pbtxt"
SHORT = {"--output": "-o", "--feed": "-f", "--fetch": "-F", "--quiet": "-q", "--verbose": "-v"}
EVERYWHERE = ("--quiet", "--verbose", "--log-file", "--color", "--help", "--help-all")
BESIDE = ("--save-state", "--save-model", "--out-dir", "--trace", "--profile", "--log-file")
"""Options that name a second file to write, beside the main output of a command."""


def _command(name: str) -> click.Command:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    return command


def _options(name: str) -> list[click.Option]:
    """The options that --help-all shows."""
    context = click.Context(root, info_name="tfg")
    command = root.get_command(context, name)
    assert command is not None
    own = click.Context(command, info_name=name, parent=context, **root.context_settings)
    return [param for param in command.get_params(own) if isinstance(param, click.Option)]


def flags(name: str) -> dict[str, list[str]]:
    """The long spelling of each option, and all spellings, as --help shows them."""
    return {max(option.opts, key=len): option.opts for option in _options(name)}


def _records(name: str) -> dict[str, str]:
    """Return the long spelling of each option, with the left column of --help."""
    context = click.Context(_command(name), info_name=name, **root.context_settings)
    records = {max(option.opts, key=len): option.get_help_record(context) for option in _options(name)}
    return {word: record[0] for word, record in records.items() if record is not None}


@pytest.mark.parametrize("name", commands())
def test_short_forms_are_the_same_everywhere(name):
    for long, spellings in flags(name).items():
        short = [word for word in spellings if not word.startswith("--")]
        expected = ["-h"] if long == "--help" else [SHORT[long]] if long in SHORT else []
        assert short == expected, long
    for short in SHORT.values():
        assert sum(short in spellings for spellings in flags(name).values()) <= 1


@pytest.mark.parametrize("name", commands())
def test_every_command_has_the_options_of_all(name):
    assert set(EVERYWHERE) <= set(flags(name))


@pytest.mark.parametrize("name", commands())
def test_a_file_to_write_is_the_output(name):
    command = root.get_command(click.Context(root), name)
    assert command is not None
    writing = {param.opts[-1] for param in command.params if isinstance(param.type, OutputFile)} - {*BESIDE, "target"}
    assert writing <= {"--output"}


def test_convert_takes_its_target_as_an_option_too(tmp_path):
    for words in (("-o", tmp_path / "a.pb"), (f"--output={tmp_path}/b.pb",), ("--text", "-o", tmp_path / "c")):
        assert run("convert", GRAPH, *words).code == 0
    assert (tmp_path / "a.pb").read_bytes() == (tmp_path / "b.pb").read_bytes()
    assert run("convert", "-o", tmp_path / "d.pb", "--clear-devices", GRAPH).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"a.pb", "b.pb", "c", "d.pb"}


def test_options_of_all_commands_stand_before_the_command_too(tmp_path):
    assert "decoded" in run("-v", "dump", GRAPH).err
    assert run("-v", "dump", GRAPH).out == run("dump", GRAPH).out
    assert run("-q", "--log-file", tmp_path / "all.log", "convert", GRAPH, tmp_path / "a.pb").err == ""
    assert "decoded" in (tmp_path / "all.log").read_text()


def test_colours_can_be_forced_and_last_for_one_command():
    assert "\x1b[" in run("dump", GRAPH, "--color", "always").out
    assert "\x1b[" not in run("dump", GRAPH, "--color", "never").out
    assert "\x1b[" not in run("dump", GRAPH).out


def test_quiet_lasts_for_one_command(tmp_path):
    broken = tmp_path / "broken.pbtxt"
    broken.write_text('node { name: "a" op: "Identity" input: "gone" attr { key: "T" value { type: DT_FLOAT } } }')
    assert run("dump", broken, "-q").err == ""
    assert "is broken" in run("dump", broken).err


def test_run_takes_all_outputs_where_none_is_named():
    done = run("run", SAMPLES / "collatz.pbtxt", "--feed", "n=27", "--format", "json")
    assert done.code == 0
    assert run("run", SAMPLES / "collatz.pbtxt", "-f", "n=27", "-F", "steps").out == "steps = 111  (int32)\n"
    assert "steps" in done.out and "--fetch chooses others" in done.err


def test_optimize_says_that_it_writes_nothing_and_shows_passes_that_did_something(tmp_path):
    done = run("optimize", GRAPH, "--fetch", "loss")
    assert "nothing written: -o FILE" in done.err
    names = [line.split("  ")[0] for line in done.out.partition("\n\n")[0].splitlines()[2:]]
    assert names[0] == "at the start" and "at the end" in names
    assert len(names) == len(set(names))
    assert "(round 1)" in run("-v", "optimize", GRAPH, "--fetch", "loss").out
    quiet = run("optimize", GRAPH, "--fetch", "loss", "-o", tmp_path / "a.pb", "-q")
    assert quiet.out == "" and quiet.err.startswith("wrote ")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", commands())
def test_help_shows_the_usual_groups_and_help_all_every_option(name):
    usual, whole = run(name, "--help").out, run(name, "--help-all").out
    assert set(usual.split()) <= {*whole.split(), "--help-all", *usual.partition("--help-all shows")[2].split(), "shows"}
    shown = {word.strip(",") for word in whole.split()}
    assert [long for long in flags(name) if long not in shown] == []
    assert "\nOutput:\n" in usual and "\nReading the graph:\n" not in usual
    assert [group for group in GROUPS if f"\n{group}:\n" in whole] == re.findall(
        rf"^({'|'.join(GROUPS)}):$", whole, re.MULTILINE
    )


def test_every_name_in_the_table_of_groups_is_an_option():
    options = [param for name in commands() for param in _options(name)]
    names = {max(option.opts, key=len) for option in options if isinstance(option, click.Option)}
    assert [name for name in GROUP_OF if name not in names] == []


UNLIKE = {"--batch", "--feed", "--format", "--missing", "--output", "--set", "--sort", "--steps", "--text", "--values"}
"""Options that take other things in some commands: train has rows for a step, flops cuts at tensors without values, layers
sorts no nodes, view shows all values."""


def test_an_option_takes_the_same_in_all_commands():
    shown = {(word, flags) for name in commands() for word, flags in _records(name).items() if word not in UNLIKE}
    assert len(shown) == len({word for word, _ in shown}), sorted(shown)


def test_a_timeout_means_the_same_in_all_commands():
    helps = [option.help or "" for name in commands() for option in _options(name) if "--timeout" in option.opts]
    assert len(helps) > 5
    assert len({help_.removeprefix("With --elements: ").lower() for help_ in helps}) == 1, set(helps)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", commands())
def test_no_help_shows_a_type_of_the_parser(name):
    assert re.findall(r"(INTEGER|FLOAT)\b", run(name, "--help-all").out) == []
