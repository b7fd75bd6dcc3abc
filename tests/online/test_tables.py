"""Experts that learn from a table as its rows come."""

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.online import TableExperts
from bayeslearn.tables import DiscreteVariable, Schema, Table


def slow_experts(rows, labels, n_labels):
    """What was most frequent so far beside each cell, counted by hand."""
    overall, beside, said = Counter(), defaultdict(Counter), []
    for row, y in zip(rows, labels, strict=True):
        most = max(range(n_labels), key=lambda c: (overall[c], -c))
        line = [most]
        for j, cell in enumerate(row):
            seen = beside[j, cell] if cell >= 0 else Counter()
            line.append(max(range(n_labels), key=lambda c, seen=seen: (seen[c], -c)) if seen else most)
            if cell >= 0:
                beside[j, cell][y] += 1
        overall[y] += 1
        said.append(line)
    return said


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 30))
def test_slow_twin(seed, rows, batch):
    rng = np.random.default_rng(seed)
    codes = np.vstack([rng.integers(0, 3, rows), rng.integers(-1, 2, (2, rows))])
    schema = Schema(
        [DiscreteVariable("y", ["a", "b", "c"]), *(DiscreteVariable(name, ["0", "1"]) for name in ("u", "v"))]
    )
    experts = TableExperts(schema, "y")
    advice = np.vstack([experts.advise(part) for part in Table(schema, codes, []).batches(batch)])
    assert advice.tolist() == slow_experts(codes[1:].T.tolist(), codes[0].tolist(), 3)
