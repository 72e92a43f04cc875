"""docs/picture.svg: what a terminal shows of a few commands; a part of regenerate.py."""

from __future__ import annotations

import fcntl
import io
import os
import pathlib
import pty
import shlex
import struct
import subprocess
import sys
import termios

from rich.console import Console
from rich.text import Text

ROOT = pathlib.Path(__file__).parents[1]
COLUMNS, LINES = 118, 50
TERMINAL = {"COLUMNS": str(COLUMNS), "LINES": str(LINES), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
COMMANDS = (
    "tfg dump sample_graphs/variable_2/2_after_initializer_creation.pbtxt",
    "tfg explain sample_graphs/variable_2/2_after_initializer_creation.pbtxt Variable/read",
    "tfg run sample_graphs/square.pbtxt --init --target sgd --fetch loss --steps 4",
)


def at_terminal(command: str) -> str:
    """The output of a command that believes it is at a terminal."""
    arguments = [sys.executable, "-c", "from tfg.cli.main import main; main()", *shlex.split(command)[1:]]
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    done = subprocess.Popen(arguments, stdin=follower, stdout=follower, stderr=follower, cwd=ROOT, env=os.environ | TERMINAL)
    os.close(follower)
    chunks = []
    while True:
        try:
            chunks.append(os.read(leader, 1 << 16))
        except OSError:  # Linux: the last writer has gone
            break
    done.wait()
    return b"".join(chunks).decode().replace("\r\n", "\n").rstrip()


def derived() -> dict[pathlib.Path, str]:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(at_terminal(command)))
    return {ROOT / "docs" / "picture.svg": console.export_svg(title="tfg")}
