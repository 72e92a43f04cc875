"""All the bombs: small graphs that ask for more time or memory than there is, by name what adds one and returns its result."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence

from tests.security.bombs.building import Bomb
from tests.security.bombs.functions import FUNCTIONS
from tests.security.bombs.handles import HANDLES
from tests.security.bombs.loops import LOOPS
from tests.security.bombs.pipelines import PIPELINES
from tests.security.bombs.sizes import SIZES
from tests.security.bombs.strings import STRINGS
from tests.security.bombs.work import WORK

_KINDS: Sequence[Mapping[str, Bomb]] = (SIZES, WORK, STRINGS, HANDLES, PIPELINES, FUNCTIONS)
EVERY = "TFG_EVERY_BOMB" in os.environ
STEP = 1 if EVERY else 12


def tried() -> dict[str, Bomb]:
    """Every twelfth of each kind and all the loops; with TFG_EVERY_BOMB in the environment all."""
    return dict(itertools.chain(*(itertools.islice(kind.items(), 0, None, STEP) for kind in _KINDS), LOOPS.items()))
