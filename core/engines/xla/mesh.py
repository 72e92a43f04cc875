"""The placement of arrays and programs in XLA: a single device, or a mesh that divides the rows of a group's inputs.

The semantics are the same as on a single device: XLA adds the reductions over devices for that.
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


class ArrayPlacement(Protocol):
    """Where arrays are."""

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return `jax.jit` for the place."""
        ...

    def put(self, value: Any) -> Any:
        """Return an array there, whole on every device."""
        ...

    def divide(self, value: Any) -> Any:
        """Return an array on the devices, perhaps divided by rows."""
        ...

    def running(self) -> contextlib.AbstractContextManager[None]:
        """Return the context of a run."""
        ...


class OneDevice:
    """JAX's default device, to which JAX moves the arguments of a function."""

    compiled = staticmethod(jax.jit)
    running = contextlib.nullcontext

    @staticmethod
    def put(value: Any) -> Any:
        """Return the array itself."""
        return value

    divide = put


class DeviceMesh:
    """Devices in a row, of all processes that take part, each with an equal number.

    An input is divided by rows where their number is a multiple of the number of devices; all else, variables and results,
    is whole on each device.
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
        """Return a compiled function whose results are whole on every device."""
        return jax.jit(function, out_shardings=self._everywhere, **options)

    def put(self, value: Any) -> Any:
        """Return the array, whole on every device."""
        return self._placed(value, self._everywhere)

    def divide(self, value: Any) -> Any:
        """Return the array, divided by rows where their number is a multiple of the number of devices."""
        rows = value.shape[0] if value.ndim else 0
        if not rows or rows % self.size:
            return self.put(value)
        self.divided += 1
        return self._placed(value, self._rows)

    def _placed(self, value: Any, sharding: Any) -> Any:
        """Return the array copied to each device: JAX may alias the argument's memory, and a donated array is written to."""
        return jax.make_array_from_callback(value.shape, sharding, lambda index: np.array(value[index]))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Return the context of a run; an error on a shared mesh becomes UnavailableError, as the other processes are
        elsewhere by then.
        """
        try:
            yield
        except (jax.errors.JaxRuntimeError, DataLossError) as error:
            if not self.is_shared:
                raise
            raise UnavailableError(f"a step failed on the mesh: {str(error).splitlines()[0]}") from error

    def leave(self) -> None:
        """Leave the other processes; all must do so together."""
        if self.is_shared:
            jax.distributed.shutdown()


def _offer_cpus(count: int) -> None:
    """Let the processor count as `count` devices, unless the user has set a number, or JAX has already counted them."""
    if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        with contextlib.suppress(RuntimeError):  # JAX has run before: DeviceMesh compares the number of devices
            jax.config.update("jax_num_cpu_devices", count)


def _join(meeting: Meeting) -> None:
    """Join the other processes in JAX. All have already met, so waiting here means waiting for a slow start."""
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
        raise UnavailableError(f"the processes cannot connect at {meeting.target}: {error}") from error


def _devices(each: int, processes: int) -> list[Any]:
    """Return the first devices of every process."""
    devices: list[Any] = []
    for index in range(processes):
        own = [device for device in jax.devices() if device.process_index == index]
        if len(own) < each:
            kind = own[0].device_kind if own else "none"
            problem = f"a mesh needs {each} devices in each process; process {index} has {len(own)} ({kind})"
            raise InvalidArgumentError(problem, hint="make the mesh before the first run of JAX in the process")
        devices += own[:each]
    return devices
