"""Where XLA keeps and computes things: one device, or a mesh over which the rows of what a group is given are divided.

The semantics are those of one device: XLA itself adds the reductions over devices that make them so.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ...support.errors import DataLossError, InvalidArgumentError, UnavailableError
from ..distributed import Meeting
from .library import jax

AXIS = "batch"
_PREEMPTION = "jax_enable_preemption_service"


class Placement(Protocol):
    """Where arrays are."""

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """`jax.jit` for that place."""
        ...

    def put(self, value: Any) -> Any:
        """An array there, whole on every device."""
        ...

    def divide(self, value: Any) -> Any:
        """An array there, which may be divided by its rows."""
        ...

    def running(self) -> contextlib.AbstractContextManager[None]:
        """What a run is surrounded by."""
        ...


class OneDevice:
    """JAX's default device, to which it moves what a function is called with."""

    compiled = staticmethod(jax.jit)
    running = contextlib.nullcontext

    @staticmethod
    def put(value: Any) -> Any:
        """The array itself."""
        return value

    divide = put


class Mesh:
    """Devices in a row, of all processes that take part, each with as many.

    What is given is divided by its rows where their number is a multiple of that of the devices; all else, variables and
    results, is whole on each of them.
    """

    def __init__(self, size: int, meeting: Meeting | None = None) -> None:
        count = 1 if meeting is None else meeting.count
        if size % count:
            raise InvalidArgumentError(f"{size} devices cannot be divided among {count} processes")
        self.size = size
        self.is_shared = count > 1
        self.divided = 0
        """How many arrays were divided so far."""
        _offer_cpus(size // count)
        if meeting is not None and self.is_shared:
            _join(meeting)
        devices = _devices(size // count, count)
        mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))
        spec, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
        self._rows, self._everywhere = sharding(mesh, spec(AXIS)), sharding(mesh, spec())
        self.note = f"{size} devices" + (f" of {count} processes" if self.is_shared else "")

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """A function whose results are whole on every device."""
        return jax.jit(function, out_shardings=self._everywhere, **options)

    def put(self, value: Any) -> Any:
        """The array, whole on every device."""
        return self._placed(value, self._everywhere)

    def divide(self, value: Any) -> Any:
        """The array, divided by its rows where their number is a multiple of that of the devices."""
        rows = value.shape[0] if value.ndim else 0
        if not rows or rows % self.size:
            return self.put(value)
        self.divided += 1
        return self._placed(value, self._rows)

    def _placed(self, value: Any, sharding: Any) -> Any:
        """The array as a copy for each device, for what JAX is given to write to may be the memory that it was handed."""
        return jax.make_array_from_callback(value.shape, sharding, lambda index: np.array(value[index]))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """A run that fails where processes work together is the end: the others are elsewhere then."""
        try:
            yield
        except (jax.errors.JaxRuntimeError, DataLossError) as error:
            if not self.is_shared:
                raise
            raise UnavailableError(f"a step failed on the mesh: {str(error).splitlines()[0]}") from error

    def leave(self) -> None:
        """Part from the other processes, all of which must do so."""
        if self.is_shared:
            jax.distributed.shutdown()


def _offer_cpus(count: int) -> None:
    """Let the processor count as so many devices, unless the user has said as how many."""
    if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        jax.config.update("jax_num_cpu_devices", count)


def _join(meeting: Meeting) -> None:
    """Meet the other processes in JAX. They are there: who waits for them waits for what is slow to start."""
    if _PREEMPTION in jax.config.values:  # older versions have no such choice
        jax.config.update(_PREEMPTION, False)  # it would take SIGTERM, which is to end a process
    try:
        jax.distributed.initialize(
            meeting.target,
            meeting.count,
            meeting.index,
            cluster_detection_method="deactivate",
            coordinator_bind_address=meeting.target,
        )
    except RuntimeError as error:
        raise UnavailableError(f"the processes cannot meet at {meeting.target}: {error}") from error


def _devices(each: int, processes: int) -> list[Any]:
    """The first devices of every process."""
    found: list[Any] = []
    for index in range(processes):
        own = [device for device in jax.devices() if device.process_index == index]
        if len(own) < each:
            kind = own[0].device_kind if own else "none"
            raise InvalidArgumentError(f"a mesh needs {each} devices in each process; process {index} has {len(own)} ({kind})")
        found += own[:each]
    return found
