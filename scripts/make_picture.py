"""docs/picture.svg, a terminal with a few commands; a part of regenerate.py."""

from __future__ import annotations

import fcntl
import io
import lzma
import os
import pathlib
import pty
import shlex
import struct
import subprocess
import sys
import tempfile
import termios

from rich.console import Console
from rich.text import Text

ROOT = pathlib.Path(__file__).parents[1]
MODEL = ROOT / "tests" / "core" / "flops" / "graphs" / "resnet50.pb.xz"
COLUMNS, LINES = 100, 50
MAX_SHOWN = 28
"""The lines of each command; a line of dots stands for the rest."""
TERMINAL = {"COLUMNS": str(COLUMNS), "LINES": str(LINES), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
COMMANDS = (
    "tfg explain resnet50.pb",
    "tfg flops resnet50.pb --batch 1 --top 5",
)


def at_terminal(command: str, folder: str) -> str:
    """Return the terminal output of a command in a folder, without notes and progress."""
    arguments = [sys.executable, "-c", "from tfg.cli.main import main; main()", *shlex.split(command)[1:]]
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    done = subprocess.Popen(
        arguments, stdin=follower, stdout=follower, stderr=subprocess.DEVNULL, cwd=folder, env=os.environ | TERMINAL
    )
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
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "resnet50.pb").write_bytes(lzma.decompress(MODEL.read_bytes()))
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            lines = at_terminal(command, folder).split("\n")
            shown = [*lines[:MAX_SHOWN], "..."] if len(lines) > MAX_SHOWN else lines
            console.print(Text.from_ansi("\n".join(shown)))
    return {ROOT / "docs" / "picture.svg": console.export_svg(title="tfg")}
