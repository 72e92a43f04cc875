"""Writes what the wheel has and the checkout has not: manual pages, completion scripts, a readme without relative links."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import sys

from setuptools import setup

ROOT = pathlib.Path(__file__).parent
SHARED = pathlib.Path("build", "share")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)")


def readme(address: str | None, version: str) -> str:
    """Return README.md with links to this version at the address of the repository.

    Without an address, links become words, and pictures are left out.
    """

    def link(match: re.Match[str]) -> str:
        mark, text, path = match.groups()
        if address is None:
            return "" if mark else text
        return f"{mark}[{text}]({address}/{'raw' if mark else 'blob'}/v{version}/{path})"

    return LINK.sub(link, (ROOT / "README.md").read_text(encoding="utf-8"))


def package() -> None:
    """Import the checkout, whatever its folder is called, as `tfg`."""
    spec = importlib.util.spec_from_file_location("tfg", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    sys.modules["tfg"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["tfg"])


def data_files() -> list[tuple[str, list[str]]]:
    """Write the files that the wheel installs below `share`, and return them by folder."""
    from tfg.cli.manuals import shared_files

    folders: dict[str, list[str]] = {}
    for name, text in shared_files():
        path = SHARED / name
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
        folders.setdefault(f"share/{pathlib.PurePosixPath(name).parent}", []).append(path.as_posix())
    return list(folders.items())


if __name__ == "__main__":
    package()
    address = os.environ.get("TFG_REPOSITORY")  # as .github/workflows/release.yml sets it
    setup(
        data_files=data_files(),
        long_description=readme(address, sys.modules["tfg"].__version__),
        long_description_content_type="text/markdown",
        **({"project_urls": {"Repository": address, "Changelog": f"{address}/blob/main/CHANGELOG.md"}} if address else {}),
    )
