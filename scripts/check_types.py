"""Run mypy on the package in a folder named `tfg`, because the folder of the checkout may have another name.

usage: check_types.py [OPTION_OF_MYPY ...]
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "tfg").symlink_to(ROOT)
        # Run in that folder: names of files, by which mypy knows its cache, do not depend on it, and `__main__.py` of the
        # checkout is no module at the top.
        options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
        command = [sys.executable, "-m", "mypy", *options, "-p", "tfg", *sys.argv[1:]]
        return subprocess.run(command, cwd=folder, env=os.environ | {"MYPYPATH": folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
