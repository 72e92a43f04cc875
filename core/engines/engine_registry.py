"""Engines by name: tfg's own, and engines of installed packages with entry points in the group `tfg.engines`.

An entry point names a function from the requested precision, or None, to an engine.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from typing import Any, Final, cast

from ..support.engine_names import AUTO, NUMPY, VARIABLE
from ..support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..support.hints import extra_hint
from ..support.untrusted import is_untrusted
from .distributed import Meeting
from .protocol import Engine, Mesh

GROUP: Final = "tfg.engines"
OWN_ENGINES: Final = {"openvino": ("openvino", "OpenVino"), "xla": ("xla.engine", "Xla")}
"""The engines that tfg brings, named as their extras: the module of each in this package, and the class."""
_PACKAGES: Final = {"openvino": "openvino", "xla": "jax"}
"""The package that each engine needs."""
_PARTS: Final = {"jax": ("jax", "jaxlib")}
"""The distributions of a package that has several, each with a version of its own."""
# The names come from the protocol itself, so that a new member cannot be forgotten here.
_MEMBERS: Final = sorted({*Engine.__annotations__, *(name for name in vars(Engine) if not name.startswith("_"))})
"""The members that an engine must have."""


def engine_names() -> list[str]:
    """Return the names that `find_engine` knows."""
    return sorted({*OWN_ENGINES, *(entry.name for entry in entry_points(group=GROUP))})


def install_hint() -> str:
    """Return how to install one of tfg's own engines."""
    return " or ".join(map(extra_hint, OWN_ENGINES))


def installed_engines() -> list[str]:
    """Return the engines whose packages are installed, without importing anything."""
    # Only the specification of the module is looked up, because importing an engine takes a second or more.
    own = (name for name, package in _PACKAGES.items() if find_spec(package) is not None)
    return list(dict.fromkeys((*own, *(entry.name for entry in entry_points(group=GROUP)))))


def engine_of_many_runs() -> str | None:
    """Return the engine for many runs of a graph where the user names none: that of TFG_ENGINE, else `auto` where an engine
    is installed; None for NumPy.

    Untrusted runs have limits, with which NumPy runs everything.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return None if chosen == NUMPY else chosen
    return AUTO if not is_untrusted() and installed_engines() else None


def installed_versions() -> str:
    """Return the versions of tfg and of the packages of all installed engines as a text, without importing anything."""
    own = [
        name for package in _PACKAGES.values() if find_spec(package) is not None for name in _PARTS.get(package, (package,))
    ]
    others = [(e.name, e.value, e.dist.version if e.dist is not None else "") for e in entry_points(group=GROUP)]
    return repr(([(name, _version(name)) for name in ("tfg", *own)], sorted(others)))


def _version(package: str) -> str | None:
    """Return the version of an installed package, None where the package has no metadata, as in a checkout."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def find_engine(name: str, precision: str | None = None, mesh: Mesh | None = None) -> Engine:
    """Return the engine of a name; NotFoundError for an unknown name, or where the engine's package is not installed.

    `mesh` is for XLA, the only engine with meshes.
    """
    arguments = (precision,) if mesh is None else (precision, mesh)
    # An installed package may replace an engine of tfg's own under its name.
    entry = next(iter(entry_points(group=GROUP, name=name)), None)
    try:
        if entry is not None:
            return _of_others(entry.load()(*arguments))
        return cast(Engine, _maker(name)(*arguments))
    except ModuleNotFoundError as error:
        hint = extra_hint(name) if name in OWN_ENGINES else None
        raise NotFoundError(f"engine '{name}' needs module '{error.name}', which is not installed", hint=hint) from error
    except TfgError:
        raise
    # Whatever the code of another package raises: the user is told whose engine fails.
    except Exception as error:
        if entry is None:
            raise
        problem = f"engine '{name}' from '{entry.value}' failed: {type(error).__name__}: {error}"
        raise InvalidArgumentError(problem) from error


def find_mesh(size: int, meeting: Meeting | None) -> Mesh:
    """Return a mesh of `size` XLA devices, of all processes that meet; NotFoundError where JAX is not installed."""
    return cast(Mesh, _of_xla("engine", "a mesh").DeviceMesh(size, meeting))


def jax_functions() -> Any:
    """Return the module that makes functions of JAX; NotFoundError where JAX is not installed."""
    return _of_xla("jax_functions", "a function of JAX")


def _of_xla(name: str, user: str) -> Any:
    """Return a module of the XLA engine; NotFoundError names its `user` where JAX is not installed."""
    try:
        return importlib.import_module(f".xla.{name}", __package__)
    except ModuleNotFoundError as error:
        raise NotFoundError(f"{user} needs module '{error.name}', which is not installed", hint=extra_hint("xla")) from error


def _of_others(engine: Any) -> Engine:
    """Return the engine that an entry point made; TypeError where members are missing."""
    missing = [name for name in _MEMBERS if not hasattr(engine, name)]
    if missing:
        raise TypeError(f"{engine!r} is not an engine: it has no {', '.join(missing)}")
    return cast(Engine, engine)


def _maker(name: str) -> Callable[..., Any]:
    if name in OWN_ENGINES:
        module, maker = OWN_ENGINES[name]
        made: Callable[..., Any] = getattr(importlib.import_module(f".{module}", __package__), maker)
        return made
    raise NotFoundError(f"unknown engine '{name}'", hint=f"the engines are {', '.join((NUMPY, AUTO, *engine_names()))}")


def refuse_precision(name: str, precision: str | None) -> None:
    """Raise InvalidArgumentError for a precision given to an engine without a choice."""
    if precision is not None:
        raise InvalidArgumentError(f"engine '{name}' supports only the precision of the graph, not {precision}")
