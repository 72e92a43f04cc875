"""Build the site of docs/, with every warning an error.

usage: build_docs.py [--out FOLDER]        needs the extra `docs`; writes FOLDER/html, by default in build/docs
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main() -> int:
    """Run Sphinx and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "docs", metavar="FOLDER")
    out = parser.parse_args().out
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-b", "html"]
    code = subprocess.run([*command, "-d", out / "read", ROOT / "docs", out / "html"]).returncode
    if code == 0:
        print(f"open {out / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
