"""Optional packages: hints for a missing package."""

from __future__ import annotations

import shlex

_DISTRIBUTION = "tfg"


def extra_hint(extra: str) -> str:
    """Return the command that installs an extra's packages, with the extra's name."""
    return f"`pip install {shlex.join(_packages(extra))}` (the extra tfg[{extra}])"


def _packages(extra: str) -> list[str]:
    """Return an extra's requirements (`pillow>=10`), or the checkout's extra where no distribution is installed."""
    from importlib import metadata

    try:
        requirements = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return [f".[{extra}]"]
    parted = (line.partition(";") for line in requirements)
    return [package.strip() for package, _, marker in parted if marker.replace("'", '"').strip() == f'extra == "{extra}"']
