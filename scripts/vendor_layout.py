"""Fetch the layout library of `tfg view` from the npm registry; version and checksum are pinned.

usage: vendor_layout.py [--check]        --check only compares the files in the package with the pinned release
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import pathlib
import sys
import tarfile
import urllib.request

NAME = "@dagrejs/dagre"
VERSION = "3.1.3"
INTEGRITY = "sha512-X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg=="
URL = f"https://registry.npmjs.org/{NAME}/-/dagre-{VERSION}.tgz"
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "formats" / "page" / "vendor"
# The file in the release -> what it is called here. The licence covers what is bundled with it, @dagrejs/graphlib, too.
FILES = {"package/dist/dagre.min.js": "dagre.min.js", "package/LICENSE": "dagre.LICENSE.txt"}


def release() -> bytes:
    """Return the packed release; raise SystemExit for another release than the pinned release."""
    with urllib.request.urlopen(URL, timeout=60) as answer:
        packed: bytes = answer.read()
    text = f"sha512-{base64.b64encode(hashlib.sha512(packed).digest()).decode()}"
    if text != INTEGRITY:
        sys.exit(f"{URL} has the checksum {text}, not {INTEGRITY}")
    return packed


def files(packed: bytes) -> dict[pathlib.Path, bytes]:
    """Return the files of the package, without the pointer to a source map, which browsers would request."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = {name: archive.extractfile(name) for name in FILES}
        contents = {FOLDER / FILES[name]: member.read() for name, member in members.items() if member is not None}
    return {
        path: data.split(b"\n//# sourceMappingURL")[0] + b"\n" if path.suffix == ".js" else data
        for path, data in contents.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    checked = parser.parse_args().check
    FOLDER.mkdir(exist_ok=True)
    for path, data in files(release()).items():
        is_same = path.exists() and path.read_bytes() == data
        print(f"{path.name}: {'as released' if is_same else 'differs' if checked else 'written'}")
        if checked and not is_same:
            sys.exit(1)
        if not checked:
            path.write_bytes(data)


if __name__ == "__main__":
    main()
