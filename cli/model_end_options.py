"""`--prepend` and `--append`: graphs in front of a model, which takes strings then, and behind it, which gives labels then."""

from __future__ import annotations

from typing import Any, Final

import click

from ..core.graph.graph import Graph
from ..core.support.errors import InvalidArgumentError
from .requests import option, request

_PART: Final = {"--to --from --subgraph": "write the part first, with a signature"}
_APPENDED: Final = "write --append top_k=5,labels=FILE, or --append top_k=5,output=NAME"
_NUMBERS: Final = "write a number such as 127.5, a fraction such as 1/255, or a number for each channel: 123.7,116.8,103.9"


class Numbers(click.ParamType[tuple[float, ...]]):
    """A number or fraction, or several between commas."""

    name = "NUMBERS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        from ..formats.pictures import factor

        return tuple(factor(part.strip(), _NUMBERS) for part in str(value).split(","))


@request
class ModelEndOptions:
    """What stands in front of a model and behind it."""

    prepended: tuple[str, ...] = option(
        "--prepend",
        metavar="KIND[=INPUT]",
        excludes=_PART,
        help="Let the signature take strings: 'image' decodes pictures and resizes them, 'base64' decodes bytes; repeatable.",
    )
    mean: tuple[float, ...] | None = option(
        type=Numbers(), needs="--prepend", help="With --prepend image: subtract this from pixels of 0 to 255."
    )
    scale: tuple[float, ...] | None = option(
        type=Numbers(), needs="--prepend", help="With --prepend image: then multiply by this, for instance 1/127.5."
    )
    bgr: bool = option(needs="--prepend", help="With --prepend image: reverse the channels, for models that take BGR.")
    appended: str | None = option(
        "--append",
        metavar="top_k=N[,labels=FILE]",
        excludes=_PART,
        help="Let the signature give the N best classes and their scores, as labels of FILE or as numbers.",
    )

    def __bool__(self) -> bool:
        return bool(self.prepended or self.appended)

    def added(self, graph: Graph, signature: str | None) -> Graph:
        """Return the graph with what stands in front and behind; the first --prepend is next to the model."""
        from ..formats.api.joins import prepend

        kinds = [tuple(word.partition("=")[::2]) for word in self.prepended]
        if (self.mean or self.scale or self.bgr) and not any(kind == "image" for kind, _ in kinds):
            raise click.UsageError("--mean, --scale and --bgr need --prepend image")
        for kind, name in kinds:
            pixels: dict[str, Any] = (
                {"mean": self.mean or (), "scale": self.scale or (), "bgr": self.bgr} if kind == "image" else {}
            )
            graph = prepend(graph, kind, name or None, signature=signature, **pixels)
        return graph if self.appended is None else self._with_classes(graph, self.appended, signature)

    def _with_classes(self, graph: Graph, text: str, signature: str | None) -> Graph:
        from ..formats.api.joins import append
        from ..formats.api.step_results import read_labels

        items = dict(part.partition("=")[::2] for part in text.split(","))
        if not items.get("top_k", "").isdecimal() or items.keys() - {"top_k", "labels", "output"}:
            raise InvalidArgumentError(f"cannot append '{text}'", hint=_APPENDED)
        labels = read_labels(items["labels"]) if "labels" in items else None
        return append(graph, int(items["top_k"]), labels, items.get("output"), signature=signature)
