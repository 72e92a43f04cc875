"""`tfg samples`: list or copy the sample graphs of tfg."""

from __future__ import annotations

import os
import shutil

from ...core.support.atomic import atomic_file, atomic_folder, file_errors
from ...core.support.errors import AlreadyExistsError, NotFoundError
from ...core.support.file_formats import FOLDERS
from ...core.support.places import is_there, make_folders
from ...core.support.words import counted
from .. import render
from ..main import DONE
from ..options import OutputFile, format_option, output_option, quiet_option
from ..requests import argument, command_of, request

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "sample_graphs")


@request
class SamplesOptions:
    """List or copy the sample graphs of tfg, which the README and docs/ use.

    \b
    tfg samples
    tfg samples --output sample_graphs
    tfg samples xor.pbtxt --output .
    """

    names: tuple[str, ...] = argument("[NAME]...", nargs=-1)
    target: str | None = output_option(
        OutputFile(FOLDERS, makes_folders=True), "Copy the named samples, or all, to this folder.", "FOLDER"
    )
    format_: str = format_option("table", "json", "csv")
    quiet: bool = quiet_option()


def _run(options: SamplesOptions) -> int:
    """List or copy samples."""
    # Unknown names are an error before the first copy.
    copied, target = _samples(options.names), options.target
    if target is None:
        rows = [(name, os.path.join(_FOLDER, name)) for name in copied]
        shown = [{"name": name, "path": path} for name, path in rows]
        render.emit("tfg.samples/1", {"samples": shown}, options.format_, lambda: [render.Table(("sample", "path"), rows)])
        return DONE
    with file_errors(target):
        make_folders(target)
        for name in copied:
            _copy(os.path.join(_FOLDER, name), os.path.join(target, name))
    render.note(f"copied {counted(len(copied), 'sample')} to {target}", options.quiet)
    return DONE


def _samples(names: tuple[str, ...]) -> list[str]:
    """Return the named samples, or all samples; NotFoundError for an unknown sample."""
    # `__pycache__` lies there too, as some samples are scripts.
    known = sorted(name for name in os.listdir(_FOLDER) if not name.startswith(("_", ".")))
    for name in names:
        if name not in known:
            raise NotFoundError(f"unknown sample '{name}'", hint=f"the samples are {', '.join(known)}")
    return list(names) or known


def _copy(source: str, target: str) -> None:
    """Copy a file or a folder; refuse to overwrite."""
    if is_there(target):
        raise AlreadyExistsError(f"'{target}' already exists")
    if os.path.isdir(source):
        # A copy that is interrupted leaves no half of a sample behind.
        with atomic_folder(target) as staged:
            shutil.copytree(source, staged, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        with open(source, "rb") as sample, atomic_file(target) as file:
            shutil.copyfileobj(sample, file)


command = command_of(SamplesOptions, _run)
