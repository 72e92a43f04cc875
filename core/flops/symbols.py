"""Symbols for unknown numbers: handed out once to each owner, with a text that explains the meaning."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator

from ..types.dims import Dim


class Symbols:
    """The symbols of a count."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """The meaning of each symbol."""
        self._owners: dict[str, Hashable] = {}
        self._claimed: dict[tuple[str, Hashable], str] = {}

    def shared(self, symbol: str, text: str) -> Dim:
        """Return a symbol that stands for the same number at every use."""
        self.texts.setdefault(symbol, text)
        return Dim.symbol(symbol)

    def claim(self, form: str, path: str, owner: Hashable, meaning: Callable[[str], str]) -> Dim:
        """Return the symbol of `owner`: `form` with the shortest free end of `path`, of which `meaning` makes the text."""
        symbol = self._claimed.get((form, owner))
        if symbol is None:
            # The shortest end of the path, so that formulas stay short: only names that clash get longer.
            label = next(label for label in _labels(path) if form.replace("{}", label) not in self._owners)
            symbol = self._claimed[form, owner] = form.replace("{}", label)
            self._owners[symbol] = owner
            self.texts[symbol] = meaning(label)
        return Dim.symbol(symbol)


def _labels(path: str) -> Iterator[str]:
    """Yield `c`, `b/c`, `a/b/c` of `a/b/c`, then the whole path with numbers."""
    parts = path.split("/")
    yield from ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
    yield from (f"{path}#{number}" for number in itertools.count(2))
