"""A few trials of every fuzzer with fixed seeds, and all that was ever found; `make fuzz` runs many."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.fuzz import runner, trials

#: Trials of each target.
N_TRIALS = 15


@pytest.mark.thorough
@pytest.mark.parametrize("topic", trials.topics())
def test_fuzz(topic):
    findings = []
    with runner.worker() as worker:
        for target in trials.targets_of(topic).values():
            asked = [*map(str, trials.corpus_of(target)), *range(N_TRIALS)]
            findings += [found for trial in asked if (found := worker.run(target, trial))]
    assert not findings, "\n".join(f"{found.target.name} {found.trial}: {found.what}" for found in findings)


#: First uses that reserve address space once: a trial that happens to be the first is not a finding.
FIRST_USES = """
import numpy, pandas, polars, pyarrow, scipy.linalg
from tests.fuzz import worker
worker.load_libraries()
before = worker.memory_in_use()
pyarrow.array(["a"]), pandas.Series(["a"]), polars.Series(["a"]).sort()
numpy.linalg.svd(numpy.eye(64)), scipy.linalg.lstsq(numpy.eye(64), numpy.ones(64))
print(worker.memory_in_use() - before)
"""


@pytest.mark.thorough
def test_first_uses_of_libraries_take_no_memory_of_a_trial() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(runner.ROOT / "src"), str(runner.ROOT)])}
    taken = subprocess.run([sys.executable, "-c", FIRST_USES], env=environment, capture_output=True, check=True)
    assert int(taken.stdout) < (1 << 30) / 4


def test_corpus_has_targets() -> None:
    known = {target.name for target in trials.all_targets()}
    found = {str(path.parent.relative_to(trials.CORPUS)) for path in trials.CORPUS.glob("*/*/*")}
    assert found <= known
