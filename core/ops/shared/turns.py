"""Turns of waiting kernels: the kernel that came first is served first and at once, as in TensorFlow."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, TypeVar

from ...runtime.state.edge_values import WouldBlock
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import TfgError

_Result = TypeVar("_Result")


class Line:
    """A line of waiting kernels before an object shared by threads; each change of the object serves the line first."""

    def __init__(self) -> None:
        self._turns: collections.deque[_Turn] = collections.deque()

    def serve(self) -> None:
        """Serve the first in line, and the next, until a turn blocks."""
        # In order of arrival: a later kernel that could be served at once must not pass one that waits.
        while self._turns and self._turns[0].is_served():
            self._turns.popleft()

    def join(self, turn: _Turn) -> None:
        """Stand behind all others."""
        self._turns.append(turn)
        self.serve()

    def leave(self, turn: _Turn) -> None:
        """Leave the line; the turns behind move up."""
        if turn in self._turns:
            self._turns.remove(turn)
            self.serve()


class _Turn:
    """The turn of a waiting kernel."""

    def __init__(self, shared: Shared, line: Line, act: Callable[[], Any]) -> None:
        self._shared = shared
        self._line = line
        self._act = act
        self.result: Any = None
        self.error: Exception | None = None
        """WouldBlock until the turn is served, then the error of the call, if any."""

    def is_served(self) -> bool:
        """Try the call; return False if it would still block."""
        try:
            self.result, self.error = self._act(), None
        # An error ends the wait as well, and belongs to the kernel that waits, not to the one that changed the object.
        except (WouldBlock, TfgError) as error:
            self.error = error
        return not isinstance(self.error, WouldBlock)

    def withdraw(self) -> None:
        """Wait no more."""
        with self._shared:
            self._line.leave(self)


def in_turn(ctx: KernelContext, shared: Shared, line: Line, inputs: tuple[Any, ...], act: Callable[[], _Result]) -> _Result:
    """Return the result of `act` in its turn; WouldBlock until then, which keeps the place until the kernel runs again."""
    # A kernel that blocked is called again with the same inputs: their identities tell the calls of one node in several
    # frames apart.
    key = (ctx.node, *map(id, inputs))
    # The attempt keeps the inputs alive, so that no other object gets their identities.
    turn: Any = ctx.step.attempts.pop(key, (None, inputs))[0]
    if turn is None:
        turn = _Turn(shared, line, act)
        turn.error = WouldBlock("other steps have waited longer")
        line.join(turn)
    if isinstance(turn.error, WouldBlock):
        ctx.step.attempts[key] = turn, inputs
    if turn.error is not None:
        raise turn.error
    return turn.result
