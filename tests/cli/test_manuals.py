"""Manual pages and completion scripts: every command and option, in roff and scripts that their programs read."""

from __future__ import annotations

import re
import shutil
import subprocess

import click
import pytest

from tests.cli.running import tfg as run
from tfg.cli.main import commands, root
from tfg.cli.manuals import shared_files

FILES = dict(shared_files())
PAGES = {name.rpartition("/")[2].removesuffix(".1"): text for name, text in FILES.items() if name.startswith("man/")}


def spoken(roff: str) -> list[str]:
    """Return the words of roff without escapes."""
    text = re.sub(r"\\f.", "", roff).replace("\\-", "-").replace("\\&", "").replace("\\(ga", "`").replace("\\e", "\\")
    return [word.strip(",") for word in text.split()]


def test_there_is_a_page_for_tfg_and_each_command():
    assert set(PAGES) == {"tfg", *(f"tfg-{name}" for name in commands())}
    assert set(commands()) <= set(spoken(PAGES["tfg"].partition(".SH COMMANDS")[2]))


@pytest.mark.parametrize("name", commands())
def test_a_page_has_what_the_help_has(name):
    page = PAGES[f"tfg-{name}"]
    sections = re.findall(r"^\.SH (.+)", page, re.MULTILINE)
    assert sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "SEE ALSO"]
    command = root.get_command(click.Context(root), name)
    assert command is not None
    options = [param for param in command.params if isinstance(param, click.Option)]
    flags = {flag for option in options for flag in (*option.opts, *option.secondary_opts)}
    assert flags <= set(spoken(page.partition(".SH OPTIONS")[2]))
    said = re.sub(r"^(\w[\w ]*):|\\$", r"\1", run(name, "--help-all").out, flags=re.MULTILINE)
    assert set(spoken(said)) - set(spoken(page)) <= {"Usage"}


@pytest.mark.sampled(8)
@pytest.mark.skipif(not shutil.which("groff"), reason="the program 'groff' is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_formatted_without_a_warning(name):
    command = ["groff", "-ww", "-W", "break", "-K", "utf8", "-t", "-man", "-T", "utf8"]
    done = subprocess.run(command, input=PAGES[name].encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"OPTIONS" in re.sub(rb".\x08|\x1b\[[\d;]*m", b"", done.stdout)


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", "bash-completion/completions/tfg"),
        ("zsh", "zsh/site-functions/_tfg"),
        ("fish", "fish/vendor_completions.d/tfg.fish"),
    ],
)
def test_the_script_for_a_shell_is_what_completion_prints(shell, place):
    printed = run("completion", shell).out
    assert FILES[place].strip() == printed.strip() and "_TFG_COMPLETE" in printed
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=printed.encode(), capture_output=True).returncode == 0
