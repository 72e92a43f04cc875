"""Shells at a pseudo terminal: what a user types arrives key by key, and what the shell then runs is recorded."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.children import fork_to
from tests.cli.running import tfg
from tfg.cli.main import root
from tfg.cli.tab_completion import completion_script

STARTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], ". ./script.bash"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; . ./script.zsh"),
    "fish": (["fish", "--no-config", "-i"], "source ./script.fish"),
}
"""How each shell starts without the user's settings, and the line that loads the completions of tfg."""
# At Enter the program writes down its arguments in place of running.
_PROGRAM = """#!/bin/sh
if [ -n "$_TFG_COMPLETE" ]; then
    {answer}
fi
printf '%s\\0' "$@" > '{folder}/ran.new' && mv '{folder}/ran.new' '{folder}/ran'
"""
_BY_PROCESS = 'exec "{python}" -P -m tfg "$@"'
_BY_SERVER = """printf '%s\\0' "$_TFG_COMPLETE" "$COMP_LINE" "$COMP_WORD" "$@" > '{folder}/programs/asked'
    exec cat '{folder}/programs/answer'"""
_PATIENCE = 300.0


class Shell:
    """A shell in a folder with `tfg` on its path."""

    def __init__(self, folder: pathlib.Path, terminal: int) -> None:
        self.folder = folder
        self._terminal = terminal
        self.shown = b""

    def press(self, keys: str) -> None:
        """Press keys: `\\t` is Tab, `\\r` is Enter, `\\x03` is Ctrl-C."""
        os.write(self._terminal, keys.encode())

    def words_of(self, keys: str) -> list[str]:
        """Press keys and Enter, and return the arguments of the `tfg` that the shell ran."""
        ran = self.folder / "ran"
        self.press(f"{keys}\r")
        self._read_until(ran.exists, keys)
        words = ran.read_bytes().decode(errors="surrogateescape").split("\0")[:-1]
        ran.unlink()
        return words

    def wait_for(self, text: str) -> None:
        """Read the terminal until it shows a text."""
        self._read_until(lambda: text.encode() in self.shown, text)

    def _read_until(self, is_done, awaited: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not is_done():
            assert time.monotonic() < end, f"{awaited!r}: {self.shown[-2000:]!r}"
            if select.select([self._terminal], [], [], 0.05)[0]:
                self.shown += os.read(self._terminal, 1 << 16)


@contextlib.contextmanager
def shell_in(folder: pathlib.Path, shell: str, is_served: bool = False) -> Iterator[Shell]:
    """Start a shell with the completions of tfg, in a folder.

    A new process of tfg answers each Tab key; `is_served` lets one copy of this process answer all of them.
    """
    if os.name == "nt":
        pytest.skip("other systems: the scripts are for shells of Unix")
    if shutil.which(shell) is None:
        pytest.skip(f"the program '{shell}' is not installed")
    command, line = STARTS[shell]
    environment = _environment(folder, shell, _BY_SERVER if is_served else _BY_PROCESS)
    server = _served(folder) if is_served else contextlib.nullcontext()
    terminal, other = os.openpty()
    with (
        server,
        subprocess.Popen(command, cwd=folder, env=environment, preexec_fn=functools.partial(os.login_tty, other)) as process,
    ):
        os.close(other)
        try:
            started = Shell(folder, terminal)
            started.press(f"{line}; echo rea''dy\r")
            started.wait_for("ready\r")
            yield started
        finally:
            process.kill()
            os.close(terminal)


@contextlib.contextmanager
def _served(folder: pathlib.Path) -> Iterator[None]:
    """Answer what the program writes into one pipe through the other one."""
    asked, answer = (folder / "programs" / name for name in ("asked", "answer"))
    os.mkfifo(asked)
    os.mkfifo(answer)
    # A copy of this process: completion changes the commands in place.
    child = fork_to(functools.partial(_answer_all, folder, asked, answer))
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer_all(folder: pathlib.Path, asked: pathlib.Path, answer: pathlib.Path) -> None:
    os.chdir(folder)
    while True:
        variable, line, word, *words = map(os.fsdecode, asked.read_bytes().split(b"\0")[:-1])
        os.environ.update(_TFG_COMPLETE=variable, COMP_LINE=line, COMP_WORD=word)
        sys.argv[1:] = words
        answer.write_text(tfg(*words).out, encoding="utf-8")


def _environment(folder: pathlib.Path, shell: str, answer: str) -> dict[str, str]:
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "tfg"
    program.write_text(_PROGRAM.format(answer=answer.format(python=sys.executable, folder=folder), folder=folder))
    program.chmod(0o755)
    (folder / f"script.{shell}").write_text(completion_script(shell, root))
    path = f"{programs}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TERM": "dumb", "PS1": "> ", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
