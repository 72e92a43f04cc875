"""Letting NumPy's OpenBLAS use the CPU's AVX-512."""

from __future__ import annotations

import os

_VARIABLE = "OPENBLAS_CORETYPE"
_AVX512 = frozenset((b"avx512f", b"avx512dq", b"avx512bw", b"avx512vl", b"avx512cd"))


def use_avx512() -> None:
    """Name the generic AVX-512 core to OpenBLAS where the CPU has AVX-512 and the user has not chosen.

    OpenBLAS takes CPUs newer than itself for Haswell, and then multiplies at half the speed. OpenBLAS reads the variable
    when NumPy is first imported. Nothing changes where OpenBLAS knows the CPU.
    """
    if _VARIABLE in os.environ:
        return
    try:
        with open("/proc/cpuinfo", "rb") as file:
            # The flags of the first core stand at the beginning, and all cores have the same.
            flags = file.read(1 << 13)
    except OSError:  # not on Linux: OpenBLAS decides alone
        return
    if _AVX512.issubset(flags.split()):
        os.environ[_VARIABLE] = "SkylakeX"
