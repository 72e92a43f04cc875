"""Packages that tfg does without until something asks for them: what to say where one is missing."""

from __future__ import annotations

import shlex

_DISTRIBUTION = "tfg"


def extra_hint(extra: str) -> str:
    """The command that installs what an extra requires, and its name."""
    return f"`pip install {shlex.join(_packages(extra))}` (the extra tfg[{extra}])"


def _packages(extra: str) -> list[str]:
    """Requirements such as `pillow>=10`; the extra of the checkout where no installed distribution tells them."""
    from importlib import metadata

    try:
        requirements = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return [f".[{extra}]"]
    parted = (line.partition(";") for line in requirements)
    return [package.strip() for package, _, marker in parted if marker.replace("'", '"').strip() == f'extra == "{extra}"']
