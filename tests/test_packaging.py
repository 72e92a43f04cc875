"""The wheel's readme from setup.py: all links have a target."""

from __future__ import annotations

import pathlib
import re
import runpy
import sys
import types
from unittest import mock

import tfg

ROOT = pathlib.Path(tfg.__file__).parent
ADDRESS = "https://example.com/owner/tfg"


def readme(address: str | None) -> str:
    """The readme of a wheel."""
    setuptools = types.ModuleType("setuptools")
    setuptools.setup = None
    with mock.patch.dict(sys.modules, setuptools=setuptools):
        return runpy.run_path(str(ROOT / "setup.py"), run_name="setup")["readme"](address, "1.2.3")


def test_links_of_the_readme_lead_to_files_of_the_version():
    targets = re.findall(r"\]\(([^)]+)\)", readme(ADDRESS))
    files = [target.removeprefix(f"{ADDRESS}/") for target in targets if target.startswith(ADDRESS)]
    assert len(files) > 30 and all(target.startswith("https://") for target in targets)
    for file in files:
        kind, version, path = file.split("/", 2)
        assert version == "v1.2.3" and (ROOT / path).exists()
        assert kind == ("raw" if path.endswith((".svg", ".png")) else "blob")


def test_without_an_address_the_readme_has_no_link_that_leads_nowhere():
    text = readme(None)
    assert all(target.startswith("https://") for target in re.findall(r"\]\(([^)]+)\)", text))
    assert "| `tfg explain` |" in text and "docs/picture.svg" not in text
