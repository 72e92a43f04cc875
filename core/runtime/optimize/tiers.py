"""Tiers of execution: the ways in which a program runs its plan, and the moves between tiers.

A program runs its plan INTERPRETED first. Runs without a hook, engine or cache move the program on, as far as the session's
`optimize` allows:

                   the plan ran once             branches would take less time
    INTERPRETED ---------------------> FUSED -----------------------------------> PARALLEL
         |                               |                                           ^
         +-------------------------------+---> SPECIALIZED ---------------------------+
                    the shapes came once before

- INTERPRETED: each step is a call of its kernel.
- FUSED: groups of steps run as one (`step_fusion`); values that follow from constants are computed once (`constant_steps`).
  Groups pay for large results only: the first run measures the results, and a plan with small results gets no groups.
- SPECIALIZED: a program for the shapes of this run, without the steps that follow from shapes (`shape_programs`), fused.
- PARALLEL: branches run in threads (`parallel_regions`), each where a trial of both ways took less time.

`forcing` has programs reach a tier in their first run, whatever their sizes and times are: tests run each case in each tier.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import enum
from collections.abc import Iterator
from typing import Final

from ...support.errors import InvalidArgumentError
from ...support.log import tell


class Tier(enum.StrEnum):
    """A way to run a plan."""

    INTERPRETED = "interpreted"
    FUSED = "fused"
    SPECIALIZED = "specialized"
    PARALLEL = "parallel"


FUSING_RUN: Final = 2
"""The run of a plan before which steps are fused: a plan that runs once is not worth the search for groups."""
SETTLING_RUN: Final = 4
"""The run before which useless groups are taken apart, and from which steps are timed.

By then each group has met its shapes twice: the first run of a shape shows the layout of the second.
"""
LEAST_GROUPED: Final = 1 << 12
"""The number of elements of a result from which a group is faster: an epilogue or a normalization on cached blocks."""
FIRST_LOOK: Final = 64
"""The run in which the results of a plan without groups are measured again."""
_LOOKS_APART: Final = 4
"""The ratio of the run numbers of two measurements: few runs are measured, which take several times as long."""
RUNS_OF_SHAPES: Final = 1
"""Runs with the same shapes before a program is specialized for them: specializing takes about as long as planning."""
TIMED_RUNS: Final = 3
"""The number of runs in which steps are timed. The least of three times leaves out most of the machine's other work."""


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """The tiers that programs may reach; where this is forced they reach them in the first run."""

    tiers: frozenset[Tier] = frozenset()
    is_forced: bool = False

    def allows(self, tier: Tier) -> bool:
        return tier in self.tiers


NO_TIERS: Final = Policy()
_BY_NAME: Final = {
    "none": NO_TIERS,
    "fuse": Policy(frozenset((Tier.FUSED, Tier.SPECIALIZED))),
    "parallel": Policy(frozenset((Tier.FUSED, Tier.SPECIALIZED, Tier.PARALLEL))),
}
OPTIMIZE: Final = tuple(_BY_NAME)
"""The names of policies, from the fewest tiers to the most."""
_FORCED: Final = {
    Tier.INTERPRETED: NO_TIERS,
    Tier.FUSED: Policy(frozenset((Tier.FUSED,)), True),
    Tier.SPECIALIZED: Policy(frozenset((Tier.FUSED, Tier.SPECIALIZED)), True),
    Tier.PARALLEL: Policy(frozenset((Tier.FUSED, Tier.PARALLEL)), True),
}
_forced: contextvars.ContextVar[Tier | None] = contextvars.ContextVar("forced", default=None)


def policy(optimize: str) -> Policy:
    """Return the policy of a name; InvalidArgumentError for another name.

    Within `forcing`, all names but "none" mean its tier.
    """
    if optimize not in _BY_NAME:
        raise InvalidArgumentError(f"optimize must be one of {', '.join(OPTIMIZE)}, not {optimize!r}")
    forced = _forced.get()
    return _BY_NAME[optimize] if forced is None or optimize == "none" else _FORCED[forced]


@contextlib.contextmanager
def forcing(tier: Tier | None) -> Iterator[None]:
    """Let the programs of sessions that are made here run in a tier from their first run on; None ends that within."""
    token = _forced.set(tier)
    try:
        yield
    finally:
        _forced.reset(token)


class Move(enum.Enum):
    """A change of a program that is due before a run."""

    FUSE = enum.auto()
    SETTLE = enum.auto()


class Tiers:
    """The tier of a program. `name` stands for the program in log messages."""

    def __init__(self, policy: Policy, name: str, is_special: bool = False) -> None:
        self.policy = policy
        self.tier = Tier.INTERPRETED
        self._name = name
        if is_special:
            self.enter(Tier.SPECIALIZED, "its shapes came once before")
        has_run = is_special or policy.is_forced
        self._run = FUSING_RUN - 1 if has_run else 0
        self._fusing, self._settling = FUSING_RUN, SETTLING_RUN
        self.is_moving = policy.allows(Tier.FUSED)
        """Whether a run may still change the program, apart from branches in threads."""
        self.is_measured = self.is_moving and not has_run
        """Whether the results of the next run are measured."""
        self.has_groups = has_run
        """Whether steps are fused: not where the results of the measured runs were small."""
        self.is_looking_out = False
        """Whether `look_out` is due before a run."""
        self._fed, self._look = 0, FIRST_LOOK

    def begin_run(self) -> Move | None:
        """Count a run without a hook; return the move that is due before the run."""
        self._run += 1
        if self._run == self._fusing:
            self.is_moving = not self.policy.is_forced
            if self.tier is Tier.INTERPRETED:
                self.enter(Tier.FUSED, "the plan ran once")
            return Move.FUSE
        if self._run == self._settling:
            self.is_moving = False
            self.is_looking_out = not self.has_groups
            return Move.SETTLE
        return None

    def note_results(self, fed: int, largest: int) -> None:
        """Note the elements of the feeds and of the largest result in a measured run: groups pay for large results only."""
        self.is_measured = False
        self._fed = max(self._fed, fed)
        self.has_groups = largest >= LEAST_GROUPED
        if self.has_groups and self._run > self._fusing:
            self._fusing, self._settling = self._run + 1, self._run + 1 + SETTLING_RUN - FUSING_RUN
            self.is_moving, self.is_looking_out = True, False

    def look_out(self, fed: int) -> None:
        """Have a run of a program without groups measured where the feeds are larger than before, and from time to time."""
        self._run += 1
        if fed > self._fed or self._run >= self._look:
            self._look = max(self._look, self._run) * _LOOKS_APART
            self.is_measured = True

    def enter(self, tier: Tier, reason: str) -> None:
        """Note that the program is in a tier now, and tell why."""
        self.tier = tier
        tell("%s: %s, because %s", self._name, tier, reason)
