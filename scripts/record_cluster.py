"""Record the conversations of tests/formats/cluster with TensorFlow servers.

python -m scripts.record_cluster         (needs tensorflow and grpcio)
"""

import inspect
import pathlib
import tempfile

import numpy as np

from tests.formats.cluster import conversations
from tests.formats.cluster.exchange import recording, write
from tests.formats.cluster.servers import Servers
from tfg.core.types.tensors import Tensor
from tfg.formats.cluster.cluster_session import ClusterSession
from tfg.formats.codecs.tensor_proto import encode_tensor
from tfg.formats.protos import cluster_pb2 as pb
from tfg.formats.protos.graph_pb2 import GraphDef

RECORDED = pathlib.Path(__file__).parents[1] / "tests" / "formats" / "cluster" / "recorded"
NAMES = ("steps", "dtypes", "partial", "reset", "commands", "survey", "saved_model", "lost")


def main():
    with Servers(ps=1, worker=2) as servers, tempfile.TemporaryDirectory() as folder:

        def lose(away):
            servers.kill("worker", 1)
            away()
            servers.start("worker", 1)
            servers.wait("worker", 1)

        more = {"folder": pathlib.Path(folder), "lose": lose}
        for name in NAMES:
            converse = getattr(conversations, name)
            with recording(servers.address("worker", 0)) as (address, calls):
                wanted = {key: more[key] for key in inspect.signature(converse).parameters if key in more}
                print(name, converse(address, **wanted))
            write(RECORDED / f"{name}.json", calls)
        record_parts(servers.address("worker", 0))


def record_parts(address):
    """Record the partitions of a graph from the master's RunMetadata, joined in a GraphDef."""
    graph = conversations.linear()
    session = ClusterSession(graph, address)
    session.run(["w/Assign", "b/Assign"])
    fed = pb.NamedTensorProto(name="x:0", tensor=encode_tensor(Tensor.from_numpy(np.float32([[1, 1]]))))
    request = pb.RunStepRequest(feed=[fed], fetch=["y:0"], store_errors_in_response_body=True)
    request.options.output_partition_graphs = True
    parts = session._attempt(request).metadata.partition_graphs
    whole = GraphDef(node=[node for part in parts for node in part.node], versions=parts[0].versions)
    (RECORDED / "parts.pb").write_bytes(whole.SerializeToString(deterministic=True))
    session.close()


if __name__ == "__main__":
    main()
