"""Run the commands of README.md as on a fresh machine: with Python and pip, and no other program but a shell and its tools.

usage: readme.py FOLDER OUTCOMES        FOLDER is made, and gets a copy of the checkout; OUTCOMES gets what became of each test
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOLS = (
    "sh", "env", "cat", "cp", "mv", "rm", "ln", "ls", "mkdir", "touch", "chmod", "head", "tail", "sort", "wc", "cut", "tr",
    "sleep", "true", "false", "test", "echo", "printf", "dirname", "basename", "uname", "id", "kill", "sed", "grep",
)  # fmt: skip
NOT_THERE = ("dot", "chromium", "chromium-browser", "google-chrome", "firefox", "git", "gcc")


def commands() -> list[str]:
    """The command lines of README's blocks for a shell: one that sets tfg up and trains, one that runs the tests."""
    blocks = re.findall(r"^```sh\n(.*?)\n```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2 and "-m pytest" in blocks[1], "README.md has two blocks of commands, and the second runs the tests"
    return blocks


def machine(folder: pathlib.Path) -> dict[str, str]:
    """The environment of a machine on which nothing is found but Python, pip and a shell's tools."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    base = pathlib.Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    links = {"python3": base} | {tool: path for tool in TOOLS if (path := shutil.which(tool))}
    for name, target in links.items():
        (programs / name).symlink_to(target)
    environment = os.environ | {"PATH": str(programs)}
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    assert not any(shutil.which(name, path=str(programs)) for name in NOT_THERE)
    return environment


def copy_of_checkout(target: pathlib.Path) -> None:
    """Copy what git knows or would add; without git, all but what is made by tools."""
    try:
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        made_by_tools = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", "*_cache")
        shutil.copytree(ROOT, target, symlinks=True, ignore=made_by_tools)
        return
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def main(folder: pathlib.Path, outcomes: pathlib.Path) -> int:
    environment = machine(folder) | {"PYTEST_ADDOPTS": f"--outcomes={outcomes}"}
    checkout = folder / "tfg"
    copy_of_checkout(checkout)
    for command in commands():
        print(f"$ {command}", flush=True)
        started = time.monotonic()
        code = subprocess.run(["sh", "-c", command], cwd=checkout, env=environment).returncode
        print(f"took {time.monotonic() - started:.0f} s", flush=True)
        if code:
            print(f"README's command ends with exit code {code} on a machine with Python and pip only")
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(word).resolve() for word in sys.argv[1:])))
