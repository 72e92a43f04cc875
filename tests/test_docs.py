"""The examples of README.md and docs/ run, and print what the pages say."""

from __future__ import annotations

import pathlib
import re
import runpy
import shlex

import pytest

import tfg
from tests.cli.running import tfg as run

ROOT = pathlib.Path(tfg.__file__).parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
docs = runpy.run_path(str(ROOT / "scripts" / "update_docs.py"), run_name="update_docs")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    (tmp_path / "sample_graphs").symlink_to(ROOT / "sample_graphs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_console_examples(page, clone):
    for block in docs["BLOCK"].findall(page.read_text()):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            done = run(*shlex.split(command)[1:])
            printed = f"{done.err}{done.out}".strip()
            assert docs["same"](printed, expected.strip()), f"{command}: run scripts/regenerate.py outputs"


def test_main_command_of_the_readme(clone):
    text = (ROOT / "README.md").read_text()
    command, output = re.search(r"\.venv/bin/tfg (.*?)\n```\n\nIt prints\n\n```\n(.*?)```", text, re.DOTALL).groups()
    done = run(*shlex.split(command))
    assert done.code == 0
    assert docs["same"](f"{done.err}{done.out}", output)
    assert (clone / "xor.npz").exists()


@pytest.mark.parametrize("number", [0, 1])
def test_python_examples(number, clone, capsys):
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[number]
    exec(compile(code, f"README example {number}", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_every_command_is_in_the_docs():
    from tfg.cli import main

    text = "".join(page.read_text() for page in PAGES)
    assert [name for name in main.commands() if f"# tfg {name}" not in text] == []
