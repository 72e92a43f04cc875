"""Generates manual pages and completion scripts for the wheel; pyproject.toml says everything else."""

import importlib.util
import pathlib
import sys

from setuptools import setup

ROOT = pathlib.Path(__file__).parent
SHARED = pathlib.Path("build", "share")


def data_files() -> list[tuple[str, list[str]]]:
    """Write the files that the wheel installs below `share`, and return them by folder."""
    spec = importlib.util.spec_from_file_location("tfg", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    sys.modules["tfg"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["tfg"])
    from tfg.cli.manuals import shared_files

    folders: dict[str, list[str]] = {}
    for name, text in shared_files():
        path = SHARED / name
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
        folders.setdefault(f"share/{pathlib.PurePosixPath(name).parent}", []).append(path.as_posix())
    return list(folders.items())


setup(data_files=data_files())
