"""A job that is killed goes on from its checkpoint, and ends where it would have ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeslearn import fit_parameters, read_network, scan
from bayeslearn.errors import ConvergenceWarning

#: A job that writes a checkpoint after every iteration, and takes its time over each.
JOB = """
import sys, time
from bayeslearn import fit_parameters, scan
fit_parameters("[h][bronc|h][dysp|h][smoke|h][xray|h]", scan(sys.argv[1], columns=["bronc", "dysp", "smoke", "xray"]),
           hidden={"h": 2}, prior="laplace", tol=0, max_iter=400, checkpoint=sys.argv[2], checkpoint_every=1,
           progress=lambda step: time.sleep(0.05))
"""


@pytest.mark.thorough
def test_killed_and_resumed(tmp_path):
    for number in range(2):
        table = read_network("asia").sample(500, random_state=number)
        pq.write_table(pa.table(table.to_dict()), tmp_path / f"part-{number}.parquet")
    pattern, model = str(tmp_path / "part-*.parquet"), tmp_path / "way.json"
    job = subprocess.Popen([sys.executable, "-c", JOB, pattern, str(model)], stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not model.exists() and job.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.3)  # some iterations on
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL, job.stderr.read()
    job.stderr.close()

    source = scan(pattern, columns=["bronc", "dysp", "smoke", "xray"])
    how = {"hidden": {"h": 2}, "prior": "laplace", "tol": 0, "max_iter": 400}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        graph = "[h][bronc|h][dysp|h][smoke|h][xray|h]"
        whole = fit_parameters(graph, source, **how)
        resumed = fit_parameters(graph, source, **how, checkpoint=model, checkpoint_every=1, resume=True)
    assert 0 < resumed.fit_info.n_iter < whole.fit_info.n_iter
    for cpt, other in zip(resumed, whole, strict=True):
        np.testing.assert_allclose(cpt.probabilities, other.probabilities, rtol=1e-10)
