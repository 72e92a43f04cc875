"""Write sample_graphs/recordings with TensorFlow: the event file of a short training, and the RunMetadata of a traced step."""

from __future__ import annotations

import os
import pathlib
import shutil

import tensorflow as tf
from google.protobuf import text_format

SAMPLES = pathlib.Path(__file__).parents[1] / "sample_graphs"
FOLDER = SAMPLES / "recordings"
v1 = tf.compat.v1


def main() -> None:
    v1.disable_eager_execution()
    shutil.rmtree(FOLDER, ignore_errors=True)
    definition = text_format.Parse((SAMPLES / "linear_regression.pbtxt").read_text(), v1.GraphDef())
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.import_graph_def(definition, name="")
        summaries = v1.summary.merge([
            v1.summary.scalar("training/loss", graph.get_tensor_by_name("loss:0")),
            v1.summary.histogram("training/weight", graph.get_tensor_by_name("w/read:0")),
        ])  # fmt: skip
        writer = v1.summary.FileWriter(str(FOLDER), graph)
        session.run("init")
        feeds = {"x:0": [1.0, 2.0], "y:0": [2.0, 4.0]}
        for step in range(5):
            writer.add_summary(session.run(["train", summaries], feeds)[1], step)
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
        metadata = v1.RunMetadata()
        session.run(["train", "loss:0"], feeds, options, metadata)
        writer.add_run_metadata(metadata, "step 5", 5)
        writer.close()
    (FOLDER / "run_metadata.pb").write_bytes(metadata.SerializeToString())
    (events,) = FOLDER.glob("events.out.tfevents.*")
    os.replace(events, FOLDER / "events.out.tfevents.linear_regression")


main()
