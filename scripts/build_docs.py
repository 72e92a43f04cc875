"""Build the site of docs/, and the man pages of all commands, with every warning an error.

usage: build_docs.py [--out FOLDER]        needs the extra `docs`; writes FOLDER/html and FOLDER/man, by default in build/docs
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILDERS = ("html", "man")


def main() -> int:
    """Build with every builder, also after one that fails; 0 where none did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "docs", metavar="FOLDER")
    out = parser.parse_args().out
    return max(build(builder, out) for builder in BUILDERS)


def build(builder: str, out: pathlib.Path) -> int:
    """The exit code of Sphinx."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-b", builder]
    return subprocess.run([*command, "-d", out / "read", ROOT / "docs", out / builder]).returncode


if __name__ == "__main__":
    sys.exit(main())
