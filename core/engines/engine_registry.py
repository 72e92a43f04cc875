"""Engines by name: those that tfg brings, and those that installed packages offer by entry points in the group `tfg.engines`.

An entry point names a function that makes an engine, given the precision that was asked for, or None.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Final, cast

from ..support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..support.optional_packages import extra_hint
from .distributed import Meeting
from .protocol import Engine, Mesh

GROUP: Final = "tfg.engines"
_OWN: Final = {"openvino": "OpenVino", "xla": "Xla"}
"""The engines that tfg brings: each a module of this package, whose extra is called as the engine, and its class."""
_PACKAGES: Final = {"openvino": "openvino", "xla": "jax"}
"""What they need."""
_MEMBERS: Final = sorted({*Engine.__annotations__, *(name for name in vars(Engine) if not name.startswith("_"))})
"""What an engine has."""


def engine_names() -> list[str]:
    """The names that `find_engine` knows."""
    return sorted({*_OWN, *(entry.name for entry in entry_points(group=GROUP))})


def installed_engines() -> list[str]:
    """The engines whose packages are installed; nothing is imported."""
    own = (name for name, package in _PACKAGES.items() if find_spec(package) is not None)
    return list(dict.fromkeys((*own, *(entry.name for entry in entry_points(group=GROUP)))))


def find_engine(name: str, precision: str | None = None, mesh: Mesh | None = None) -> Engine:
    """The engine of that name; NotFoundError where there is none, or where what it needs is not installed.

    `mesh` is for the one that has meshes.
    """
    given = (precision,) if mesh is None else (precision, mesh)
    entry = next(iter(entry_points(group=GROUP, name=name)), None)
    try:
        if entry is not None:
            return _of_others(entry.load()(*given))
        return cast(Engine, _maker(name)(*given))
    except ModuleNotFoundError as error:
        hint = extra_hint(name) if name in _OWN else None
        raise NotFoundError(f"engine '{name}' needs module '{error.name}', which is not installed", hint=hint) from error
    except TfgError:
        raise
    except Exception as error:
        if entry is None:
            raise
        problem = f"engine '{name}', which '{entry.value}' makes, failed: {type(error).__name__}: {error}"
        raise InvalidArgumentError(problem) from error


def find_mesh(size: int, meeting: Meeting | None) -> Mesh:
    """A mesh of XLA's of so many devices, of all processes that meet; NotFoundError where JAX is not installed."""
    try:
        module = importlib.import_module(".xla.mesh", __package__)
    except ModuleNotFoundError as error:
        raise NotFoundError(f"a mesh needs module '{error.name}', which is not installed", hint=extra_hint("xla")) from error
    return cast(Mesh, module.Mesh(size, meeting))


def _of_others(engine: Any) -> Engine:
    """What an entry point made; TypeError where it is no Engine."""
    missing = [name for name in _MEMBERS if not hasattr(engine, name)]
    if missing:
        raise TypeError(f"{engine!r} is no engine: it has no {', '.join(missing)}")
    return cast(Engine, engine)


def _maker(name: str) -> Callable[..., Any]:
    if name in _OWN:
        made: Callable[..., Any] = getattr(importlib.import_module(f".{name}.engine", __package__), _OWN[name])
        return made
    raise NotFoundError(f"there is no engine '{name}'", hint=f"there are {', '.join(engine_names())}")


def refuse_precision(name: str, precision: str | None) -> None:
    """InvalidArgumentError where an engine that leaves no choice is given one."""
    if precision is not None:
        raise InvalidArgumentError(f"engine '{name}' has one precision, that of the graph; it cannot be asked for {precision}")
