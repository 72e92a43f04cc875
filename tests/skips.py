"""The allowed skips: the reasons, their grounds, and the step of .ci/run that runs the skipped tests.

A skip for any other reason ends the tests with an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class AllowedSkip(NamedTuple):
    """A reason as a regular expression, the grounds, and the step that runs the skipped tests, or None if the step is not
    needed.
    """

    reason: str
    why: str
    step: str | None


ALLOWED = (
    AllowedSkip(r"could not import '(tensorflow|keras|tf_keras)'|TensorFlow is not installed", "need TensorFlow", "live"),
    AllowedSkip(r"the extra tfg\[(onnx|openvino|xla)\] is not installed", "need the libraries of engines", "engines"),
    AllowedSkip(
        r"the extra tfg\[(arrow|cluster|dask|notebook|remote)\] is not installed", "need packages of these extras", "extras"
    ),
    AllowedSkip(r"the extra tfg\[clients\] is not installed", "need pyright, libraries of data frames or a server", "extras"),
    AllowedSkip(r"could not import 'optax'", "need the library optax", "engines"),
    AllowedSkip(r"could not import '(ray|pyspark|apache_beam)'", "need Ray, Spark or Beam", "pipelines"),
    AllowedSkip(r"could not import 'safetensors'", "need the library safetensors", "extras"),
    AllowedSkip(r"the extra tfg\[docs\] is not installed", "need Sphinx", "docs"),
    AllowedSkip(r"the program '\S+' is not installed|no Chromium is installed", "need programs beside Python", "programs"),
    AllowedSkip(r"no packages of npm: ", "need packages of npm, which Node finds by NODE_PATH", None),
    AllowedSkip(r"this is no checkout of git", "need a checkout of git", None),
    AllowedSkip(r"there is no \.\./shared", "need the shared graphs beside the checkout", None),
    AllowedSkip(r"takes minutes: ", "are asked for by name", None),
    AllowedSkip(r"other systems: |(Windows|this system) has no ", "are for other systems", None),
    AllowedSkip(r"this user cannot mount|no sparse files here", "need rights or a file system that is not here", None),
)


def allowance(reason: str) -> AllowedSkip | None:
    """Return the allowance of a reason; None for a forbidden reason."""
    return next((allowed for allowed in ALLOWED if re.match(allowed.reason, reason.removeprefix("Skipped: "))), None)


def summary(reasons: Iterable[str]) -> str:
    """Return the numbers of skipped tests by reason, in a line."""
    counts = Counter(_words(reason) for reason in reasons)
    return f"{sum(counts.values()):,} skipped: " + "; ".join(f"{count:,} {words}" for words, count in counts.most_common())


def _words(reason: str) -> str:
    allowed = allowance(reason)
    if allowed is None:
        return f"have a reason that is not allowed ({reason})"
    return f"{allowed.why} (step {allowed.step} of .ci/run)" if allowed.step else allowed.why


def refused(reasons: Iterable[str]) -> Iterator[str]:
    """The reasons that are not allowed."""
    return (reason for reason in dict.fromkeys(reasons) if allowance(reason) is None)
