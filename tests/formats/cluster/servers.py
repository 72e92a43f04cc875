"""A cluster of TensorFlow servers on this machine, a process each: `python servers.py JOB TASK JOB=PORT,PORT ...`."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time


class Servers:
    """The tasks of a cluster by (job, number); as a context they run."""

    def __init__(self, **jobs: int) -> None:
        self.ports = {job: [_free_port() for _ in range(count)] for job, count in jobs.items()}
        self._running: dict[tuple[str, int], subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Servers:
        for job, ports in self.ports.items():
            for task in range(len(ports)):
                self.start(job, task)
        for job, ports in self.ports.items():
            for task in range(len(ports)):
                self.wait(job, task)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()

    def address(self, job: str, task: int) -> str:
        return f"grpc://localhost:{self.ports[job][task]}"

    def start(self, job: str, task: int) -> None:
        cluster = [f"{name}={','.join(map(str, ports))}" for name, ports in self.ports.items()]
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
        command = [sys.executable, str(pathlib.Path(__file__)), job, str(task), *cluster]
        self._running[job, task] = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def kill(self, job: str, task: int) -> None:
        """As a machine that goes: no goodbye."""
        process = self._running.pop((job, task))
        process.kill()
        process.wait()

    def wait(self, job: str, task: int, seconds: float = 120) -> None:
        """Until the task listens."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("localhost", self.ports[job][task]), 1):
                return
            time.sleep(0.1)
        raise TimeoutError(f"/job:{job}/task:{task} does not come up")


def _free_port() -> int:
    with socket.socket() as result:
        result.bind(("localhost", 0))
        port: int = result.getsockname()[1]
        return port


def serve(job: str, task: int, *jobs: str) -> None:
    """Be one task, until killed."""
    import tensorflow as tf

    ports = {name: numbers.split(",") for name, _, numbers in (text.partition("=") for text in jobs)}
    cluster = tf.train.ClusterSpec({name: [f"localhost:{port}" for port in result] for name, result in ports.items()})
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    tf.distribute.Server(cluster, job_name=job, task_index=task, config=config).join()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
