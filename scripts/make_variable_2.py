"""Write sample_graphs/variable_2/*.pbtxt with TensorFlow: a graph after each stage of the construction.

usage: make_variable_2.py [FOLDER]        needs an installed TensorFlow
"""

from __future__ import annotations

import pathlib
import sys

import tensorflow as tf
from google.protobuf import text_format

FOLDER = pathlib.Path(__file__).parents[1] / "sample_graphs" / "variable_2"


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for old in folder.glob("*.pbtxt"):
        old.unlink()
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session() as session:

        def dump(stage: str) -> None:
            number = len(list(folder.glob("*.pbtxt"))) + 1
            (folder / f"{number}_{stage}.pbtxt").write_text(text_format.MessageToString(graph.as_graph_def()))

        v1.Variable(2, use_resource=False)
        dump("after_var_creation")
        initializer = v1.global_variables_initializer()
        dump("after_initializer_creation")
        session.run(initializer)
        dump("after_initializer_run")


main()
