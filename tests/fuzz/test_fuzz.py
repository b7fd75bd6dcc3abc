"""A few trials of every fuzzer with fixed seeds, and all that was ever found; `make fuzz` runs many."""

from __future__ import annotations

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


def test_corpus_has_targets() -> None:
    known = {target.name for target in trials.all_targets()}
    found = {str(path.parent.relative_to(trials.CORPUS)) for path in trials.CORPUS.glob("*/*/*")}
    assert found <= known
