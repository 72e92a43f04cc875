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
        self.turns: collections.deque[Turn] = collections.deque()

    def serve(self) -> bool:
        """Advance the first turn, and the next once that is done; return True if one got further."""
        has_progress = False
        # In order of arrival: a later kernel that could be served at once must not pass one that waits.
        while self.turns and self.turns[0].advance():
            has_progress = True
            if self.turns[0].is_done:
                self.turns.popleft()
        return has_progress


class Turn:
    """The turn of a waiting kernel: several steps, between which other kernels run. `serve` serves all lines of the object."""

    def __init__(self, shared: Shared, serve: Callable[[], object]) -> None:
        self._shared = shared
        self.serve = serve
        self.line = Line()
        self.is_done = False
        self.error: TfgError | None = None

    @property
    def reason(self) -> str:
        """Return the reason why the kernel waits."""
        raise NotImplementedError

    def advance(self) -> bool:
        """Do as much as can be done now; False if that is nothing."""
        raise NotImplementedError

    def withdraw(self) -> None:
        """Leave the line; the turns behind move up."""
        with self._shared:
            if self in self.line.turns:
                self.line.turns.remove(self)
                self.serve()

    def fail(self, error: TfgError) -> bool:
        """Be done, with an error for the kernel."""
        self.is_done, self.error = True, error
        return True


class _Call(Turn):
    """A turn of one step, the call of a function that raises WouldBlock while it has to wait."""

    def __init__(self, shared: Shared, line: Line, act: Callable[[], Any]) -> None:
        super().__init__(shared, line.serve)
        self._act = act
        self._reason = "other steps have waited longer"
        self.result: Any = None

    @property
    def reason(self) -> str:
        return self._reason

    def advance(self) -> bool:
        try:
            self.result, self.is_done = self._act(), True
        except WouldBlock as wait:
            self._reason = wait.reason
        # An error ends the wait as well, and belongs to the kernel that waits, not to the one that changed the object.
        except TfgError as error:
            self.fail(error)
        return self.is_done


_Turn = TypeVar("_Turn", bound=Turn)


def done(ctx: KernelContext, line: Line, inputs: tuple[Any, ...], create: Callable[[], _Turn]) -> _Turn:
    """Return a finished turn; WouldBlock until then, which keeps the place in line until the kernel runs again."""
    # A kernel that blocked is called again with the same inputs: their identities tell the calls of one node in several
    # frames apart.
    key = (ctx.node, *map(id, inputs))
    # The attempts of the step keep the inputs alive, so that no other object gets their identities.
    turn: Any = ctx.step.attempts.pop(key, (None, inputs))[0]
    if turn is None:
        turn = create()
        if not turn.is_done:
            turn.line = line
            line.turns.append(turn)
            turn.serve()
    if not turn.is_done:
        ctx.step.attempts[key] = turn, inputs
        raise WouldBlock(turn.reason)
    if turn.error is not None:
        raise turn.error
    return turn


def in_turn(ctx: KernelContext, shared: Shared, line: Line, inputs: tuple[Any, ...], act: Callable[[], _Result]) -> _Result:
    """Return the result of `act` in its turn; WouldBlock until then."""
    result: _Result = done(ctx, line, inputs, lambda: _Call(shared, line, act)).result
    return result
