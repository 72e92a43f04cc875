"""Modules that libraries import and few commands need: their code runs when they are first used.

Only the process of a command defers modules. A program that imports tfg keeps the imports that Python makes.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Final

# Each module with the functions that other modules import by name: they get a stand-in, which loads the module when called.
_DEFERRED: Final[Mapping[str, tuple[str, ...]]] = {
    "google.protobuf.internal.python_message": (),  # messages in Python, where protobuf has them in C
    "google.protobuf.text_format": (),  # text that tfg does not read by itself
    "numpy._core._add_newdocs": (),  # docstrings of NumPy's functions in C
    "numpy._core._add_newdocs_scalars": (),
    "numpy.linalg": ("eigvals", "inv", "lstsq", "matrix_power"),  # its users in NumPy are polynomials and matrices
    "pickle": (),  # numpy.load
    "tokenize": (),  # lines of source for tracebacks
}
_LOADER: Final = "__deferred_loader__"
# One lock for all modules: two threads that load different modules, each the other's, would wait for each other forever.
_LOADING: Final = threading.RLock()


def defer_imports() -> None:
    """Let the modules of the list be deferred from here on in this process."""
    sys.meta_path.insert(0, _Finder())


class _DeferredModule(types.ModuleType):
    """A module whose code runs when an attribute that it lacks is first asked for.

    `importlib.util.LazyLoader` also loads where a second import statement looks at the module, before anybody uses it.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _DEFERRED[self.__name__] and _LOADER in self.__dict__:
            return lambda *args, **options: _loaded(self)[name](*args, **options)
        try:
            return _loaded(self)[name]
        except KeyError:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'") from None


def _loaded(module: types.ModuleType) -> dict[str, Any]:
    """Run the module's code if it did not run yet, and return its names."""
    with _LOADING:
        # Taken out before the code runs: the code asks the module for names that it lacks, and each question comes here.
        loader = module.__dict__.pop(_LOADER, None)
        if loader is not None:
            loader.exec_module(module)
            # From here on a look at an attribute costs what it costs in any module.
            module.__class__ = types.ModuleType
    return module.__dict__


class _Finder:
    """The finder of the deferred modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in _DEFERRED else None
        if spec is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """A loader that leaves the code of a module to the module's first use."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _DeferredModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        module.__dict__[_LOADER] = self._loader
