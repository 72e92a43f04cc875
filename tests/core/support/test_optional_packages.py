"""Install hints for missing optional packages."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from tfg.core.engines.engine_registry import OWN_ENGINES
from tfg.core.support.optional_packages import extra_hint

ROOT = Path(__file__).parents[3]


def test_hint_names_the_packages_of_the_installed_distribution(monkeypatch):
    requirements = ["click>=8.4", 'pillow>=10; extra == "image"', "onnx>=1.16 ; extra == 'onnx'"]
    monkeypatch.setattr(metadata, "requires", {"tfg": requirements}.__getitem__)
    assert extra_hint("image") == "`pip install 'pillow>=10'` (the extra tfg[image])"
    assert extra_hint("onnx") == "`pip install 'onnx>=1.16'` (the extra tfg[onnx])"


def test_hint_of_a_checkout_that_is_not_installed(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert extra_hint("dask") == "`pip install '.[dask]'` (the extra tfg[dask])"


def test_every_extra_that_an_error_names_is_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = [path.read_text() for room in ("core", "formats", "cli") for path in (ROOT / room).rglob("*.py")]
    named = {name for source in sources for name in re.findall(r'extra_hint\("(\w+)"\)', source)}
    assert {"image", "dask", "onnx", "cluster"} <= named
    assert named | set(OWN_ENGINES) <= set(extras)
