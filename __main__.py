"""The command `tfg`, and `python -m tfg`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as it does later, with 130."""
    try:
        from .cli.main import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
