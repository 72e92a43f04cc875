"""The function behind `tfg convert GRAPH FILE.stablehlo`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...core.engines.engine_registry import jax_functions
from ...core.types.arrays import Array
from ..codecs.source import read_source, write_file
from .jax_export import to_jax
from .model_export import DeclaredDims, ModelExport


class StableHloExport(ModelExport):
    """A written program of StableHLO, which `jax.export.deserialize` reads; `size` is its number of bytes.

    The program takes the inputs in order, in batches of any size, and returns a dictionary of the outputs. Two inputs have
    two batches, unless the program needs equal ones.
    """

    runtime: ClassVar[str] = "JAX"

    def write(self) -> None:
        """Export and write the program; UnimplementedError names the nodes that JAX cannot run."""
        outputs = {word: value.name for word, value in self.outputs.items()}
        function: Any = to_jax(self.graph, outputs, {word: value.name for word, value in self.inputs.items()})[0]
        program = function.exported({}, {})
        write_file(self.path, [program])
        self.size = len(program)

    def __repr__(self) -> str:
        return f"<StableHloExport {os.path.basename(self.path)}: {self.size:,} bytes>"

    def declared_dims(self) -> DeclaredDims:
        """Return the dimensions of the inputs in the file; sizes that must be equal have one name."""
        return dict(zip(self.inputs, jax_functions().exported_dims(bytes(read_source(self.path)))))

    def declares(self, inputs: Mapping[str, Array], dims: DeclaredDims) -> bool:
        """Return whether the program takes inputs of these shapes: JAX's symbolic sizes are 1 or more."""
        return all(value.size for value in inputs.values()) and super().declares(inputs, dims)

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """Return the outputs that JAX computes."""
        self.check_trust()
        program = bytes(read_source(self.path))
        results = jax_functions().run_exported(program, [inputs[word] for word in self.inputs])
        return [results[word] for word in self.outputs]
