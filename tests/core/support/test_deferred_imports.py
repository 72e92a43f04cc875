"""Deferred imports: which processes have them, and that a deferred module is whole once it is used."""

from __future__ import annotations

import subprocess
import sys

_SHOWN = "print(type(sys.modules['numpy._core._add_newdocs']).__name__, numpy.add.__doc__ is not None)"


def _printed(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_command_defers_what_it_does_not_use():
    code = f"import sys; sys.argv = ['tfg']; import tfg, numpy; {_SHOWN}; numpy._core._add_newdocs.ufunc_docstrings; {_SHOWN}"
    code = code.replace("numpy._core._add_newdocs.ufunc_docstrings", "numpy._core._add_newdocs.add_newdoc")
    assert _printed(code)[::2] == ["_DeferredModule", "module"]


def test_a_deferred_module_lacks_what_it_does_not_have():
    code = "import sys; sys.argv = ['tfg']; import tfg, pickle; print(hasattr(pickle, 'none'), pickle.loads(pickle.dumps(7)))"
    assert _printed(code) == ["False", "7"]


def test_a_function_imported_by_name_loads_its_module_when_called():
    shown = "print('numpy.linalg._linalg' in sys.modules)"
    code = f"from numpy.linalg import inv; {shown}; print(inv([[4]])[0, 0]); {shown}"
    assert _printed(f"import sys; sys.argv = ['tfg']; import tfg; {code}") == ["False", "0.25", "True"]


def test_a_program_that_imports_tfg_has_the_imports_of_python():
    assert _printed(f"import sys, tfg, numpy; {_SHOWN}") == ["module", "True"]
