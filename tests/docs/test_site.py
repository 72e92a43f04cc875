"""The site is built without a warning, and says all that the commands do."""

from __future__ import annotations

import html
import pathlib
import re
import subprocess
import sys

import click
import pytest

import tfg
from tfg.cli import main

ROOT = pathlib.Path(tfg.__file__).parent
COMMANDS = main.commands()
pytest.importorskip("sphinx", reason="the extra tfg[docs] is not installed")
pytest.importorskip("furo", reason="the extra tfg[docs] is not installed")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs")
    command = [sys.executable, str(ROOT / "scripts" / "build_docs.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"open {out / 'html' / 'index.html'}\n", "")
    return out


def flags(name: str) -> list[str]:
    """All spellings of all options of a command."""
    command = main.root.get_command(click.Context(main.root), name)
    options = (option for option in command.params if isinstance(option, click.Option))
    return [flag for option in options for flag in (*option.opts, *option.secondary_opts)]


@pytest.mark.parametrize("name", COMMANDS)
def test_pages_have_every_option(built, name):
    page = (built / "html" / "commands" / f"{name}.html").read_text().partition('id="options"')[2]
    options = html.unescape(re.sub("<[^>]+>", " ", page)).split()
    assert [flag for flag in flags(name) if flag not in {word.strip(",") for word in options}] == []


def test_links_lead_to_pages(built):
    """Sphinx checks links between pages; this test also checks anchors and links of root pages."""
    pages = {path: path.read_text() for path in (built / "html").rglob("*.html")}
    lost = []
    for path, text in pages.items():
        for target, anchor in re.findall(r'href="(?!\w+:|//)([^"#]*)(?:#([^"]*))?"', text):
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not file.exists() or (anchor and file in pages and f'id="{html.unescape(anchor)}"' not in pages[file]):
                lost.append(f"{path.name}: {target}#{anchor}")
    assert lost == []
