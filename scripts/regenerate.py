"""Rewrite the derived files in the repository that need neither TensorFlow nor downloads.

usage: regenerate.py [--check] [PART ...]        --check changes nothing and exits with 1 if a file is out of date
"""

from __future__ import annotations

import argparse
import operator
import pathlib
import runpy
import sys
from collections.abc import Iterator, Sequence

FOLDER = pathlib.Path(__file__).resolve().parent
# Part -> the script whose `derived` says what its files should hold, and whose `same` what is no difference worth writing.
# In this order: what is shown of samples and ops follows from them.
PARTS = {
    "names": "list_public_names",
    "ops": "list_ops",
    "signatures": "list_op_signatures",
    "samples": "make_kernel_samples",
    "skipgram": "make_skipgram",
    "formats": "list_file_formats",
    "json": "list_json",
    "outputs": "update_docs",
    "picture": "make_picture",
}


def stale(part: str) -> Iterator[tuple[pathlib.Path, str]]:
    """Yield the outdated files of a part, with the new contents."""
    script = runpy.run_path(str(FOLDER / f"{PARTS[part]}.py"))
    same = script.get("same", operator.eq)
    for path, text in script["derived"]().items():
        if not (path.exists() and same(path.read_text(encoding="utf-8"), text)):
            yield path, text


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args(arguments)
    result = False
    for part in options.parts:
        for path, text in stale(part):
            result = True
            name = path.resolve().relative_to(FOLDER.parent)
            print(f"{part}: {name} {'is out of date' if options.check else 'is written anew'}")
            if not options.check:
                path.write_text(text, encoding="utf-8")
    if result and options.check:
        sys.exit(f"run scripts/regenerate.py {' '.join(options.parts) if options.parts != list(PARTS) else ''}".rstrip())


if __name__ == "__main__":
    main()
