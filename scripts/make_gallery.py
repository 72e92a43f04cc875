"""Write the pictures of docs/gallery.md: the drawings of the commands on the page, and `tfg view` in Chromium.

usage: make_gallery.py        needs the programs dot and chromium, and Pillow; writes docs/gallery
"""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "gallery"
WIDTH, HEIGHT, COLOURS = 1200, 750, 256
_SHOWN = re.compile(r"```console\n((?:(?!```).*\n)*)```\n\n!\[.*\]\(gallery/(.*)\)")
_COMMAND = re.compile(r"^\$ (tfg .*)$", re.MULTILINE)
_PLACES = {"beside.png": "beside=1&scope=hidden"}
"""The parts of the addresses behind `#` of the pages that show more than at first."""
_CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sample_graphs").symlink_to(ROOT / "sample_graphs")
        for block, picture in _SHOWN.findall(PAGE.read_text(encoding="utf-8")):
            for command in _COMMAND.findall(block):
                arguments = [sys.executable, "-c", "from tfg.cli.main import main; main()", *shlex.split(command)[1:]]
                subprocess.run(arguments, cwd=folder, check=True)
            made = folder / pathlib.Path(picture).with_suffix(".html" if " view " in block else ".svg")
            if made.suffix == ".html":
                photograph(made, FOLDER / picture)
            else:
                (FOLDER / picture).write_bytes(made.read_bytes())


def photograph(page: pathlib.Path, picture: pathlib.Path) -> None:
    """Write a browser's picture of a page, in few colours for a small file."""
    shot = page.with_suffix(".png")
    address = f"{page.as_uri()}#{_PLACES.get(picture.name, '')}"
    command = [*_CHROMIUM, f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}", address]
    subprocess.run(command, check=True, capture_output=True)
    Image.open(shot).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    main()
