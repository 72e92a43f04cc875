"""Tiers of execution: the ways in which a program runs its plan, and the states of a program between runs.

A program runs its plan INTERPRETED first. Runs without a hook, engine or cache move the program on, as far as the session's
`optimize` allows:

                   the plan ran once
    INTERPRETED ---------------------> FUSED
         |                               |
         +-------------------------------+---> SPECIALIZED
                    the shapes came once before

- DATAFLOW: no plan has the order of the nodes; each has its turn as in TensorFlow's executor (`dataflow`). Loops that draw
  random numbers leave this tier once a run has told the order of the draws (`dataflow`).
- INTERPRETED: each step is a call of its kernel.
- FUSED: groups of steps run as one (`step_fusion`); values that follow from constants are computed once (`constant_steps`).
- SPECIALIZED: a program for the shapes of this run, without the steps that follow from shapes (`shape_programs`), fused.

Groups pay for large results only, and a layout is known only after a run. So a program has a state:

| state | before a run | next state |
|---|---|---|
| NEW | measure the results of the run | DUE |
| DUE | fuse steps: into groups if the results were large | ON_TRIAL, if forced SETTLED |
| ON_TRIAL | after two runs take useless groups apart | SETTLED with groups, WATCHED without |
| WATCHED | measure the run if the feeds are larger, and in a few later runs | DUE once the results are large |
| SETTLED | nothing | |

`forcing` has programs reach a tier in their first run, whatever their sizes and times are: tests run each case in each tier.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
from collections.abc import Iterator
from typing import Final

from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...support.log import tell


# There is no tier with steps side by side in threads: it was worth 5 to 9 % on Inception-v3, 15 % on NASNet-Mobile at batch 8
# and nothing elsewhere, for a timed executor and an order of its own. Engines divide the work for those who need more.
class Tier(enum.StrEnum):
    """A way to run a plan."""

    DATAFLOW = "dataflow"
    INTERPRETED = "interpreted"
    FUSED = "fused"
    SPECIALIZED = "specialized"


FUSING_RUN: Final = 2
"""The run of a plan before which steps are fused: a plan that runs once is not worth the search for groups."""
SETTLING_RUN: Final = 4
"""The run before which useless groups are taken apart.

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
}
OPTIMIZE: Final = tuple(_BY_NAME)
"""The names of policies, from the fewest tiers to the most."""
_FORCED: Final = {
    Tier.INTERPRETED: NO_TIERS,
    Tier.FUSED: Policy(frozenset((Tier.FUSED,)), True),
    Tier.SPECIALIZED: Policy(frozenset((Tier.FUSED, Tier.SPECIALIZED)), True),
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


class ProgramState(enum.Enum):
    """The state of a program between runs, as in the table above."""

    NEW = enum.auto()
    DUE = enum.auto()
    ON_TRIAL = enum.auto()
    WATCHED = enum.auto()
    SETTLED = enum.auto()


class Action(enum.Enum):
    """A change of a program before a run, or the measurement of the run's results."""

    FUSE = enum.auto()
    SETTLE = enum.auto()
    MEASURE = enum.auto()


class Tiers:
    """The tier and the state of a program. `name` stands for the program in log messages."""

    def __init__(self, policy: Policy, name: str, is_special: bool = False) -> None:
        self.policy = policy
        self.tier = Tier.INTERPRETED
        self._name = name
        if is_special:
            self.enter(Tier.SPECIALIZED, "its shapes came once before")
        has_run = is_special or policy.is_forced
        self.state = (ProgramState.DUE if has_run else ProgramState.NEW) if policy.allows(Tier.FUSED) else ProgramState.SETTLED
        self.has_groups = has_run
        """Whether steps are fused: not where the results of the measured runs were small."""
        self._run = self._settling = 0
        self._fed, self._look = 0, FIRST_LOOK

    def begin_run(self, fed: int) -> Action | None:
        """Count a run without a hook, with feeds of `fed` elements; return the action that is due."""
        self._run += 1
        if self.state is ProgramState.NEW:
            return Action.MEASURE
        if self.state is ProgramState.DUE:
            # Fusing may come late, when the feeds have grown: the trial is as long then as after the second run.
            self._settling = self._run + SETTLING_RUN - FUSING_RUN
            self.state = ProgramState.SETTLED if self.policy.is_forced else ProgramState.ON_TRIAL
            if self.tier is Tier.INTERPRETED:
                self.enter(Tier.FUSED, "the plan ran once")
            return Action.FUSE
        if self.state is ProgramState.ON_TRIAL and self._run >= self._settling:
            self.state = ProgramState.SETTLED if self.has_groups else ProgramState.WATCHED
            return Action.SETTLE
        if self.state is ProgramState.WATCHED and (fed > self._fed or self._run >= self._look):
            # The runs between measurements grow geometrically, so that a million runs have some seven measurements.
            self._look = max(self._look, self._run) * _LOOKS_APART
            return Action.MEASURE
        return None

    def note_results(self, fed: int, largest: int) -> None:
        """Note the elements of the feeds and of the largest result in a measured run: groups pay for large results only."""
        self._fed = max(self._fed, fed)
        if self.state is ProgramState.NEW or (self.state is ProgramState.WATCHED and largest >= LEAST_GROUPED):
            self.has_groups = largest >= LEAST_GROUPED
            self.state = ProgramState.DUE

    def enter(self, tier: Tier, reason: str) -> None:
        """Note that the program is in a tier now, and tell why."""
        self.tier = tier
        tell("%s: %s, because %s", self._name, tier, reason)
