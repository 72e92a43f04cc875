"""Kill each writer of files many times and say whether anything was lost.

usage: python -m scripts.kill_writers [--kills N] [--seed N] [WRITER ...]        default: 1000 kills of every writer
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests.security.kills import WRITERS, survive


def main() -> None:
    """Print a line per writer; raise AssertionError if contents were lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("writers", nargs="*", default=list(WRITERS))
    options = parser.parse_args()
    for name in options.writers:
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            finished = survive(name, pathlib.Path(folder), options.kills, options.seed)
            print(f"{name}: {options.kills - finished} kills, {finished} writes that finished first, nothing lost, "
                  f"{time.monotonic() - started:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
