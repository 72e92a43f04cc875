"""Completions of a shell."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.running import SAMPLES, process, tfg
from tests.security.shells import STARTS, shell_in

XOR = str(SAMPLES / "xor.pbtxt")


def offered(*words: str) -> list[str]:
    """Return the completions of the last word."""
    done = process(*words, _TFG_COMPLETE="zsh_complete")
    assert not done.err
    return [line.partition("\t")[0] for line in done.out.splitlines()[1:]]


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("words", "some"),
    [
        (["expl"], {"explain"}),
        (["run", XOR, "--fet"], {"--fetch"}),
        (["explain", XOR, "hidden/k"], {"hidden/kernel", "hidden/kernel/Assign"}),
        (["run", XOR, "--fetch", "lo"], {"logits", "loss"}),
        (["run", XOR, "--feed", "x"], {"x"}),
        (["dump", XOR, "--op", "Ap"], {"ApplyAdam"}),
        (["dump", XOR, "--scope", "hidden/"], {"hidden/kernel"}),
        (["optimize", XOR, "--passes", "pr"], {"prune"}),
        (["run", str(SAMPLES / "scaler_saved_model"), "--signature", "s"], {"serving_default"}),
        (["run", XOR, "--engine", "x"], {"xla"}),
        (["checkpoint", str(SAMPLES / "scaler_saved_model"), "--values", ""], {"scale"}),
    ],
)
def test_names(words, some):
    assert some <= set(offered(*words))


@pytest.mark.slow
def test_graphs_are_files():
    assert process("dump", "sam", _TFG_COMPLETE="fish_complete").out == "file\n"


@pytest.mark.slow
def test_a_graph_that_is_not_there_offers_nothing():
    assert offered("run", "nowhere.pb", "--fetch", "lo") == []


@pytest.mark.parametrize(
    ("shell", "used"), [("bash", "complete -o nosort"), ("zsh", "#compdef tfg"), ("fish", "complete --no-files")]
)
def test_the_script_of_a_shell_asks_tfg(shell, used):
    done = tfg("completion", shell)
    assert used in done.out and f"_TFG_COMPLETE={shell}_complete" in done.out


def test_a_shell_without_a_script_is_refused():
    assert "'bash', 'zsh', 'fish'" in tfg("completion", "tcsh").err


def in_shell(shell: str, folder: pathlib.Path) -> dict[str, Any]:
    """Return the arguments of a process: a folder with a graph and the script of a shell, and tfg on the path."""
    if os.name == "nt":
        pytest.skip("other systems: the scripts are for shells of Unix")
    if shutil.which(shell) is None:
        pytest.skip(f"the program '{shell}' is not installed")
    shutil.copy(XOR, folder / "xor.pbtxt")
    (folder / "script").write_text(tfg("completion", shell).out)
    program = folder / "tfg"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tfg "$@"\n')
    program.chmod(0o755)
    return {"cwd": folder, "env": {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "> "}}


ASKED = {
    "bash": "source ./script; COMP_LINE='{0}'; COMP_POINT=${{#COMP_LINE}}; _tfg_completion tfg \"${{COMP_LINE##* }}\"; "
    'printf "%s\\n" "${{COMPREPLY[@]}}"',
    "fish": "source ./script; complete -C '{}'",
}
"""The commands that print the completions of a line."""


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("shell", ASKED)
@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("tfg expl", {"explain"}),
        ("tfg run xor.pbtxt --fet", {"--fetch", "--fetch-every"}),
        ("tfg run xor.pbtxt --fetch los", {"loss"}),
    ],
)
def test_a_shell_completes_a_line(shell, line, completions, tmp_path):
    place = in_shell(shell, tmp_path)
    done = subprocess.run([shell, "-c", ASKED[shell].format(line)], **place, capture_output=True, text=True, timeout=600)
    assert {text.split("\t")[0] for text in done.stdout.splitlines()} == completions, done.stderr


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("shell", STARTS)
def test_a_command_is_completed_at_the_tab_key(shell, tmp_path):
    with shell_in(tmp_path, shell) as started:
        assert started.words_of("tfg expl\t") == ["explain"]
