"""Waits for other threads: a dequeue waits for an enqueue, a lock for its release.

Kernels never sleep: they raise WouldBlock, and the executor runs other nodes. Where no other node is left, the executor
waits here until a kernel of any thread has changed a shared object, and tries again.
"""

from __future__ import annotations

import sys
import threading
import time
import types
from typing import Final

from ...graph.graph import Node
from ...parallel.blas_threads import OWN_THREADS
from ...support.errors import DeadlineExceededError

_LOOK_AGAIN: Final = 0.1
"""The seconds between checks of a waiting thread for other threads that may still act."""

_condition = threading.Condition()
waiting = 0
"""How many runs wait, or are about to; while there are none nobody has to say that something changed."""

_changes = 0
"""The number of changes that threads were told of."""
_asleep: set[threading.Thread] = set()
_stuck: set[threading.Thread] = set()
"""Deadlocked threads that have yet to raise their errors. All of them raise: the first goes on in unknown code."""


def changed() -> None:
    """Announce a change of a shared object: waiting threads try again."""
    global _changes
    with _condition:
        _changes += 1
        _asleep.clear()
        _condition.notify_all()


class Wait:
    """The wait of a run whose ready kernels would all block; no change since the beginning is missed."""

    def __enter__(self) -> Wait:
        global waiting
        with _condition:
            waiting += 1
            self._seen = _changes
        return self

    def __exit__(self, *_: object) -> None:
        global waiting
        with _condition:
            waiting -= 1

    def for_change(self, deadline: float, reason: str, node: Node) -> None:
        """Sleep until a shared object changes.

        Raises DeadlineExceededError from `deadline` on, or where no thread is left to change one.
        """
        me = threading.current_thread()
        has_looked = False
        with _condition:
            try:
                while self._seen == _changes or me in _stuck:
                    if me in _stuck or not _others_act(me, has_looked):
                        _stuck.update(_asleep)
                        _condition.notify_all()
                        raise DeadlineExceededError(f"{reason}, and no other node can change that", node=node.name, op=node.op)
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise DeadlineExceededError(f"{reason} after the time allowed", node=node.name, op=node.op)
                    _asleep.add(me)
                    has_looked = not _condition.wait(min(left, _LOOK_AGAIN))
                self._seen = _changes
            finally:
                _asleep.discard(me)
                _stuck.discard(me)


def _others_act(me: threading.Thread, has_looked: bool) -> bool:
    """True where another thread of the program may still act; threads that serve kernels act only on request.

    A thread that was interrupted at its start or end may stay listed, but runs nothing. A pool thread that waits for work
    does nothing either, if the wait lasts longer than a thread takes to begin with new work.
    """
    frames = sys._current_frames()
    return any(
        thread is not me
        and thread.ident in frames
        and thread not in _asleep
        and not thread.name.startswith(OWN_THREADS)
        and not isinstance(thread, threading._DummyThread)
        and not (has_looked and _is_without_work(frames[thread.ident]))
        for thread in threading.enumerate()
    )


def _is_without_work(frame: types.FrameType) -> bool:
    """True in a thread of a `ThreadPoolExecutor` that waits to be given something to do."""
    pools = sys.modules.get("concurrent.futures.thread")
    return pools is not None and frame.f_code is pools._worker.__code__ and frame.f_locals["work_queue"].empty()
